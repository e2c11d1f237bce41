"""The two tables that a model is made of: their columns, their values, and what is counted in them.

Every count is an Ibis expression that gives the same result on every engine; so none uses `strip`,
for which Spark takes the letters v and f. Columns of the numbered events: `person` and `query`
(int32), `hash_byte` (int16, the first byte of the user's hash), `intent` (text) and `r0`, `r1`,
..., the codes of the request attributes; a name from outside cannot clash with these.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple
from unicodedata import normalize

import ibis
import pyarrow as pa
import pyarrow.compute as pc

from agent.build.engines import address_of, connected, header_of, is_parquet, reading, scanned
from agent.errors import BuildError, UsageError, nearest, normalise
from agent.model.attributes import NAME

Values = Mapping[str, Sequence[str]]


USER, QUERY, INTENT = "user", "query", "intent"
KEYS = (USER, QUERY, INTENT)
MAX_ATTRIBUTES = 1024  # of a model (FORMAT.md)
LEFT_OUT = -1  # the person of an event whose user is in the other half
BATCH = 100_000  # texts that are Python's at a time
HASH_BYTES = 256  # parts of the people, by chance; a large query is cut between two of them
_OUTER = r"^[\t-\r ]+|[\t-\r ]+\z"  # spaces of ASCII; `$` would stand before a line end in Java
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\z"  # Spark knows 1d and 1f too
_PLAIN = r"^[!-~]([ -~]*[!-~])?\z"  # a text without outer spaces, which need not be composed


def attribute_names(columns: Sequence[str]) -> tuple[str, ...]:
    """The columns that are attributes, in the order of the table."""
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
        if not NAME.fullmatch(name):
            offer = re.sub(r"[^a-z0-9]+", "_", name.casefold()).strip("_")
            offer = offer if NAME.fullmatch(offer) else f"a_{offer}".rstrip("_")
            what = f"an attribute cannot be called {name!r}"
            raise BuildError(what, f"rename the column, to {offer!r} for example")
    if both := sorted({*persons} & {*requests}):
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
    if twice := [name for name, count in Counter(columns).items() if count > 1]:
        what = f"the {table} table has the column {twice[0]!r} twice"
        raise BuildError(what, "rename or remove one of them")


class Described(NamedTuple):
    """What is known of an attribute before its column is read.

    ``values``: that it has beside "unspecified", also where nobody has them; in this order;
    ``concept``: what it is called across models.
    """

    title: str
    values: tuple[str, ...] = ()
    concept: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """The tables, on one backend: every column text, NULL where nothing is given.

    ``described``: what is known of attributes, by name.
    """

    users: ibis.Table
    events: ibis.Table
    described: Mapping[str, Described] = field(default_factory=dict)

    @property
    def persons(self) -> tuple[str, ...]:
        """The names of the person attributes."""
        return attribute_names(self.users.columns)

    @property
    def requests(self) -> tuple[str, ...]:
        """The names of the request attributes."""
        return attribute_names(self.events.columns)

    def without(self, columns: Sequence[str]) -> "Source":
        """The tables without these columns; UsageError for one that is no attribute."""
        for each in columns:
            if each not in (*self.persons, *self.requests):
                raise UsageError.unknown("column", each, (*self.persons, *self.requests))
        kept = [each.drop(*{*columns} & {*each.columns}) for each in (self.users, self.events)]
        return replace(self, users=kept[0], events=kept[1])


def open_tables(
    users: Path,
    events: Path | None,
    backend: ibis.BaseBackend | None = None,
    numbers: Collection[str] = (),
) -> Source:
    """Open the tables in two files or folders on an engine, by default a new DuckDB.

    Every column becomes text. ``events``: None for a table without rows; ``numbers``: columns that
    may hold any numbers, on any engine.
    Raises UsageError if there is no such file; BuildError if it is not a table, or if its
    columns are not as `check_columns` demands.
    """
    backend = connected() if backend is None else backend
    paths = [users] if events is None else [users, events]
    headers, opened = [header_of(backend, path) for path in paths], list[ibis.Table]()
    check_columns(headers[0], KEYS if events is None else headers[1])
    for path, header in zip(paths, headers, strict=True):
        with reading(backend, path):
            raw = scanned(backend, path, header)
            for column, kind in raw.schema().items() if backend.name != "duckdb" else ():
                alike = kind.is_string() or kind.is_integer() or kind.is_boolean() or kind.is_date()
                if not (alike or kind.is_null() or column in numbers):
                    what = f"column {column!r} holds {kind}, which engines write differently"
                    raise BuildError(what, "write it as text, or leave out --spark", str(path))
            table = raw.cast(dict.fromkeys(raw.columns, "string"))
            remote = address_of(path) is not None and backend.name == "duckdb"
            opened.append(table.cache() if remote or not is_parquet(path) else table)
    nothing = ibis.memtable(pa.table({name: pa.array([], pa.string()) for name in KEYS}))
    return Source(opened[0], nothing if events is None else opened[1])


def tidy(table: ibis.Table) -> ibis.Table:
    """The table with every column as text without outer spaces, empty text as NULL."""
    return table.select(**{name: text_of(table[name]) for name in table.columns})


def text_of(field: ibis.Value) -> ibis.Value:
    """A field as text without outer spaces, NULL where it is empty."""
    text = field.cast("string")
    # Most texts begin and end with what comes after the space, and comparing is quick.
    bare = (text > " \N{DELETE}") & (text.right(1) > " ")
    return bare.ifelse(text, text.re_replace(_OUTER, "")).nullif("")


def distinct_values(
    table: ibis.Table, names: Sequence[str], most: int
) -> dict[str, tuple[int, list[str]]]:
    """How many different values each column has, and which, in any order; none of over ``most``.

    So a column of millions of values, which is no attribute, does not come back from its engine.
    """
    found = dict.fromkeys(names, (0, list[str]()))
    if names:
        cells = table.select(names).pivot_longer(names)
        cells = cells.filter(cells.value.notnull()).distinct().cache()
        counts = cells.group_by("name").aggregate(many=cells.count()).to_pyarrow().to_pylist()
        found |= {each["name"]: (each["many"], []) for each in counts}
        few = [each["name"] for each in counts if each["many"] <= most]
        for each in cells.filter(cells.name.isin(few)).to_pyarrow().to_pylist():
            found[each["name"]][1].append(each["value"])
    return found


def coded_users(users: ibis.Table, values: Values) -> ibis.Table:
    """The columns user and p0, p1, ..., the codes of the person attributes, in order of user.

    ``values``: the values of each attribute, by its name.
    """
    return users.select(USER, **_codes(users, "p", values)).order_by(USER)


def people_per_row(users: ibis.Table, column: str) -> ibis.Table:
    """The columns user, text and number in order of user: the weights, 0 for an invalid number."""
    text = users[column]
    return users.select(USER, text=text, number=number_of(text)).order_by(USER)


def number_of(text: ibis.Value) -> ibis.Value:
    """A text as a number, float64, 0 where it is none."""
    number = text.re_search(_NUMBER).ifelse(text.try_cast("float64"), ibis.null("float64"))
    return number.fill_null(0.0)


def numbered_events(
    events: ibis.Table, values: Values, people: ibis.Table, texts: ibis.Table
) -> ibis.Table:
    """The events with person, hash_byte, query, ...; NULL for what is not known.

    ``values``: the values of each request attribute, by its name; ``people``: columns known_user,
    person and hash_byte; ``texts``: known_text and query, the number of what the text means.
    """
    codes = _codes(events, "r", values)
    rows = events.select(USER, INTENT, text=events[QUERY], **codes)
    rows = rows.left_join(texts, rows.text == texts.known_text)  # the smaller table first
    rows = rows.left_join(people, rows.user == people.known_user)
    return rows.select("person", "hash_byte", "query", INTENT, *codes)


def dropped(rows: ibis.Table) -> ibis.Table:
    """One row: how many numbered events cannot be used, each counted for one reason.

    unknown_user: not in users; no_query: without text; no_intent: without intent.
    """
    ours = rows.person != LEFT_OUT
    reasons = {
        "unknown_user": rows.person.isnull(),
        "no_query": ours & rows.query.isnull(),
        "no_intent": ours & rows.query.notnull() & rows.intent.isnull(),
    }
    counts = {name: each.ifelse(1, 0).sum().fill_null(0) for name, each in reasons.items()}
    return rows.aggregate(**counts)


def usable(rows: ibis.Table) -> ibis.Table:
    """The numbered events that can be used."""
    here = rows.person.notnull() & (rows.person != LEFT_OUT)
    return rows.filter(here & rows.query.notnull() & rows.intent.notnull())


def asked(rows: ibis.Table, people: int) -> ibis.Table:
    """The columns query, users, rows and events: how many each query has, in order of query.

    ``people``: of a model; users and rows are theirs, events everybody's.
    """
    person = (rows.person < people).ifelse(rows.person, LEFT_OUT)
    each = rows.group_by("query", person=person).aggregate(rows=rows.count())  # DuckDB can spill it
    theirs = each.person != LEFT_OUT
    counts = {"users": theirs.sum(), "rows": each.rows.sum(where=theirs).fill_null(0)}
    return each.group_by("query").aggregate(**counts, events=each.rows.sum()).order_by("query")


def by_hash_byte(rows: ibis.Table, queries: ibis.Table) -> ibis.Table:
    """The columns query, hash_byte and rows: how many events of people with this byte there are.

    ``queries``: column known_query.
    """
    rows = rows.semi_join(queries, rows.query == queries.known_query)
    return rows.group_by("query", "hash_byte").aggregate(rows=rows.count())


def coded_events(rows: ibis.Table, vocabulary: ibis.Table) -> ibis.Table:
    """The columns query, person, code, r0, r1, ..., in this order, for some queries.

    ``vocabulary``: columns known_query, known_intent and code, the number of the intent.
    """
    same = [rows.query == vocabulary.known_query, rows.intent == vocabulary.known_intent]
    names = ["query", "person", "code", *(name for name in rows.columns if name[:1] == "r")]
    return rows.join(vocabulary, same).select(names).order_by(names)


def request_counts(rows: ibis.Table, column: str) -> ibis.Table:
    """The columns person, value and rows: how many rows of a person have each code."""
    return rows.group_by("person", value=rows[column]).aggregate(rows=rows.count())


def _codes(table: ibis.Table, prefix: str, values: Values) -> dict[str, ibis.Value]:
    """The code of each attribute, int16: the place of its value, 0 where there is none."""
    codes = {}
    for place, (name, listed) in enumerate(values.items()):
        cases = [(value, code) for code, value in enumerate(listed) if code]
        code = table[name].cases(*cases, else_=0) if cases else ibis.literal(0)
        codes[f"{prefix}{place}"] = code.cast("int16")  # Spark has no uint8
    return codes


def clean(source: Source) -> Source:
    """The tables with values and intents in NFC, without white space around them.

    What is white space only is not given. Source: UAX 15.
    """
    users = _clean(source.users, source.persons)
    return replace(source, users=users, events=_clean(source.events, (*source.requests, INTENT)))


def _clean(table: ibis.Table, names: Sequence[str]) -> ibis.Table:
    odd = {name: (~table[name].re_search(_PLAIN)).any() for name in table.columns}
    row = table.aggregate(**odd).to_pyarrow().to_pylist()[0]
    # What need not be trimmed is not: each engine would do it again for all that it computes.
    table = table.mutate(**{name: text_of(table[name]) for name in table.columns if row[name]})
    for name in (each for each in names if row[each]):
        odd_texts = table.filter(~table[name].re_search(_PLAIN)).select(name).distinct()
        # Engines differ in what they normalise, and in which spaces they know.
        cleaned = _mapped(odd_texts.to_pyarrow(), lambda text: normalize("NFC", text).strip())
        cleaned = ibis.memtable(cleaned)
        # Columns may have any name of an attribute.
        joined = table.left_join(cleaned, table[name] == cleaned.known_text, rname="{name} cleaned")
        neat = cleaned.known_text.isnull().ifelse(table[name], cleaned.meant.nullif(""))
        table = joined.mutate(**{name: neat}).select(table.columns)
    return table


def meanings(texts: ibis.Table) -> pa.Table:
    """The columns known_text and meant, the normalised text, for each text of a column with one.

    Kept in Arrow, because a log has millions of texts.
    """
    return _mapped(texts.distinct().to_pyarrow(), normalise).filter(pc.field("meant") != "")


def _mapped(texts: pa.Table, change: Callable[[str], str]) -> pa.Table:
    """The columns known_text and meant: the texts of one column, and what becomes of each."""
    schema = pa.schema([("known_text", pa.string()), ("meant", pa.string())])
    batches = []
    for batch in texts.drop_null().to_batches(BATCH):
        changed = pa.array(map(change, batch[0].to_pylist()), pa.string())
        batches.append(pa.record_batch([batch[0], changed], schema))
    return pa.Table.from_batches(batches, schema)


def numbered(texts: pa.Table) -> tuple[pa.Array, ibis.Table]:
    """The normalised texts of `meanings`, in order, and which of them each text means.

    The table has the columns known_text and query, the position among the normalised texts.
    """
    distinct = pc.unique(texts["meant"]).sort()
    columns = {"known_text": texts["known_text"], "query": pc.index_in(texts["meant"], distinct)}
    return distinct, ibis.memtable(pa.table(columns))
