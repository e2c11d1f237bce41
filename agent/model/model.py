"""The model as a value: attributes, queries, tensors, and what follows from them."""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, TypeVar

from agent.errors import UsageError
from agent.model import encoder
from agent.model.attributes import Attribute
from agent.model.lookup import QueryIndex, Recent
from agent.model.reading import NOTHING, Reading
from agent.model.tables import Part, Tables, parts_of
from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.tables import Population, QueryRows
from agent.tradeoff.utility import Estimator, MeanUtility, Priced, Utility, query_utility

T = TypeVar("T")
ANY_PEOPLE = "people"  # of a model that does not say which
UTILITIES_KEPT = 32  # a prepared query of the shipped model takes about 2 MB
SETS_KEPT = 16
READINGS_KEPT = 256
RESULTS_KEPT = 1024


Figure = bool | int | float | str | tuple[float, ...] | None


@dataclass(frozen=True, slots=True)
class Query:
    """One known query.

    ``intents``: what people turned out to want; ``shrinkage``: beta, in rows; ``rows`` and
    ``users``: how many there are; ``prior_entropy_bits``: the bits that no utility exceeds;
    ``predicted_bits``, ``heldout_bits``: utility of the sets picked in validation, as the model
    predicted it and as held-out users had it; ``events``: of how many rows those are
    a sample; ``error_bits``: the standard error of a utility that comes of that; ``title``: for
    people, by default the text; ``phrasings``: texts that mean this query.
    """

    text: str
    intents: tuple[str, ...]
    shrinkage: float
    rows: int
    users: int
    prior_entropy_bits: float
    predicted_bits: float | None = None
    heldout_bits: float | None = None
    events: int | None = None
    error_bits: float | None = None
    title: str = ""
    phrasings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", self.title or self.text.replace("_", " "))


class _Memory:
    """What a model has computed so far; the one part of it that changes."""

    __slots__ = ("people", "readings", "results", "utilities")

    def __init__(self) -> None:
        self.utilities: Recent[int, tuple[Utility, Utility]] = Recent(UTILITIES_KEPT)
        self.people: Recent[Hashable, AnonymitySet] = Recent(SETS_KEPT)
        self.readings: Recent[str, Reading] = Recent(READINGS_KEPT)
        self.results: Recent[Hashable, Any] = Recent(RESULTS_KEPT)

    def clear(self) -> None:
        for each in (self.utilities, self.people, self.readings, self.results):
            each.clear()


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A model: person attributes first, then request attributes; a query is its index.

    ``stands_for``: whom the population counts, a plural, ANY_PEOPLE where it does not say which;
    ``options``: with what it was built; ``validation``: what held-out users said about it;
    ``digest``: SHA-256 of its file, 64 hexadecimal digits, empty before it is written.
    Two models are equal if their contents are. What is computed is remembered inside.
    """

    id: str
    source: str
    licence: str
    estimator: Estimator
    attributes: tuple[Attribute, ...]
    queries: tuple[Query, ...]
    tables: Tables = field(repr=False)
    stands_for: str = ANY_PEOPLE
    options: Mapping[str, Figure] = field(default_factory=dict)
    validation: Mapping[str, Figure] = field(default_factory=dict)
    digest: str = ""
    _memory: _Memory = field(default_factory=_Memory, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", MappingProxyType(dict(self.options)))
        object.__setattr__(self, "validation", MappingProxyType(dict(self.validation)))
        if hanging := _hanging(self.attributes):
            people = replace(self.tables.population, hanging=hanging)
            object.__setattr__(self, "tables", replace(self.tables, population=people))

    @property
    def population(self) -> Population:
        """The people a recipient might take the user for."""
        return self.tables.population

    @property
    def people(self) -> float:
        """How many people the population stands for: the sum of its weights, or of its rows."""
        return self.population.people

    @property
    def cards(self) -> tuple[int, ...]:
        """How many values each attribute has."""
        return tuple(len(attribute.values) for attribute in self.attributes)

    @property
    def persons(self) -> int:
        """P, the number of person attributes: those with an index below it."""
        return sum(attribute.scope == "person" for attribute in self.attributes)

    def index(self, name: str) -> int:
        """Return the index of an attribute; UsageError, naming the nearest, if there is none."""
        names = [attribute.name for attribute in self.attributes]
        if name not in names:
            raise UsageError.unknown("attribute", name, names)
        return names.index(name)

    def match(self, text: str) -> int | None:
        """Return the index of the query with this name or phrasing, None where there is none."""
        return self._index.find(text)

    def named(self, text: str) -> int | None:
        """Return the index of the query with this name, None where there is none."""
        return self._index.named(text)

    @property
    def _index(self) -> QueryIndex:
        texts = ((query.text, *query.phrasings) for query in self.queries)
        return self.remember(QueryIndex, lambda: QueryIndex([*texts]))

    def read(self, text: str) -> Reading:
        """Return which known queries a text means, and how probably; nothing if read before.

        The encoder is loaded for a text that is neither a name nor a phrasing; VersionError if
        it is none that this model can be read with.
        """
        return self._memory.readings.get(text, lambda: self.read_all([text])[0])

    def read_all(self, texts: Sequence[str]) -> list[Reading]:
        """Return the reading of each of many texts, half a millisecond each; none is remembered."""
        found = [self.match(text) for text in texts]
        readings = [NOTHING if query is None else Reading.exact(query) for query in found]
        others = [at for at, query in enumerate(found) if query is None and texts[at].strip()]
        if self.tables.classifier is not None and others:
            read = self.tables.classifier.read([texts[at] for at in others])
            for at, reading in zip(others, read, strict=True):
                readings[at] = reading
        return readings

    def corrected(self, reading: Reading, names: Collection[str]) -> Reading:
        """Return a reading less the queries of these names, which the text does not mean."""
        return reading.without([at for at, each in enumerate(self.queries) if each.text in names])

    @property
    def encoded(self) -> bool:
        """Whether it reads texts that are no names or phrasings, with the encoder."""
        return self.tables.classifier is not None

    def rows(self, query: int) -> QueryRows:
        """Return the rows of a query, made anew; DamagedModelError where the file is."""
        return self.tables.rows.of(self.remember(parts_of, self._parts)[query], self.population)

    def _parts(self) -> tuple[Part, ...]:
        sizes = ((each.text, each.rows, each.users, len(each.intents)) for each in self.queries)
        return parts_of(sizes, self.cards[self.persons :])

    def utility(self, query: int) -> Utility:
        """Return the utility of sets of attributes for a query, less prices, in bits."""
        return self._utilities(query)[1]

    def mean_utility(self) -> Utility:
        """Return the utility averaged over the queries by weight: the a-priori case (9.5.1).

        Before prices: of all rows together, luck is little.
        """

        def mean() -> MeanUtility:
            utilities = [self._utilities(query)[0] for query in range(len(self.queries))]
            return MeanUtility(utilities, self.tables.query_weights)

        return self.remember(MeanUtility, mean)

    def anonymity_set(
        self, known: Iterable[tuple[int, int]] = (), share: float = 1.0
    ) -> AnonymitySet:
        """Return the people who agree with pairs of person attribute and code, in any order.

        ``share``: of these, with all that the model lacks and the recipient holds (DESIGN.md 2.8).
        """
        pairs = tuple(sorted(known))

        def found() -> AnonymitySet:
            people = AnonymitySet(self.population, self.cards, pairs, share)
            if not pairs and share >= 1:
                people.learn(self.tables.costs())
            return people

        return self._memory.people.get((pairs, share), found)

    def _utilities(self, query: int) -> tuple[Utility, Utility]:
        """Return the utility of a query before prices, and less prices."""

        def made() -> tuple[Utility, Utility]:
            shrinkage, prices = self.queries[query].shrinkage, self.tables.singles.prices
            utility = query_utility(self.rows(query), self.cards, self.estimator, shrinkage)
            return utility, utility if prices is None else Priced(utility, prices[query])

        return self._memory.utilities.get(query, made)

    def remember(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the result for ``key``, a pure function of this model and the key.

        It is made if it is not remembered; the RESULTS_KEPT most recently used are.
        """
        result: T = self._memory.results.get(key, make)
        return result

    def forget(self) -> None:
        """Forget all that is remembered: it says what was asked, and what recipients hold.

        Of the encoder too, which models share.
        """
        self._memory.clear()
        encoder.forget()


def _hanging(attributes: Sequence[Attribute]) -> dict[int, tuple[int, frozenset[int]]]:
    """Return for each attribute that hangs on another one what a population says of both."""
    place = {each.name: at for at, each in enumerate(attributes)}
    return {
        place[name]: (
            at,
            frozenset(
                code
                for code, value in enumerate(each.values)
                if name not in each.implies.get(value, {})
            ),
        )
        for at, each in enumerate(attributes)
        for name in each.decides
    }


def person_codes(model: Model) -> Mapping[str, Mapping[str, int]]:
    """Return the codes by value, by the name of each person attribute."""

    def codes() -> Mapping[str, Mapping[str, int]]:
        persons = model.attributes[: model.persons]
        return {each.name: {value: at for at, value in enumerate(each.values)} for each in persons}

    return model.remember(person_codes, codes)


def checked(name: str, value: object, model: Model) -> str:
    """Return the value of a person attribute; UsageError where the model has no such."""
    if name not in person_codes(model):
        raise unknown_person(name, [model])
    attribute = model.attributes[model.index(name)]
    if not isinstance(value, str):
        hint = f'write it in quotes, as in {name} = "{attribute.values[-1]}"'
        raise UsageError(f"the value of {name} is not text", hint)
    attribute.code(value)
    return value


def unknown_person(name: str, models: Sequence[Model]) -> UsageError:
    """Return the error for a name that is no attribute of the person in any of these models."""
    if any(name == each.name for model in models for each in model.attributes):
        hint = "leave it out: a profile has only what stays the same"
        return UsageError(f"{name} changes with every request", hint)
    names = {each for model in models for each in person_codes(model)}
    return UsageError.unknown("attribute", name, names)


def surest(
    text: str, models: Sequence[Model], read: Callable[[Model, str], Reading]
) -> tuple[Model, Reading]:
    """Return the model whose reading of a text is the surest, with that reading.

    Of equals the first; the first of all where none is sure. A text that is a name of one, or
    else a phrasing, is not read by the others. ``read``: returns the reading of a text by a model.
    ValueError without a model.
    """
    named = [model for model in models if model.named(text) is not None]
    named = named or [model for model in models if model.match(text) is not None]
    for some in (named, models):
        readings = [(model, read(model, text)) for model in some]
        found = max(readings, key=lambda pair: pair[1].probability, default=None)
        if found is not None and (some is models or found[1].certain is not None):
            return found
    raise ValueError("there is no model to read it")
