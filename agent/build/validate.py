"""Half-and-half validation: what a model of one half promises, and what the other half gets."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from agent.build.canonical import Observed
from agent.build.observe import Observations, in_half_a
from agent.build.shrinkage import TRADE_OFF, fit
from agent.build.stages import IN_ENGINE, Stages
from agent.model.model import Figure
from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.grouping import row_columns
from agent.tradeoff.search import maximise
from agent.tradeoff.tables import Kinds, Population, QueryRows, members, singleton
from agent.tradeoff.utility import Estimator

Indexes = NDArray[np.intp]


MANY_ROWS = 1_000_000  # from here on, the halves are so large that one direction says enough


def heldout_bits(
    rows: QueryRows, trained: NDArray[np.bool_], shrinkage: float, groups: Indexes
) -> float | None:
    """Return the mean of log2 P(x|g) - log2 p0(x) over the held-out rows, in bits.

    ``rows``: of a query, both halves; ``trained``: bool, shape (M,), the rows that are counted;
    ``shrinkage``: beta, in rows; ``groups``: intp, shape (M,), what the attributes tell apart.
    P(x|g) = (c(g,x) + beta p0(x)) / (c(g) + beta), p0(x) = (c(x) + 1/2) / (M + K/2), all counts
    and K of the counted rows. Rows whose intent was not counted are left out; None if that
    leaves none, or if an intent had no chance (beta = 0).
    """
    of_intent = np.bincount(rows.intent[trained], minlength=rows.intents)
    held = ~trained & (of_intent[rows.intent] > 0)
    if not held.any():
        return None
    prior = (of_intent + 0.5) / (trained.sum() + np.count_nonzero(of_intent) / 2)
    expected = prior[rows.intent[held]]
    cells = groups * rows.intents + rows.intent
    same = _occurrences(cells[trained], cells[held])
    others = _occurrences(groups[trained], groups[held])
    # Where beta is 0 and nobody was in the group, nothing but the prior is known.
    known = others + shrinkage > 0
    chance = np.divide(
        same + shrinkage * expected, others + shrinkage, expected.copy(), where=known
    )
    return float(np.log2(chance / expected).mean()) if chance.all() else None


def _occurrences(keys: Indexes, wanted: Indexes) -> Indexes:
    """Return how often each of the ``wanted`` occurs among ``keys``."""
    ordered = np.sort(keys)
    return np.searchsorted(ordered, wanted, "right") - np.searchsorted(ordered, wanted, "left")


class Trial(NamedTuple):
    """The set picked for one query on one half of the users, and what became of it.

    ``predicted_bits``: its utility by the model of that half; ``heldout_bits``: as the other
    half had it; ``attributes``: how many it has; ``identifiability_cost``: I(A) - I(0).
    """

    predicted_bits: float
    heldout_bits: float
    attributes: float
    identifiability_cost: float


def mean(trials: Iterable[Trial | None]) -> Trial | None:
    """Return the plain mean of each figure over the trials, None where there is no trial."""
    tried = [trial for trial in trials if trial is not None]
    return Trial(*np.mean(tried, axis=0).tolist()) if tried else None


def figures(trials: Sequence[Trial | None]) -> dict[str, Figure]:
    """Return the figures that a model keeps about all of its queries."""
    found = mean(trials)
    if found is None:
        return {}
    tried = sum(trial is not None for trial in trials)
    return {"trade_off": TRADE_OFF, "queries": tried, **found._asdict()}


TRIALS = pa.schema([(name, pa.float64()) for name in Trial._fields])


class Fact(NamedTuple):
    """What an attribute adds to the set picked, in bits: ``predicted``, and ``heldout``."""

    predicted: float
    heldout: float


class Training(NamedTuple):
    """Some of the users, to build from, and their part of the population.

    ``chosen``: bool, shape (N,); ``shrinkage``: beta, or None to choose it.
    """

    chosen: NDArray[np.bool_]
    crowd: AnonymitySet
    estimator: Estimator
    shrinkage: float | None

    @classmethod
    def of(
        cls,
        seen: Observations,
        chosen: NDArray[np.bool_],
        estimator: Estimator,
        shrinkage: float | None,
    ) -> "Training":
        """Return the users who are ``chosen``; they stand for as many people as all do."""
        population = seen.population
        counts = tuple(Kinds(each.counts, each.of_row[chosen]) for each in population.requests)
        weights = population.weights
        if weights is not None:
            weights = weights[chosen] * (weights.sum() / weights[chosen].sum())
        people = Population(population.codes[chosen], weights, counts)
        return cls(chosen, AnonymitySet(people, seen.cards), estimator, shrinkage)

    def trial(self, query: Observed, facts: dict[int, Fact] | None = None) -> Trial | None:
        """Build from these users, choice of beta included, and score the set that LLS picks.

        ``facts``: gets what each attribute of the set adds to it, by its index.
        """
        training = query.part(self.chosen)
        if training is None:
            return None
        fitted = fit(training.rows, self.crowd, self.estimator, self.shrinkage)
        objective = fitted.objective
        mask = maximise(objective, "lls").mask
        rows = query.rows
        columns, every = row_columns(rows, self.crowd.cards), np.arange(len(rows.user))
        trained = self.chosen[query.people][rows.user]

        def heldout(mask: int) -> float | None:
            return heldout_bits(rows, trained, fitted.shrinkage, columns.groups(every, mask))

        found = heldout(mask)
        if found is None:
            return None
        predicted = objective.utility(mask)
        if facts is not None:
            for each in members(mask):
                less = mask & ~singleton(each)
                left = heldout(less) if less else None  # nothing helps by 0 bits
                facts[each] = Fact(predicted - objective.utility(less), found - (left or 0.0))
        trial = Trial(predicted, found, mask.bit_count(), objective.identifiability_cost(mask))
        objective.forget()
        return trial


def validate(
    observations: Observations,
    key: bytes,
    estimator: Estimator,
    shrinkage: float | None,
    advance: Callable[[float], None],
    stages: Stages = IN_ENGINE,
) -> tuple[Trial | None, ...]:
    """Split the users in two by ``key``, build from one half and score it on the other.

    Returns the trial of each query, None where one of the halves says nothing about it. Below
    MANY_ROWS the halves then change places, and figures are means of both directions.
    ``shrinkage``: beta, or None to choose it on the half that is built from; ``advance`` is
    called with the share done; ``stages``: what is done already. Trade-off 1, everything else at
    its default. Source: DESIGN.md 2.1.
    """
    half = in_half_a(observations.users, key)
    rows = sum(len(query.rows.user) for query in observations.queries)
    sides = (half, ~half) if rows < MANY_ROWS else (half,)
    trainings = [
        Training.of(observations, side, estimator, shrinkage)
        for side in sides
        if side.any()  # of nobody nothing can be built
    ]

    def row(query: Observed) -> dict[str, object]:
        found = mean(training.trial(query) for training in trainings)
        return {} if found is None else found._asdict()

    table = stages.in_blocks("trials", observations.queries, row, TRIALS, advance)
    found = zip(*(column.to_pylist() for column in table.columns), strict=True)
    return tuple(None if each[0] is None else Trial(*each) for each in found)
