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
from agent.tradeoff.measures import Measure, Metric
from agent.tradeoff.tables import Kinds, Population, QueryRows, above_diagonal, exact, rows_of

Codes = NDArray[np.integer]
Floats = NDArray[np.float64]
Tensors = Mapping[str, NDArray[Any]]
Verify = Callable[[NDArray[Any]], None]  # raises DamagedModelError

_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd, so that no bit of a key is lost

COST_METRICS: tuple[Metric, ...] = ("maxprob", "log-maxprob", "entropy")  # rows of Singles.costs
NEAR_MEASURES: tuple[Measure, ...] = ("maxprob", "worst")  # of Near.costs


@dataclass(frozen=True, slots=True, eq=False)
class Singles:
    """Figures of single attributes and of pairs, stored to save the search its first steps.

    ``utilities``: float64, shape (Q, n), bits, per query; (0, n) where all are judged.
    ``costs``: float64, shape (3, n), I of the attribute itself, not less I(0), for a recipient that
    knows nothing, by the metrics of COST_METRICS (entropy in bits). ``pair_utilities``,
    ``pair_costs``: the same for two
    attributes, in the order of ``sets.pairs``, or None in a model too large for them.
    ``prices``: float64, shape (Q, n), bits, what utility of a set with the attribute owes to luck,
    not yet subtracted in the others; None in a model without that correction.
    """

    utilities: Floats
    costs: Floats
    pair_utilities: Floats | None = None
    pair_costs: Floats | None = None
    prices: Floats | None = None

    def utilities_of(self, query: int) -> dict[int, Floats]:
        """U of single attributes, less prices, and of pairs where they are stored."""
        bits, both = self.utilities[query], self.pair_utilities
        prices = np.zeros(len(bits)) if self.prices is None else exact(self.prices[query])
        of_pairs = np.add.outer(prices, prices)[above_diagonal(len(prices))]
        return rows_of(bits - prices, None if both is None else both[query] - of_pairs)


@dataclass(frozen=True, slots=True, eq=False)
class Near:
    """Figures near the sets that decisions arrive at: of each set with each attribute added.

    ``sets``: uint8, shape (B, ceil(n/8)), bit i of a row says that attribute i is in the set;
    ``queries``: integers, shape (B,), whose figures these are, in ascending order;
    ``utilities``: float64, shape (B, n), bits, U of the query as decisions use it: less prices,
    drawn towards the mean.
    ``priced``: sets like these, shape (D, ceil(n/8)); ``costs``: float64, shape (C, D, n), I for a
    recipient that knows nothing, by the first C of NEAR_MEASURES: one where each row of the
    population is one person, all where rows stand for more.
    """

    sets: NDArray[np.uint8]
    queries: Codes
    utilities: Floats
    priced: NDArray[np.uint8]
    costs: Floats

    def utilities_of(self, query: int) -> dict[int, Floats]:
        """The figures of a query by set."""
        own = slice(*np.searchsorted(self.queries, (query, query + 1)))
        return dict(zip(_masks(self.sets[own]), self.utilities[own], strict=True))

    def by_measure(self) -> dict[Measure, dict[int, Floats]]:
        """The costs by measure and set."""
        masks, lines = _masks(self.priced), zip(NEAR_MEASURES, self.costs, strict=False)
        return {measure: dict(zip(masks, each, strict=True)) for measure, each in lines}


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """What was judged to help with each topic (DESIGN.md 2.11); n counts attributes of persons.

    ``weights``: float32, shape (Q, n), >= 0, how much each attribute is expected to matter, that of
    its kind; ``totals``: float32, shape (Q,), the sums over the kinds, each counted once; 0 for a
    topic without any; ``likely``: float32, shape (Q, n), 0 to 1, how likely an answer is clearly
    better by the attribute, for the filter of candidates (DESIGN.md 2.9).
    """

    weights: NDArray[np.float32]
    totals: NDArray[np.float32]
    likely: NDArray[np.float32]


def _masks(sets: NDArray[np.uint8]) -> list[int]:
    return [int.from_bytes(each.tobytes(), "little") for each in sets]


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

    intent: Codes
    request: NDArray[np.uint8]
    users: Codes
    step: Codes
    verify: Verify = field(default=lambda _: None, compare=False)


_NONE: NDArray[np.uint8] = np.zeros(0, np.uint8)
NO_ROWS = Rows(_NONE, _NONE.reshape(0, 0), _NONE, _NONE)  # of a model of topics


Part = Rows | Singles | Near | Judged


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """All tensors of a model, read-only.

    ``query_weights``: float64, shape (Q,), above 0, relative frequency of each query.
    ``classifier``: of texts, None in a model that recognises names and phrasings only; ``near``:
    None in a model whose sets are quickly counted; ``judged``: of topics, None in a model whose
    queries have rows.
    """

    population: Population
    rows: Rows
    query_weights: Floats
    singles: Singles
    classifier: Classifier | None = None
    near: Near | None = None
    judged: Judged | None = None

    def costs(self) -> dict[Measure, dict[int, Floats]]:
        """I of every set whose cost is stored, by measure, for a recipient that knows nothing."""
        stored = {} if self.near is None else self.near.by_measure()
        single, both = self.singles.costs, self.singles.pair_costs
        for line, metric in enumerate(COST_METRICS):
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
            "population.pairs": people.pairs,
            "population.requests": of_rows,
            "population.weights": people.weights,
            "queries.weights": self.query_weights,
            "requests.counts": np.concatenate([none, *(each.counts.ravel() for each in kinds)]),
            "requests.kinds": np.array([len(each.counts) for each in kinds], np.uint32),
            **_named("attributes", self.singles),
            **_named("rows", self.rows),
            **_named("near", self.near),
            **_named("judged", self.judged),
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
    def of_tensors(cls, tensors: Tensors, cards: Sequence[int], verify: Verify) -> "Tables":
        """The tables from tensors by name, all of the right shapes; inverse of ``tensors``.

        ``cards``: how many values each attribute has, those of the person first; ``verify``: of
        `Rows`. Raises DamagedModelError where the counts of request attributes do not fit these.
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
        people, donors, pairs = of_people
        codes = tensors["population.codes"].T
        return cls(
            Population(codes, people, tuple(requests), donors=donors, pairs=pairs),
            Rows(**_parts(tensors, "rows", Rows), verify=verify),
            tensors["queries.weights"],
            Singles(**_parts(tensors, "attributes", Singles)),
            classifier,
            Near(**_parts(tensors, "near", Near)) if "near.sets" in tensors else None,
            Judged(**_parts(tensors, "judged", Judged)) if "judged.weights" in tensors else None,
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


def keys_of(codes: NDArray[np.unsignedinteger]) -> NDArray[np.uint64]:
    """A hash of each row of codes: uint64, shape (N,)."""
    keys = np.zeros(len(codes), dtype=np.uint64)
    for column in codes.T:
        keys = keys * _FACTOR + column
    return keys


def check_below(tensor: str, numbers: Codes, limit: int, where: str) -> None:
    """Refuse numbers of a tensor from ``limit`` on; DamagedModelError that says ``where``."""
    if (highest := int(numbers.max())) >= limit:
        what = f"has {highest} for {where}, where the highest is {limit - 1}"
        raise damaged(f"tensor {tensor!r} {what}")


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only view of an array."""
    view = array.view()
    view.setflags(write=False)
    return view


def smallest(tensor: NDArray[Any]) -> NDArray[Any]:
    """A tensor in C order, its integers of the smallest unsigned type that holds them.

    Raises ValueError for an integer below 0.
    """
    # safetensors copies memory from the first number on, whatever the strides are.
    if tensor.dtype.kind == "f":
        return np.ascontiguousarray(tensor)
    if tensor.min(initial=0) < 0:
        raise ValueError("a code or count is below 0")
    return np.ascontiguousarray(tensor, np.min_scalar_type(int(tensor.max(initial=0))))
