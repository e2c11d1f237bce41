"""Utility and cost by sampling, as 7.1 has it: drawn rows are scored against the full counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from agent.tradeoff.grouping import Columns, Partitions
from agent.tradeoff.utility import PlugIn

if TYPE_CHECKING:
    from agent.lab.paper.options import Options
    from agent.lab.paper.subject import Subject
    from agent.model.model import Model
    from agent.tradeoff.anonymity_set import Metric


class SampledUtility:
    """U by ``plugin``: the mean over drawn rows of the entropy that their answers remove.

    A row is drawn by its query's weight, then uniformly; all rows of the query count, so that the
    expectation is U itself. Each set has a sample of its own, from the seed and the set.
    """

    def __init__(self, subject: Subject, options: Options) -> None:
        """Take a subject, how many rows a sample has, and the seed.

        ValueError where the estimator is not ``plugin``: no other has a lemma.
        """
        self._utilities = [each for each in subject.utilities if isinstance(each, PlugIn)]
        if len(self._utilities) < len(subject.utilities):
            message = f"the paper samples plugin, not {subject.estimator}"
            raise ValueError(message)
        self._options, model = options, subject.model
        weights = model.tables.query_weights
        self._weights = weights / weights.sum()
        self._rows = [each.rows for each in model.queries]

    def value(self, mask: int) -> float:
        """Return the estimate of U(A), in bits."""
        draw = np.random.default_rng([self._options.seed, mask])
        counts = draw.multinomial(self._options.samples, self._weights)
        total = 0.0
        for query in np.flatnonzero(counts).tolist():
            picked = draw.integers(0, self._rows[query], int(counts[query]))
            total += float(self._utilities[query].removed(mask, picked).sum())
        return total / self._options.samples


class SampledCost:
    """I over person attributes: the mean loss over drawn people, each class counted in full."""

    def __init__(self, model: Model, options: Options) -> None:
        """Take the people, how many a sample has, the k of k-anonymity, and the seed."""
        population = model.population
        self._options = options
        weights = population.weights
        self._share = np.full(population.people, 1.0) if weights is None else weights
        self._share = self._share / self._share.sum()
        self._groups = Partitions(Columns(population.columns, model.cards[: model.persons]))

    def value(self, mask: int, metric: Metric) -> float:
        """Return the estimate of I(A); ``metric``: maxprob or k-anonymity."""
        draw = np.random.default_rng([self._options.seed, mask])
        picked = draw.choice(len(self._share), self._options.samples, p=self._share)
        labels, groups = self._groups.dense[mask]
        mass = np.bincount(labels, self._share, groups)
        peak = np.zeros(groups)
        np.maximum.at(peak, labels, self._share)
        chance = (peak / mass)[labels[picked]]
        if metric == "maxprob":
            return float(chance.mean())
        return float((chance > (1 + 1e-12) / self._options.k).mean())
