"""A default sensitivity in bits for the attributes of Table 1 that a survey speaks of."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from math import isfinite, log2
from typing import NamedTuple

from agent import Model
from agent.build.log.schema import BY_LABEL
from agent.errors import UsageError
from agent.lab.questions import survey
from agent.lab.questions.survey import MAPPED, OUTCOMES, SOURCE, adults
from agent.model.model import Figure

# What each level of the second survey wants, which did not ask: the paper's four improvements
# (6.3), in order. Its text bears this out: 54.4 % share DMTL for twice the performance, and 53.7 %
# rate relationship history 3 or below.
PRICES = tuple(log2(factor) for factor in (1.25, 1.5, 2.0, 4.0))
AS_ANSWERED = 1.0
HALF = 0.5  # of the people


class Price(NamedTuple):
    """What an attribute must bring: ``bits``, and whose word that is."""

    bits: float
    source: str


def median_bits(known: Sequence[tuple[float, float]]) -> float | None:
    """Return for how many bits half of the people share, None if more are wanted than is known.

    ``known``: pairs of bits and the share of people who share for so much, both ascending. Nobody
    shares for 0 bits; between what is known the share grows in a straight line.
    """
    bits, shares = 0.0, 0.0
    for next_bits, next_share in known:
        if next_share >= HALF:
            return bits + (next_bits - bits) * (HALF - shares) / (next_share - shares)
        bits, shares = next_bits, next_share
    return None


def stated_prices() -> Mapping[str, Price]:
    """Return the prices by label that the paper's shares come to."""
    source = f"paper {survey.WILLING}"
    bits = {
        each: median_bits([(survey.DOUBLED_BITS, share)])
        for each, share in survey.WOULD_SHARE.items()
    }
    return {label: Price(found, source) for label, found in bits.items() if found is not None}


def rated_prices() -> Mapping[str, Price]:
    """Return the prices by label that the second survey comes to, where an item is mapped."""
    found = {}
    for label, items in MAPPED.items():
        shares = [adults().share(items, level) for level, _ in enumerate(PRICES, start=1)]
        bits = median_bits([*zip(PRICES, shares, strict=True)])
        if bits is not None:
            found[label] = Price(bits, f"{SOURCE}: {', '.join(items)}")
    return found


@cache
def prices() -> Mapping[str, Price]:
    """Return prices by label: the paper's, which asked of that attribute itself, else the other."""
    both = {**rated_prices(), **stated_prices()}
    return {label: both[label] for label in BY_LABEL if label in both}


@cache
def within_outcomes() -> float:
    """Return the largest scale at which the prices contradict nothing in Fig. 11.

    As I is never negative, no set's sensitivity is above its λC = U - F (7.3); and none is above
    that of working hours (6.1), which one of the sets holds.
    """
    bits = {label: price.bits for label, price in prices().items()}
    totals = [(each.cost, sum(bits.get(label, 0.0) for label in each.labels)) for each in OUTCOMES]
    totals += [
        (each.cost, max(bits.values())) for each in OUTCOMES if survey.MOST_SENSITIVE in each.labels
    ]
    return min(cost / total for cost, total in totals if total > 0)


def default_sensitivities(names: Iterable[str], scale: float = AS_ANSWERED) -> dict[str, float]:
    """Return bits by name for those of some attributes that a source speaks of.

    ``names``: of a model's attributes; those of Table 1 go by the names that a log gives them.
    ``scale``: by which all prices are multiplied, AS_ANSWERED or `within_outcomes`, as the
    paper's own sets demand. UsageError if it is negative or not finite.
    """
    if not (isfinite(scale) and scale >= 0):
        raise UsageError(f"a scale cannot be {scale}", "give a number from 0")
    bits = {BY_LABEL[label].name: price.bits * scale for label, price in prices().items()}
    return {name: bits[name] for name in names if name in bits}


def with_default_sensitivities(model: Model, scale: float = AS_ANSWERED) -> Model:
    """Return a model that states the defaults, without a digest, until it is written.

    Its options say where they are from, and the scale.
    """
    bits = default_sensitivities([each.name for each in model.attributes], scale)
    attributes = tuple(
        replace(each, sensitivity=bits.get(each.name, each.sensitivity))
        for each in model.attributes
    )
    options: dict[str, Figure] = {
        **model.options,
        "sensitivities": f"paper 6.1, {SOURCE}",
        "sensitivity_scale": scale,
    }
    return replace(model, attributes=attributes, options=options, digest="")
