"""What the figures are of, what the paper states of them, and groups of attributes to compare.

What the paper's figures draw and its text does not say is absent: the mean sensitivity of each
attribute, of each precision of age and location, the quartiles of Fig. 5.
"""

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, NamedTuple

from agent.build.log_schema import BY_LABEL, DEMOGRAPHIC, TOPIC
from agent.decision.cache import Cache
from agent.lab.charts import Criterion
from agent.model.model import Model
from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.measures import Metric
from agent.tradeoff.objective import DisclosureObjective, Settings
from agent.tradeoff.tables import union
from agent.tradeoff.utility import HELPS_NOTHING, Estimator, Mixture, QueryUtility, query_utility

TRADE_OFF = 5.12  # 7.2: the least-squares alignment of Fig. 8(b), "approximately"
K = 100  # 7.1, of k-anonymity
# Not stated. Chosen after Fig. 6 had been seen to fall under a build's own, 5 rows and more.
SHRINKAGE = 0.1


class PublishedSet(NamedTuple):
    """A set of Fig. 11 (7.3): its utility in bits, or a ``bound`` above it, and its F."""

    name: str
    labels: Sequence[str]
    utility: float
    score: float
    bound: bool = False


_TEXTS: Any = tomllib.loads((files("agent.lab.paper") / "claims.toml").read_text("utf-8"))
_LABELS = tuple(each.label for each in TOPIC)
STATED = {each["name"]: PublishedSet(**{"labels": _LABELS, **each}) for each in _TEXTS["sets"]}


def claim(key: str, same: bool | None, **fields: object) -> Criterion:  # noqa: FBT001  (a verdict)
    """Fill in the fields of a claim of claims.toml."""
    text = {part: each.format(**fields) for part, each in _TEXTS["claims"][key].items()}
    return Criterion(text["place"], text["published"], text["ours"], same, text["why"])


def prose(key: str, **fields: object) -> str:
    """Fill in the fields of a sentence of claims.toml."""
    text: str = _TEXTS["prose"][key]
    return text.format(**fields)


INTERESTS = ("int_", "dev_", "topic_")  # how names of topics begin, where they are not Table 1's


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """A model under one estimator.

    ``shrinkages``: beta of each query, in rows; ``utilities``: of each query; ``crowd``: all
    people. Utility is the mean over the queries by weight (paper 9.5.1). What is computed for one
    figure serves the others.
    """

    model: Model
    estimator: Estimator
    shrinkages: tuple[float, ...]
    crowd: AnonymitySet
    utilities: tuple[QueryUtility, ...] = field(init=False)
    _shared: DisclosureObjective = field(init=False, repr=False)

    def __post_init__(self) -> None:
        model = self.model
        utilities = tuple(
            query_utility(model.rows(each), model.cards, self.estimator, beta)
            for each, beta in enumerate(self.shrinkages)
        )
        weights = model.tables.query_weights
        mean = Mixture(utilities, (weights / weights.sum()).tolist())
        object.__setattr__(self, "utilities", utilities)
        object.__setattr__(self, "_shared", DisclosureObjective(mean, self.crowd, _settings(model)))

    @classmethod
    def of(cls, model: Model, estimator: Estimator, shrinkage: float | None = None) -> "Subject":
        """Look at a model under an estimator.

        ``shrinkage``: beta of every query, in rows; by default the model's own where the estimator
        is, else chosen per query.
        """
        if shrinkage is None and estimator != model.estimator:
            return cls.with_chosen_prior(model, estimator)
        betas = tuple(each.shrinkage if shrinkage is None else shrinkage for each in model.queries)
        return cls(model, estimator, betas, people_of(model))

    @classmethod
    def with_chosen_prior(cls, model: Model, estimator: Estimator) -> "Subject":
        """Look at a model under an estimator, beta chosen as by a build (DESIGN.md 2.1)."""
        from agent.build.fitting import fit  # of the extra `build`

        crowd, queries = people_of(model), range(len(model.queries))
        betas = tuple(fit(model.rows(each), crowd, estimator, None).shrinkage for each in queries)
        return cls(model, estimator, betas, crowd)

    def fresh(self) -> "Subject":
        """Make the same subject with empty caches, of its people too."""
        crowd = AnonymitySet(self.model.population, self.model.cards)
        return Subject(self.model, self.estimator, self.shrinkages, crowd)

    def objective(self, trade_off: float) -> DisclosureObjective:
        """Make F at lambda (bits per unit of ``maxprob``) with the model's own sensitivities.

        There are no limits, and nothing is known.
        """
        bits = tuple(each.sensitivity for each in self.model.attributes)
        return self._shared.given(self.crowd, _settings(self.model, bits, trade_off))

    def utility_alone(self) -> DisclosureObjective:
        """Make U as an objective."""
        return self._shared.given(self.crowd, _settings(self.model))


def names_of(model: Model, attributes: Iterable[int]) -> tuple[str, ...]:
    """Name attributes, in the order given."""
    return tuple(model.attributes[each].name for each in attributes)


def people_of(model: Model) -> AnonymitySet:
    """Take all people of a model, with the costs in its file."""
    return Cache().anonymity_set(model)


def cost_alone(model: Model, metric: Metric = "maxprob") -> DisclosureObjective:
    """Make -C as an objective, C the identifiability above that of nothing, no sensitivity."""
    settings = _settings(model, trade_off=1.0, metric=metric)
    return DisclosureObjective(HELPS_NOTHING, people_of(model), settings)


def _settings(
    model: Model,
    sensitivity: tuple[float, ...] = (),
    trade_off: float = 0.0,
    metric: Metric = "maxprob",
) -> Settings:
    count = len(model.attributes)
    return Settings((1 << count) - 1, sensitivity or (0.0,) * count, trade_off, metric, K)


class Group(NamedTuple):
    """A set that is compared: its published name, its mask, and what it is here."""

    name: str
    mask: int
    meaning: str


def groups_of(model: Model) -> tuple[Group, ...]:
    """Find the groups that a model has attributes for (Fig. 11).

    Where the attributes are Table 1's they are the paper's. Elsewhere topics are those whose names
    say so, demographics all other attributes of a person; there are no search statistics.
    """
    names = names_of(model, range(len(model.attributes)))

    def group(name: str, meaning: str, some: Iterable[str]) -> Group:
        return Group(name, union(names.index(each) for each in some if each in names), meaning)

    if any(each.name in names for each in TOPIC):
        statistics = STATED["search statistics"].labels
        of_labels = (BY_LABEL[each].name for each in statistics)
        return (
            group("demographics", "all labels with D", (each.name for each in DEMOGRAPHIC)),
            group("topics", "all labels with T", (each.name for each in TOPIC)),
            group("search statistics", ", ".join(statistics), of_labels),
        )
    persons = names[: model.persons]
    topics = [each for each in persons if each.startswith(INTERESTS)]
    others = group("demographics", "all that is no topic", {*persons} - {*topics})
    return (others, group("topics", "int_ and dev_", topics)) if topics else (others,)
