"""What the service asks to be told about who searches, and the codes of what it hears.

`examples/shared_attributes.py` reads and writes the two headers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.decision.engine import Engine
from examples.shared_attributes import PRICE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agent.model.attributes import Attribute
    from agent.model.model import Model


def asked_of(model: Model) -> tuple[Attribute, ...]:
    """Choose the attributes to ask for: those that a new service would be sent with some query."""
    engine = Engine([model])
    decisions = [engine.decide(each.text, anonymity_price=PRICE) for each in model.queries]
    shared = {name for each in decisions for name in each.share}
    return tuple(each for each in model.attributes if each.name in shared)


def values_of(asked: Sequence[Attribute]) -> dict[str, tuple[str, ...]]:
    """List the values by name that a header may tell: all but the first, "not specified"."""
    return {each.name: tuple(each.values[1:]) for each in asked}


def codes_of(told: Mapping[str, str], asked: Sequence[Attribute]) -> dict[str, int]:
    """Look up the codes of values by name, of attributes that were asked for."""
    return {each.name: each.values.index(told[each.name]) for each in asked if each.name in told}
