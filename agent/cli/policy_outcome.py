"""What became of a change of a policy, and what still decides otherwise: a page, an object."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from agent.cli.layout import paragraph
from agent.cli.policy_words import Origins, written
from agent.cli.problems import printable
from policy.rules import Policy, Rule
from policy.scope import Scope, places
from policy.settings import Value
from policy.wins import Win


class Outcome(NamedTuple):
    """A policy after a change, for what it was changed, and what decides otherwise there."""

    policy: Policy
    where: Scope
    values: Mapping[str, Value | None]
    wins: tuple[Win, ...]
    changed: bool


def outcome_text(outcome: Outcome) -> str:
    """Return the page: what stands where now, and what decides otherwise."""
    return "\n".join(_lines(outcome))


def outcome_record(outcome: Outcome) -> dict[str, Any]:
    """Return the same in JSON's types; a setting that was taken out is null."""
    origins = Origins(outcome.policy)
    return {
        "file": outcome.policy.source,
        "changed": outcome.changed,
        "settings": [
            {"key": key, "value": value, "in": _record(origins, outcome, key)}
            for key, value in outcome.values.items()
        ],
        "wins": [
            {
                "key": win.key,
                "value": win.value,
                "attributes": [*win.names],
                "by": origins.record(win.rule, win.key),
            }
            for win in outcome.wins
        ],
    }


def _standing(outcome: Outcome, key: str) -> Rule | None:
    """Return the rule that has what was written, None where it was taken out."""
    value = outcome.values[key]
    found = places(outcome.where, outcome.policy)
    return next(
        (each for each in found if value is not None and each.settings.get(key) == value), None
    )


def _lines(outcome: Outcome) -> Iterator[str]:
    origins = Origins(outcome.policy)
    for key, value in outcome.values.items():
        rule = _standing(outcome, key)
        if rule is None or value is None:
            yield paragraph(f"{key} is taken out of {origins.source}.")
        else:
            stands = "Written" if outcome.changed else "It stands there already"
            what = f"{key} = {written(value)} in {origins.long(rule, key)}."
            yield paragraph(f"{stands}: {printable(what)}")
    for win in outcome.wins:
        of = f" of {', '.join(win.names)}" if win.names else ""
        what = f"{win.key} {written(win.value)}{of}, from {origins.long(win.rule, win.key)}."
        yield paragraph(f"This still wins: {printable(what)}")


def _record(origins: Origins, outcome: Outcome, key: str) -> dict[str, str | int | None] | None:
    rule = _standing(outcome, key)
    return None if rule is None else origins.record(rule, key)
