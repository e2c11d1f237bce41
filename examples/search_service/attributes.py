"""What the service asks to be told about who searches, and what it hears.

It says in the header of a response what it can use, and reads what a request carries:

    Accept-Shared-Attributes: region, int_python
    Shared-Attributes: region="west_europe", int_python

The first is a List of Tokens, the second a Dictionary (RFC 9651, sections 3.1 and 3.2).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import http_sf
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agent import Attribute, Model

ACCEPT, SHARED = "Accept-Shared-Attributes", "Shared-Attributes"
HELPS = 0.01  # bits of utility on the average request that an attribute must bring alone
MOST_BYTES = 1024  # of the header of a request

_BOOLEANS = {"no": False, "yes": True}


@dataclass(frozen=True, slots=True)
class Heard:
    """What a request told: ``codes`` of attributes by name, in the order of the model.

    ``ignored``: what was wrong with the rest, in words that hold no name or value from it.
    """

    codes: Mapping[str, int]
    ignored: tuple[str, ...] = ()


def asked_of(model: Model) -> tuple[Attribute, ...]:
    """Return the attributes to ask for: those that help by HELPS alone, on the average request.

    Taken from the utilities that the model holds, its queries weighted by how often they come.
    """
    tables = model.tables
    helps = np.average(tables.singles.utilities, axis=0, weights=tables.query_weights) >= HELPS
    return tuple(each for each, helping in zip(model.attributes, helps, strict=True) if helping)


def accepting(asked: Sequence[Attribute]) -> str:
    """Return the header that asks for attributes; empty where none help."""
    tokens: http_sf.ListType = [http_sf.Token(each.name) for each in asked]
    return http_sf.ser(tokens) if tokens else ""


def heard(lines: Sequence[bytes], asked: Sequence[Attribute]) -> Heard:
    """Read the header of a request; ``lines``: the value of each line of it, in their order.

    What is no Dictionary or too large is ignored whole; so is each member that was not asked for,
    or has a value that the attribute has not.
    """
    value = b", ".join(lines)  # RFC 9651, section 4.2
    if len(value) > MOST_BYTES:
        return Heard({}, (f"all of it, which is over {MOST_BYTES} bytes",))
    try:
        members = http_sf.parse(value, tltype="dictionary")
    except http_sf.StructuredFieldError:
        return Heard({}, ("all of it, which is no dictionary of RFC 9651",))
    if not isinstance(members, dict):
        raise TypeError("http_sf parses a dictionary into a dict")
    codes, trouble = {}, Counter[str]()
    for attribute in asked:
        if attribute.name in members:
            code = _code(attribute, members[attribute.name])
            if code is None:
                trouble["with a value that the attribute has not"] += 1
            else:
                codes[attribute.name] = code
    trouble["that nobody asked for"] = len(members.keys() - {each.name for each in asked})
    return Heard(codes, tuple(f"{many} {what}" for what, many in trouble.items() if many))


def _code(attribute: Attribute, member: object) -> int | None:
    """Return the code that a member of the dictionary tells; parameters are ignored.

    Attributes with the values no and yes travel as Booleans, others as Strings; "not specified"
    does not travel.
    """
    item = member[0] if isinstance(member, tuple) else None
    told = attribute.values[1:]
    if {*told} == _BOOLEANS.keys():
        named = next((word for word, flag in _BOOLEANS.items() if item is flag), None)
    else:
        named = str(item) if isinstance(item, str | http_sf.DisplayString) else None  # no Token
    return attribute.values.index(named) if named in told else None
