"""What the user wants of attributes, and how it applies while the daemon remembers it. Pure.

The later preference counts, whatever it is. A verdict answers a review, and has no effect on an
attribute that is not ruled `ask`; a firm preference holds whatever the policy rules of an
attribute, except for a guard, and a verdict after it is about what it lets wait. It opens an
attribute only against the rule that decided when it was given: where another rule is stricter, for
example one that was written later, that rule holds. A preference for one time is used up by the
next request that it was about, and then the one before it holds again.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple, get_args

from agent.decision.terms import Terms
from agent.decision.values import Decision
from agent.wire.policy import Decided, Disclose, Lasting
from policy.match import Ruling
from policy.precedence import Attributes, Verdict, may
from policy.rules import Layer, Rule

DISCLOSE: Mapping[str, Disclose] = {"approve": "auto", "deny": "never"}
RULED: Mapping[object, Disclose] = {each: each for each in get_args(Disclose)}
OPENNESS: tuple[Disclose, ...] = ("never", "ask", "auto", "always")
OPEN: frozenset[Disclose] = frozenset({"auto", "always"})
OWN_WORD = Rule("your own word", MappingProxyType({}), Layer.FILE, "")  # stands in no file


@dataclass(frozen=True, slots=True)
class Instruction:
    """What the user wants from now on of attributes, for whom and for how long.

    ``host``: canonical, and with it all that it pools with, unless it is for ``everyone``;
    ``names``: of the attributes, each with all that it goes by;
    ``value``: a verdict on a review, what an override sets, or None for nothing at all to this
    recipient; ``query``: of the request that it is about; ``until``: the last day, None for no end.
    """

    host: str
    value: Decided | Disclose | None
    names: Attributes = field(default_factory=dict)
    query: str = ""
    everyone: bool = False
    until: date | None = None
    lasting: Lasting = "always"

    @property
    def disclose(self) -> Disclose | None:
        """What a rule for this says."""
        return DISCLOSE.get(str(self.value)) or RULED.get(self.value)

    @property
    def called(self) -> frozenset[str]:
        """All that any model calls what it is about."""
        return frozenset(chain.from_iterable(each.names for each in self.names.values()))

    @property
    def is_written(self) -> bool:
        """Whether it goes into the policy file."""
        return self.lasting in ("days", "always")

    @property
    def is_entry(self) -> bool:
        """Whether an entry of ``[attributes]`` can say it."""
        return self.everyone and self.value not in ("deny", None) and self.until is None

    def allows(self, ruled: object) -> bool:
        """Return whether it has its effect where this is ruled."""
        return ruled in OPEN if self.value == "approve" else ruled == self.disclose


class Basis(NamedTuple):
    """What a policy rules of an attribute, and the rule that decides so."""

    disclose: Disclose
    rule: str


@dataclass(frozen=True, slots=True)
class Preference:
    """What the user wants of one fact, by its concept; ``pool``: for whom, None for everyone.

    ``disclose``: None for what the policy says, which only a firm preference can want;
    ``against``: the ruling that a firm preference may open; None for any.
    """

    concept: str
    pool: str | None
    disclose: Disclose | None
    once: bool = False
    firm: bool = False
    against: Basis | None = None

    def within(self, pool: str | None) -> bool:
        """Return whether it is about no more than a pool, None for everyone."""
        return pool is None or self.pool == pool

    def replaces(self, other: "Preference") -> bool:
        """Return whether nothing is left of an earlier preference."""
        if other.concept != self.concept or not other.within(self.pool):
            return False
        return (other.once or not self.once) and (self.firm or not other.firm)


Preferences = tuple[Preference, ...]  # the oldest first


class Effective(NamedTuple):
    """The last firm preference on an attribute, and the last verdict after it."""

    firm: Preference | None = None
    verdict: Preference | None = None

    def before_verdict(self, ruled: Basis) -> Disclose:
        """Return what a verdict is about, where a policy rules this."""
        if self.firm is None or self.firm.disclose is None:
            return ruled.disclose
        wanted = self.firm.disclose
        opens = OPENNESS.index(wanted) > OPENNESS.index(ruled.disclose)
        return ruled.disclose if opens and self.firm.against not in (None, ruled) else wanted

    def value(self, ruled: Basis) -> Disclose:
        """Return what holds where a policy rules this: what is denied once still waits."""
        before, verdict = self.before_verdict(ruled), self.verdict
        if before != "ask" or verdict is None or verdict.disclose is None or self.denies_once:
            return before
        return verdict.disclose

    @property
    def denies_once(self) -> bool:
        """Whether the verdict is a denial for one time."""
        verdict = self.verdict
        return verdict is not None and verdict.once and verdict.disclose == "never"


NO_PREFERENCE = Effective()


def remembered(preferences: Preferences, new: Iterable[Preference]) -> Preferences:
    """Return the preferences with more of them, each without those that it replaces."""
    for each in new:
        preferences = (*(old for old in preferences if not each.replaces(old)), each)
    return preferences


def written(preferences: Preferences, names: Attributes, pool: str | None) -> Preferences:
    """Return the preferences once the policy rules on these facts: the policy holds from now on.

    Where an earlier preference is about more than the pool, a new one excepts the pool from it.
    """
    named = dict.fromkeys(each for known in names.values() for each in sorted(known.concepts))
    left = tuple(each for each in preferences if each.concept not in named or not each.within(pool))
    wider = {each.concept for each in left if pool is not None and each.pool is None}
    return remembered(
        left, [Preference(each, pool, None, firm=True) for each in named if each in wider]
    )


def undone(preferences: Preferences, before: Preferences, after: Preferences) -> Preferences:
    """Return the preferences without a change of them: what it replaced holds again.

    What was used up since stays used up.
    """
    return tuple(each for each in before if each not in after or each in preferences)


def effective(preferences: Preferences, pool: str, asked: Attributes) -> Mapping[str, Effective]:
    """Return the preferences on each attribute that hold for a pool, whatever it was called."""
    found: dict[str, Effective] = {}
    for each in preferences:
        if each.pool not in (None, pool):
            continue
        for name in [name for name, known in asked.items() if each.concept in known.concepts]:
            before = found.get(name, NO_PREFERENCE)
            found[name] = Effective(each) if each.firm else before._replace(verdict=each)
    return found


def applied(terms: Terms, preferences: Preferences, pool: str) -> Terms:
    """Return the terms for a pool with the user's preferences on its attributes.

    A guarded attribute stays guarded. What is denied once still waits: it leaves in no case, and
    the decision shows that the request would have asked.
    """
    ruling, new = terms.ruling, dict[str, Disclose]()
    if ruling is None:
        return terms
    for name, each in effective(preferences, pool, ruling.known).items():
        ruled = basis_of(ruling, name)
        if ruled is not None and each.value(ruled) != ruled.disclose:
            new[name] = each.value(ruled)
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
    """Return the preferences without those for one time that held for this decision.

    An approval is used up when the attribute leaves to a pool that does not hold it yet, a denial
    when it would have been asked for, a firm preference when it changed the terms.
    """
    if not any(each.once for each in preferences):
        return preferences
    new = {*decision.disclosed}.difference(decision.again)
    denied, used = denied_once(preferences, decision, ruling), list[Preference]()
    for name, each in effective(preferences, ruling.pool, ruling.known).items():
        ruled, firm, verdict = basis_of(ruling, name), each.firm, each.verdict
        if ruled is None:
            continue
        approved = name in new and each.before_verdict(ruled) == "ask"
        if verdict is not None and verdict.once and (approved or name in denied):
            used.append(verdict)
        if firm is not None and firm.once and decision.code == "answered":
            others = tuple(one for one in preferences if one != firm)
            rest = effective(others, ruling.pool, ruling.known)
            if rest.get(name, NO_PREFERENCE).value(ruled) != each.value(ruled):
                used.append(firm)
    return tuple(each for each in preferences if each not in used)


def basis_of(ruling: Ruling, name: str) -> Basis | None:
    """Return what is ruled of an attribute, None where no preference can change it: a guard."""
    verdicts = ruling.attributes.get(name)
    disclose = None if verdicts is None else RULED.get(may(verdicts))
    if verdicts is None or disclose is None:
        return None
    return Basis(disclose, verdicts["disclose"].rule.name)


def unasked(preferences: Preferences, ruling: Ruling) -> frozenset[str]:
    """Return the attributes that would not wait, by the preferences and a ruling."""
    valid = effective(preferences, ruling.pool, ruling.known)
    ruled = {name: basis_of(ruling, name) for name in ruling.attributes}
    return frozenset(
        name
        for name, value in ruled.items()
        if value is None or valid.get(name, NO_PREFERENCE).value(value) != "ask"
    )


def denied_once(preferences: Preferences, decision: Decision, ruling: Ruling) -> frozenset[str]:
    """Return what waits in a decision and was denied for this one time."""
    waiting = decision.pending.names if decision.pending else ()
    valid = effective(preferences, ruling.pool, ruling.known)
    return frozenset(name for name in waiting if name in valid and valid[name].denies_once)
