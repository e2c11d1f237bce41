"""The user's words for the next request, as values: which hold, and what uses them up. Pure.

A preference holds only where the policy still rules what it ruled when the user gave it, or
something more open than the word, and the request that it changes uses it up. A guarded attribute
stays guarded.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import get_args

from agent.daemon.consent.managed_rules import Instruction
from agent.decision.terms import Terms
from agent.decision.values import Decision
from agent.wire.policy import Disclose, Review
from policy.match import GUARDED, Ruling, Verdict, may
from policy.rules import Layer, Rule

OWN_WORD = Rule("your own word", MappingProxyType({}), Layer.FILE, "")  # stands in no file
MOST_BASES = 4096  # of reviews that wait or did
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


def without_word(preferences: Preferences, word: Instruction, pool: str | None) -> Preferences:
    """Return the preferences that an instruction leaves; ``pool``: None for everyone."""
    concepts = {each for attribute in word.names.values() for each in attribute.concepts}
    return tuple(
        each
        for each in preferences
        if each.concept not in concepts or pool not in (None, each.pool)
    )


def with_word(
    preferences: Preferences, word: Instruction, pool: str | None, ruling: Ruling | None
) -> Preferences:
    """Return the preferences with an instruction for the next request.

    ``ruling``: on that request, None where no policy is in use.
    """
    new = []
    for name, attribute in word.names.items():
        ruled = "ask" if word.answers else None if ruling is None else ruled_of(ruling, name)
        for concept in sorted(attribute.concepts) if ruled is not None else ():
            preference = Preference(concept, pool, word.disclose, ruled or "ask", word.answers)
            new += [preference]
    return (*without_word(preferences, word, pool), *new)


class Bases:
    """What the figures of each review depend on, so that no figure outlives its reason."""

    def __init__(self) -> None:
        self._bases: dict[int, tuple[object, ...]] = {}
        self._sent: Counter[str] = Counter()  # how often each pool was sent something new

    @property
    def sent(self) -> int:
        """How often anybody was sent something new."""
        return self._sent.total()

    def clear(self) -> None:
        """Forget them: no figure holds any more."""
        self._bases.clear()
        self._sent.clear()

    def answered(self, decision: Decision, pool: str) -> None:
        """Count an answer that tells a pool something new."""
        self._sent[pool] += _is_new(decision)

    def note(
        self, number: int, decision: Decision, ruling: Ruling, preferences: Preferences
    ) -> None:
        """Note what a review's figures depend on, as it will be once the answer is sent.

        They were weighed with what that carries.
        """
        sent = self._sent[ruling.pool] + _is_new(decision)
        self._bases[number] = _basis(ruling, used_up(preferences, decision, ruling), sent)
        if len(self._bases) > MOST_BASES:
            del self._bases[min(self._bases)]

    def hold(self, review: Review, ruling: Ruling, preferences: Preferences) -> bool:
        """Say whether nothing has changed that a review's figures depend on."""
        basis = _basis(ruling, preferences, self._sent[review.pool])
        return self._bases.get(review.id) == basis


def still_waiting(review: Review, ruling: Ruling, preferences: Preferences) -> frozenset[str]:
    """Return the names of a review that a ruling still asks about."""
    words, denied = holding(preferences, ruling), denied_once(preferences, ruling)
    return frozenset(
        name
        for name in review.names
        if name not in ruling.attributes
        or name in denied
        or (words[name].disclose if name in words else ruled_of(ruling, name)) == "ask"
    )


def _is_new(decision: Decision) -> bool:
    return len(decision.again) < len(decision.disclosed)


def _basis(ruling: Ruling, preferences: Preferences, sent: int) -> tuple[object, ...]:
    settings = {key: each.value for key, each in ruling.settings.items()}
    attributes = {
        name: {key: each.value for key, each in verdicts.items()}
        for name, verdicts in ruling.attributes.items()
    }
    return settings, attributes, holding(preferences, ruling), sent
