"""Numbers, units and lists as sentences have them, and one plain phrase for each figure."""

from collections.abc import Iterable, Mapping
from datetime import datetime, tzinfo
from math import log

from agent.decision.values import CROWD, PRICED, CountedAmong, Fact

MILLION = 1_000_000
LARGE_CROWD = 999.5  # people, from which on two digits are worth saying
DECIMALS = 3
WHOLE = 9.95  # people, from which on a decimal says nothing
UNKNOWN = "-"  # in place of a figure that nobody knows

MEASURED: Mapping[str, str] = {
    "maxprob": "chance that one guess finds you",
    "k-anonymity": "share of people who blend in with too few others",
    "entropy": "bits of information about who you are",
    "log-maxprob": "points of how well you stand out",
}
RARE, FREQUENT = 1e-3, 0.1  # chances, below which 1 in N says more; from which on one decimal does
CHANCES = ("maxprob", "k-anonymity")  # measures that are shares, and so read in per cent
HELPS = "bits more useful: with 1 bit, the right result is twice as easy to find"
# How sensitive a fact is, from level 1 to 5 in bits, by whom one would tell it.
SENSITIVITIES: Mapping[str, float] = {
    "anybody": 0.02,
    "most people": 0.05,
    "some people": 0.12,
    "few people": 0.3,
    "nobody": 0.6,
}


def listed(names: Iterable[str], nothing: str = "", most: int | None = None) -> str:
    """Join names as a sentence has them: a, b and c; with ``most``: the first, and n more."""
    parts = [*names]
    if most is not None and len(parts) > most:
        parts = [*parts[:most], f"{len(parts) - most} more"]
    if len(parts) < 2:  # noqa: PLR2004  (no two to join)
        return parts[0] if parts else nothing
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def removes(own: Iterable[Fact], *, masked: bool = False) -> str:
    """Say which own words a change would remove, "" for none; ``masked``: without them."""
    words = listed("***" if masked else repr(each.words) for each in own)
    return words and f"This removes what you said in your own words: {words}."


def counted(number: int, one: str, many: str = "") -> str:
    """Say how many there are: 1 entry, 1,200 entries; ``many``: by default with an s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def bits(number: float | None, *, signed: bool = False, decimals: int = DECIMALS) -> str:
    """Write a number of bits with three decimals or three digits."""
    if number is None:
        return UNKNOWN
    if abs(number) >= MILLION:  # decimals say nothing
        return f"{number:+.3g}" if signed else f"{number:.3g}"
    rounded = round(number, decimals) + 0.0  # no negative zero
    return f"{rounded:+.{decimals}f}" if signed and rounded else f"{rounded:.{decimals}f}"


def sensitivity(number: float) -> str:
    """Write a sensitivity in bits, and say whom one would tell what has about as much."""
    return f"{bits(number)} bits" + (f" (you would tell {whom(number)})" if number > 0 else "")


def whom(number: float) -> str:
    """Say whom one would tell what has about as many bits, above 0."""
    return min(SENSITIVITIES, key=lambda each: abs(log(SENSITIVITIES[each] / number)))


def useful(number: float, *, signed: bool = False) -> str:
    """Write a utility, or a difference of utilities, in bits with its unit."""
    much = bits(number, signed=signed)
    return f"{much.removeprefix('-')} bits {'less' if much.startswith('-') else 'more'} useful"


def people(number: float | None) -> str:
    """Say how many people, of large numbers two digits: 41,000, 6.3 million.

    An expected number has a decimal where it is small.
    """
    if number is None:
        return UNKNOWN
    if number < LARGE_CROWD:
        return f"{number:,.0f}" if number >= WHOLE or number == int(number) else f"{number:.1f}"
    rounded = float(f"{number:.2g}")
    return f"{rounded / MILLION:,g} million" if rounded >= MILLION else f"{rounded:,.0f}"


def rarity(share: float) -> str:
    """Say how many of some people a share is: 1 in 20, or 60% from one half on."""
    return f"1 in {people(round(1 / share))}" if 2 * share < 1 else f"{share:.0%}"


def of_whom(number: float, among: CountedAmong | None = None) -> str:
    """Say how many of which people: 303 of the 18,991 people of the survey, which are counted.

    An estimate is of all people there are: 41,000 people of the US. Whoever ends the sentence adds
    `proviso`.
    """
    if among is None or among.estimated:
        return f"{people(number)} {'people' if among is None else among.people}"
    remaining = people(number) if number < LARGE_CROWD else f"{number:,.0f}"
    return f"{remaining} of the {among.count:,} {among.people}"


def proviso(among: CountedAmong | None) -> str:
    """Say on what condition numbers of people hold: none where these people were counted."""
    return f", if facts are as common there as in {among.as_in}" if among and among.as_in else ""


def counted_among(groups: Iterable[CountedAmong | None]) -> str:
    """Say of whom numbers of people are: the 18,991 people of the survey; nothing if of many."""
    distinct = {each for each in groups if each is not None}
    if len(distinct) != 1:
        return ""
    [whole] = distinct
    count = f"about {people(whole.count)}" if whole.estimated else f"the {whole.count:,}"
    return f"{count} {whole.people}{proviso(whole)}"


def alike(
    people_left: float, before: float | None = None, among: CountedAmong | None = None
) -> str:
    """Say how many people look like the user still; ``before``: how many did until now."""
    estimated = among is not None and among.estimated
    if not people_left:
        return "nobody looks like you"
    if before is not None and round(people_left) == round(before):
        return f"about {of_whom(people_left, among)} look like you, as before{proviso(among)}"
    if people(people_left) == "1":
        return "perhaps nobody else looks like you" if estimated else "only 1 person looks like you"
    return f"about {of_whom(people_left, among)} still look like you{proviso(among)}"


def would_bring(gain: float | None, people_left: float | None) -> str:
    """Say how much what is not sent yet would help, and leave of people, as far as it is known."""
    help_ = "" if gain is None else useful(gain, signed=True)
    rest = "" if people_left is None else f"about {people(people_left)} people expected to be left"
    return ", ".join(filter(None, (help_, rest)))


def measured(value: float, metric: str) -> str:
    """Write a level of identifiability, or a difference, in its unit: 0.08 %, or 1 in 820,000."""
    if metric not in CHANCES or not value:
        return f"{value:.3g}" if metric not in CHANCES else "0 %"
    if metric == "maxprob" and value < RARE:
        return f"1 in {people(1 / value)}"
    return f"{100 * value:.{1 if value >= FREQUENT else 2}f} %"


def added_risk(value: float, metric: str) -> str:
    """Write a cost in identifiability as a phrase: 0.08 % more chance of a right guess."""
    if not value:
        return "nothing"
    if metric == "maxprob":
        return f"a {measured(value, metric)} higher {MEASURED[metric]}"
    return f"{measured(value, metric)} more {MEASURED[metric]}"


def number(value: float) -> str:
    """Write a price with three digits, or as a whole number."""
    return f"{value:,.0f}" if 1000 <= value < MILLION else f"{value:.3g}"  # noqa: PLR2004  (from four digits on)


def price(trade_off: float, metric: str = "maxprob") -> str:
    """Write λ as the price of anonymity, in bits; as it is where no people are counted."""
    return number(trade_off / CROWD if metric in PRICED else trade_off)


def demand(trade_off: float, metric: str = "maxprob") -> str:
    """Say how much an answer must help, by how many people then look like the user."""
    if metric not in PRICED:
        return f"1 more {MEASURED.get(metric, metric)} must help by {number(trade_off)} bits"
    one, twice = (price(times * trade_off) for times in (1, 2))
    return (
        f"an answer that leaves only {CROWD:,} people like you must help by {one} "
        f"{'bit' if one == '1' else 'bits'}, one that leaves {CROWD // 2} by {twice}"
    )


def moment(at: datetime, zone: tzinfo | None = None) -> str:
    """Write a time to the minute, where the user lives; ``zone``: by default that of here."""
    return f"{at.astimezone(zone):%Y-%m-%d %H:%M}"
