"""The tensors of a model: everything that was counted."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from agent.model.reading import Classifier
from agent.tradeoff.anonymity_set import Metric
from agent.tradeoff.sets import pairs, singleton
from agent.tradeoff.tables import Population, QueryRows
from agent.tradeoff.utility import exact

Codes = NDArray[np.integer]
Floats = NDArray[np.float64]

_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd, so that no bit of a key is lost

COST_METRICS: tuple[Metric, ...] = ("maxprob", "log-maxprob", "entropy")  # rows of Singles.costs


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

    def utilities_of(self, query: int) -> dict[int, float]:
        """Return U, less prices, of every set whose utility is stored, by mask, in bits."""
        both = self.pair_utilities
        if self.prices is None:
            return _by_set(self.utilities, both, query)
        prices = exact(self.prices[query])
        if both is not None:
            of_pairs = np.add.outer(prices, prices)[np.triu_indices(len(prices), 1)]
            both = (both[query] - of_pairs)[None]
        return _by_set((self.utilities[query] - prices)[None], both, 0)

    def mean_of(self, weights: Floats) -> "Singles":
        """Return the same figures of the mean query alone; ``weights``: float64, shape (Q,).

        It has no prices: of all rows together, luck is little.
        """
        share, both = weights / weights.sum(), self.pair_utilities
        mean_pairs = None if both is None else (share @ both)[None]
        single = (share @ self.utilities)[None]
        return replace(self, utilities=single, pair_utilities=mean_pairs, prices=None)

    def costs_of(self, metric: Metric) -> dict[int, float]:
        """Return I of every set whose cost is stored, by mask; ``metric``: of COST_METRICS."""
        return _by_set(self.costs, self.pair_costs, COST_METRICS.index(metric))


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The rows of all queries, one query after the other, and one user after the other in each.

    Integers, the smallest in a file. ``intent``: shape (M,), a position in the intents of its
    query. ``request``: uint8, shape (M, R), codes of each row. ``of_user``: shape (U,), how many
    rows each user of each query has. ``profile``: shape (U,), the first row of the population
    with the user's codes: so it says what the codes say, and not who it was.
    """

    intent: Codes
    request: NDArray[np.uint8]
    of_user: Codes
    profile: Codes


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """All tensors of a model, read-only; equal if every number is.

    ``query_weights``: float64, shape (Q,), above 0, relative frequency of each query.
    ``classifier``: of texts, None in a model that knows its queries by name only.
    """

    population: Population
    rows: Rows
    query_weights: Floats
    singles: Singles
    classifier: Classifier | None = None

    __hash__: ClassVar[None]  # type: ignore[assignment]  # as Python has it where there is none

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tables):
            return NotImplemented
        mine, theirs = self.tensors(), other.tensors()
        return mine.keys() == theirs.keys() and all(
            np.array_equal(array, theirs[name]) for name, array in mine.items()
        )

    def tensors(self) -> dict[str, NDArray[Any]]:
        """Return every tensor by its name in the file (FORMAT.md)."""
        people = self.population
        counts = np.hstack([np.zeros((people.rows, 0), np.uint8), *people.request_counts])
        tensors: dict[str, NDArray[Any] | None] = {
            "population.weights": people.weights,
            "pairs.costs": self.singles.pair_costs,
            "pairs.utilities": self.singles.pair_utilities,
            "attributes.costs": self.singles.costs,
            "attributes.prices": self.singles.prices,
            "attributes.utilities": self.singles.utilities,
            "population.codes": people.codes,
            "population.request_counts": counts,
            "queries.weights": self.query_weights,
            "rows.intent": self.rows.intent,
            "rows.request": self.rows.request,
            "users.profile": self.rows.profile,
            "users.rows": self.rows.of_user,
        }
        if self.classifier is not None:
            calibration = (self.classifier.temperature, self.classifier.threshold)
            tensors |= {
                "reading.weights": self.classifier.weights,
                "reading.biases": self.classifier.biases,
                "reading.calibration": np.array(calibration),
            }
        return {name: tensor for name, tensor in tensors.items() if tensor is not None}

    @classmethod
    def of_tensors(cls, tensors: dict[str, NDArray[Any]], request_cards: Sequence[int]) -> "Tables":
        """Return the tables from checked tensors by name; inverse of ``tensors``."""
        counts = tensors["population.request_counts"]
        ends = np.cumsum(request_cards, dtype=np.intp)[:-1]
        population = Population(
            tensors["population.codes"],
            tensors.get("population.weights"),
            tuple(np.split(counts, ends, axis=1)) if request_cards else (),
        )
        rows = Rows(
            intent=tensors["rows.intent"],
            request=tensors["rows.request"],
            of_user=tensors["users.rows"],
            profile=tensors["users.profile"],
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
        return cls(population, rows, tensors["queries.weights"], singles, classifier)


def gather(
    population: Population, queries: Sequence[QueryRows], weights: Floats, singles: Singles
) -> Tables:
    """Return the tables of a new model.

    ``queries``: the rows of each query, at least one, in order of their users, who are all in the
    population; ``weights``: float64, shape (Q,), relative frequency of each. The arrays are shared
    where they can be; what comes back is read-only. ValueError for rows out of order, or for a
    user whose codes nobody in the population has.
    """
    keys, first = np.unique(_keys(population.codes), return_index=True)
    of_user, profiles = [], []
    for each in queries:
        if (np.diff(each.user, prepend=0) < 0).any():
            raise ValueError("the rows of a query are not in the order of its users")
        of_user.append(np.bincount(each.user, minlength=len(each.person)))
        found = np.searchsorted(keys, _keys(each.person)).clip(max=len(keys) - 1)
        profiles.append(first[found])
        if not np.array_equal(population.codes[profiles[-1]], each.person):
            raise ValueError("a user of a query is not in the population")
    rows = Rows(
        intent=np.concatenate([each.intent for each in queries]),
        request=np.concatenate([each.request for each in queries]),
        of_user=np.concatenate(of_user),
        profile=np.concatenate(profiles),
    )
    built = Tables(population, rows, weights, singles).tensors()
    tensors = {name: read_only(array) for name, array in built.items()}
    return Tables.of_tensors(tensors, [counts.shape[1] for counts in population.request_counts])


def _keys(codes: NDArray[np.unsignedinteger]) -> NDArray[np.uint64]:
    """Return a number for each row of codes, the same for the same; differing ones rarely meet."""
    keys = np.zeros(len(codes), dtype=np.uint64)
    for column in codes.T:
        keys = keys * _FACTOR + column
    return keys


def _by_set(single: Floats, pair: Floats | None, line: int) -> dict[int, float]:
    """Return one line of figures for single attributes, and for pairs if any, by mask."""
    count = single.shape[1]
    sets = [singleton(attribute) for attribute in range(count)]
    figures = dict(zip(sets, single[line].tolist(), strict=True))
    if pair is not None:
        figures.update(zip(pairs(count), pair[line].tolist(), strict=True))
    return figures


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view of an array through which it cannot be changed."""
    view = array.view()
    view.setflags(write=False)
    return view
