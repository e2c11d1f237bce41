"""Fields of a file as the types of `schema`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ibis

from agent.errors import BuildError
from agent.model.attributes import UNSPECIFIED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.build.log.schema import Column

# ISO 8601 without a zone; DuckDB would take more, and would turn zones into hours of another place.
_TIME = r"^\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(:\d{2}(\.\d+)?)?$"
_TYPES = {"time": "timestamp(6)", "seconds": "float64"}

HOW = {
    "text": "fill it, or remove the rows",
    "time": "write times as 2006-03-01T09:30:00, the searcher's own, without a zone",
    "seconds": "write seconds as a number from 0, and nothing where they are not known",
}


def check_types(table: str, raw: ibis.Table, columns: Sequence[Column]) -> None:
    """Raise BuildError for a column whose type in a parquet file cannot be meant."""
    schema = raw.schema()
    for column in columns:
        found = schema.get(column.name)
        if found is None or found.is_string():
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
    """Return the table with all ``columns``, NULL where nothing is given or is no time.

    What are no seconds are NaN, so that they can be told from what is not given.
    """
    return raw.select(**{column.name: field_of(raw, column) for column in columns})


def text_of(field: ibis.Value) -> ibis.Value:
    """Return a field as text without outer spaces, NULL where it is empty."""
    return field.cast("string").strip().nullif("")


def field_of(raw: ibis.Table, column: Column) -> ibis.Value:
    """Return one column as `typed` does."""
    if column.name not in raw.columns:
        return ibis.null("string")
    field = raw[column.name]
    if column.kind != "text":
        written = field.type().is_string()
        return _parsed(text_of(field), column) if written else field.cast(_TYPES[column.kind])
    text = text_of(field)
    text = text.lower() if column.folded else text
    return text.nullif(UNSPECIFIED) if column.values or column.most else text


def _parsed(text: ibis.Value, column: Column) -> ibis.Value:
    """Return the time or the number that a text says."""
    found = text.try_cast(_TYPES[column.kind])
    if column.kind == "time":
        return text.re_search(_TIME).ifelse(found, ibis.null(_TYPES["time"]))
    return text.isnull().ifelse(ibis.null("float64"), found.fill_null(float("nan")))
