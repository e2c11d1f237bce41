"""The model as a value: attributes, queries, tensors, and what follows from them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import Annotated

import numpy as np
from msgspec import Meta

from agent.errors import UsageError
from agent.model.attributes import Attribute, Text, damaged, repeated
from agent.model.reading import NOTHING, Interpretation, TextIndex, normalise, spelling
from agent.model.tables import Tables, read_only
from agent.tradeoff.tables import Population, QueryRows
from agent.tradeoff.utility import Estimator

ANY_PEOPLE = "people"  # of a model that does not say which
MIN_SHRINKAGE, MAX_SHRINKAGE = 1e-6, 1e9  # beyond, a product of many probabilities overflows

Count = Annotated[int, Meta(ge=1, le=2**32)]
Figure = bool | int | float | str | tuple[float, ...] | None


@dataclass(frozen=True, slots=True)
class Query:
    """One known query.

    ``intents``: what people turned out to want; ``shrinkage``: beta, in rows; ``rows`` and
    ``users``: how many there are; ``prior_entropy_bits``: the bits that no utility exceeds;
    ``predicted_bits``, ``heldout_bits``: utility of the sets picked in validation, as the model
    predicted it and as held-out users had it; ``events``: of how many rows those are
    a sample; ``error_bits``: the standard error of a utility that comes of that; ``title``: for
    people, by default the text; ``phrasings``: texts that mean this query; ``spellings``: of each
    phrasing, `lookup.spelling`, by default computed.
    """

    text: str
    intents: Annotated[tuple[Text, ...], Meta(min_length=1)]
    shrinkage: float
    rows: Count
    users: Count
    prior_entropy_bits: float
    predicted_bits: float | None = None
    heldout_bits: float | None = None
    events: Count | None = None
    error_bits: float | None = None
    title: Text = ""
    phrasings: tuple[Text, ...] = ()
    spellings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", self.title or self.text.replace("_", " "))
        spellings = self.spellings or tuple(map(spelling, self.phrasings))
        object.__setattr__(self, "spellings", spellings)
        if len(self.spellings) != len(self.phrasings):
            raise ValueError(f"query {self.text!r} does not have a spelling per phrasing")

    def phrased(self, phrasings: tuple[str, ...]) -> "Query":
        """The query with these phrasings."""
        return replace(self, phrasings=phrasings, spellings=())


def check_queries(queries: Sequence[Query], estimator: str, *, whole: bool) -> None:
    """Refuse queries that look alike, and a shrinkage that cannot be computed with.

    ``whole``: whether to compute the spellings of phrasings too. Raises DamagedModelError.
    """
    texts = [normalise(query.text) for query in queries]
    if not all(texts):
        raise damaged("the model has a query without text")
    if len(set(texts)) < len(texts):
        raise damaged(f"the model has the query {repeated(texts)!r} twice")
    for query in queries:
        if len(set(query.intents)) < len(query.intents):
            raise damaged(f"query {query.text!r} has the intent {repeated(query.intents)!r} twice")
        plain = estimator == "plugin" and query.shrinkage == 0
        if not (plain or MIN_SHRINKAGE <= query.shrinkage <= MAX_SHRINKAGE):
            raise damaged(f"query {query.text!r} has a shrinkage of {query.shrinkage:g}")
        if whole and query.spellings != tuple(map(spelling, query.phrasings)):
            raise damaged(f"query {query.text!r} has a phrasing with another's spelling")


@dataclass(frozen=True, kw_only=True, repr=False)
class Model:
    """A model: person attributes first, then request attributes; a query is its index.

    ``stands_for``: whom the population counts, a plural, ANY_PEOPLE where it does not say which;
    ``options``: with what it was built; ``validation``: what held-out users said about it;
    ``digest``: SHA-256 of its file, 64 hexadecimal digits, empty before it is written.
    Two models are equal if their contents are.
    """

    id: str
    source: str
    licence: str
    estimator: Estimator
    attributes: tuple[Attribute, ...]
    queries: tuple[Query, ...]
    tables: Tables
    stands_for: str = ANY_PEOPLE
    options: Mapping[str, Figure] = field(default_factory=dict)
    validation: Mapping[str, Figure] = field(default_factory=dict)
    digest: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", MappingProxyType(dict(self.options)))
        object.__setattr__(self, "validation", MappingProxyType(dict(self.validation)))
        if hanging := _hanging(self.attributes):
            people = replace(self.tables.population, hanging=hanging)
            object.__setattr__(self, "tables", replace(self.tables, population=people))

    def __repr__(self) -> str:
        people, exact = self.people, self.population.weights is None
        for size, name in ((1e9, "billion"), (1e6, "million")):
            if people >= size and not exact:
                shown = f"about {people / size:.0f} {name}"
                break
        else:
            shown = f"{'' if exact else 'about '}{people:,.0f}"
        counts = f"{len(self.queries)} queries, {self.persons} facts, {shown} people"
        return f"<Model {self.id}: {counts}>"

    @property
    def population(self) -> Population:
        """The people a recipient might take the user for."""
        return self.tables.population

    @property
    def people(self) -> float:
        """How many people the population stands for: the sum of its weights, or of its rows."""
        return self.population.people

    @cached_property
    def cards(self) -> tuple[int, ...]:
        """How many values each attribute has."""
        return tuple(len(attribute.values) for attribute in self.attributes)

    @cached_property
    def persons(self) -> int:
        """P, the number of person attributes: those with an index below it."""
        return sum(attribute.scope == "person" for attribute in self.attributes)

    @cached_property
    def person_codes(self) -> Mapping[str, Mapping[str, int]]:
        """The codes by value, by the name of each person attribute."""
        persons = self.attributes[: self.persons]
        return {each.name: {value: at for at, value in enumerate(each.values)} for each in persons}

    @cached_property
    def by_concept(self) -> Mapping[str, Attribute]:
        """The person attributes by their concepts."""
        return {each.concept: each for each in self.attributes[: self.persons]}

    @cached_property
    def codes_by_meaning(self) -> Mapping[tuple[str, str], tuple[str, int]]:
        """The attribute and the code of each value of a person attribute.

        By the concepts of both, and by the attribute's concept with MODEL:VALUE (`Meaning`).
        """
        return {
            (each.concept, name): (each.name, code)
            for each in self.attributes[: self.persons]
            for code, value in enumerate(each.values)
            for name in (each.value_concepts[code], f"{self.id}:{value}")
            if name is not None
        }

    def index(self, name: str) -> int:
        """The index of an attribute; UsageError, naming the nearest, if there is none."""
        names = [attribute.name for attribute in self.attributes]
        if name not in names:
            raise UsageError.unknown("attribute", name, names)
        return names.index(name)

    def match(self, text: str) -> int | None:
        """The index of the query with this name or phrasing, None where there is none."""
        return self._texts.find(text)

    def named(self, text: str) -> int | None:
        """The index of the query with this name, None where there is none."""
        return self._texts.named(text)

    @cached_property
    def _texts(self) -> TextIndex:
        return TextIndex(
            [each.text for each in self.queries],
            [(each.phrasings, each.spellings) for each in self.queries],
        )

    def read(self, text: str) -> Interpretation:
        """Which known queries a text means, and how probably; raises as `read_all`."""
        return self.read_all([text])[0]

    def read_all(self, texts: Sequence[str]) -> list[Interpretation]:
        """The reading of each text, half a millisecond each.

        The encoder is loaded for a text that is neither a name nor a phrasing; VersionError if
        another version than the model's is installed.
        """
        exact = [self.match(text) for text in texts]
        readings = [NOTHING if query is None else Interpretation.exact(query) for query in exact]
        others = [at for at, query in enumerate(exact) if query is None and texts[at].strip()]
        if self.tables.classifier is not None and others:
            read = self.tables.classifier.read([texts[at] for at in others])
            for at, reading in zip(others, read, strict=True):
                readings[at] = reading
        return readings

    def corrected(self, reading: Interpretation, names: Collection[str]) -> Interpretation:
        """A reading less the queries of these names, which the text does not mean."""
        return reading.without([at for at, each in enumerate(self.queries) if each.text in names])

    @property
    def encoded(self) -> bool:
        """Whether the model has a text classifier."""
        return self.tables.classifier is not None

    def rows(self, query: int) -> QueryRows:
        """The rows of a query, made anew; DamagedModelError as `check_rows`."""
        self.check_rows(query)
        tables, (rows, users) = self.tables.rows, self._places[query]
        sizes = tables.users[users]
        profile = np.cumsum(tables.step[users], dtype=np.intp) % self.population.rows
        return QueryRows(
            user=read_only(np.repeat(np.arange(len(sizes)), sizes)),
            intent=read_only(tables.intent[rows].astype(np.intp)),
            person=read_only(self.population.codes[profile]),
            request=read_only(tables.request[:, rows].T),
            intents=len(self.queries[query].intents),
        )

    def check_rows(self, query: int) -> None:
        """Refuse rows of a query that cannot be; DamagedModelError."""
        about, tables = self.queries[query], self.tables.rows
        rows, users = self._places[query]
        tables.verify(rows, users)
        sizes, where = tables.users[users], f"query {about.text!r} has"
        if not sizes.all():
            raise damaged("tensor 'rows.users' has a user without rows")
        if (total := int(sizes.sum(dtype=np.uint64))) != about.rows:
            raise damaged(f"tensor 'rows.users' has {total} rows where {where} {about.rows}")
        if (highest := int(tables.intent[rows].max())) >= len(about.intents):
            what = f"has {highest} where {where} {len(about.intents)}"
            raise damaged(f"tensor 'rows.intent' {what}")
        for codes, card in zip(tables.request[:, rows], self.cards[self.persons :], strict=True):
            if (highest := int(codes.max())) >= card:
                what = f"has code {highest} where {card} values are"
                raise damaged(f"tensor 'rows.request' {what}: query {about.text!r}")

    @cached_property
    def _places(self) -> list[tuple[slice, slice]]:
        """Which rows and which users are those of each query."""
        counts = [(0, 0), *((each.rows, each.users) for each in self.queries)]
        ends = np.cumsum(counts, axis=0).tolist()
        return [(slice(one[0], two[0]), slice(one[1], two[1])) for one, two in pairwise(ends)]


def _hanging(attributes: Sequence[Attribute]) -> dict[int, tuple[int, frozenset[int]]]:
    """For each attribute that hangs on another one what a population says of both."""
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


def unknown_person(name: str, models: Sequence[Model]) -> UsageError:
    """The error for a name that no model has as an attribute of the person."""
    if any(name == each.name for model in models for each in model.attributes):
        hint = "leave it out: a profile holds only facts that stay the same"
        return UsageError(f"{name} changes with every request", hint)
    names = {each for model in models for each in model.person_codes}
    return UsageError.unknown("attribute", name, names)


def surest(
    text: str, models: Sequence[Model], read: Callable[[Model, str], Interpretation]
) -> tuple[Model, Interpretation]:
    """The model whose reading of a text is the surest, with that reading.

    Of equals the first; the first of all where none is sure. A text that is the name of a query of
    one model, or else a phrasing, is not read by the others. ``read``: reads a text by a model.
    Raises ValueError without a model.
    """
    owners = [model for model in models if model.named(text) is not None]
    owners = owners or [model for model in models if model.match(text) is not None]
    for some in (owners, models):
        readings = [(model, read(model, text)) for model in some]
        best = max(readings, key=lambda pair: pair[1].probability, default=None)
        if best is not None and (some is models or best[1].certain is not None):
            return best
    raise ValueError("there is no model to read it")
