"""Who decides a setting among the rules that hold (FORMAT.md, "Which rule decides")."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from policy.rules import Reach, Rule
from policy.settings import Value


class Verdict(NamedTuple):
    """A value, the rule that decided it, and the rules that lost to it."""

    value: Value
    rule: Rule
    lost: tuple[Rule, ...] = ()


Verdicts = Mapping[str, Verdict]
GUARDED = "guarded"


class Claim(NamedTuple):
    """A rule that holds, how specific it is here, what it sets, and how strict that is."""

    rule: Rule
    reach: Reach
    value: Value
    strictness: float


class Standing(NamedTuple):
    """What is decided among the rules that always hold, and which of these no other beats."""

    verdict: Verdict
    unbeaten: tuple[Claim, ...]


def may(verdicts: Verdicts) -> str:
    """Return what may happen to an attribute: how it is disclosed, or that it is guarded."""
    guard = verdicts.get("guard")
    if guard is not None and float(guard.value) > 0:
        return GUARDED
    return str(verdicts["disclose"].value)


def standing(claims: Sequence[Claim]) -> Standing:
    """Return what is decided by one claim or more."""
    unbeaten = [*claims]
    for other in claims:
        unbeaten = [claim for claim in unbeaten if not _beats(other, claim)]
    best = max(unbeaten, key=lambda claim: claim.strictness)  # the first of equals
    lost = tuple(claim.rule for claim in claims if claim is not best)
    return Standing(Verdict(best.value, best.rule, lost), tuple(unbeaten))


def joined(before: Standing | None, claims: Sequence[Claim]) -> Verdict:
    """Return what is decided when claims join those that always hold.

    What these have beaten stays beaten: whatever beats the rule that beat it beats it as well.
    """
    if before is None:
        return standing(claims).verdict
    if len(claims) == len(before.unbeaten) == 1:  # as nearly always
        (best, (own,)), (claim,) = before, claims
        stricter = claim.strictness > own.strictness
        if _beats(claim, own) or (stricter and not _beats(own, claim)):
            return Verdict(claim.value, claim.rule, (best.rule, *best.lost))
        return Verdict(best.value, best.rule, (*best.lost, claim.rule))
    return _joined(before, claims)


def _joined(before: Standing, claims: Sequence[Claim]) -> Verdict:
    together = standing((*before.unbeaten, *claims)).verdict
    present = {claim.rule for claim in before.unbeaten}
    beaten = [rule for rule in (before.verdict.rule, *before.verdict.lost) if rule not in present]
    return together._replace(lost=(*beaten, *together.lost))


def _beats(one: Claim, other: Claim) -> bool:
    """Say whether a claim wins whatever its value. What beats the winner beats the loser too.

    In one file, if it is more specific; over a preset, if it is at least as specific.
    """
    layer, its_layer = one[0].layer, other[0].layer
    if layer < its_layer:
        return False
    (recipient, attribute, query), (its_recipient, its_attribute, its_query) = one[1], other[1]
    as_specific = recipient >= its_recipient and attribute >= its_attribute and query >= its_query
    return as_specific and (layer > its_layer or one[1] != other[1])
