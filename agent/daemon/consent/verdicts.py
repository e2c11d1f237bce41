"""The user's decisions on attributes, for as long as the daemon remembers them. Pure.

The later word counts, whatever it says. A verdict is about what waits, and of no effect on an
attribute that is not ruled `ask`; a firm word holds whatever the policy rules of an attribute, but
for a guard, and a verdict after it is about what it lets wait. What it opens it opens against the
rule that decided when it was said: where another is stricter, as one that was written later, that
one holds. A word that is said once is used up by the next request that it was about, and then what
was said before it holds again.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple

from agent.daemon.consent.managed_rules import DISCLOSE, RULED
from agent.decision.decide import Decision
from agent.decision.terms import Terms
from agent.wire.policy import Disclose
from policy.match import Ruling
from policy.precedence import Verdict, may
from policy.rules import Layer, Rule

KNOWN = "known to the recipient"
SPOKEN = Rule("your own word", MappingProxyType({}), Layer.FILE, "")  # stands in no file
DENIED = DISCLOSE["deny"]
OPENNESS: tuple[Disclose, ...] = ("never", "ask", "auto", "always")


class Basis(NamedTuple):
    """What a policy rules of an attribute, and the rule that decides so."""

    disclose: Disclose
    rule: str


@dataclass(frozen=True, slots=True)
class Said:
    """One word of the user on one attribute; ``pool``: for whom, None for everyone.

    ``disclose``: what shall be, None for what the policy says, which only a firm word can say;
    ``against``: what a firm word was said against, and may open; None for whatever is ruled.
    """

    name: str
    pool: str | None
    disclose: Disclose | None
    once: bool = False
    firm: bool = False
    against: Basis | None = None

    def within(self, pool: str | None) -> bool:
        """Return whether it is about no more than a pool, None for everyone."""
        return pool is None or self.pool == pool

    def overrules(self, other: "Said") -> bool:
        """Return whether nothing of an earlier word is left once this is said."""
        if other.name != self.name or not other.within(self.pool):
            return False
        return (other.once or not self.once) and (self.firm or not other.firm)


Words = tuple[Said, ...]  # the oldest first


class Held(NamedTuple):
    """The last firm word on an attribute, and the last verdict after it."""

    firm: Said | None = None
    verdict: Said | None = None

    def under(self, ruled: Basis) -> Disclose:
        """Return what a verdict is about, where a policy rules this."""
        said = None if self.firm is None else self.firm.disclose
        if self.firm is None or said is None:
            return ruled.disclose
        opens = OPENNESS.index(said) > OPENNESS.index(ruled.disclose)
        return ruled.disclose if opens and self.firm.against not in (None, ruled) else said

    def value(self, ruled: Basis) -> Disclose:
        """Return what holds where a policy rules this: what is denied once still waits."""
        under, verdict = self.under(ruled), self.verdict
        if under != "ask" or verdict is None or verdict.disclose is None:
            return under
        return "ask" if _denies_once(verdict) else verdict.disclose


NOTHING_SAID = Held()


def say(words: Words, new: Iterable[Said]) -> Words:
    """Return the words with more of them, each without those that it overrules."""
    for word in new:
        words = (*(each for each in words if not word.overrules(each)), word)
    return words


def without(words: Words, names: Iterable[str], pool: str | None) -> Words:
    """Return the words without those on these names that are about no more than a pool."""
    named = frozenset(names)
    return tuple(each for each in words if each.name not in named or not each.within(pool))


def written(words: Words, names: Iterable[str], pool: str | None) -> Words:
    """Return the words once the policy says what shall be of these names: it holds from now on.

    Where an earlier one is about more than the pool, a word says that it is not about this one.
    """
    left = without(words, names, pool)
    above = {each.name for each in left if pool is not None and each.pool is None}
    return say(left, [Said(name, pool, None, firm=True) for name in names if name in above])


def taken_back(words: Words, before: Words, after: Words) -> Words:
    """Return the words without what was said when they changed: what that overruled holds again.

    What was used up since stays used up.
    """
    return tuple(each for each in before if each not in after or each in words)


def held(words: Words, pool: str) -> Mapping[str, Held]:
    """Return the words on each attribute that hold for a pool."""
    found: dict[str, Held] = {}
    for each in words:
        if each.pool in (None, pool):
            before = found.get(each.name, NOTHING_SAID)
            found[each.name] = Held(each) if each.firm else before._replace(verdict=each)
    return found


def overlaid(terms: Terms, words: Words, pool: str) -> Terms:
    """Return the terms for a pool with the user's words on what is ruled of its attributes.

    A guarded attribute stays guarded. What is denied once still waits: it leaves in no case, and
    that the request would have asked is seen in its decision.
    """
    if terms.ruling is None:
        return terms
    said = {name: _changed(each, terms.ruling, name) for name, each in held(words, pool).items()}
    new = {name: value for name, value in said.items() if value is not None}
    if not new:
        return terms

    def named(before: frozenset[str], value: Disclose) -> frozenset[str]:
        return before.difference(new).union(name for name in new if new[name] == value)

    return replace(
        terms,
        excluded=named(terms.excluded, "never"),
        ask=named(terms.ask, "ask"),
        always=named(terms.always, "always"),
        ruling=_spoken(terms.ruling, new),
    )


def used_up(words: Words, decision: Decision, ruling: Ruling) -> Words:
    """Return the words without what was said once and held for this decision.

    An approval is used up when the attribute leaves to a pool that does not hold it yet, a denial
    when it would have been asked for, a firm word when it changed what was decided by.
    """
    if not any(each.once for each in words):
        return words
    valid = held(words, ruling.pool)
    told = {each.name for each in decision.candidates if each.disclosed and each.reason != KNOWN}
    asked = {name for name in told & valid.keys() if _asks(valid[name], ruling, name)}
    asked |= denied_once(words, decision, ruling.pool)
    used = [verdict for name in asked if (verdict := valid[name].verdict) and verdict.once]
    if decision.status == "decided":
        firm = [each.firm for each in valid.values() if each.firm and each.firm.once]
        used += [each for each in firm if _changes(each, words, ruling)]
    return tuple(each for each in words if each not in used)


def basis_of(ruling: Ruling, name: str) -> Basis | None:
    """Return what is ruled of an attribute, None where no word can change it: it is guarded."""
    verdicts = ruling.attributes.get(name)
    disclose = None if verdicts is None else RULED.get(may(verdicts))
    if verdicts is None or disclose is None:
        return None
    return Basis(disclose, verdicts["disclose"].rule.name)


def unasked(words: Words, ruling: Ruling) -> frozenset[str]:
    """Return the attributes that would not wait, by the words and what is ruled of a request."""
    valid = held(words, ruling.pool)
    ruled = {name: basis_of(ruling, name) for name in ruling.attributes}
    return frozenset(
        name
        for name, value in ruled.items()
        if value is None or valid.get(name, NOTHING_SAID).value(value) != "ask"
    )


def denied_once(words: Words, decision: Decision, pool: str) -> frozenset[str]:
    """Return what waits in a decision and was denied for this one time."""
    waiting = decision.pending.names if decision.pending else ()
    valid = held(words, pool)
    said = {name: valid[name].verdict for name in waiting if name in valid}
    return frozenset(name for name, word in said.items() if word and _denies_once(word))


def _denies_once(word: Said) -> bool:
    return word.once and word.disclose == DENIED


def _changed(said: Held, ruling: Ruling, name: str) -> Disclose | None:
    """Return what holds of an attribute by the words on it, None where that is ruled already."""
    ruled = basis_of(ruling, name)
    if ruled is None:
        return None
    value = said.value(ruled)
    return None if value == ruled.disclose else value


def _asks(said: Held, ruling: Ruling, name: str) -> bool:
    """Return whether an attribute would wait but for the last verdict on it."""
    ruled = basis_of(ruling, name)
    return ruled is not None and said.under(ruled) == "ask"


def _changes(word: Said, words: Words, ruling: Ruling) -> bool:
    """Return whether something else would hold without a word."""
    ruled = basis_of(ruling, word.name)
    if ruled is None:
        return False
    rest = tuple(each for each in words if each != word)
    with_it, without_it = (
        held(each, ruling.pool).get(word.name, NOTHING_SAID) for each in (words, rest)
    )
    return with_it.value(ruled) != without_it.value(ruled)


def _spoken(ruling: Ruling, new: Mapping[str, Disclose]) -> Ruling:
    """Return a ruling in which the user's own word decides about some attributes."""
    said = {
        name: {**ruling.attributes[name], "disclose": Verdict(value, SPOKEN)}
        for name, value in new.items()
    }
    return replace(ruling, attributes={**ruling.attributes, **said})
