"""Small search logs drawn by Hypothesis, and as the tables of a database."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import NamedTuple

import ibis
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

from agent.build.engines import parquet
from agent.build.log import Log
from agent.build.log_schema import PEOPLE, TABLES, LogColumn
from agent.build.options import LogFiles

QUERIES = (None, " ", "tea", "TEA ", "Straße", "strasse")
HOSTS = (None, "a.example", "b.example", "c.example")
STRANGER = "nobody knows them"
DAYS = (0, 1, 3, 6, 7, 8)  # from a Thursday on: a weekend, and spans about a week
HOURS = (timedelta(hours=7), timedelta(hours=18))
FILES = TemporaryDirectory()  # of tables, which are read when something is computed
_INSTANT = timedelta(microseconds=1)
_TYPES = {"text": pa.string(), "time": pa.timestamp("us"), "seconds": pa.float64()}


class Page(NamedTuple):
    """A row of the log, its fields in the order of `schema`."""

    user: str
    asked: datetime
    query: str | None
    time: datetime
    host: str | None
    dwell: float | None
    zip: str | None
    city: str | None
    country: str | None
    tld: str | None


@dataclass(frozen=True, slots=True)
class SmallLog:
    """The three tables of a search log; None where nothing is known."""

    pages: tuple[Page, ...]
    people: tuple[Mapping[str, str | None], ...]
    sites: tuple[tuple[str, str | None], ...]


@st.composite
def logs(draw: st.DrawFn) -> SmallLog:
    """Draw up to four people, a few queries of each with a few pages, and what sites are about."""
    users = [f"u{number}" for number in range(draw(st.integers(1, 4)))]
    pages = tuple(page for each in draw(st.lists(_visits(users), max_size=12)) for page in each)
    topic = st.sampled_from([None, "arts", "arts", "world", "kids_and_teens"])
    sites = st.lists(st.tuples(st.sampled_from(["a.example", "b.example"]), topic), max_size=3)
    return SmallLog(pages, tuple(draw(_person(user)) for user in users), tuple(draw(sites)))


@st.composite
def _visits(draw: st.DrawFn, users: Sequence[str]) -> list[Page]:
    """Draw the rows of one query."""
    user = draw(st.sampled_from([*users, *users, STRANGER]))
    asked = datetime(2006, 3, 2) + timedelta(days=draw(st.sampled_from(DAYS)))  # noqa: DTZ001
    asked += draw(st.sampled_from(HOURS)) - draw(st.sampled_from([_INSTANT, timedelta()]))
    place = st.sampled_from([None, "98052", "98101"])
    zip_, city, country = draw(place), draw(place), draw(place)
    tlds = st.sampled_from([None, "com", "edu", "de"])
    return [
        Page(
            user,
            asked,
            query,
            asked + timedelta(seconds=draw(st.sampled_from([0, 5, 5, 40]))),
            draw(st.sampled_from(HOSTS)),
            draw(st.sampled_from([None, 0.0, 29.999, 30.0, 31.0])),
            zip_,
            city,
            country,
            draw(tlds),
        )
        for query in [draw(st.sampled_from(QUERIES))]
        for _ in range(draw(st.integers(1, 3)))
    ]


@st.composite
def _person(draw: st.DrawFn, user: str) -> Mapping[str, str | None]:
    values = {each.name: each.values or ("student", "baker") for each in PEOPLE[1:]}
    return {"user": user} | {
        name: draw(st.sampled_from([None, *known])) for name, known in values.items()
    }


def tables(log: SmallLog, backend: ibis.BaseBackend | None = None) -> Log:
    """The log on a backend, by default a new DuckDB."""
    connection = ibis.duckdb.connect() if backend is None else backend
    files = write_log(log, Path(mkdtemp(dir=FILES.name)))
    return Log(*(parquet(connection, each) for each in files))


def write_log(log: SmallLog, folder: Path) -> LogFiles:
    """Write the three tables as parquet."""
    files = LogFiles(*(folder / f"{name}.parquet" for name in TABLES))
    for each, frame in zip(files, frames(log).values(), strict=True):
        pq.write_table(frame, each)
    return files


def frames(log: SmallLog) -> dict[str, pa.Table]:
    """The three tables by name."""
    rows = {
        "log": log.pages,
        "people": [tuple(person.values()) for person in log.people],
        "sites": log.sites,
    }
    return {name: _frame(TABLES[name], rows[name]) for name in TABLES}


def _frame(columns: Sequence[LogColumn], rows: Sequence[Sequence[object]]) -> pa.Table:
    schema = pa.schema([(column.name, _TYPES[column.kind]) for column in columns])
    return pa.table(
        {each.name: [row[at] for row in rows] for at, each in enumerate(columns)}, schema
    )
