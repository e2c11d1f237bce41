"""Search engines that take the language and the country of a search in its address. Pure.

The table is engines.toml: nothing of it is in use until a rule says `carry = "parameters"`.
"""

from collections.abc import Collection, Mapping
from functools import cache
from importlib.resources import files

import msgspec
from msgspec import Struct

from policy.hosts import site_of

BETWEEN = "-"  # the values that a parameter is of


class Parameter(Struct, frozen=True, forbid_unknown_fields=True):
    """One parameter of an address; ``of``: the names of the attributes that it is made of.

    ``same``: values that are those of the attributes with BETWEEN between them, whatever their
    case; ``other``: the rest, by those.
    """

    name: str
    of: tuple[str, ...]
    same: tuple[str, ...] = ()
    other: dict[str, str] = {}

    @property
    def values(self) -> Mapping[str, str]:
        """What it can be, by the values of its attributes with BETWEEN between them."""
        return {each.lower(): each for each in self.same} | self.other

    def of_values(self, told: Mapping[str, str]) -> str | None:
        """Return its value; None where one of its attributes is not told, or none is documented."""
        return self.values.get(BETWEEN.join(told.get(name, "") for name in self.of))


class Engine(Struct, frozen=True, forbid_unknown_fields=True):
    """A search engine; ``domains``: one recipient; ``source``: where its makers document that."""

    title: str
    domains: tuple[str, ...]
    source: str
    parameters: tuple[Parameter, ...]

    def needs(self, names: Collection[str]) -> frozenset[str]:
        """Return what of these attributes its parameters can be made of, whatever the values."""
        whole = (each.of for each in self.parameters if {*each.of} <= {*names})
        return frozenset(name for of in whole for name in of)

    def address(self, told: Mapping[str, str]) -> dict[str, str]:
        """Return the parameters for what is told, by their names."""
        found = ((each.name, each.of_values(told)) for each in self.parameters)
        return {name: value for name, value in found if value is not None}


@cache
def engines() -> Mapping[str, Engine]:
    """Return every engine by the name that a rule has for it."""
    text = (files("policy") / "engines.toml").read_text("utf-8")
    return msgspec.toml.decode(text, type=dict[str, Engine])


def engine_at(host: str) -> str | None:
    """Return the name of the engine at a canonical host, None where none is known to be."""
    return _names().get(site_of(host))


def codes(name: str) -> tuple[str, ...]:
    """Return the values of an attribute that any engine documents, in their order."""
    found = {
        value
        for engine in engines().values()
        for each in engine.parameters
        if name in each.of
        for key in each.values
        for value in [key.split(BETWEEN)[each.of.index(name)]]
    }
    return tuple(sorted(found))


@cache
def _names() -> Mapping[str, str]:
    return {domain: name for name, each in engines().items() for domain in each.domains}
