"""The three files of a search log to Ibis tables, checked against `schema`."""

from collections.abc import Sequence
from typing import NamedTuple

import ibis

from agent.build.engines import connected, partitions
from agent.build.log.schema import TABLES, Column
from agent.build.options import LogFiles
from agent.build.read import header_of, reading, scanned
from agent.build.stages import IN_ENGINE, Stages
from agent.build.tables import check_keys, text_of
from agent.errors import BuildError, nearest
from agent.model.attributes import UNSPECIFIED

# ISO 8601 without a zone; engines would take more, and turn zones into hours of another place.
_TIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?\z"
_TYPES = {"time": "timestamp(6)", "seconds": "float64"}
HOW = {
    "text": "fill it, or remove the rows",
    "time": "write times as 2006-03-01T09:30:00, the searcher's own, without a zone",
    "seconds": "write seconds as a number from 0, and nothing where they are not known",
}
_NOUNS = {"time": "a time", "seconds": "a number of seconds"}


def check_types(table: str, raw: ibis.Table, columns: Sequence[Column]) -> None:
    """Raise BuildError for a column whose type in a parquet file does not fit its kind."""
    schema = raw.schema()
    for column in columns:
        found = schema.get(column.name)
        if found is None or found.is_string():
            if found and column.kind == "time" and raw.get_backend().name == "polars":
                what = f"column {column.name!r} of the {table} table holds text"
                raise BuildError(what, "polars takes times from columns of timestamps only")
            continue
        fits = {
            "text": found.is_integer(),
            "time": found.is_timestamp() and found.timezone is None,
            "seconds": found.is_numeric(),
        }
        if not fits[column.kind]:
            what = f"column {column.name!r} of the {table} table holds {found}"
            hint = "write it as text" if column.kind == "text" else HOW[column.kind]
            raise BuildError(what, hint)


def typed(raw: ibis.Table, columns: Sequence[Column]) -> ibis.Table:
    """Return the table with all ``columns``, NULL where a field is empty or not a time.

    Seconds that cannot be read are NaN, to distinguish them from empty fields.
    """
    return raw.select(**{column.name: field_of(raw, column) for column in columns})


def field_of(raw: ibis.Table, column: Column) -> ibis.Value:
    """Return one column as `typed` does."""
    if column.name not in raw.columns:
        return ibis.null("string")
    field = raw[column.name]
    if column.kind != "text":
        type_ = _TYPES[column.kind]
        if not field.type().is_string():
            return field.cast(type_)
        text = text_of(field)
        found = text.try_cast(type_)
        if column.kind == "time":
            return text.re_search(_TIME).ifelse(found, ibis.null(type_))
        return text.isnull().ifelse(ibis.null(type_), found.fill_null(float("nan")))
    text = text_of(field)
    text = text.lower() if column.folded else text
    return text.nullif(UNSPECIFIED) if column.values or column.most else text


def check_header(table: str, header: Sequence[str], columns: Sequence[Column]) -> None:
    """Raise BuildError unless a table has the columns that it needs, each once, and no other."""
    check_keys(table, header, [column.name for column in columns if column.needed])
    known = [column.name for column in columns]
    for name in header:
        if name not in known:
            what = f"the {table} table has an unknown column {name!r}"
            raise BuildError(what, _near(name, known))


def check_fields(table: str, raw: ibis.Table, read: ibis.Table, columns: Sequence[Column]) -> None:
    """Raise BuildError for fields that are not what their columns allow.

    ``raw``: as they stand in the file; ``read``: as `typed` made of it.
    """
    for column in columns:
        if column.filled or column.kind == "seconds":
            _check_field(table, raw, read, column)
    counts = {
        each.name: read[each.name].nunique(where=read[each.name].notnull())
        for each in columns
        if each.most
    }
    unknown = {
        each.name: read[each.name].min(where=~read[each.name].isin(each.values))
        for each in columns
        if each.values
    }
    limited = counts | unknown
    row = read.aggregate(**limited).to_pyarrow().to_pylist()[0] if limited else {}
    for column in columns:
        found = row.get(column.name)
        if column.most and (found or 0) > column.most:
            what = f"column {column.name!r} of the {table} table has {found} different values"
            raise BuildError(what, f"group them: {column.most} are the most it may have")
        if column.values and found is not None:
            what = f"the {table} table has an unknown {column.name} {found[:40]!r}"
            raise BuildError(what, _near(found, column.values))
    if table == "log":
        early = read.filter(read.time < read.asked).count().to_pyarrow().as_py()
        if early:
            what = f"the log table has {early} pages that were opened before they were asked for"
            raise BuildError(what, "check that 'asked' and 'time' are not swapped")
    if table == "people":
        more = read.count().to_pyarrow().as_py() - read.user.nunique().to_pyarrow().as_py()
        if more:
            what = f"the people table repeats users in {more} rows"
            raise BuildError(what, "keep one row per user")


def _check_field(table: str, raw: ibis.Table, read: ibis.Table, column: Column) -> None:
    """Refuse required fields that are empty, and fields that are not times or seconds."""
    count = read.filter(_wrong(read[column.name], column)).count().to_pyarrow().as_py()
    if not count:
        return
    text = text_of(raw[column.name])
    written = raw.filter(_wrong(field_of(raw, column), column) & text.notnull())
    example = written.aggregate(example=text.min()).to_pyarrow().to_pylist()[0]["example"]
    what = f"the {table} table has {count} rows without {column.name!r}"
    if example is not None:
        what = f"the {table} table has {count} rows in which {column.name!r} is not"
        what = f"{what} {_NOUNS[column.kind]}: {example[:40]!r}, for example"
    raise BuildError(what, HOW[column.kind])


def _wrong(field: ibis.Value, column: Column) -> ibis.Value:
    if column.kind == "seconds":
        return field.isnan() | field.isinf() | (field < 0)
    return field.isnull()


def _near(name: str, names: Sequence[str]) -> str:
    """Return the hint for a name that is none of ``names``."""
    near = nearest(name, names)
    return f"known: {', '.join(names)}" if near is None else f"did you mean {near!r}?"


class Log(NamedTuple):
    """The three tables on one backend: the columns of `schema`, NULL where nothing is known."""

    log: ibis.Table
    people: ibis.Table
    sites: ibis.Table


def open_log(
    files: LogFiles, backend: ibis.BaseBackend | None = None, stages: Stages = IN_ENGINE
) -> Log:
    """Return the tables of a search log on an engine, by default a new DuckDB.

    Raises UsageError if there is no such file; BuildError if it is not a table, if a column is
    missing or unknown, or if a field is not what `schema` allows.
    """
    backend = connected() if backend is None else backend
    tables = []
    for name, path in files._asdict().items():
        columns = TABLES[name]
        header = header_of(backend, path)
        parts = {*partitions(path, backend)}.difference(column.name for column in columns)
        header = [each for each in header if each not in parts]
        check_header(name, header, columns)
        with reading(backend, path):
            raw = scanned(backend, path, header)
            check_types(name, raw, columns)
            table = stages.computed(f"log-{name}", typed(raw, columns))
            check_fields(name, raw, table, columns)
        tables.append(table)
    return Log(*tables)
