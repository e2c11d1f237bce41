"""The header to a service, and what fits into it: known before the profile is opened.

Shared-Attributes is a Dictionary of Structured Fields (RFC 9651):

    Shared-Attributes: region="west_europe", int_python

A value of "not specified" is left out. Only the daemon imports this.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

import http_sf
import msgspec

from agent.decision.decide import Decision
from agent.decision.terms import Terms
from agent.model.attributes import UNSPECIFIED
from agent.model.model import Model

LARGEST = 1024  # bytes of the header's value
YES, NO = "yes", "no"
_BETWEEN = ", "
Attributes = Mapping[str, Collection[str]]


def yes_no_of(attributes: Attributes) -> frozenset[str]:
    """Return the attributes with exactly the values no and yes, which travel as Booleans."""
    return frozenset(name for name, values in attributes.items() if {*values} == {YES, NO})


def shared_attributes(values: Mapping[str, str], yes_no: Collection[str]) -> str:
    """Return the header's value for values by name, in their order; empty where there is none.

    ``yes_no``: the attributes that travel as Booleans. Names must match ``[a-z][a-z0-9_]*``.
    """
    members: http_sf.DictionaryType = {
        name: _item(value, boolean=name in yes_no) for name, value in values.items()
    }
    return http_sf.ser(members) if members else ""


def members_of(attributes: Attributes) -> dict[tuple[str, str], str]:
    """Return the header of each value of each attribute alone; to be `joined`."""
    yes_no = yes_no_of(attributes)
    return {
        (name, each): shared_attributes({name: each}, yes_no)
        for name, values in attributes.items()
        for each in values
    }


def joined(members: Iterable[str]) -> str:
    """Return the header of several values from that of each (RFC 9651, section 4.1.2)."""
    return _BETWEEN.join(members)


def longest(attributes: Attributes) -> dict[str, int]:
    """Return the bytes of each attribute's longest member, whichever of its values is sent.

    An attribute without values to send is never in the header, and has 0.
    """
    members = members_of(attributes)
    return {
        name: max((len(members[name, each]) for each in values), default=0)
        for name, values in attributes.items()
    }


def most_bytes(members: Iterable[int]) -> int:
    """Return the most bytes that a header has whose longest members have so many."""
    present = [each for each in members if each]
    return sum(present) + len(_BETWEEN) * max(0, len(present) - 1)


def _item(value: str, *, boolean: bool) -> http_sf.ItemType:
    """Return a value as the item that carries it (RFC 9651, sections 3.3.3, 3.3.6 and 3.3.8)."""
    if boolean:
        return value == YES
    plain = value.isascii() and value.isprintable()
    return value if plain else http_sf.DisplayString(value)


class Members(NamedTuple):
    """How a model's attributes travel: the most bytes of each, and each value's own header."""

    longest: dict[str, int]
    texts: dict[tuple[str, str], str]


def members(model: Model) -> Members:
    """Return how a model's attributes travel."""
    return model.remember(members, lambda: _made_members(model))


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


def _made_members(model: Model) -> Members:
    values = {
        each.name: [value for value in each.values if value != UNSPECIFIED]
        for each in model.attributes
    }
    return Members(longest(values), members_of(values))
