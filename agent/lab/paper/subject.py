"""What the figures are of: a model, one way to estimate utility, and sets to compare with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from agent.build.shrinkage import fit
from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.objective import DisclosureObjective, Settings
from agent.tradeoff.sets import members
from agent.tradeoff.utility import MeanUtility, query_utility

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.model.model import Model
    from agent.tradeoff.anonymity_set import Metric
    from agent.tradeoff.utility import Estimator, QueryUtility


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """A model under one estimator.

    ``shrinkages``: beta of each query, in rows; ``utilities``: of each query; ``crowd``: all
    people. Utility is the mean over
    the queries by weight (paper 9.5.1). What is computed for one figure serves the others.
    """

    model: Model
    estimator: Estimator
    shrinkages: tuple[float, ...]
    utilities: tuple[QueryUtility, ...]
    crowd: AnonymitySet
    _shared: DisclosureObjective = field(repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes, in the order of the model."""
        return tuple(each.name for each in self.model.attributes)

    def named(self, order: Sequence[int]) -> tuple[str, ...]:
        """Return the names of attributes."""
        return tuple(self.model.attributes[each].name for each in order)

    def set_named(self, mask: int) -> tuple[str, ...]:
        """Return the names of a set, in the order of the model."""
        return self.named(tuple(members(mask)))

    def objective(
        self, trade_off: float, metric: Metric = "maxprob", k: int = 100
    ) -> DisclosureObjective:
        """Return F at lambda, with the model's own sensitivities; no limits, nothing known.

        ``trade_off``: lambda, bits per unit of ``metric``; ``k``: that of k-anonymity.
        """
        bits = tuple(each.sensitivity for each in self.model.attributes)
        return self._shared.given(self.crowd, _settings(bits, trade_off, metric, k))

    def utility_alone(self) -> DisclosureObjective:
        """Return U as an objective."""
        none = (0.0,) * len(self.model.attributes)
        return self._shared.given(self.crowd, _settings(none, 0.0))


def subject_of(model: Model, estimator: Estimator, shrinkage: float | None = None) -> Subject:
    """Return a model under an estimator.

    ``shrinkage``: beta of every query, in rows; by default the model's own where the estimator is,
    else chosen per query.
    """
    crowd = model.crowd()
    if shrinkage is not None:
        return _subject(model, estimator, (shrinkage,) * len(model.queries), crowd)
    if estimator == model.estimator:
        betas = tuple(each.shrinkage for each in model.queries)
        return _subject(model, estimator, betas, crowd)
    return with_chosen_prior(model, estimator)


def with_chosen_prior(model: Model, estimator: Estimator) -> Subject:
    """Return a model under an estimator, beta chosen as a build would choose it (DESIGN.md 2.1)."""
    crowd = model.crowd()
    betas = (
        fit(model.rows(each), crowd, estimator, None).shrinkage
        for each in range(len(model.queries))
    )
    return _subject(model, estimator, tuple(betas), crowd)


def fresh(subject: Subject) -> Subject:
    """Return the same subject with an empty memory, of its people too."""
    model = subject.model
    crowd = AnonymitySet(model.population, model.cards)
    return _subject(model, subject.estimator, subject.shrinkages, crowd)


def _subject(
    model: Model, estimator: Estimator, betas: tuple[float, ...], crowd: AnonymitySet
) -> Subject:
    utilities = tuple(
        query_utility(model.rows(each), model.cards, estimator, beta)
        for each, beta in enumerate(betas)
    )
    mean = MeanUtility(utilities, model.tables.query_weights)
    shared = DisclosureObjective(mean, crowd, _settings((0.0,) * len(model.attributes), 0.0))
    return Subject(model, estimator, betas, utilities, crowd, shared)


def cost_alone(model: Model, metric: Metric = "maxprob", k: int = 100) -> DisclosureObjective:
    """Return -C as an objective, C the identifiability above that of nothing, no sensitivity."""
    none = (0.0,) * len(model.attributes)
    nothing = MeanUtility((), np.zeros(0))
    return DisclosureObjective(nothing, model.crowd(), _settings(none, 1.0, metric, k))


def _settings(
    sensitivity: tuple[float, ...], trade_off: float, metric: Metric = "maxprob", k: int = 100
) -> Settings:
    return Settings(
        candidates=(1 << len(sensitivity)) - 1,
        sensitivity=sensitivity,
        trade_off=trade_off,
        metric=metric,
        metric_k=k,
    )
