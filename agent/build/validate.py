"""Half-and-half validation: what a model of one half promises, and what the other half gets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from agent.build.halves import in_half_a
from agent.build.heldout import heldout_bits
from agent.build.population import part
from agent.build.shrinkage import TRADE_OFF, fit
from agent.tradeoff.anonymity_set import Crowd
from agent.tradeoff.grouping import row_columns
from agent.tradeoff.search import search

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from agent.build.observe import Observations
    from agent.build.queries import Observed
    from agent.model.model import Figure
    from agent.tradeoff.utility import Estimator

MANY_ROWS = 1_000_000  # from here on, the halves are so large that one direction says enough


class Trial(NamedTuple):
    """The set picked for one query on one half of the users, and what became of it.

    ``predicted_bits``: its utility by the model of that half; ``heldout_bits``: as the other
    half had it; ``attributes``: how many it has; ``identifiability_cost``: I(A) - I(0).
    """

    predicted_bits: float
    heldout_bits: float
    attributes: float
    identifiability_cost: float


@dataclass(frozen=True, slots=True)
class Validation:
    """The trial of each query, None where one of the halves says nothing about it."""

    queries: tuple[Trial | None, ...]

    @property
    def mean(self) -> Trial | None:
        """The plain mean over the queries."""
        return _mean([trial for trial in self.queries if trial is not None])

    def figures(self) -> dict[str, Figure]:
        """Return the figures that a model keeps about all of its queries."""
        mean = self.mean
        if mean is None:
            return {}
        tried = sum(trial is not None for trial in self.queries)
        return {"trade_off": TRADE_OFF, "queries": tried, **mean._asdict()}


class _Training(NamedTuple):
    """One half of the users, to build from."""

    chosen: NDArray[np.bool_]
    crowd: Crowd
    estimator: Estimator
    shrinkage: float | None

    def trial(self, query: Observed) -> Trial | None:
        """Build from this half, choice of beta included, and score the set that LLS picks."""
        training = query.part(self.chosen)
        if training is None:
            return None
        fitted = fit(training.rows, self.crowd, self.estimator, self.shrinkage)
        objective = fitted.objective
        mask = search(objective, "lls").mask
        rows = query.rows
        groups = row_columns(rows, self.crowd.cards).groups(np.arange(len(rows.user)), mask)
        trained = self.chosen[query.people][rows.user]
        heldout = heldout_bits(rows, trained, fitted.shrinkage, groups)
        if heldout is None:
            return None
        cost = objective.identifiability_cost(mask)
        trial = Trial(objective.utility(mask), heldout, mask.bit_count(), cost)
        objective.forget()
        return trial


def validate(
    observations: Observations,
    key: bytes,
    estimator: Estimator,
    shrinkage: float | None,
    advance: Callable[[float], None],
) -> Validation:
    """Split the users in two by ``key``, build from one half and score it on the other.

    Below MANY_ROWS the halves then change places, and figures are means of both directions.
    ``shrinkage``: beta, or None to choose it on the half that is built from; ``advance`` is
    told the share done. Trade-off 1, everything else at its default. Source: DESIGN.md 2.1.
    """
    half = in_half_a(observations.users, key)
    rows = sum(len(query.rows.user) for query in observations.queries)
    trainings = [
        _Training(side, _crowd(observations, side), estimator, shrinkage)
        for side in ((half, ~half) if rows < MANY_ROWS else (half,))
    ]
    trials = []
    for query in observations.queries:
        found = [training.trial(query) for training in trainings]
        trials.append(_mean([trial for trial in found if trial is not None]))
        advance(len(trials) / len(observations.queries))
    return Validation(tuple(trials))


def _crowd(observations: Observations, chosen: NDArray[np.bool_]) -> Crowd:
    return Crowd(part(observations.population, chosen), observations.cards)


def _mean(trials: Sequence[Trial]) -> Trial | None:
    """Return the mean of each figure, None of nothing."""
    return Trial(*np.mean(trials, axis=0).tolist()) if trials else None
