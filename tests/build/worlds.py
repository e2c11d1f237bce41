"""Small tables drawn by Hypothesis, as rows of text, and as the tables of a database."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import ibis
import polars as pl
import pytest
from hypothesis import strategies as st

from agent.build.observe import Observations, observe
from agent.build.options import BuildOptions
from agent.build.tables import Source, tidy

VALUES = ("", "unspecified", "a", "b")
QUERIES = ("", " ", "Tabs\tor spaces", "tabs or  SPACES", "editor", "ﬁnal")
INTENTS = ("", "x", "y", "z")
STRANGER = "nobody knows them"

# Ibis 12 calls a method that DuckDB has renamed.
QUIET = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")

Row = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class World:
    """Two tables, header first: of the users, each once, and of events."""

    users: tuple[Row, ...]
    events: tuple[Row, ...]


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Draw up to eight users with up to three attributes, and up to forty events."""
    persons, requests = draw(st.integers(1, 3)), draw(st.integers(0, 2))
    names = [f"user {number}" for number in range(draw(st.integers(1, 8)))]
    values = st.sampled_from(VALUES)
    users = [(name, *(draw(values) for _ in range(persons))) for name in names]
    senders = st.sampled_from([*names, *names, *names, STRANGER, ""])
    event = st.tuples(
        senders, st.sampled_from(QUERIES), st.sampled_from(INTENTS), *[values] * requests
    )
    events = draw(st.lists(event, max_size=40))
    # At least one event can be used, so that there is something to build.
    events.append((names[0], "editor", "x", *[""] * requests))
    return World(
        users=(("user", *(f"p{i}" for i in range(persons))), *users),
        events=(("user", "query", "intent", *(f"r{j}" for j in range(requests))), *events),
    )


def source(world: World, backend: ibis.BaseBackend | None = None) -> Source:
    """Return the tables on a backend, by default a new DuckDB."""
    connection = ibis.duckdb.connect() if backend is None else backend
    tables = {"users": world.users, "events": world.events}
    return Source(
        *(
            tidy(connection.create_table(name, _frame(rows[0], rows[1:])))
            for name, rows in tables.items()
        )
    )


def options(**changes: object) -> BuildOptions:
    """Return options for small tables that are not read from files."""
    plain = {"users": Path("users.csv"), "events": Path("events.csv"), "min_users": 1}
    return BuildOptions(**(plain | changes))  # type: ignore[arg-type]  # of any field


def observed(world: World, **changes: object) -> Observations:
    """Return what the tables hold."""
    return observe(source(world), options(**changes))


def _frame(header: Row, rows: Sequence[Row]) -> pl.DataFrame:
    """Return rows as a table of text, NULL where the text is empty."""
    columns = {name: [row[i] or None for row in rows] for i, name in enumerate(header)}
    return pl.DataFrame(columns, schema=dict.fromkeys(header, pl.String))
