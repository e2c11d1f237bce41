"""Facts and values across models: by concepts, which models share, instead of names."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from agent.errors import UsageError
from agent.model.attributes import UNSPECIFIED, Attribute
from agent.model.model import Model, unknown_person


class Meaning(NamedTuple):
    """One value of one fact, independent of any model.

    ``concept``: that of the attribute; ``value``: the concept of the value, or MODEL:VALUE where no
    other model has a counterpart. "unspecified" is MODEL:unspecified: its sense depends on the
    values that the model lists.
    """

    concept: str
    value: str


def meaning_of(name: str, value: str, model: Model) -> Meaning:
    """The meaning of a value of a person attribute."""
    attribute = model.attributes[model.index(name)]
    concept = attribute.value_concepts[attribute.values.index(value)]
    shared = concept is not None and value != UNSPECIFIED
    return Meaning(attribute.concept, str(concept) if shared else f"{model.id}:{value}")


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
        """Whether a name means this kind: its own, that in a model, or MODEL.NAME."""
        names = ({each.name, f"{model.id}.{each.name}"} for model, each in self.attributes)
        return name == self.concept or any(name in each for each in names)

    def meaning(self, value: str, name: str = "") -> Meaning | None:
        """The meaning of a listed value, else None; ``name``: MODEL.NAME prefers a model."""
        if value == UNSPECIFIED:
            return Meaning(self.concept, UNSPECIFIED)
        for model, each in sorted(
            self.attributes, key=lambda owner: name != f"{owner[0].id}.{owner[1].name}"
        ):
            if value in each.values:
                return meaning_of(each.name, value, model)
        meaning = Meaning(self.concept, value)
        listed = any(meaning in model.codes_by_meaning for model, _ in self.attributes)
        return meaning if listed else None


class Concepts:
    """The installed models, and how each expresses a fact that another one disclosed."""

    def __init__(self, models: Sequence[Model] = ()) -> None:
        """Take the usable models; the first that knows a fact names it."""
        self.models = tuple(models)
        self._by_id = {model.id: model for model in models}

    def current(self, fact: Meaning) -> Meaning:
        """A fact by today's concepts.

        The concept of an attribute may once have been MODEL.NAME, and be shared by now.
        """
        for model in self.models:
            name = fact.concept.removeprefix(f"{model.id}.")
            value = fact.value.removeprefix(f"{model.id}:")
            if name != fact.concept and value in model.person_codes.get(name, ()):
                return meaning_of(name, value, model)
        return fact

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

    def replaces(self, concept: str, value: str, held: str) -> bool:
        """Whether a value of a concept takes the place of the one that a recipient holds.

        A model's "unspecified" takes back only values that the model lists: any other value is
        unspecified there, and still true.
        """
        source, colon, rest = value.rpartition(":")
        if not colon or rest != UNSPECIFIED or held.rpartition(":")[2] == UNSPECIFIED:
            return True
        model = self._by_id.get(source)
        listed = model is not None and Meaning(concept, held) in model.codes_by_meaning
        return held.startswith(f"{source}:") or listed

    def label(self, fact: Meaning) -> tuple[str, str]:
        """The name and the value of a fact in the first model that knows its concept.

        MODEL.NAME where models use the name for two facts; the concepts themselves where no model
        knows them.
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
        """A model's name for a concept, MODEL.NAME where models use it for two facts."""
        name = model.by_concept[concept].name
        ambiguous = any(
            each.name == name and each.concept != concept
            for other in self.models
            for each in other.by_concept.values()
        )
        return f"{model.id}.{name}" if ambiguous else name

    @cached_property
    def kinds(self) -> Mapping[str, Kind]:
        """Every kind of fact, by its concept, in the order of the models."""
        owners: dict[str, list[tuple[Model, Attribute]]] = {}
        for model in self.models:
            for concept, attribute in model.by_concept.items():
                owners.setdefault(concept, []).append((model, attribute))
        return {
            concept: Kind(
                concept,
                self.name(some[0][0], concept),
                some[0][1].title,
                tuple(dict.fromkeys(value for _, each in some for value in each.values)),
                tuple(some),
            )
            for concept, some in owners.items()
        }

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
        meaning = next((m for each in kinds if (m := each.meaning(value, name))), None)
        if meaning is None:
            listed = [listed for each in kinds for listed in each.values]
            raise UsageError.unknown(f"value of {name}", value, listed)
        return meaning
