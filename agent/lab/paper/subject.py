"""What the figures are of: a model under one estimator, and the groups of attributes to compare."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from agent.build.log.attributes import BY_LABEL, DEMOGRAPHIC, TOPIC
from agent.build.shrinkage import fit
from agent.tradeoff.anonymity_set import Crowd
from agent.tradeoff.objective import Objective, Settings
from agent.tradeoff.sets import members, union
from agent.tradeoff.utility import MeanUtility, query_utility

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agent.model.model import Model
    from agent.tradeoff.anonymity_set import Metric
    from agent.tradeoff.utility import Estimator, QueryUtility


STATISTICS = ("ATLV", "AWDY", "AWHR", "AFRQ")  # 7.3
INTERESTS = ("int_", "dev_", "topic_")  # how names of topics begin, where they are not Table 1's


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
    crowd: Crowd
    _shared: Objective = field(repr=False)

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

    def objective(self, trade_off: float, metric: Metric = "maxprob", k: int = 100) -> Objective:
        """Return F at lambda, with the model's own sensitivities; no limits, nothing known.

        ``trade_off``: lambda, bits per unit of ``metric``; ``k``: that of k-anonymity.
        """
        bits = tuple(each.sensitivity for each in self.model.attributes)
        return self._shared.given(self.crowd, _settings(bits, trade_off, metric, k))

    def utility_alone(self) -> Objective:
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
    crowd = Crowd(model.population, model.cards)
    return _subject(model, subject.estimator, subject.shrinkages, crowd)


def _subject(model: Model, estimator: Estimator, betas: tuple[float, ...], crowd: Crowd) -> Subject:
    utilities = tuple(
        query_utility(model.rows(each), model.cards, estimator, beta)
        for each, beta in enumerate(betas)
    )
    mean = MeanUtility(utilities, model.tables.query_weights)
    shared = Objective(mean, crowd, _settings((0.0,) * len(model.attributes), 0.0))
    return Subject(model, estimator, betas, utilities, crowd, shared)


def cost_alone(model: Model, metric: Metric = "maxprob", k: int = 100) -> Objective:
    """Return -C as an objective, C the identifiability above that of nothing, no sensitivity."""
    none = (0.0,) * len(model.attributes)
    nothing = MeanUtility((), np.zeros(0))
    return Objective(nothing, model.crowd(), _settings(none, 1.0, metric, k))


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


class Group(NamedTuple):
    """A set that is compared: its published name, its mask, and what it is here."""

    name: str
    mask: int
    meaning: str


def groups_of(model: Model) -> tuple[Group, ...]:
    """Return the groups that a model has attributes for.

    Where the attributes are Table 1's they are the paper's. Elsewhere topics are those whose names
    say so, demographics all other attributes of a person; there are no search statistics.
    """
    names = {each.name for each in model.attributes}
    if not any(each.name in names for each in TOPIC):
        return _by_name(model)
    sets = {
        "demographics": [each.name for each in DEMOGRAPHIC],
        "topics": [each.name for each in TOPIC],
        "search statistics": [BY_LABEL[each].name for each in STATISTICS],
    }
    meaning = {
        "demographics": "all labels with D",
        "topics": "all labels with T",
        "search statistics": ", ".join(STATISTICS),
    }
    return tuple(
        Group(name, _mask(model, [each for each in of if each in names]), meaning[name])
        for name, of in sets.items()
    )


def _by_name(model: Model) -> tuple[Group, ...]:
    persons = [each.name for each in model.attributes if each.scope == "person"]
    topics = [each for each in persons if each.startswith(INTERESTS)]
    others = [each for each in persons if each not in topics]
    found = [Group("demographics", _mask(model, others), "all that is no topic")]
    if topics:
        found.append(Group("topics", _mask(model, topics), "int_ and dev_"))
    return tuple(found)


def _mask(model: Model, names: Iterable[str]) -> int:
    return union(model.index(each) for each in names)
