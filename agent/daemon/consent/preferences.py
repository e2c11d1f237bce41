"""The user's words for the next request, as values: which hold, and what uses them up. Pure.

A preference holds only where the policy still rules what it ruled when the user gave it, or
something more open than the word, and the request that it changes uses it up. A guarded attribute
stays guarded.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import get_args

from agent.decision.terms import Terms
from agent.decision.values import Decision
from agent.wire.policy import Disclose
from policy.match import Ruling
from policy.precedence import GUARDED, Verdict, may
from policy.rules import Layer, Rule

OWN_WORD = Rule("your own word", MappingProxyType({}), Layer.FILE, "")  # stands in no file
OPENNESS: tuple[Disclose, ...] = get_args(Disclose)  # the strictest first


@dataclass(frozen=True, slots=True)
class Preference:
    """The user's word on one fact, by its concept, for the next request that it changes.

    ``pool``: for whom, None for everyone; ``ruled``: what the policy ruled of it; ``answers``:
    whether the word answers a review, and so is about what waits alone.
    """

    concept: str
    pool: str | None
    disclose: Disclose
    ruled: Disclose
    answers: bool = False

    def holds(self, ruled: Disclose) -> bool:
        """Say whether it holds where the policy rules this."""
        opens = OPENNESS.index(self.disclose) > OPENNESS.index(ruled)
        if opens or (self.answers and self.disclose == "auto"):
            return ruled == self.ruled
        return ruled != self.disclose


Preferences = tuple[Preference, ...]  # the oldest first


def ruled_of(ruling: Ruling, name: str) -> Disclose | None:
    """Return what is ruled of an attribute, None where it is guarded or not in the ruling."""
    verdicts = ruling.attributes.get(name)
    value = GUARDED if verdicts is None else may(verdicts)
    return None if value == GUARDED else OPENNESS[OPENNESS.index(value)]


def holding(preferences: Preferences, ruling: Ruling) -> Mapping[str, Preference]:
    """Return the latest preference that holds for each attribute, whatever it was called."""
    found: dict[str, Preference] = {}
    for each in preferences:
        if each.pool not in (None, ruling.pool):
            continue
        for name, attribute in ruling.known.items():
            ruled = ruled_of(ruling, name) if each.concept in attribute.concepts else None
            if ruled is not None and each.holds(ruled):
                found[name] = each
    return found


def denied_once(preferences: Preferences, ruling: Ruling) -> frozenset[str]:
    """Return what waits by a ruling, and is denied for the next time that it would be asked for."""
    return frozenset(
        name
        for name, each in holding(preferences, ruling).items()
        if each.answers and each.disclose == "never" and ruled_of(ruling, name) == "ask"
    )


def applied(terms: Terms, preferences: Preferences) -> Terms:
    """Return the terms with the user's preferences on their attributes.

    What is denied once still waits: it is sent in no case, and the decision shows that the request
    would have asked.
    """
    ruling = terms.ruling
    if ruling is None or not preferences:
        return terms
    denied = denied_once(preferences, ruling)
    new = {
        name: each.disclose
        for name, each in holding(preferences, ruling).items()
        if name not in denied
    }
    if not new:
        return terms

    def named(before: frozenset[str], value: Disclose) -> frozenset[str]:
        return before.difference(new).union(name for name in new if new[name] == value)

    verdicts = {
        name: {**ruling.attributes[name], "disclose": Verdict(value, OWN_WORD)}
        for name, value in new.items()
    }
    return replace(
        terms,
        excluded=named(terms.excluded, "never"),
        ask=named(terms.ask, "ask"),
        always=named(terms.always, "always"),
        ruling=replace(ruling, attributes={**ruling.attributes, **verdicts}),
    )


def used_up(preferences: Preferences, decision: Decision, ruling: Ruling) -> Preferences:
    """Return the preferences without those that this decision uses up.

    An approval is used up when the attribute goes to a pool that does not hold it yet, a denial
    when it would have been asked for, another word by the first request that is decided.
    """
    if not preferences:
        return preferences
    new = {*decision.disclosed}.difference(decision.again)
    waiting = decision.pending.names if decision.pending else ()
    denied, used = denied_once(preferences, ruling), list[Preference]()
    for name, each in holding(preferences, ruling).items():
        if name in denied:
            done = name in waiting
        elif each.answers and each.disclose == "auto":
            done = name in new
        else:
            done = decision.code == "answered"
        used += [each] if done else []
    return tuple(each for each in preferences if each not in used)
