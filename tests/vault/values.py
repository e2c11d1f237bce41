"""Small models by the values of their attributes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agent.model.attributes import Attribute, Scope
from agent.model.model import Model
from agent.vault.profile import Profile, differing, planned
from tests.decision.made import made_model


def model_of(
    persons: Mapping[str, Sequence[str]],
    requests: Mapping[str, Sequence[str]] | None = None,
    name: str = "made",
) -> Model:
    """Return a model with these values by attribute, "unspecified" first in each.

    Only its attributes can be used: it is not one that could decide anything.
    """
    scopes: list[tuple[Scope, Mapping[str, Sequence[str]]]]
    scopes = [("person", persons), ("request", requests or {})]
    attributes = [
        Attribute(name=each, title=each, scope=scope, values=tuple(values))
        for scope, group in scopes
        for each, values in group.items()
    ]
    return replace(made_model(1, people=2, queries=1), id=name, attributes=tuple(attributes))


def change(
    profile: Profile,
    given: Mapping[str, str],
    unset: Sequence[str],
    models: Sequence[Model],
    others: Sequence[Model] = (),
    **options: bool,
) -> dict[str, str | None]:
    """Change a profile as its caller does; return the new values of what changed, by attribute."""
    before = profile.values()
    after = planned(before, given, unset, models, others=others, **options)
    profile.keep(after)
    changed = differing(before, after)
    return {name: given.get(name, after.get(model, {}).get(name)) for model, name in changed}


def sexes() -> tuple[Model, Model]:
    """Return two models that call one fact by two names; the second lacks a value."""
    one = model_of({"gender": ("unspecified", "female", "male", "other")}, name="one")
    two = model_of({"sex": ("unspecified", "female", "male")}, name="two")
    means = ("unspecified", "female", "male", None)
    gender = replace(one.attributes[0], concept="sex", value_concepts=means)
    return replace(one, attributes=(gender,)), two
