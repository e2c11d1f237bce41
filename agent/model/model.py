"""The model as a value, and what its facts mean across models, which share concepts, not names."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from agent.errors import UsageError
from agent.model.attributes import (
    UNSPECIFIED,
    Attribute,
    Block,
    Query,
    SharedKind,
    damaged,
    hanging_of,
    shares_of,
)
from agent.model.reading import NOTHING, Candidate, Interpretation, TextIndex
from agent.model.tables import Tables, check_below
from agent.model.unwrapping import unwrapped
from agent.tradeoff.tables import Population, QueryRows, read_only, union
from agent.tradeoff.utility import Estimator

ANY_PEOPLE = "people"  # of a model that does not say which
PRIVATE = "private_epsilon"  # the option of a model whose rows are drawn, and no people
BUDGET = (PRIVATE, "private_delta", "private_per_person", "private_share_of_people")

Figure = bool | int | float | str | tuple[float, ...] | None


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Model:
    """A model: person attributes first, then request attributes; a query is its index.

    ``stands_for``: whom the population counts, a plural, ANY_PEOPLE where it does not say which;
    ``as_in``: in which country facts are as common as is supposed of these, where that is another;
    ``options``: with what it was built; ``validation``: what held-out users said about it;
    ``donors``: which attributes were drawn from other surveys; ``kinds``: facts beyond them;
    ``digest``: SHA-256 of its file, 64 hexadecimal digits, empty before it is written; ``members``:
    of a world, the models that it is made of, that of its people first; ``own``: of each place for
    a fact in own words the attribute of its kind, both by index (`world.with_own_facts`).
    """

    id: str
    source: str
    licence: str
    estimator: Estimator
    attributes: tuple[Attribute, ...]
    queries: tuple[Query, ...]
    tables: Tables
    stands_for: str = ANY_PEOPLE
    as_in: str = ""
    options: Mapping[str, Figure] = field(default_factory=dict)
    validation: Mapping[str, Figure] = field(default_factory=dict)
    donors: tuple[Block, ...] = ()
    kinds: tuple[SharedKind, ...] = ()
    digest: str = ""
    members: tuple["Member", ...] = ()
    own: Mapping[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", MappingProxyType(dict(self.options)))
        object.__setattr__(self, "validation", MappingProxyType(dict(self.validation)))
        object.__setattr__(self, "own", MappingProxyType(dict(self.own)))
        hanging, shares = hanging_of(self.attributes), shares_of(self.attributes, self.kinds)
        blocks = masks_of(self.donors, self.attributes)
        synthetic = PRIVATE in self.options
        if hanging or blocks or synthetic or shares is not None:
            people = replace(self.tables.population, hanging=hanging, blocks=blocks, shares=shares)
            people = replace(people, residents=people.people) if synthetic else people
            object.__setattr__(self, "tables", replace(self.tables, population=people))

    def __repr__(self) -> str:
        about, people = "" if self.population.weights is None else "about ", self.people
        many = about and people >= 1e6  # noqa: PLR2004  (a million)
        shown = f"{people / 1e6:,.0f} million" if many else f"{people:,.0f}"
        counts = f"{len(self.queries)} queries, {self.persons} facts, {about}{shown} people"
        return f"<Model {self.id}: {counts}>"

    @property
    def every(self) -> tuple["Model", ...]:
        """The models that it is made of: itself, where it is no world."""
        return tuple(each.model for each in self.members) or (self,)

    @cached_property
    def population(self) -> Population:
        """The people a recipient might take the user for."""
        return self.tables.population

    @cached_property
    def people(self) -> float:
        """How many people are counted: the sum of weights or of rows, or all who live elsewhere."""
        return self.population.residents or self.population.people

    @cached_property
    def titles(self) -> Mapping[str, str]:
        """What people call each attribute, by its name."""
        return {each.name: each.title for each in self.attributes}

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
    def fact_kinds(self) -> Mapping[str, tuple[str, str]]:
        """By person attribute, the kind of its fact, now and before it had a concept."""
        persons = self.attributes[: self.persons]
        return {each.name: (each.concept, f"{self.id}.{each.name}") for each in persons}

    @cached_property
    def meanings(self) -> Mapping[tuple[str, str], "Meaning"]:
        """The meaning of each value of each person attribute, by both names."""
        return {
            (each.name, value): Meaning(each.concept, concept or f"{self.id}:{value}")
            for each in self.attributes[: self.persons]
            for value, concept in zip(each.values, (None, *each.value_concepts[1:]), strict=True)
        }

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

    @cached_property
    def sensitivities(self) -> tuple[float, ...]:
        """The sensitivity of each attribute, in bits."""
        return tuple(each.sensitivity for each in self.attributes)

    def index(self, name: str) -> int:
        """The index of an attribute; UsageError, naming the nearest, if there is none."""
        if name not in self._index_of:
            raise UsageError.unknown("fact", name, [*self._index_of])
        return self._index_of[name]

    @cached_property
    def _index_of(self) -> dict[str, int]:
        return {each.name: place for place, each in enumerate(self.attributes)}

    @cached_property
    def texts(self) -> TextIndex:
        """The queries by their names and phrasings."""
        texts = [each.text for each in self.queries]
        return TextIndex(texts, [each.spellings for each in self.queries])

    def read(self, text: str) -> Interpretation:
        """Which known queries a text means, and how probably.

        The encoder is loaded for a text that is neither a name nor a phrasing; VersionError if
        another version than the model's is installed.
        """
        query, classifier = self.texts.find(text), self.tables.classifier
        if query is not None:
            return Interpretation.exact(query)
        if self.members:
            return self.surest([each.model.read(text) for each in self.members])
        if classifier is None or not text.strip():
            return NOTHING
        return classifier.read(unwrapped(text))

    @cached_property
    def owners(self) -> Sequence[tuple["Member", int]]:
        """By query, the member of a world that knows it, and its index there; empty without."""
        return [(each, own) for each in self.members for own in range(len(each.model.queries))]

    def surest(self, readings: Sequence[Interpretation]) -> Interpretation:
        """The surest of readings by its members, of equals the first; the first if none is sure."""
        sure = [at for at, each in enumerate(readings) if each.accepted]
        best = max(sure, key=lambda at: readings[at].candidates[0].probability, default=0)
        first, reading = self.members[best].first, readings[best]
        queries = (Candidate(first + each.query, each.probability) for each in reading.candidates)
        return replace(reading, candidates=tuple(queries))

    def rows(self, query: int) -> QueryRows:
        """The rows of a query, computed anew on each call; DamagedModelError as `check_rows`.

        UsageError in a model of topics, which has none.
        """
        if self.tables.judged is not None:
            what = f"the model {self.id} has no rows: what helps with a topic was judged"
            raise UsageError(what, "name a model that was built from what people asked")
        self.check_rows(query)
        tables, (rows, users) = self.tables.rows, self._places[query]
        sizes = tables.users[users]
        profile = np.cumsum(tables.step[users], dtype=np.intp) % self.population.rows
        return QueryRows(
            user=read_only(np.repeat(np.arange(len(sizes)), sizes)),
            intent=read_only(tables.intent[rows].astype(np.intp)),
            person=read_only(self.population.codes_of(profile)),
            request=read_only(tables.request[:, rows].T),
            intents=len(self.queries[query].intents),
        )

    def check_rows(self, query: int) -> None:
        """Refuse rows of a query that cannot be; DamagedModelError."""
        about, tables = self.queries[query], self.tables.rows
        if not about.rows:  # a topic
            return
        rows, users = self._places[query]
        sizes, where = tables.users[users], f"query {about.text!r}"
        for part in (sizes, tables.step[users], tables.intent[rows], *tables.request[:, rows]):
            tables.verify(part)
        if not sizes.all():
            raise damaged("tensor 'rows.users' has a user without rows")
        if (total := int(sizes.sum(dtype=np.uint64))) != about.rows:
            raise damaged(f"tensor 'rows.users' has {total} rows where {where} has {about.rows}")
        check_below("rows.intent", tables.intent[rows], len(about.intents), where)
        for codes, card in zip(tables.request[:, rows], self.cards[self.persons :], strict=True):
            check_below("rows.request", codes, card, where)

    @cached_property
    def _places(self) -> list[tuple[slice, slice]]:
        """Which rows and which users are those of each query."""
        counts = [(0, 0), *((each.rows, each.users) for each in self.queries)]
        ends = np.cumsum(counts, axis=0).tolist()
        return [(slice(one[0], two[0]), slice(one[1], two[1])) for one, two in pairwise(ends)]


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """A model of a world (`world.world_of`).

    ``first``: the index of its first query in the world; ``places``: for each of its attributes the
    index in the world; ``unit``: kappa, by which its utilities are multiplied, from 1.
    """

    model: Model
    first: int
    places: tuple[int, ...]
    unit: float = 1.0


def masks_of(blocks: Sequence[Block], attributes: Sequence[Attribute]) -> tuple[int, ...]:
    """The attributes of each block that was drawn from another survey, as masks."""
    place = {each.name: at for at, each in enumerate(attributes)}
    return tuple(union(place[name] for name in each.attributes) for each in blocks)


def unknown_person(name: str, models: Sequence[Model]) -> UsageError:
    """The error for a name that no model has as an attribute of the person."""
    if any(name == each.name for model in models for each in model.attributes):
        hint = "leave it out: a profile holds only facts that stay the same"
        return UsageError(f"{name} changes with every request", hint)
    kinds = (each for model in models for each in model.by_concept.values() if not each.further)
    return UsageError.unknown("fact", name, {each.name for each in kinds})


class Meaning(NamedTuple):
    """One value of one fact, independent of any model.

    ``concept``: that of the attribute; ``value``: the concept of the value, or MODEL:VALUE where no
    other model has a counterpart. "unspecified" is MODEL:unspecified: its sense depends on the
    values that the model lists.
    """

    concept: str
    value: str


class Kind(NamedTuple):
    """What a fact is about, under one name for all models that know it.

    ``concept``: its name across models; ``name``: what commands call it, MODEL.NAME where the
    name alone means several; ``title``: of the first model; ``values``: of all of them;
    ``attributes``: each with its model.
    """

    concept: str
    name: str
    title: str
    values: tuple[str, ...]
    attributes: tuple[tuple[Model, Attribute], ...]

    @property
    def choices(self) -> tuple[str, ...]:
        """The values of the model that distinguishes most, so that no two of them overlap."""
        attributes = [each for _, each in self.attributes]
        finest = max(attributes, key=lambda a: (len({*a.value_concepts} - {None}), len(a.values)))
        return finest.values

    def called(self, name: str) -> bool:
        """Whether a name means this kind: its own, that in a model, or MODEL.NAME."""
        names = ({each.name, f"{model.id}.{each.name}"} for model, each in self.owners)
        return name == self.concept or any(name in each for each in names)

    @property
    def owners(self) -> Iterator[tuple[Model, Attribute]]:
        """The attributes, and those of the models that a world is made of."""
        parts = (part for model, _ in self.attributes for part in (model, *model.every))
        return ((e, e.by_concept[self.concept]) for e in parts if self.concept in e.by_concept)

    def meaning(self, value: str, name: str = "") -> Meaning | None:
        """The meaning of a listed value, else None; ``name``: MODEL.NAME prefers a model."""
        if value == UNSPECIFIED:
            return Meaning(self.concept, UNSPECIFIED)
        owners = sorted(self.owners, key=lambda each: name != f"{each[0].id}.{each[1].name}")
        for model, each in owners:
            if value in each.values:
                return model.meanings[each.name, value]
        meaning = Meaning(self.concept, value)
        listed = any(meaning in model.codes_by_meaning for model, _ in self.attributes)
        return meaning if listed else None


class Concepts:
    """The installed models, and how each expresses a fact that another one disclosed."""

    def __init__(self, models: Sequence[Model] = ()) -> None:
        """Take the usable models; the first that has a fact names it."""
        self.models = tuple(models)
        self._by_id = {each.id: each for model in models for each in (*model.every, model)}

    @cached_property
    def renamed(self) -> Mapping[Meaning, Meaning]:
        """Facts by today's concepts, where these are others than they may have been.

        The concept of an attribute may once have been MODEL.NAME, and be shared by now.
        """
        return {
            before: meaning
            for model in self._by_id.values()
            for (name, value), meaning in model.meanings.items()
            for each in (value, f"{model.id}:{value}")
            if (before := Meaning(f"{model.id}.{name}", each)) != meaning
        }

    def code(self, fact: Meaning, model: Model) -> tuple[str, int] | None:
        """A model's attribute and code for a fact; None where it cannot express the fact.

        What another model left unspecified is unspecified here too only if that model lists every
        value that this one does: else the person may have a value that the other one lacks.
        """
        if fact in model.codes_by_meaning:
            return model.codes_by_meaning[fact]
        source, _, value = fact.value.rpartition(":")
        here, other = model.by_concept.get(fact.concept), self._by_id.get(source)
        there = None if other is None else other.by_concept.get(fact.concept)
        if value != UNSPECIFIED or here is None or there is None or None in here.value_concepts:
            return None
        return (here.name, 0) if {*here.value_concepts} <= {*there.value_concepts} else None

    def replaces(self, concept: str, value: str, previous: str) -> bool:
        """Whether a value of a concept takes the place of the one that a recipient holds.

        A model's "unspecified" takes back only values that the model lists: any other value is
        unspecified there, and still true.
        """
        source, colon, rest = value.rpartition(":")
        if not colon or rest != UNSPECIFIED or previous.rpartition(":")[2] == UNSPECIFIED:
            return True
        model = self._by_id.get(source)
        listed = model is not None and Meaning(concept, previous) in model.codes_by_meaning
        return previous.startswith(f"{source}:") or listed

    def label(self, fact: Meaning) -> tuple[str, str]:
        """The name of a fact's kind, and its value in the first model that lists it.

        The concepts themselves where no model knows them.
        """
        kind = self.kinds.get(fact.concept)
        name, owners = (fact.concept, ()) if kind is None else (kind.name, kind.attributes)
        codes = ((each, model.codes_by_meaning.get(fact)) for model, each in owners)
        values = (each.values[code[1]] for each, code in codes if code is not None)
        return name, next(values, fact.value.rpartition(":")[2])

    @cached_property
    def kinds(self) -> Mapping[str, Kind]:
        """Every kind of fact, by its concept, in the order of the models."""
        owners = defaultdict[str, list[tuple[Model, Attribute]]](list)
        concepts = defaultdict[str, set[str]](set)
        for model in self.models:
            for concept, attribute in model.by_concept.items():
                owners[concept].append((model, attribute))
                concepts[attribute.name].add(concept)
        kinds = {}
        for concept, some in owners.items():
            [model, first], listed = some[0], (value for _, each in some for value in each.values)
            name = first.name if len(concepts[first.name]) == 1 else f"{model.id}.{first.name}"
            values = tuple(dict.fromkeys(listed))
            kinds[concept] = Kind(concept, name, first.title, values, tuple(some))
        return kinds

    def called(self, name: str) -> list[Kind]:
        """The kinds that a name may mean, the likeliest first; UsageError for none.

        That is the kind of exactly this name, then those that models call so, in their order.
        """
        kinds = [each for each in self.kinds.values() if each.called(name)]
        if not kinds:
            raise unknown_person(name, self.models)
        return sorted(kinds, key=lambda each: name not in (each.concept, each.name))

    def fact(self, name: str, value: str) -> Meaning:
        """The meaning of a value, of the likeliest kind of this name that lists it.

        UsageError where nothing has the name, or none of those that have it lists the value.
        """
        kinds = self.called(name)
        for each in kinds:
            if (meaning := each.meaning(value, name)) is not None:
                return meaning
        listed = [listed for each in kinds for listed in each.values]
        raise UsageError.unknown(f"value of {name}", value, listed)
