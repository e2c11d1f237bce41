"""The tensors of a model: everything that was counted."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent.model.attributes import damaged
from agent.model.reading import Classifier
from agent.model.relevance import Relevance
from agent.tradeoff.coverage import Judged
from agent.tradeoff.grouping import keys_of
from agent.tradeoff.measures import Measure
from agent.tradeoff.tables import Floats, Kinds, Numbers, Population, QueryRows, rows_of, smallest
from agent.tradeoff.utility import COST_METRICS, Near, Singles

Tensors = Mapping[str, NDArray[Any]]
Verify = Callable[[NDArray[Any]], None]  # raises DamagedModelError


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The rows of all queries, by query, and by user in each query.

    ``intent``: integers, shape (M,), positions in the intents of the query. ``request``: uint8,
    shape (R, M), codes of the request attributes. ``users``: integers, shape (U,), how many rows
    each user of each query has. ``step``: likewise, for each user the first row of the population
    with the user's codes, less that of the user before, modulo the number of rows: it names the
    codes, and not the person. ``verify``: called with each part of a tensor before its numbers are
    used, and may raise DamagedModelError.
    """

    intent: Numbers
    request: NDArray[np.uint8]
    users: Numbers
    step: Numbers
    verify: Verify = field(default=lambda _: None, compare=False)


_NONE: NDArray[np.uint8] = np.zeros(0, np.uint8)
NO_ROWS = Rows(_NONE, _NONE.reshape(0, 0), _NONE, _NONE)  # of a model of topics


Part = Rows | Singles | Near | Judged | Relevance


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """All tensors of a model, read-only.

    ``query_weights``: float64, shape (Q,), above 0, relative frequency of each query.
    ``classifier``: of texts, None in a model that recognises names and phrasings only; ``near``:
    None in a model whose sets are quickly counted; ``judged``: of topics, None in a model whose
    queries have rows; ``relevance``: of facts in own words, None in a model that cannot tell.
    """

    population: Population
    rows: Rows
    query_weights: Floats
    singles: Singles
    classifier: Classifier | None = None
    near: Near | None = None
    judged: Judged | None = None
    relevance: Relevance | None = None

    def costs(self) -> dict[Measure, dict[int, Floats]]:
        """I of every set whose cost is stored, by measure, for a recipient that knows nothing."""
        stored = {} if self.near is None else self.near.by_measure()
        single, both = self.singles.costs, self.singles.pair_costs
        for line, metric in enumerate(COST_METRICS[: len(single)]):
            pairs = None if both is None else both[line]
            stored[metric] = stored.get(metric, {}) | rows_of(single[line], pairs)
        return stored

    def tensors(self) -> dict[str, NDArray[Any]]:
        """Every tensor by its name in the file."""
        people, kinds = self.population, self.population.requests
        none = np.zeros(0, np.uint8)
        of_rows = np.vstack([np.zeros((0, people.rows), np.uint8), *(k.of_row for k in kinds)])
        figures: dict[str, NDArray[Any] | None] = {
            "population.codes": people.columns,
            "population.donors": people.donors,
            "population.pairs": people.pairs and people.pairs[0],
            "population.requests": of_rows,
            "population.weights": people.weights,
            "queries.weights": self.query_weights,
            "requests.counts": np.concatenate([none, *(each.counts.ravel() for each in kinds)]),
            "requests.kinds": np.array([len(each.counts) for each in kinds], np.uint32),
            **_named("attributes", self.singles),
            **_named("rows", self.rows),
            **_named("near", self.near),
            **_named("judged", self.judged),
            **_named("relevance", self.relevance),
        }
        if (reader := self.classifier) is not None:
            figures |= {
                "reading.weights": reader.weights,
                "reading.biases": reader.biases,
                "reading.calibration": np.array([reader.temperature, reader.threshold]),
                "head.weights": reader.head,
                "mixture.centres": reader.centres,
                "mixture.weights": reader.second,
            }
        return {name: tensor for name, tensor in figures.items() if tensor is not None}

    @classmethod
    def of_tensors(
        cls, tensors: Tensors, cards: Sequence[int], kind_names: Sequence[str], verify: Verify
    ) -> "Tables":
        """The tables from tensors by name, all of the right shapes; inverse of ``tensors``.

        ``cards``: how many values each attribute has, those of the person first; ``kind_names``:
        of their kinds; ``verify``: of `Rows`. Raises DamagedModelError where the counts of request
        attributes do not fit these.
        """
        kinds, of_rows = tensors["requests.kinds"].tolist(), tensors["population.requests"]
        sizes = [*map(mul, kinds, cards[len(cards) - len(kinds) :])]
        counts = tensors["requests.counts"]
        if len(counts) != sum(sizes):
            raise damaged(f"tensor 'requests.counts' has {len(counts)} numbers, not {sum(sizes)}")
        parts = np.split(counts, np.cumsum(sizes, dtype=np.intp)[:-1]) if kinds else []
        requests = (
            Kinds(some.reshape(number, -1), of_row)
            for some, number, of_row in zip(parts, kinds, of_rows, strict=True)
        )
        classifier = None
        if "reading.weights" in tensors:
            weights, biases = tensors["reading.weights"], tensors["reading.biases"]
            temperature, threshold = tensors["reading.calibration"].tolist()
            names = ("head.weights", "mixture.weights", "mixture.centres")
            of_topics = (tensors.get(each) for each in names)
            classifier = Classifier(weights, biases, temperature, threshold, *of_topics)
        of_people = (tensors.get(f"population.{each}") for each in ("weights", "donors", "pairs"))
        people, donors, paired = of_people
        codes = tensors["population.codes"].T
        pairs = None if paired is None else (paired, tuple(cards[: codes.shape[1]]))
        return cls(
            Population(codes, people, tuple(requests), donors=donors, pairs=pairs),
            Rows(**_parts(tensors, "rows", Rows), verify=verify),
            tensors["queries.weights"],
            Singles(**_parts(tensors, "attributes", Singles)),
            classifier,
            Near(**_parts(tensors, "near", Near)) if "near.sets" in tensors else None,
            Judged(**_parts(tensors, "judged", Judged)) if "judged.weights" in tensors else None,
            Relevance(tuple(kind_names), **_parts(tensors, "relevance", Relevance))
            if "relevance.pair" in tensors
            else None,
        )


def _named(prefix: str, value: Part | None) -> dict[str, NDArray[Any] | None]:
    some = () if value is None else fields(value)
    return {f"{prefix}.{each.name}": getattr(value, each.name) for each in some if each.compare}


def _parts(tensors: Tensors, prefix: str, of: type[Part]) -> dict[str, Any]:
    return {each.name: tensors.get(f"{prefix}.{each.name}") for each in fields(of) if each.compare}


def gather(
    population: Population, queries: Sequence[QueryRows], weights: Floats, singles: Singles
) -> Tables:
    """The tables of a new model.

    ``queries``: the rows of each query, at least one, in order of their users, who are all in the
    population; ``weights``: float64, shape (Q,), relative frequency of each. Raises ValueError for
    rows out of order, or for a user whose codes nobody in the population has.
    """
    keys, first = np.unique(keys_of(population.codes), return_index=True)
    parts = defaultdict[str, list[NDArray[Any]]](list)
    for each in queries:
        if (np.diff(each.user, prepend=0) < 0).any():
            raise ValueError("the rows of a query are not in the order of its users")
        profile = first[np.searchsorted(keys, keys_of(each.person)).clip(max=len(keys) - 1)]
        if not np.array_equal(population.codes[profile], each.person):
            raise ValueError("a user of a query is not in the population")
        parts["users"].append(np.bincount(each.user, minlength=len(each.person)))
        parts["step"].append(np.diff(profile, prepend=0) % population.rows)
        parts["intent"].append(each.intent)
        parts["request"].append(each.request.T.astype(np.uint8))
    rows: dict[str, Any] = {each: smallest(np.concatenate(parts[each], axis=-1)) for each in parts}
    return Tables(population, Rows(**rows), weights, singles)


def check_below(tensor: str, numbers: Numbers, limit: int, where: str) -> None:
    """Refuse numbers of a tensor from ``limit`` on; DamagedModelError that says ``where``."""
    if (highest := int(numbers.max())) >= limit:
        what = f"has {highest} for {where}, where the highest is {limit - 1}"
        raise damaged(f"tensor {tensor!r} {what}")


def no_singles(attributes: int) -> Singles:
    """The figures of a model that stores none."""
    none = np.zeros((0, attributes))
    return Singles(none, none)
