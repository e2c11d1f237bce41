"""Small models by the values of their attributes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count

from agent.decision.values import Fact
from agent.model.attributes import Attribute, Scope
from agent.model.model import Model
from agent.vault.profile import Profile, planned, values_of
from tests.decision.made import made_model
from tests.vault.histories import NOW

EARLIER = datetime(2026, 1, 5, tzinfo=UTC)  # than any request
_IDS = count(1)


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
    unset: Iterable[str],
    models: Sequence[Model],
    at: datetime = EARLIER,
) -> set[str]:
    """Change a profile as its caller does; return the kinds that changed."""
    before = values_of(profile.facts)
    profile.keep(planned(profile.facts, given, [*unset], models, at, new_id))
    return {kind for kind, _ in before.items() ^ values_of(profile.facts).items()}


def new_id() -> str:
    """Return an id that no fact has had in this process."""
    return str(next(_IDS))


def facts_of(**values: str) -> list[Fact]:
    return [Fact(id=kind, kind=kind, value=each, set_at=NOW) for kind, each in values.items()]


def own_values(profile: Profile) -> dict[str, str]:
    return dict(values_of(profile.facts))


def sexes() -> tuple[Model, Model]:
    """Return two models that call one fact by two names; the second lacks a value."""
    one = model_of({"gender": ("unspecified", "female", "male", "other")}, name="one")
    two = model_of({"sex": ("unspecified", "female", "male")}, name="two")
    means = ("unspecified", "female", "male", None)
    gender = replace(one.attributes[0], concept="sex", value_concepts=means)
    return replace(one, attributes=(gender,)), two
