"""The names of the columns of the two tables."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from agent.errors import BuildError, nearest
from agent.model.attributes import NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

USER, QUERY, INTENT = "user", "query", "intent"
KEYS = (USER, QUERY, INTENT)
MAX_ATTRIBUTES = 1024  # of a model (FORMAT.md)


def attribute_names(columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that are attributes, in the order of the table."""
    return tuple(name for name in columns if name not in KEYS)


def check_columns(users: Sequence[str], events: Sequence[str]) -> None:
    """Raise BuildError unless the tables with these columns can make a model.

    ``users`` needs a column user and one per person attribute, ``events`` user, query and
    intent; more columns of ``events`` are request attributes.
    """
    for name in (QUERY, INTENT):
        if name in users:
            what = f"the users table has a column {name!r}, which belongs to events"
            raise BuildError(what, "check that the two tables are not swapped")
    check_keys("users", users, (USER,))
    check_keys("events", events, KEYS)
    persons, requests = attribute_names(users), attribute_names(events)
    for name in (*persons, *requests):
        _check_name(name)
    both = sorted(set(persons) & set(requests))
    if both:
        what = f"attribute {both[0]!r} is a column of both tables"
        raise BuildError(what, "keep it in users if it is fixed per person, else in events")
    if not persons:
        raise BuildError("the users table has no attribute", "add a column per attribute")
    if len(persons) + len(requests) > MAX_ATTRIBUTES:
        what = f"the tables have {len(persons) + len(requests)} attributes"
        raise BuildError(what, f"keep at most {MAX_ATTRIBUTES}")


def check_keys(table: str, columns: Sequence[str], keys: Sequence[str]) -> None:
    """Raise BuildError for a table that lacks one of the columns ``keys``, or has one twice."""
    for name in keys:
        if name not in columns:
            near = nearest(name, attribute_names(columns))
            hint = f"a table has its column names in the first row, and {table} needs"
            hint = f"{hint} {', '.join(keys)}" if near is None else f"rename column {near!r}"
            raise BuildError(f"the {table} table has no column {name!r}", hint)
    twice = [name for name, count in Counter(columns).items() if count > 1]
    if twice:
        what = f"the {table} table has the column {twice[0]!r} twice"
        raise BuildError(what, "rename or remove one of them")


def _check_name(name: str) -> None:
    """Refuse a name that an attribute cannot have, and offer one that it can."""
    if NAME.fullmatch(name):
        return
    offer = re.sub(r"[^a-z0-9]+", "_", name.casefold()).strip("_")
    offer = offer if NAME.fullmatch(offer) else f"a_{offer}".rstrip("_")
    what = f"an attribute cannot be called {name!r}"
    raise BuildError(what, f"rename the column, to {offer!r} for example")
