"""The header to a service: Shared-Attributes, a Dictionary of Structured Fields (RFC 9651).

    Shared-Attributes: region="west_europe", int_python

What may be sent is given as values by name, without the one for "not specified", which is left
out of the header. Only the daemon imports this.
"""

from collections.abc import Collection, Iterable, Mapping

import http_sf

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
