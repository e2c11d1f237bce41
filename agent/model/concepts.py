"""What models share: a fact by its concept, a value by what it is called across models."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from agent.errors import UsageError
from agent.model.attributes import UNSPECIFIED, Attribute
from agent.model.model import Model, unknown_person


class Meaning(NamedTuple):
    """One value of one fact, whatever model it came from.

    ``concept``: of the attribute; ``value``: the concept of the value, or MODEL:VALUE where nothing
    elsewhere corresponds to it, and for "unspecified", which says no more than that model knows.
    """

    concept: str
    value: str


def meaning_of(name: str, value: str, model: Model) -> Meaning:
    """Return the meaning of a value of a person attribute across models."""
    attribute = model.attributes[model.index(name)]
    concept = attribute.value_concepts[attribute.values.index(value)]
    unshared = value == UNSPECIFIED or concept is None
    return Meaning(attribute.concept, f"{model.id}:{value}" if unshared else str(concept))


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

        def distinguished(owner: tuple[Model, Attribute]) -> tuple[int, int]:
            return len({*owner[1].value_concepts} - {None}), len(owner[1].values)

        return max(self.attributes, key=distinguished)[1].values

    def called(self, name: str) -> bool:
        """Say whether a name means it: its own, that in a model, or MODEL.NAME."""
        names = ({each.name, f"{model.id}.{each.name}"} for model, each in self.attributes)
        return name == self.concept or any(name in each for each in names)

    def meaning(self, value: str, name: str = "") -> Meaning | None:
        """Return the meaning of a listed value, or None; a ``name`` MODEL.NAME prefers MODEL."""
        if value == UNSPECIFIED:
            return Meaning(self.concept, UNSPECIFIED)
        for model, each in sorted(
            self.attributes, key=lambda own: name != f"{own[0].id}.{own[1].name}"
        ):
            if value in each.values:
                return meaning_of(each.name, value, model)
        meaning = Meaning(self.concept, value)
        known = any(meaning in model.codes_by_meaning for model, _ in self.attributes)
        return meaning if known else None


class Concepts:
    """The installed models, and what each can say of a fact that another one told."""

    def __init__(self, models: Sequence[Model] = ()) -> None:
        """Take the models that may be used, the first the one that names what they share."""
        self.models = tuple(models)
        self._by_id = {model.id: model for model in models}

    def current(self, fact: Meaning) -> Meaning:
        """Return a fact by the concepts of today.

        An attribute without a concept of its own is MODEL.NAME: it may have one by now.
        """
        for model in self.models:
            name = fact.concept.removeprefix(f"{model.id}.")
            value = fact.value.removeprefix(f"{model.id}:")
            known = {each.name: each for each in model.attributes[: model.persons]}
            if name != fact.concept and name in known and value in known[name].values:
                return meaning_of(name, value, model)
        return fact

    def code(self, fact: Meaning, model: Model) -> tuple[str, int] | None:
        """Return a model's attribute and code of a fact; None where it cannot tell.

        What another model left unspecified is so here only where that could say all that this one
        can: else it may be a value that the other one lacks.
        """
        if fact in model.codes_by_meaning:
            return model.codes_by_meaning[fact]
        teller, _, value = fact.value.rpartition(":")
        mine, other = model.by_concept.get(fact.concept), self._by_id.get(teller)
        theirs = None if other is None else other.by_concept.get(fact.concept)
        if value != UNSPECIFIED or mine is None or theirs is None:
            return None
        whole = None not in mine.value_concepts
        return (
            (mine.name, 0) if whole and {*mine.value_concepts} <= {*theirs.value_concepts} else None
        )

    def replaces(self, concept: str, value: str, held: str) -> bool:
        """Say whether a value takes the place of another one that is held of a concept.

        What a model leaves unspecified takes back what it could have said itself, no more: a value
        that it lacks is unspecified there, and still known.
        """
        teller, colon, rest = value.rpartition(":")
        if not colon or rest != UNSPECIFIED or held.rpartition(":")[2] == UNSPECIFIED:
            return True
        model = self._by_id.get(teller)
        meanings = {} if model is None else model.codes_by_meaning
        return held.startswith(f"{teller}:") or Meaning(concept, held) in meanings

    def label(self, fact: Meaning) -> tuple[str, str]:
        """Return the name and the value that the first model with the concept has for a fact.

        MODEL.NAME where models call two facts alike; what no model has is called what it was.
        """
        owners = [each for each in self.models if fact.concept in each.by_concept]
        values = (
            each.by_concept[fact.concept].values[each.codes_by_meaning[fact][1]]
            for each in owners
            if fact in each.codes_by_meaning
        )
        value = next(values, fact.value.rpartition(":")[2])
        return self.name(owners[0], fact.concept) if owners else fact.concept, value

    def name(self, model: Model, concept: str) -> str:
        """Return the name of a fact of a model, or MODEL.NAME where models share the name."""
        name = model.by_concept[concept].name
        alike = (
            each.name == name and each.concept != concept
            for other in self.models
            for each in other.attributes[: other.persons]
        )
        return f"{model.id}.{name}" if any(alike) else name

    @cached_property
    def kinds(self) -> Mapping[str, Kind]:
        """Every kind of fact, by its concept, in the order of the models."""
        owners_of: dict[str, list[tuple[Model, Attribute]]] = {}
        for model in self.models:
            for concept, attribute in model.by_concept.items():
                owners_of.setdefault(concept, []).append((model, attribute))
        return {
            concept: Kind(
                concept,
                self.name(owners[0][0], concept),
                owners[0][1].title,
                tuple(dict.fromkeys(value for _, each in owners for value in each.values)),
                tuple(owners),
            )
            for concept, owners in owners_of.items()
        }

    def called(self, name: str) -> list[Kind]:
        """Return the kinds that a name may mean, the likeliest first; UsageError for none.

        That is the kind of exactly this name, then those that models call so, in their order.
        """
        kinds = [each for each in self.kinds.values() if each.called(name)]
        if not kinds:
            raise unknown_person(name, self.models)
        return sorted(kinds, key=lambda each: name not in (each.concept, each.name))

    def fact(self, name: str, value: str) -> Meaning:
        """Return the meaning of a value: in the likeliest kind of that name that lists it.

        UsageError where nothing has the name, or none of those that have it lists the value.
        """
        kinds = self.called(name)
        meaning = next((m for each in kinds if (m := each.meaning(value, name))), None)
        if meaning is None:
            listed = [listed for each in kinds for listed in each.values]
            raise UsageError.unknown(f"value of {name}", value, listed)
        return meaning
