"""What fits into the header, whatever the values are: known before the profile is opened."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NamedTuple

import msgspec

from agent.daemon.deciding.header import LARGEST, longest, members_of, most_bytes
from agent.decision.decide import Decision
from agent.decision.terms import Terms
from agent.model.attributes import UNSPECIFIED
from agent.model.model import Model


class Members(NamedTuple):
    """How a model's attributes travel: the most bytes of each, and each value's own header."""

    longest: dict[str, int]
    texts: dict[tuple[str, str], str]


def members(model: Model) -> Members:
    """Return how a model's attributes travel."""
    return model.remember(members, lambda: _members(model))


def largest_values(model: Model) -> dict[str, str]:
    """Return the value of each attribute that takes the most room in an entry of the ledger."""
    return model.remember(
        largest_values,
        lambda: {each.name: max(each.values, key=_written) for each in model.attributes},
    )


def fits(names: Iterable[str], model: Model) -> bool:
    """Say whether the header has room for these attributes, whatever their values are."""
    bytes_of = members(model).longest
    return most_bytes(bytes_of[name] for name in names) <= LARGEST


def fitting(model: Model, terms: Terms, decide: Callable[[Terms], Decision]) -> Decision:
    """Return the decision, made anew without what was chosen last for as long as it is too long.

    So the figures are those of what leaves, and every limit holds. ``terms`` of the decision
    exclude what had no room.
    """
    decision = decide(terms)
    while not fits(decision.disclosed, model):
        terms = replace(terms, excluded=terms.excluded | {decision.disclosed[-1]})
        decision = decide(terms)
    return decision


def _written(value: str) -> int:
    return len(msgspec.json.encode(value))


def _members(model: Model) -> Members:
    values = {
        each.name: [value for value in each.values if value != UNSPECIFIED]
        for each in model.attributes
    }
    return Members(longest(values), members_of(values))
