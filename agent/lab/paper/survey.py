"""Two surveys: the paper's (6, Figs. 1-5), and how sensitive adults find 33 kinds of information.

Of the paper's, only what its text says, and answers made up like them. What the figures draw and
the text does not say (the mean sensitivity of each attribute, of each precision of age and
location, the quartiles of Fig. 5) is absent here. Of the other, the ratings of 1,450 people. From
both, a default sensitivity in bits for the attributes of Table 1 that one of them speaks of.
"""

import csv
import gzip
import tomllib
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from io import StringIO
from math import inf, log2
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agent.build.log_schema import BY_LABEL, TOPIC
from agent.errors import UsageError
from agent.model.model import Figure, Model
from agent.tradeoff.study import IMPROVEMENTS
from agent.tradeoff.tables import Indexes

RESPONSES = 1451  # 6
TRADE_OFF = 5.12  # 7.2: the least-squares alignment of Fig. 8(b), "approximately"
KNEE = (1.0, 10.0)  # 7.2: of the trade-off curve of Fig. 8(a), in λ
DOUBLED_BITS = 1.0  # 7.2: "doubling the search performance would require 1 bit"
SPREAD = 0.3  # of ln bits, from person to person
BEYOND = 4.0  # bits: who wants so much or more would never share, as fourfold is the most offered
_BITS = tuple(BEYOND if each == inf else log2(each) for each in IMPROVEMENTS.values())
_STATED = tomllib.loads((files("agent.lab.questions") / "stated.toml").read_text("utf-8"))
# 6.1, Fig. 1: the shares who would tell the search engine if that would "double search
# performance". 6.1 has 64 % and 63.9 % for DOCC: the same, rounded. That 92.7 % "would rather
# share" DREG than TNWS stands among the results of this question; it is taken as one.
WOULD_SHARE: Mapping[str, float] = MappingProxyType(_STATED["would_share"])
MOST_SENSITIVE = "AWHR"  # 6.1
SOURCE = "adults_2020"
MOST = 4  # very sensitive; 1 is not at all
_MEND = "get the file anew from where this version of Reticent came from"
# The items that speak of an attribute of Table 1; the highest level among them counts, person by
# person. SOURCES.md says why these, and why none for the others.
MAPPED = MappingProxyType({label: tuple(each) for label, each in _STATED["mapped"].items()})
# What each level of the second survey wants, which did not ask: the paper's four improvements
# (6.3), in order. Its text bears this out: 54.4 % share DMTL for twice the performance, and 53.7 %
# rate relationship history 3 or below.
PRICES = tuple(log2(factor) for factor in (1.25, 1.5, 2.0, 4.0))
HALF = 0.5  # of the people


class PublishedSet(NamedTuple):
    """A set of Fig. 11 (7.3): its utility in bits, or a ``bound`` above it, and its F."""

    name: str
    labels: Sequence[str]
    utility: float
    score: float
    bound: bool = False

    @property
    def cost(self) -> float:
        """λC in bits, U - F: as I is never negative, no sensitivity of the set is above it."""
        return self.utility - self.score


TOPICS = tuple(each.label for each in TOPIC)
OUTCOMES = tuple(PublishedSet(**{"labels": TOPICS, **each}) for each in _STATED["outcomes"])


def made_answers(
    costs: Mapping[str, float], people: int, seed: int, trade_off: float = TRADE_OFF
) -> Indexes:
    """Make up answers as people would give them if λ were so; the paper's are not public.

    Whoever shows a result of them says that they are made up. The same seed gives the same. Returns
    intp, shape (people, costs), the level of sensitivity of each, whose improvement is that of the
    same place in IMPROVEMENTS.

    ``costs``: identifiability by precision of a place, I less I of nothing. Each person wants λI
    bits times a factor of their own, whose median is 1, and ticks what is nearest in ratio.
    UsageError for a λ that is negative or not finite.
    """
    if not 0 <= trade_off < inf:
        raise UsageError(f"lambda cannot be {trade_off}", "give a number from 0")
    draw = np.random.default_rng(seed)
    factors = (trade_off * np.exp(SPREAD * draw.standard_normal(people))).tolist()

    def level(bits: float) -> int:
        ratios = [abs(log2(max(bits, _BITS[0]) / each)) for each in _BITS]
        return 1 + ratios.index(min(ratios))

    levels = [[level(factor * cost) for cost in costs.values()] for factor in factors]
    return np.array(levels, dtype=np.intp)


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """``levels``: uint8 (people, items), 1 to MOST, read-only; ``items`` names the columns."""

    items: tuple[str, ...]
    levels: NDArray[np.uint8]

    def of(self, items: Sequence[str]) -> NDArray[np.uint8]:
        """Find for each person the highest level among some items."""
        places = [self.items.index(item) for item in items]
        highest: NDArray[np.uint8] = self.levels[:, places].max(axis=1)
        return highest

    def share(self, items: Sequence[str], level: int) -> float:
        """Compute the share of people who rate the highest of some items at a level or below."""
        return float(np.mean(self.of(items) <= level))


@cache
def adults() -> Ratings:
    """Read the ratings that come with Reticent."""
    path = files("agent.lab.questions") / SOURCE / "responses.csv.gz"
    return ratings_in(path.read_bytes())


def ratings_in(data: bytes) -> Ratings:
    """Read the ratings in a csv.gz: a header of items, a row per person.

    UsageError if it is no such file, or where a row or a level is none.
    """
    try:
        text = gzip.decompress(data).decode()
        header, *rows = csv.reader(StringIO(text), strict=True)
        levels = np.array([[int(level) for level in row] for row in rows], dtype=np.intp)
    except (OSError, EOFError, zlib.error, csv.Error, ValueError, OverflowError) as error:
        raise UsageError("this is no table of ratings", _MEND, SOURCE) from error
    if levels.shape != (len(rows), len(header)) or not rows or len({*header}) < len(header):
        raise UsageError("the table of ratings has no rows, or odd ones", _MEND, SOURCE)
    if levels.min() < 1 or levels.max() > MOST:
        raise UsageError(f"a rating is not from 1 to {MOST}", _MEND, SOURCE)
    small = levels.astype(np.uint8)
    small.setflags(write=False)
    return Ratings(tuple(header), small)


def median_bits(points: Sequence[tuple[float, float]]) -> float | None:
    """Find for how many bits half of the people share, None if more are wanted than is known.

    ``points``: pairs of bits and the share of people who share for so much, both ascending. Nobody
    shares for 0 bits; between what is known the share grows in a straight line.
    """
    bits, shares = 0.0, 0.0
    for next_bits, next_share in points:
        if next_share >= HALF:
            return bits + (next_bits - bits) * (HALF - shares) / (next_share - shares)
        bits, shares = next_bits, next_share
    return None


def stated_prices() -> Mapping[str, float]:
    """Compute the bits by label that the paper's shares come to (6.1)."""
    bits = {each: median_bits([(DOUBLED_BITS, share)]) for each, share in WOULD_SHARE.items()}
    return {label: price for label, price in bits.items() if price is not None}


def rated_prices() -> Mapping[str, float]:
    """Compute the bits by label that the second survey comes to, where an item is mapped."""
    by_label = {}
    for label, items in MAPPED.items():
        shares = [adults().share(items, level) for level, _ in enumerate(PRICES, start=1)]
        bits = median_bits([*zip(PRICES, shares, strict=True)])
        if bits is not None:
            by_label[label] = bits
    return by_label


@cache
def prices() -> Mapping[str, float]:
    """Choose bits by label: the paper's, which asked of that attribute itself, else the other's."""
    both = {**rated_prices(), **stated_prices()}
    return {label: both[label] for label in BY_LABEL if label in both}


@cache
def within_outcomes() -> float:
    """Find the largest scale at which the prices contradict nothing in Fig. 11.

    As I is never negative, no set's sensitivity is above its λC = U - F (7.3); and none is above
    that of working hours (6.1), which one of the sets holds.
    """
    bits = prices()
    totals = [(each.cost, sum(bits.get(label, 0.0) for label in each.labels)) for each in OUTCOMES]
    totals += [
        (each.cost, max(bits.values())) for each in OUTCOMES if MOST_SENSITIVE in each.labels
    ]
    return min(cost / total for cost, total in totals if total > 0)


def default_sensitivities(names: Iterable[str]) -> dict[str, float]:
    """Look up the bits by name for those of some attributes that a source speaks of.

    ``names``: of a model's attributes; those of Table 1 go by the names that a log gives them. The
    prices are scaled as the paper's own sets demand.
    """
    bits = {BY_LABEL[label].name: each * within_outcomes() for label, each in prices().items()}
    return {name: bits[name] for name in names if name in bits}


def with_default_sensitivities(model: Model) -> Model:
    """Make a model that states the defaults, without a digest, until it is written.

    Its options say where they are from, and the scale.
    """
    bits = default_sensitivities([each.name for each in model.attributes])
    attributes = tuple(
        replace(each, sensitivity=bits.get(each.name, each.sensitivity))
        for each in model.attributes
    )
    options: dict[str, Figure] = {
        **model.options,
        "sensitivities": f"paper 6.1, {SOURCE}",
        "sensitivity_scale": within_outcomes(),
    }
    return replace(model, attributes=attributes, options=options, digest="")
