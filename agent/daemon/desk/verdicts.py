"""What the user has said of attributes that wait, for as long as the daemon remembers it. Pure.

The later word counts, whatever it says; one that is said once is used up by the next request that
would have asked, and then what was said before it holds again.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from agent.decision.decision import Decision
from agent.decision.terms import Terms
from agent.wire.reviews import Decided
from policy.match import Ruling

KNOWN = "known to the recipient"


@dataclass(frozen=True, slots=True)
class Said:
    """One word of the user on one attribute; ``pool``: for whom, None for everyone."""

    name: str
    pool: str | None
    decided: Decided
    once: bool

    def within(self, pool: str | None) -> bool:
        """Say whether it is about no more than a pool, None for everyone."""
        return pool is None or self.pool == pool


Words = tuple[Said, ...]  # the oldest first


def say(
    words: Words, names: Iterable[str], pool: str | None, decided: Decided, *, once: bool
) -> Words:
    """Return the words with one more for each name, without those that it overrules for good."""
    left = without(words, names, pool, only_once=once)
    return (*left, *(Said(name, pool, decided, once) for name in names))


def without(
    words: Words, names: Iterable[str], pool: str | None, *, only_once: bool = False
) -> Words:
    """Return the words without those on these names that are about no more than a pool."""
    named = frozenset(names)
    return tuple(
        each
        for each in words
        if each.name not in named or not each.within(pool) or (only_once and not each.once)
    )


def overlaid(terms: Terms, words: Words, pool: str) -> Terms:
    """Return the terms for a pool with the words on what is ruled `ask`, and on nothing else.

    What is denied once still waits: it leaves in no case, and that the request would have asked
    is seen in its decision.
    """
    said = {name: word for name, word in _valid(words, pool).items() if name in terms.ask}
    approved = {name for name, word in said.items() if word.decided == "approve"}
    denied = {name for name, word in said.items() if word.decided == "deny" and not word.once}
    if not approved | denied:
        return terms
    ask = terms.ask - approved - denied
    return replace(terms, ask=ask, excluded=terms.excluded | denied)


def used_up(words: Words, decision: Decision, ruling: Ruling) -> Words:
    """Return the words without what was said once and held for this decision.

    An approval is used up when the attribute leaves to a pool that does not hold it yet, a denial
    when it would have been asked for.
    """
    once = {name: word for name, word in _valid(words, ruling.pool).items() if word.once}
    if not once:
        return words
    told = {each.name for each in decision.candidates if each.disclosed and each.reason != KNOWN}
    sent = {name for name in told & once.keys() if _asks(ruling, name)}
    used = [once[name] for name in sent if once[name].decided == "approve"]
    used += [once[name] for name in denied_once(words, decision, ruling.pool)]
    return tuple(each for each in words if each not in used)


def denied_once(words: Words, decision: Decision, pool: str) -> frozenset[str]:
    """Return what waits in a decision and was denied for this one time."""
    waiting = decision.pending.names if decision.pending else ()
    valid = _valid(words, pool)
    return frozenset(
        name for name in waiting if name in valid and valid[name].once and _denied(valid[name])
    )


def _valid(words: Words, pool: str) -> Mapping[str, Said]:
    """Return the last word on each attribute that is about a pool."""
    return {each.name: each for each in words if each.pool in (None, pool)}


def _denied(word: Said) -> bool:
    return word.decided == "deny"


def _asks(ruling: Ruling, name: str) -> bool:
    return name in ruling.attributes and ruling.attributes[name]["disclose"].value == "ask"
