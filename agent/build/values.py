"""Attributes out of the values in the tables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.build.tables import Described, distinct_values
from agent.errors import BuildError, UsageError
from agent.model.attributes import MAX_VALUES, UNSPECIFIED, Attribute

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import ibis

    from agent.build.tables import Source
    from agent.model.attributes import Scope

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def attributes_of(source: Source, titles: Mapping[str, str]) -> tuple[Attribute, ...]:
    """Return the attributes, those of persons first, in the order of the columns.

    The values of each are "unspecified", those it is described with, and those in the table, in
    order of their characters; ``titles``: by name, for people.
    Raises BuildError for too many values; UsageError for the title of no attribute.
    """
    scopes: dict[str, Scope] = dict.fromkeys(source.persons, "person")
    scopes |= dict.fromkeys(source.requests, "request")
    for name in titles:
        if name not in scopes:
            raise UsageError.unknown("attribute", name, scopes)
    found = {
        name: values
        for table, names in ((source.users, source.persons), (source.events, source.requests))
        for name, values in _values(table, names).items()
    }
    described = {name: Described(name.replace("_", " ")) for name in scopes}
    described |= source.described
    return tuple(
        Attribute(
            name,
            titles.get(name, described[name].title),
            scope,
            tuple(dict.fromkeys((UNSPECIFIED, *described[name].values, *found[name]))),
        )
        for name, scope in scopes.items()
    )


def check_printable(texts: Iterable[str | None], kind: str) -> None:
    """Raise BuildError for a text with a control character: it will be shown on a terminal."""
    for text in texts:
        if text is not None and _CONTROL.search(text):
            what = f"{kind} {text[:40]!r} has a control character"
            raise BuildError(what, "clean the table: no tabs, line ends or the like within a field")


def _values(table: ibis.Table, names: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Return the values of each column beside "unspecified", in order; NULL is none."""
    if not names:
        return {}
    lists = distinct_values(table, names).to_pyarrow().to_pylist()[0]
    return {name: _ordered(name, lists[name] or []) for name in names}


def _ordered(name: str, found: list[str | None]) -> tuple[str, ...]:
    values = sorted({each for each in found if each is not None} - {UNSPECIFIED})
    if len(values) >= MAX_VALUES:
        what = f"attribute {name!r} has {len(values)} different values"
        hint = f"group them: {MAX_VALUES - 1} are the most it may have beside {UNSPECIFIED!r}"
        raise BuildError(what, hint)
    check_printable(values, f"attribute {name!r}: the value")
    return tuple(values)
