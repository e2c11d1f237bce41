"""Fitting a query: beta, the weight of its prior; prices; a trial by halves (DESIGN.md 2.1).

The best of many sets looks better than it is, the more so the fewer rows there are. So every
attribute has a price, in bits, that it has to bring on top of what it costs: as if LUCKY of the
rows, and FEW more, had each scored one standard deviation too high. Luck with attributes that tell
nothing falls as 1/rows, and so does the price. A small beta trusts small groups and pays more:
prices differ by beta, and the choice of beta counts them. Promises came true for people held out
at prices of 14, 18, 22, 24 and 27 lucky rows where there were 100, 200, 500, 1,000 and 3,000, much
the same on the developer survey, the time use survey and a synthetic log, and with 5 attributes as
with 42.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from agent.build.canonical import Observed
from agent.build.observe import Observations, in_half_a
from agent.model.model import Figure
from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.counts import heldout_bits
from agent.tradeoff.grouping import row_columns
from agent.tradeoff.objective import DisclosureObjective, Settings
from agent.tradeoff.search import maximise
from agent.tradeoff.tables import Floats, Kinds, Population, QueryRows
from agent.tradeoff.utility import (
    MOST_PRICE,
    Estimator,
    LeaveOneUserOut,
    Priced,
    QueryUtility,
    query_utility,
)

MANY_ROWS = 1_000_000  # from here on, the halves are so large that one direction says enough
SHRINKAGES = (5.0, 10.0, 20.0, 50.0, 100.0, 200.0)
LUCKY, FEW = 25.0, 75.0  # rows
AHEAD = 6_000  # rows that take as long as what does not grow with a query's
Advance = Callable[[float], None]
T = TypeVar("T")
TRADE_OFF = 1.0  # lambda at which beta is chosen, and a model validated


class Fitted(NamedTuple):
    """A query at the ``shrinkage`` beta chosen for it, in rows.

    ``utility``: before prices; ``prices``: of the attributes, bits, None for ``plugin``;
    ``deviation``: the largest that scores have by an attribute, bits, 0 for ``plugin``;
    ``objective``: F, prices included, for a recipient that knows nothing, at TRADE_OFF with
    ``maxprob`` and everything else at its default; it remembers what it has evaluated.
    """

    shrinkage: float
    utility: QueryUtility
    prices: Floats | None
    deviation: float
    objective: DisclosureObjective

    def pairs(self, count: int) -> Floats:
        """U of each two attributes, in bits, float64; ``count``: of attributes."""
        some = (self.utility.extensions(1 << at, range(at + 1, count)) for at in range(count))
        return np.fromiter(chain.from_iterable(some), np.float64)


def fit(
    rows: QueryRows, people: AnonymitySet, estimator: Estimator, shrinkage: float | None
) -> Fitted:
    """Fit a query at a given shrinkage, in rows, or for None at the best of SHRINKAGES.

    The best has the largest F that greedy search finds; of equals, it is the largest.
    ``people``: the whole population. Source: DESIGN.md 2.1.
    """
    if shrinkage is not None:
        utility = query_utility(rows, people.cards, estimator, shrinkage)
        return _fitted(shrinkage, utility, len(rows.user), people)
    first = query_utility(rows, people.cards, estimator, SHRINKAGES[0])
    fitted = [_fitted(each, first.at(each), len(rows.user), people) for each in SHRINKAGES]
    return max(reversed(fitted), key=lambda each: maximise(each.objective, "greedy").value)


def _fitted(shrinkage: float, utility: QueryUtility, rows: int, people: AnonymitySet) -> Fitted:
    prices, deviation = None, 0.0
    if isinstance(utility, LeaveOneUserOut):
        deviations = utility.deviations()
        prices = np.minimum(LUCKY / (rows + FEW) * deviations, MOST_PRICE)
        deviation = float(deviations.max())
    count = len(people.cards)
    settings = Settings(
        candidates=(1 << count) - 1, sensitivity=(0.0,) * count, trade_off=TRADE_OFF
    )
    corrected = utility if prices is None else Priced(utility, prices)
    objective = DisclosureObjective(corrected, people, settings)
    return Fitted(shrinkage, utility, prices, deviation, objective)


class HalfTrial(NamedTuple):
    """The set chosen for one query on one half of the users, and its score on the other.

    ``predicted_bits``: its utility by the model of that half; ``heldout_bits``: for the other half;
    ``attributes``: how many it has; ``identifiability_cost``: I(A) - I(0).
    """

    predicted_bits: float
    heldout_bits: float
    attributes: float
    identifiability_cost: float


def mean(trials: Iterable[HalfTrial | None]) -> HalfTrial | None:
    """The plain mean of each figure over the trials, None where there is no trial."""
    tried = [trial for trial in trials if trial is not None]
    return HalfTrial(*np.mean(tried, axis=0).tolist()) if tried else None


def figures(trials: Sequence[HalfTrial | None]) -> dict[str, Figure]:
    """The figures that a model keeps about all of its queries."""
    average = mean(trials)
    if average is None:
        return {}
    tried = sum(trial is not None for trial in trials)
    return {"trade_off": TRADE_OFF, "queries": tried, **average._asdict()}


def validate(
    observations: Observations,
    key: bytes,
    estimator: Estimator,
    shrinkage: float | None,
    advance: Advance,
) -> tuple[HalfTrial | None, ...]:
    """Split the users in two by ``key``, build from one half and score it on the other.

    Returns the trial of each query, None where one of the halves says nothing about it. Below
    MANY_ROWS the halves then change places, and figures are means of both directions.
    ``shrinkage``: beta, or None to choose it on the half that is built from; ``advance`` is
    called with the share done. Trade-off 1, everything else at its default. Source: DESIGN.md 2.1.
    """
    half = in_half_a(observations.users, key)
    rows = [len(query.rows.user) for query in observations.queries]
    sides = (half, ~half) if sum(rows) < MANY_ROWS else (half,)
    trained = [(side, _people(observations, side)) for side in sides if side.any()]

    return tuple(
        mean(_trial(query, *each, estimator, shrinkage) for each in trained)
        for query in passing(observations.queries, rows, advance)
    )


def passing(items: Sequence[T], rows: Sequence[int], advance: Advance) -> Iterator[T]:
    """Yield items, and tell before each which share of the time has passed: it grows with rows.

    The first one has no share: what it makes serves the others.
    """
    shares = np.array([0, *(AHEAD + each for each in rows[1:])])
    passed = (np.cumsum(shares) - shares) / max(shares.sum(), 1)
    for item, share in zip(items, passed.tolist(), strict=True):
        advance(share)
        yield item
    advance(1.0)


def _people(observations: Observations, side: NDArray[np.bool_]) -> AnonymitySet:
    """The users of one side, who stand for as many people as all do."""
    population = observations.population
    counts = tuple(Kinds(each.counts, each.of_row[side]) for each in population.requests)
    weights = population.weights
    if weights is not None:
        weights = weights[side] * (weights.sum() / weights[side].sum())
    return AnonymitySet(Population(population.codes[side], weights, counts), observations.cards)


def _trial(
    query: Observed,
    side: NDArray[np.bool_],
    people: AnonymitySet,
    estimator: Estimator,
    shrinkage: float | None,
) -> HalfTrial | None:
    """Build from the users of one side, and score the set that LLS picks."""
    training = query.part(side)
    if training is None:
        return None
    fitted = fit(training.rows, people, estimator, shrinkage)
    objective = fitted.objective
    mask, rows = maximise(objective, "lls").mask, query.rows
    groups = row_columns(rows, people.cards).dense[mask].labels
    trained = side[query.people][rows.user]
    score = heldout_bits(rows.intent, trained, fitted.shrinkage, groups)
    if score is None:
        return None
    cost = objective.identifiability_cost(mask)
    return HalfTrial(objective.utility(mask), score, mask.bit_count(), cost)
