"""The two headers, for a service: what it asks to be told about who searches, and what it hears.

It says in the header of a response what it can use, and reads what a request carries:

    Accept-Shared-Attributes: region, int_python
    Shared-Attributes: region="west_europe", int_python

The first is a List of Tokens, the second a Dictionary (RFC 9651, sections 3.1 and 3.2). This file
needs nothing but `http-sf` from PyPI, so that any service in Python can take it as it is.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import http_sf

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

ACCEPT, SHARED = "Accept-Shared-Attributes", "Shared-Attributes"
MOST_BYTES = 1024  # of the header of a request
PRICE = 0.1  # of anonymity, in bits, for what to ask: the laxest preset's, as agents ask more

_BOOLEANS = {"no": False, "yes": True}


@dataclass(frozen=True, slots=True)
class Heard:
    """What a request told: ``values`` of attributes by name, in the order asked.

    ``ignored``: what was wrong with the rest, in words that hold no name or value from it.
    """

    values: Mapping[str, str]
    ignored: tuple[str, ...] = ()


def accepting(names: Iterable[str]) -> str:
    """Write the header that asks for attributes by name; empty for none."""
    tokens: http_sf.ListType = [http_sf.Token(each) for each in names]
    return http_sf.ser(tokens) if tokens else ""


def heard(lines: Sequence[bytes], asked: Mapping[str, Collection[str]]) -> Heard:
    """Read the header of a request; ``lines``: the value of each line of it, in their order.

    ``asked``: the values that each attribute asked for may have, without "not specified", which
    does not travel. What is no Dictionary or too large is ignored whole; so is each member that was
    not asked for, or has a value that the attribute does not have.
    """
    value = b", ".join(lines)  # RFC 9651, section 4.2
    if len(value) > MOST_BYTES:
        return Heard({}, (f"all of it, which is over {MOST_BYTES} bytes",))
    try:
        members: Any = http_sf.parse(value, tltype="dictionary")
    except http_sf.StructuredFieldError:
        return Heard({}, ("all of it, which is no dictionary of RFC 9651",))
    values, trouble = {}, Counter[str]()
    for name, may in asked.items():
        if name in members:
            told = _value(may, members[name])
            if told is None:
                trouble["with a value that the attribute does not have"] += 1
            else:
                values[name] = told
    trouble["that nobody asked for"] = len(members.keys() - asked.keys())
    return Heard(values, tuple(f"{many} {what}" for what, many in trouble.items() if many))


def _value(may: Collection[str], member: object) -> str | None:
    """Read the value that a member of the dictionary tells; parameters are ignored.

    Attributes with the values no and yes travel as Booleans, others as Strings.
    """
    item = member[0] if isinstance(member, tuple) else None
    if {*may} == _BOOLEANS.keys():
        return next((word for word, flag in _BOOLEANS.items() if item is flag), None)
    told = str(item) if isinstance(item, str | http_sf.DisplayString) else None  # no Token
    return told if told in may else None
