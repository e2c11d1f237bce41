"""Numbers, units and lists as sentences have them, and one plain phrase for each figure."""

from collections.abc import Iterable, Mapping
from datetime import datetime, tzinfo

from agent.wire.decide import CountedAmong

LARGE = 1e6  # bits, from which on decimals say nothing
DECIMALS, MOST_DECIMALS = 3, 6
WHOLE = 9.95  # people, from which on a decimal says nothing
UNKNOWN = "-"  # in place of a figure that nobody knows

MEASURED: Mapping[str, str] = {
    "maxprob": "chance that one guess finds you",
    "k-anonymity": "share of people who blend in with too few others",
    "entropy": "bits of information about who you are",
    "log-maxprob": "points of how well you stand out",
}
CHANCES = ("maxprob", "k-anonymity")  # measures that are shares, and so read in per cent
HELPS = "bits better served: with 1 bit, the right result is twice as easy to find"
COSTS = "what your rules charge for it, in the same bits"
LEFT = "people who still look like you to the recipient"


def listed(names: Iterable[str], nothing: str = "", most: int | None = None) -> str:
    """Return names as a sentence has them: a, b and c; with ``most``: the first, and n more."""
    found = [*names]
    if most is not None and len(found) > most:
        found = [*found[:most], f"{len(found) - most} more"]
    if len(found) < 2:  # noqa: PLR2004  (no two to join)
        return found[0] if found else nothing
    return f"{', '.join(found[:-1])} and {found[-1]}"


def counted(number: int, one: str, many: str = "") -> str:
    """Return how many there are: 1 entry, 1,200 entries; ``many``: by default with an s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def bits(number: float | None, *, signed: bool = False, decimals: int = DECIMALS) -> str:
    """Return a number of bits with three decimals or three digits."""
    if number is None:
        return UNKNOWN
    if abs(number) >= LARGE:
        return f"{number:+.3g}" if signed else f"{number:.3g}"
    rounded = round(number, decimals) + 0.0  # no negative zero
    return f"{rounded:+.{decimals}f}" if signed and rounded else f"{rounded:.{decimals}f}"


def apart(one: float | None, other: float | None) -> int:
    """Return how many decimals tell two numbers apart, within reason."""
    for decimals in range(DECIMALS, MOST_DECIMALS):
        if bits(one, decimals=decimals) != bits(other, decimals=decimals):
            return decimals
    return DECIMALS if one == other else MOST_DECIMALS


def people(number: float | None) -> str:
    """Return how many people; an expected number has a decimal where it is small."""
    if number is None:
        return UNKNOWN
    return f"{number:,.0f}" if number >= WHOLE or number == int(number) else f"{number:.1f}"


def rough(number: float) -> str:
    """Return an estimated number of people: two digits of it are worth saying."""
    return people(float(f"{number:.2g}") if number >= WHOLE else number)


def of_whom(number: float, among: CountedAmong | None = None) -> str:
    """Return how many of which people: 303 of the 18,991 people of the survey.

    An estimate is of all people there are: 41,000 people of the US.
    """
    if among is None:
        return f"{people(number)} people"
    if among.estimated:
        return f"{rough(number)} {among.people}"
    return f"{people(number)} of the {people(among.count)} {among.people}"


def counted_among(found: Iterable[CountedAmong | None]) -> str:
    """Return of whom numbers of people are: the 18,991 people of the survey; nothing if of many."""
    distinct = {(each.people, each.count, each.estimated) for each in found if each is not None}
    if len(distinct) != 1:
        return ""
    who, count, estimated = distinct.pop()
    return f"about {rough(count)} {who}" if estimated else f"the {people(count)} {who}"


def alike(left: float, before: float | None = None, among: CountedAmong | None = None) -> str:
    """Return how many people look like the user still; ``before``: how many did until now."""
    estimated = among is not None and among.estimated
    if not left:
        return "nobody looks like you"
    if before is not None and people(left) == people(before):
        if among is None or not estimated:
            return f"all {people(left)} people who looked like you still do"
        return f"about {of_whom(left, among)} look like you, as before"
    if people(left) == "1":
        return "perhaps nobody else looks like you" if estimated else "only 1 person looks like you"
    return f"about {of_whom(left, among)} still look like you"


def measured(value: float, metric: str, decimals: int = 2) -> str:
    """Return a level of identifiability, or a difference, in its unit: chances in per cent."""
    return f"{100 * value:.{decimals}f} %" if metric in CHANCES else f"{value:.3g}"


def added_risk(value: float, metric: str, decimals: int = 2) -> str:
    """Return a cost in identifiability as a phrase: 0.08 % more chance of a right guess."""
    return f"{measured(value, metric, decimals)} more {MEASURED[metric]}"


def number(trade_off: float) -> str:
    """Return λ with three digits, or as a whole number."""
    return f"{trade_off:,.0f}" if 1000 <= trade_off < LARGE else f"{trade_off:.3g}"  # noqa: PLR2004  (from four digits on)


def moment(at: datetime, zone: tzinfo | None = None) -> str:
    """Return a time to the minute, where the user lives; ``zone``: by default that of here."""
    return f"{at.astimezone(zone):%Y-%m-%d %H:%M}"
