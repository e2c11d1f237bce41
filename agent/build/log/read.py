"""The three files of a search log to Ibis tables on DuckDB, as `schema` wants them."""

from __future__ import annotations

from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING, NamedTuple
from weakref import finalize

import ibis

from agent.build.log.checks import check_fields, check_header
from agent.build.log.fields import check_types, typed
from agent.build.log.schema import TABLES
from agent.build.read import header_of, reading, scanned

if TYPE_CHECKING:
    from pathlib import Path

    from agent.build.options import LogFiles

MEMORY = "2GB"  # what DuckDB takes beyond that, it puts on the disk


class Log(NamedTuple):
    """The three tables on one backend: the columns of `schema`, NULL where nothing is known."""

    log: ibis.Table
    people: ibis.Table
    sites: ibis.Table


def open_log(files: LogFiles) -> Log:
    """Return the tables of a search log, held by a DuckDB that has MEMORY, and then the disk.

    Raises UsageError if there is no such file; BuildError if it is not a table, if a column is
    missing or unknown, or if a field is not what `schema` allows.
    """
    connection = _spilling()
    return Log(*(_load(connection, name, path) for name, path in files._asdict().items()))


def _spilling() -> ibis.BaseBackend:
    """Return a DuckDB that has its own folder for what is too much for MEMORY, and leaves none."""
    folder = mkdtemp(prefix="reticent-")  # which others cannot read
    connection = ibis.duckdb.connect(
        memory_limit=MEMORY, temp_directory=folder, preserve_insertion_order=False
    )
    finalize(connection, rmtree, folder, ignore_errors=True)
    return connection


def _load(connection: ibis.BaseBackend, name: str, path: Path) -> ibis.Table:
    columns = TABLES[name]
    header = header_of(connection, path)
    check_header(name, header, columns)
    with reading(path):
        raw = scanned(connection, path, header)
        check_types(name, raw, columns)
        table = connection.create_table(name, typed(raw, columns))
        check_fields(name, raw, table, columns)
    return table
