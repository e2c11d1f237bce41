"""Small tables and search logs drawn by Hypothesis: as rows, as tables of a database, as arrays."""

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory, mkdtemp
from typing import NamedTuple

import ibis
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from agent.build.canonical import Observed
from agent.build.engines import parquet
from agent.build.log import Log
from agent.build.log_schema import TABLES, LogColumn
from agent.build.observe import Observations, observe
from agent.build.options import BuildOptions, Description, LogFiles
from agent.build.tables import Source, tidy
from agent.model.attributes import Attribute
from agent.tradeoff.tables import Kinds, Population, QueryRows
from tests.house.tree import ROOT

VALUES = ("", "unspecified", "a", "b")
QUERIES = ("", " ", "Tabs\tor spaces", "tabs or  SPACES", "editor", "ﬁnal")
INTENTS = ("", "x", "y", "z")
STRANGER = "nobody knows them"
ATTRIBUTES = (
    Attribute("p0", "decides", "person", ("unspecified", "a", "b")),
    Attribute("p1", "noise", "person", ("unspecified", "a")),
    Attribute("r0", "also decides", "request", ("unspecified", "a")),
)
CARDS = tuple(len(each.values) for each in ATTRIBUTES)

# Ibis 12 calls a method that DuckDB has renamed.
QUIET = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")

SOCKETS = pytest.mark.filterwarnings(  # Spark's, which close with it
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
ENGINES = [None, pytest.param("local", marks=[pytest.mark.spark, SOCKETS])]  # None: DuckDB

Row = tuple[str, ...]


def few(count: int) -> settings:
    """So many examples of what asks a database dozens of questions; a fifth of all in a soak."""
    soaking = settings().max_examples > 100
    quiet = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much]
    every = settings().max_examples // 5 if soaking else count
    return settings(max_examples=every, phases=[Phase.generate], suppress_health_check=quiet)


@dataclass(frozen=True, slots=True)
class World:
    """Two tables, header first: of the users, each once, and of events."""

    users: tuple[Row, ...]
    events: tuple[Row, ...]


@st.composite
def worlds(draw: st.DrawFn, persons: int | None = None, requests: int | None = None) -> World:
    """Draw up to eight users with up to three attributes, and up to forty events."""
    persons = draw(st.integers(1, 3)) if persons is None else persons
    requests = draw(st.integers(0, 2)) if requests is None else requests
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
    found = (connection.create_table(n, frame(head, rows)) for n, (head, *rows) in tables.items())
    return Source(*map(tidy, found))


def options(**changes: object) -> BuildOptions:
    """Options for small tables that are not read from files; ``changes``: also of a description."""
    plain = {"users": Path("users.csv"), "events": Path("events.csv"), "min_users": 1} | changes
    described = {name: plain.pop(name) for name in Description.__struct_fields__ if name in plain}
    plain.setdefault("description", Description(**described))  # type: ignore[arg-type]
    return BuildOptions(**plain)  # type: ignore[arg-type]  # of any field


def observed(world: World, **changes: object) -> Observations:
    return observe(source(world), options(**changes))


def frame(header: Row, rows: Sequence[Row]) -> pa.Table:
    """Rows as a table of text, NULL where the text is empty."""
    columns = {name: [row[i] or None for row in rows] for i, name in enumerate(header)}
    return pa.table(columns, pa.schema([(name, pa.string()) for name in header]))


@st.composite
def learnable(draw: st.DrawFn) -> Observations:
    """Draw a query of up to 24 people, whose attributes mostly decide what they want.

    So some attributes are worth disclosing.
    """
    people = draw(st.integers(1, 24))
    codes = np.array(
        [[draw(st.integers(0, card - 1)) for card in CARDS[:2]] for _ in range(people)], np.uint8
    )
    asked = draw(st.permutations(range(people)))[: draw(st.integers(1, people))]
    user = np.repeat(np.arange(len(asked)), [draw(st.sampled_from([1, 1, 2])) for _ in asked])
    request = np.array([[draw(st.integers(0, 1))] for _ in user], np.uint8)
    usual = codes[asked][user, 0] + 3 * request[:, 0]
    odd = np.array([draw(st.sampled_from([None] * 9 + [0])) is not None for _ in user])
    wanted, intent = np.unique(np.where(odd, 0, usual), return_inverse=True)
    counts = np.zeros((people, CARDS[2]), np.uint32)
    np.add.at(counts, (np.array(asked)[user], request[:, 0]), 1)
    rows = QueryRows(user, intent, codes[asked], request, len(wanted))
    query = Observed("q", tuple(map(str, wanted)), rows, np.array(asked), len(rows.user))
    return Observations(
        attributes=ATTRIBUTES,
        population=Population(codes, None, (Kinds.of(counts),)),
        queries=(query,),
        dropped={},
        users=tuple(f"user {number}" for number in range(people)),
    )


TYPED = (None, " ", "tea", "TEA ", "Straße", "strasse")
HOSTS = (None, "a.example", "b.example", "c.example")
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
    user = draw(st.sampled_from([*users, *users, STRANGER]))
    asked = datetime(2006, 3, 2) + timedelta(days=draw(st.sampled_from(DAYS)))  # noqa: DTZ001
    asked += draw(st.sampled_from(HOURS)) - draw(st.sampled_from([_INSTANT, timedelta()]))
    query, place, pages = draw(st.sampled_from(TYPED)), st.sampled_from([None, "98052", "9"]), []
    zip_, city, country = draw(place), draw(place), draw(place)
    for _ in range(draw(st.integers(1, 3))):
        time = asked + timedelta(seconds=draw(st.sampled_from([0, 5, 5, 40])))
        dwell = draw(st.sampled_from([None, 0.0, 29.999, 30.0, 31.0]))
        host, tld = draw(st.sampled_from(HOSTS)), draw(st.sampled_from([None, "com", "edu", "de"]))
        pages.append(Page(user, asked, query, time, host, dwell, zip_, city, country, tld))
    return pages


@st.composite
def _person(draw: st.DrawFn, user: str) -> Mapping[str, str | None]:
    values = {each.name: each.values or ("student", "baker") for each in TABLES["people"][1:]}
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
    people = [tuple(person.values()) for person in log.people]
    rows = {"log": log.pages, "people": people, "sites": log.sites}
    return {name: _frame(TABLES[name], rows[name]) for name in TABLES}


def _frame(columns: Sequence[LogColumn], rows: Sequence[Sequence[object]]) -> pa.Table:
    schema = pa.schema([(column.name, _TYPES[column.kind]) for column in columns])
    return pa.table(
        {each.name: [row[at] for row in rows] for at, each in enumerate(columns)}, schema
    )


def write_everyday(folder: Path) -> None:
    """Write the tables of everyday facts, of few people each, with their description."""
    data = ROOT / "examples" / "data"
    for name in ("model.toml", "kinds.jsonl.gz", "crosswalk.toml", "parents.jsonl.gz"):
        copyfile(data / "everyday" / name, folder / name)
    for table in ("atus/users", "everyday/health", "everyday/homes"):
        with gzip.open(data / f"{table}.csv.gz", "rt") as file:
            header, *lines = file
        step = len(lines) // 2_000  # of the first ones alone, nobody is ill
        with gzip.open(folder / f"{Path(table).name}.csv.gz", "wt") as file:
            file.writelines([header, *lines[::step], lines[-1]])
    with gzip.open(folder / "users.csv.gz", "rt") as file:
        user = file.readlines()[1].partition(",")[0]
    (folder / "events.csv").write_text(f"user,query,intent\n{user},walks,far\n")
