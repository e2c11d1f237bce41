"""A raw search log to the tables of a build."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, NamedTuple

import ibis

from agent.build.engines import connected, header_of, partitions, reading, scanned
from agent.build.log_schema import DOMAINS, TABLE_1, TABLES, TOPICS, LogColumn
from agent.build.options import LogFiles
from agent.build.tables import INTENT, USER, Described, Source, check_keys, meanings, text_of
from agent.errors import BuildError, UsageError
from agent.model.attributes import UNSPECIFIED

_TIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?\z"
_TYPES = {"time": "timestamp(6)", "seconds": "float64"}
HOW = {
    "text": "fill it, or remove the rows",
    "time": "write times as 2006-03-01T09:30:00, the searcher's own, without a zone",
    "seconds": "write seconds as a number from 0, and nothing where they are not known",
}
_NOUNS = {"time": "a time", "seconds": "a number of seconds"}
DWELL = 30.0  # seconds
QUERY_KEYS = ("user", "asked", "query")
HOURS = (7, 18)  # working hours: from the first until before the second
SATURDAY = 5  # the number of the day
WEEK = timedelta(days=7)  # no shorter span says whether somebody asks once a day
_PLACES = {"several_zips": "zip", "several_cities": "city", "several_countries": "country"}


def check_types(table: str, raw: ibis.Table, columns: Sequence[LogColumn]) -> None:
    """Raise BuildError for a column whose type in a parquet file does not fit its kind."""
    schema = raw.schema()
    for column in columns:
        dtype = schema.get(column.name)
        if dtype is None or dtype.is_string():
            continue
        fits = {
            "text": dtype.is_integer(),
            "time": dtype.is_timestamp() and dtype.timezone is None,
            "seconds": dtype.is_numeric(),
        }
        if not fits[column.kind]:
            what = f"column {column.name!r} of the {table} table holds {dtype}"
            hint = "write it as text" if column.kind == "text" else HOW[column.kind]
            raise BuildError(what, hint)


def typed(raw: ibis.Table, columns: Sequence[LogColumn]) -> ibis.Table:
    """The table with all ``columns``, NULL where a field is empty or not a time.

    Seconds that cannot be read are NaN, to distinguish them from empty fields.
    """
    return raw.select(**{column.name: field_of(raw, column) for column in columns})


def field_of(raw: ibis.Table, column: LogColumn) -> ibis.Value:
    """One column as `typed` has it."""
    if column.name not in raw.columns:
        return ibis.null("string")
    field = raw[column.name]
    text, type_ = text_of(field), _TYPES.get(column.kind)
    if type_ is not None:
        if not field.type().is_string():
            return field.cast(type_)
        value, nothing = text.try_cast(type_), ibis.null(type_)
        if column.kind == "time":
            return text.re_search(_TIME).ifelse(value, nothing)
        return text.isnull().ifelse(nothing, value.fill_null(float("nan")))
    text = text.lower() if "folded" in column.must else text
    return text.nullif(UNSPECIFIED) if column.values or column.most else text


def check_header(table: str, header: Sequence[str], columns: Sequence[LogColumn]) -> None:
    """Refuse a table that lacks a column, has one twice, or an unknown one.

    BuildError, and UsageError for the last.
    """
    check_keys(table, header, [column.name for column in columns if "needed" in column.must])
    names = [column.name for column in columns]
    for name in header:
        if name not in names:
            raise UsageError.unknown(f"{table} column", name, names)


def check_fields(
    table: str, raw: ibis.Table, read: ibis.Table, columns: Sequence[LogColumn]
) -> None:
    """Refuse fields that are not what their columns allow; UsageError for a value, else BuildError.

    ``raw``: as they stand in the file; ``read``: as `typed` made of it.
    """
    for column in columns:
        field = read[column.name]
        if "filled" in column.must or column.kind == "seconds":
            _check_field(table, raw, read, column)
        if column.most and (many := _value(field.nunique())) > column.most:
            what = f"column {column.name!r} of the {table} table has {many} different values"
            raise BuildError(what, f"group them: {column.most} are the most it may have")
        if column.values and (odd := _value(field.min(where=~field.isin(column.values)))):
            raise UsageError.unknown(column.name, odd[:40], column.values)
    if table == "log" and (early := _value((read.time < read.asked).sum())):
        what = f"the log table has {early} pages that were opened before they were asked for"
        raise BuildError(what, "check that 'asked' and 'time' are not swapped")
    if table == "people" and (more := _value(read.count() - read.user.nunique())):
        raise BuildError(f"the people table repeats users in {more} rows", "keep one row per user")


def _value(expression: ibis.Value) -> Any:  # noqa: ANN401  (a count, or a text)
    return expression.to_pyarrow().as_py()


def _check_field(table: str, raw: ibis.Table, read: ibis.Table, column: LogColumn) -> None:
    """Refuse required fields that are empty, and fields that are not times or seconds."""
    count = _value(_wrong(read[column.name], column).sum())
    if not count:
        return
    text = text_of(raw[column.name])
    example = _value(text.min(where=_wrong(field_of(raw, column), column)))
    what = f"the {table} table has {count} rows without {column.name!r}"
    if example is not None:
        what = f"the {table} table has {count} rows in which {column.name!r} is not"
        what = f"{what} {_NOUNS[column.kind]}: {example[:40]!r}, for example"
    raise BuildError(what, HOW[column.kind])


def _wrong(field: ibis.Value, column: LogColumn) -> ibis.Value:
    if column.kind == "seconds":
        return field.isnan() | field.isinf() | (field < 0)
    return field.isnull()


class Log(NamedTuple):
    """The three tables on one backend: the columns of `schema`, NULL where nothing is known."""

    log: ibis.Table
    people: ibis.Table
    sites: ibis.Table


def open_log(files: LogFiles, backend: ibis.BaseBackend | None = None) -> Log:
    """The tables of a search log on an engine, by default a new DuckDB.

    Raises UsageError if there is no such file, or for an unknown column or value; BuildError if it
    is not a table, if a column is missing, or if a field is not what `schema` allows.
    """
    backend = connected() if backend is None else backend
    tables = []
    for name, path in files._asdict().items():
        columns, header = TABLES[name], header_of(backend, path)
        parts = {*partitions(path, backend)}.difference(column.name for column in columns)
        header = [each for each in header if each not in parts]
        check_header(name, header, columns)
        with reading(backend, path):
            raw = scanned(backend, path, header)
            check_types(name, raw, columns)
            table = typed(raw, columns).cache()
            check_fields(name, raw, table, columns)
        tables.append(table)
    return Log(*tables)


def queries_of(log: ibis.Table) -> ibis.Table:
    """The columns user, asked, query, host and tld: one row per query, ``query`` as it was typed.

    ``host`` is the target: that of the first page, in order of time, on which they stayed for
    DWELL or longer; NULL where there is none, or no query. Of pages opened at once it is the
    first in order of characters, and so is ``tld`` of different ones; NULL for none of DOMAINS.
    """
    stayed = log.filter(log.host.notnull() & (log.dwell >= DWELL))
    first = stayed.group_by(QUERY_KEYS).aggregate(opened=stayed.time.min())
    pages = stayed.join(first, [*QUERY_KEYS, stayed.time == first.opened])
    target = pages.group_by(QUERY_KEYS).aggregate(host=pages.host.min())
    queries = log.group_by(QUERY_KEYS).aggregate(tld=log.tld.min(where=log.tld.isin(DOMAINS)))
    return queries.left_join(target, QUERY_KEYS).select(*QUERY_KEYS, "host", "tld")


def requests_of(queries: ibis.Table, visits: ibis.Table) -> ibis.Table:
    """The columns user, query, intent and the request attributes, one row per query.

    ``queries``: user, asked, text (normalised), host (the target) and tld; ``visits``: user, host
    and since, when they first had a page of it open. ``visited_before`` is about the page that
    they then chose, which nobody knows when a request leaves (FORMAT_LOG.md).
    """
    with_text = queries.filter(queries.text.notnull())
    first = with_text.group_by("user", "text").aggregate(first=with_text.asked.min())
    rows = queries.left_join(first, ("user", "text"), rname="first_{name}")
    rows = rows.left_join(visits, ("user", "host"), rname="visit_{name}")
    hour = rows.asked.hour()
    return rows.select(
        "user",
        query=rows.text,
        **{INTENT: rows.host},
        asked_before=no_yes(rows.first < rows.asked),
        visited_before=no_yes(rows.since < rows.asked),
        working_hours=no_yes((hour >= HOURS[0]) & (hour < HOURS[1])),
        workday=no_yes(rows.asked.day_of_week.index() < SATURDAY),
        top_level_domain=rows.tld,
    )


def no_yes(holds: ibis.Value) -> ibis.Value:
    """The value of an attribute: "yes" or "no", NULL where it is not known."""
    return ibis.cases((holds, "yes"), (~holds, "no"))


def persons_of(log: Log, queries: ibis.Table, visits: ibis.Table) -> ibis.Table:
    """The columns user and the person attributes, one row per row of ``log.people``.

    ``queries``: user, asked and text (normalised); ``visits``: user and host, each pair once.
    What nothing is known of is NULL.
    """
    # Who asked once a day or more, on average over a week or more; as the daemon counts it.
    with_text = queries.filter(queries.text.notnull())
    spans = with_text.group_by(of_user=USER).aggregate(
        queries=with_text.count(), first=with_text.asked.min(), last=with_text.asked.max()
    )
    seconds = spans.last.epoch_seconds() - spans.first.epoch_seconds()
    often = spans.queries * timedelta(days=1).total_seconds() >= seconds
    daily = spans.select("of_user", daily=no_yes((seconds >= WEEK.total_seconds()) & often))
    places = {each: log.log[each].nunique() for each in _PLACES.values()}
    counts = log.log.group_by(of_user=USER).aggregate(**places)
    several = {
        name: ibis.cases((counts[place] > 1, "yes"), (counts[place] == 1, "no"))
        for name, place in _PLACES.items()
    }
    # Who visited sites of which topics, of those who visited any that has one.
    sites = log.sites.filter(log.sites.topic.notnull()).select("host", "topic").distinct()
    on_topic = visits.join(sites, "host")
    topics = on_topic.group_by(of_user=USER).aggregate(
        **{f"topic_{topic}": (on_topic.topic == topic).any() for topic in TOPICS}
    )
    visited = {name: no_yes(topics[name]) for name in topics.columns[1:]}
    people = log.people
    for facts in (daily, counts.select("of_user", **several), topics.select("of_user", **visited)):
        people = people.left_join(facts, people.user == facts.of_user).drop("of_user")
    return people.select(USER, *(each.name for each in TABLE_1 if each.scope == "person"))


def source_of(log: Log) -> Source:
    """Make users and events as section 5 of the paper says, on the backend of the log.

    Users are the people, whether they asked or not; events are the queries, with or without a
    target, for what is dropped is counted later. Nothing but the texts of queries is read here.
    """
    texts, typed = ibis.memtable(meanings(log.log.select("query"))), queries_of(log.log)
    rows = typed.left_join(texts, typed.query == texts.known_text)
    queries = rows.select("user", "asked", "host", "tld", text=rows.meant).cache()
    # When each first had a page of each host open.
    pages = log.log.filter(log.log.host.notnull())
    visits = pages.group_by("user", "host").aggregate(since=pages.time.min()).cache()
    users = persons_of(log, queries, visits).cache()
    events = requests_of(queries, visits).cache()
    for each in users, events:
        each.count().to_pyarrow()  # Spark fills a cache only when it is used
    described = {each.name: Described(each.title, each.values, each.concept) for each in TABLE_1}
    return Source(users, events, described)
