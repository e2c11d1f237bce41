"""The tensors of a model: everything that was counted."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from operator import add
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agent.model.attributes import damaged
from agent.model.packing import pack, size, unpack
from agent.model.reading import Classifier
from agent.tradeoff.measures import Measure, Metric
from agent.tradeoff.tables import Kinds, Population, QueryRows, Stored, above_diagonal
from agent.tradeoff.utility import exact

Codes = NDArray[np.integer]
Floats = NDArray[np.float64]

_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd, so that no bit of a key is lost

COST_METRICS: tuple[Metric, ...] = ("maxprob", "log-maxprob", "entropy")  # rows of Singles.costs
NEAR_MEASURES: tuple[Measure, ...] = ("maxprob", "risk", "worst")  # of Near.costs


@dataclass(frozen=True, slots=True, eq=False)
class Singles:
    """What each attribute does alone, and two do together; it saves the search its first steps.

    ``utilities``: float64, shape (Q, n), bits, per query. ``costs``: float64, shape (3, n), I of
    the attribute itself, not less I(0), for a recipient that knows nothing, by the metrics of
    COST_METRICS (entropy in bits). ``pair_utilities``, ``pair_costs``: the same for two
    attributes, in the order of ``sets.pairs``, or None in a model too large for them.
    ``prices``: float64, shape (Q, n), bits, what utility of a set with the attribute owes to luck,
    not yet subtracted in the others; None in a model without that correction.
    """

    utilities: Floats
    costs: Floats
    pair_utilities: Floats | None = None
    pair_costs: Floats | None = None
    prices: Floats | None = None

    def utilities_of(self, query: int) -> Stored:
        """Return U, less prices, of every set whose utility is stored, in bits."""
        bits, both = self.utilities[query], self.pair_utilities
        of_pairs = None if both is None else both[query]
        if self.prices is not None:
            prices = exact(self.prices[query])
            bits = bits - prices
            if of_pairs is not None:
                of_pairs = of_pairs - np.add.outer(prices, prices)[above_diagonal(len(prices))]
        return Stored(bits, of_pairs)

    def mean_of(self, weights: Floats) -> "Singles":
        """Return the same figures of the mean query alone; ``weights``: float64, shape (Q,).

        It has no prices: of all rows together, luck is little.
        """
        share, both = weights / weights.sum(), self.pair_utilities
        mean_pairs = None if both is None else (share @ both)[None]
        single = (share @ self.utilities)[None]
        return replace(self, utilities=single, pair_utilities=mean_pairs, prices=None)


@dataclass(frozen=True, slots=True, eq=False)
class Near:
    """Figures near the sets that decisions come to: of each set, with each attribute added.

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
        """Return the figures of a query by set."""
        own = slice(*np.searchsorted(self.queries, (query, query + 1)))
        return dict(zip(_sets(self.sets[own]), self.utilities[own], strict=True))

    def by_measure(self) -> dict[Measure, dict[int, Floats]]:
        """Return the costs by measure and set."""
        sets, lines = _sets(self.priced), zip(NEAR_MEASURES, self.costs, strict=False)
        return {measure: dict(zip(sets, each, strict=True)) for measure, each in lines}


def _sets(rows: NDArray[np.uint8]) -> list[int]:
    """Return sets of attributes, a row each, as masks."""
    data, size = rows.tobytes(), rows.shape[1]
    return [int.from_bytes(data[at : at + size], "little") for at in range(0, len(data), size)]


class Part(NamedTuple):
    """Which part of `Rows` is one query's.

    ``query``: its text; ``rows``, ``users``, ``intents``: how many it has; ``cards``: values of
    each request attribute; the slices: of the tensors called so, ``users`` of both of users.
    """

    query: str
    rows: int
    intents: int
    cards: tuple[int, ...]
    intent: slice
    request: slice
    users: slice


def parts_of(
    queries: Iterable[tuple[str, int, int, int]], cards: tuple[int, ...]
) -> tuple[Part, ...]:
    """Return the parts of queries, in their order: text, and numbers of rows, users and intents."""
    found, ends = list[Part](), (0, 0, 0)
    for query, rows, users, intents in queries:
        sizes = (size(rows, intents), sum(size(rows, card) for card in cards), users)
        starts, ends = ends, tuple(map(add, ends, sizes))
        found.append(Part(query, rows, intents, cards, *map(slice, starts, ends)))
    return tuple(found)


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The rows of all queries, one query after the other, and one user after the other in each.

    ``intent``, ``request``: uint8, packed by query, the latter by attribute in each: positions in
    the intents of a query, and codes. ``of_user``: integers, shape (U,), how many rows each user of
    each query has. ``step``: likewise, for each user the first row of the population with the
    user's codes, less that of the user before, modulo the number of rows: so it says what the codes
    say, and not who it was. ``verify``: called with a part before it is read, and may raise.
    """

    intent: NDArray[np.uint8]
    request: NDArray[np.uint8]
    of_user: Codes
    step: Codes
    verify: Callable[[Part], None] = lambda _: None

    def of(self, part: Part, population: Population) -> QueryRows:
        """Return the rows of a query, made anew; DamagedModelError for what cannot be."""
        self.verify(part)
        sizes, where = self.of_user[part.users], f"query {part.query!r} has {part.rows}"
        if not sizes.all():
            raise damaged("tensor 'users.rows' has a user without rows")
        if (rows := int(sizes.sum(dtype=np.uint64))) != part.rows:
            raise damaged(f"tensor 'users.rows' has {rows} rows where {where}")
        intent = unpack(self.intent[part.intent], part.rows, part.intents)
        if (highest := int(intent.max())) >= part.intents:
            where = f"query {part.query!r} has {part.intents}"
            raise damaged(f"tensor 'rows.intent' has {highest} where {where}")
        request = np.empty((len(part.cards), part.rows), dtype=np.uint8)
        end = part.request.start
        for place, card in enumerate(part.cards):
            start, end = end, end + size(part.rows, card)
            request[place] = codes = unpack(self.request[start:end], part.rows, card)
            if (highest := int(codes.max())) >= card:
                what = f"has code {highest} where {card} values are"
                raise damaged(f"tensor 'rows.request' {what}: query {part.query!r}")
        profile = np.cumsum(self.step[part.users], dtype=np.intp) % population.rows
        return QueryRows(
            user=read_only(np.repeat(np.arange(len(sizes)), sizes)),
            intent=read_only(intent.astype(np.intp)),
            person=read_only(population.codes[profile]),
            request=read_only(request.T),
            intents=part.intents,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """All tensors of a model, read-only; equal if every number is.

    ``query_weights``: float64, shape (Q,), above 0, relative frequency of each query.
    ``classifier``: of texts, None in a model that knows its queries by name only; ``near``: None
    in a model whose sets are soon counted.
    """

    population: Population
    rows: Rows
    query_weights: Floats
    singles: Singles
    classifier: Classifier | None = None
    near: Near | None = None

    __hash__: ClassVar[None]  # type: ignore[assignment]  # as Python has it where there is none

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tables):
            return NotImplemented
        wide = (256,) * self.population.persons
        mine, theirs = self.tensors(wide), other.tensors(wide)
        return mine.keys() == theirs.keys() and all(
            np.array_equal(array, theirs[name]) for name, array in mine.items()
        )

    def costs(self) -> dict[Measure, Stored]:
        """Return I of every set whose cost is stored, for a recipient that knows nothing."""
        near = {} if self.near is None else self.near.by_measure()
        single, both = self.singles.costs, self.singles.pair_costs
        stored: dict[Measure, Stored] = {each: Stored(rows=rows) for each, rows in near.items()}
        for line, metric in enumerate(COST_METRICS):
            pairs = None if both is None else both[line]
            stored[metric] = Stored(single[line], pairs, near.get(metric))
        return stored

    def tensors(self, cards: Sequence[int]) -> dict[str, NDArray[Any]]:
        """Return every tensor by its name in the file; ``cards``: values of each attribute."""
        people = self.population
        packed = [pack(*pair) for pair in zip(people.columns, cards, strict=False)]
        kinds = [np.zeros(0, np.uint8), *(each.counts.ravel() for each in people.requests)]
        of_row = [each.of_row for each in people.requests]
        tensors: dict[str, NDArray[Any] | None] = {
            "population.weights": people.weights,
            "pairs.costs": self.singles.pair_costs,
            "pairs.utilities": self.singles.pair_utilities,
            "attributes.costs": self.singles.costs,
            "attributes.prices": self.singles.prices,
            "attributes.utilities": self.singles.utilities,
            "population.codes": np.concatenate(packed),
            "population.requests": np.stack(of_row)
            if of_row
            else np.zeros((0, people.rows), np.uint8),
            "requests.counts": np.concatenate(kinds),
            "requests.kinds": np.array([len(each.counts) for each in people.requests], np.uint32),
            "queries.weights": self.query_weights,
            "rows.intent": self.rows.intent,
            "rows.request": self.rows.request,
            "users.rows": self.rows.of_user,
            "users.step": self.rows.step,
        }
        if self.classifier is not None:
            calibration = (self.classifier.temperature, self.classifier.threshold)
            tensors |= {
                "reading.weights": self.classifier.weights,
                "reading.biases": self.classifier.biases,
                "reading.calibration": np.array(calibration),
            }
        if self.near is not None:
            tensors |= {f"near.{each.name}": getattr(self.near, each.name) for each in fields(Near)}
        return {name: tensor for name, tensor in tensors.items() if tensor is not None}

    @classmethod
    def of_tensors(
        cls,
        tensors: dict[str, NDArray[Any]],
        cards: Sequence[int],
        people: int,
        verify: Callable[[Part], None] = lambda _: None,
    ) -> "Tables":
        """Return the tables from tensors by name; inverse of ``tensors``.

        ``cards``: values of each attribute; ``people``: rows of the population. Raises ValueError
        where codes or counts are more or fewer than these.
        """
        persons = len(cards) - len(tensors["requests.kinds"])
        columns, end = np.empty((persons, people), dtype=np.uint8), 0
        for column, card in zip(columns, cards, strict=False):
            start, end = end, end + size(people, card)
            column[:] = unpack(tensors["population.codes"][start:end], people, card)
        kinds, end = list[Kinds](), 0
        for number, card, of_row in zip(
            tensors["requests.kinds"].tolist(),
            cards[persons:],
            tensors["population.requests"],
            strict=True,
        ):
            start, end = end, end + number * card
            counts = tensors["requests.counts"][start:end].reshape(number, card)
            kinds.append(Kinds(counts, of_row))
        population = Population(
            read_only(columns).T, tensors.get("population.weights"), tuple(kinds)
        )
        rows = Rows(
            intent=tensors["rows.intent"],
            request=tensors["rows.request"],
            of_user=tensors["users.rows"],
            step=tensors["users.step"],
            verify=verify,
        )
        singles = Singles(
            tensors["attributes.utilities"],
            tensors["attributes.costs"],
            tensors.get("pairs.utilities"),
            tensors.get("pairs.costs"),
            tensors.get("attributes.prices"),
        )
        classifier = None
        if "reading.weights" in tensors:
            temperature, threshold = tensors["reading.calibration"].tolist()
            weights, biases = tensors["reading.weights"], tensors["reading.biases"]
            classifier = Classifier(weights, biases, temperature, threshold)
        near = None
        if "near.sets" in tensors:
            near = Near(**{each.name: tensors[f"near.{each.name}"] for each in fields(Near)})
        return cls(population, rows, tensors["queries.weights"], singles, classifier, near)


def gather(
    population: Population, queries: Sequence[QueryRows], weights: Floats, singles: Singles
) -> Tables:
    """Return the tables of a new model.

    ``queries``: the rows of each query, at least one, in order of their users, who are all in the
    population; ``weights``: float64, shape (Q,), relative frequency of each. The arrays are shared
    where they can be; what comes back is read-only. ValueError for rows out of order, or for a
    user whose codes nobody in the population has.
    """
    keys, first = np.unique(keys_of(population.codes), return_index=True)
    cards = tuple(each.counts.shape[1] for each in population.requests)
    parts = defaultdict[str, list[NDArray[Any]]](list)
    for each in queries:
        if (np.diff(each.user, prepend=0) < 0).any():
            raise ValueError("the rows of a query are not in the order of its users")
        found = np.searchsorted(keys, keys_of(each.person)).clip(max=len(keys) - 1)
        profile = first[found]
        if not np.array_equal(population.codes[profile], each.person):
            raise ValueError("a user of a query is not in the population")
        parts["of_user"].append(np.bincount(each.user, minlength=len(each.person)))
        parts["step"].append(np.diff(profile, prepend=0) % population.rows)
        parts["intent"].append(pack(each.intent, each.intents))
        packed = [pack(codes, card) for codes, card in zip(each.request.T, cards, strict=True)]
        parts["request"].append(np.concatenate([np.zeros(0, np.uint8), *packed]))
    whole = {name: read_only(np.concatenate(some)) for name, some in parts.items()}
    rows = Rows(whole["intent"], whole["request"], whole["of_user"], whole["step"])
    people = population.weights
    population = replace(
        population,
        codes=read_only(population.codes),
        weights=None if people is None else read_only(people),
        requests=tuple(Kinds(*map(read_only, each)) for each in population.requests),
    )
    figures = {each.name: getattr(singles, each.name) for each in fields(singles)}
    some = {name: read_only(each) for name, each in figures.items() if each is not None}
    return Tables(population, rows, read_only(weights), replace(singles, **some))


def keys_of(codes: NDArray[np.unsignedinteger]) -> NDArray[np.uint64]:
    """Return a number for each row of codes, the same for the same; differing ones rarely meet."""
    keys = np.zeros(len(codes), dtype=np.uint64)
    for column in codes.T:
        keys = keys * _FACTOR + column
    return keys


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view of an array through which it cannot be changed."""
    view = array.view()
    view.setflags(write=False)
    return view
