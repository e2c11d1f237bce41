"""The attributes of a person in a model, ready to be asked often."""

from collections.abc import Mapping, Sequence

from agent.errors import UsageError
from agent.model.model import Model


def person_codes(model: Model) -> Mapping[str, Mapping[str, int]]:
    """Return the codes by value, by the name of each person attribute."""
    return model.remember(person_codes, lambda: _codes(model))


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
        return UsageError(f"{name} is set anew for every request", hint)
    names = {each for model in models for each in person_codes(model)}
    return UsageError.unknown("attribute", name, names)


def _codes(model: Model) -> Mapping[str, Mapping[str, int]]:
    return {
        each.name: {value: code for code, value in enumerate(each.values)}
        for each in model.attributes[: model.persons]
    }
