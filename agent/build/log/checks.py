"""What is wrong with a table of a search log, said in one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.build.columns import check_keys
from agent.build.log.fields import HOW, field_of, text_of
from agent.build.tables import distinct_values
from agent.errors import BuildError, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    import ibis

    from agent.build.log.schema import Column


def check_header(table: str, header: Sequence[str], columns: Sequence[Column]) -> None:
    """Raise BuildError unless a table has the columns that it needs, each once, and no other."""
    check_keys(table, header, [column.name for column in columns if column.needed])
    known = [column.name for column in columns]
    for name in header:
        if name not in known:
            what = f"the {table} table has an unknown column {name!r}"
            raise BuildError(what, _meant(name, known))


def check_fields(table: str, raw: ibis.Table, read: ibis.Table, columns: Sequence[Column]) -> None:
    """Raise BuildError for fields that are not what their columns allow.

    ``raw``: as they stand in the file; ``read``: as `typed` made of it.
    """
    for column in columns:
        if column.filled or column.kind == "seconds":
            _check_field(table, raw, read, column)
    limited = [column for column in columns if column.values or column.most]
    if limited:
        lists = distinct_values(read, [column.name for column in limited]).to_pyarrow().to_pylist()
        for column in limited:
            _check_values(table, column, {*(lists[0][column.name] or [])} - {None})
    _check_rows(table, read)


def _check_field(table: str, raw: ibis.Table, read: ibis.Table, column: Column) -> None:
    """Refuse fields that are empty and must not be, and what are no times or seconds."""
    count = read.filter(_wrong(read[column.name], column)).count().to_pyarrow().as_py()
    if not count:
        return
    text = text_of(raw[column.name])
    written = raw.filter(_wrong(field_of(raw, column), column) & text.notnull())
    example = written.aggregate(example=text.min()).to_pyarrow().to_pylist()[0]["example"]
    what = f"the {table} table has {count} rows without {column.name!r}"
    if example is not None:
        what = f"the {table} table has {count} rows in which {column.name!r} is no {column.kind}"
        what = f"{what}, {example[:40]!r} for example"
    raise BuildError(what, HOW[column.kind])


def _wrong(field: ibis.Value, column: Column) -> ibis.Value:
    if column.kind == "seconds":
        return field.isnan() | field.isinf() | (field < 0)
    return field.isnull()


def _check_values(table: str, column: Column, found: set[str]) -> None:
    """Refuse values that are not allowed, and too many of them."""
    if column.most and len(found) > column.most:
        what = f"column {column.name!r} of the {table} table has {len(found)} different values"
        raise BuildError(what, f"group them: {column.most} are the most it may have")
    for value in sorted(found - {*column.values}) if column.values else ():
        what = f"the {table} table has an unknown {column.name} {value[:40]!r}"
        raise BuildError(what, _meant(value, column.values))


def _check_rows(table: str, read: ibis.Table) -> None:
    """Refuse rows that cannot be true together."""
    if table == "log":
        early = read.filter(read.time < read.asked).count().to_pyarrow().as_py()
        if early:
            what = f"the log table has {early} pages that were opened before they were asked for"
            raise BuildError(what, "check that 'asked' and 'time' are not swapped")
    if table == "people":
        more = read.count().to_pyarrow().as_py() - read.user.nunique().to_pyarrow().as_py()
        if more:
            what = f"the people table has {more} rows too many for its users"
            raise BuildError(what, "keep one row per user")


def _meant(name: str, names: Sequence[str]) -> str:
    """Return the hint for a name that is none of ``names``."""
    near = nearest(name, names)
    return f"known: {', '.join(names)}" if near is None else f"did you mean {near!r}?"
