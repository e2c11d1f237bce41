"""Files to Ibis tables on DuckDB."""

import csv
import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb
import ibis

from agent.build.tables import Source, check_columns, tidy
from agent.errors import BuildError, UsageError, nearest

FORMATS = (".csv", ".csv.gz", ".parquet")
_SEVERAL = "*?["  # in a name, DuckDB takes them for patterns that match several files

# How DuckDB says where in a file, and what kind of error it is.
_LINE = re.compile(r"CSV Error on Line: (\d+)")
_KIND = re.compile(r"^[A-Z][A-Za-z ]* Error: ")


def open_tables(users: Path, events: Path) -> Source:
    """Return the tables in two files, held by a DuckDB in memory; every column is text.

    Raises UsageError if there is no such file; BuildError if it is not a table, or if its
    columns are not as `check_columns` demands.
    """
    connection = ibis.duckdb.connect()
    headers = [header_of(connection, path) for path in (users, events)]
    check_columns(*headers)
    tables = []
    for name, path, header in zip(("users", "events"), (users, events), headers, strict=True):
        with reading(path):
            table = tidy(scanned(connection, path, header))
            tables.append(connection.create_table(name, table))
    return Source(*tables)


def header_of(connection: ibis.BaseBackend, path: Path) -> list[str]:
    """Return the names of the columns of a file; errors as `open_tables`."""
    _check_path(path)
    try:
        if path.name.endswith(".parquet"):
            return list(connection.read_parquet(path).columns)
        opened = gzip.open if path.name.endswith(".gz") else open
        with opened(path, "rt", encoding="utf-8-sig", newline="") as file:
            header = next(csv.reader(file), None)
    except (OSError, EOFError, UnicodeError, csv.Error, zlib.error, duckdb.Error) as error:
        raise _no_table(path, error) from error
    if header is None:
        raise BuildError("the table is empty", "give a table with a first row of names", str(path))
    return header


def scanned(connection: ibis.BaseBackend, path: Path, header: Sequence[str]) -> ibis.Table:
    """Return a table that reads a file whenever it is computed; from csv every column is text.

    ``header``: as `header_of` has it. What computes it belongs into `reading`.
    """
    if path.name.endswith(".parquet"):
        return connection.read_parquet(path)
    # Without placeholders, a name that is a word of SQL would not be understood.
    columns = {f"c{place}": "VARCHAR" for place in range(len(header))}
    found = connection.read_csv(path, columns=columns, delim=",", quote='"', escape='"')
    return found.rename(dict(zip(header, columns, strict=True)))


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Raise BuildError for what DuckDB finds wrong with a file meanwhile."""
    try:
        yield
    except duckdb.Error as error:
        raise _no_table(path, error) from error


def _check_path(path: Path) -> None:
    """Refuse a path that is not a file, or not of a known format."""
    if not path.exists():
        names = [each.name for each in path.parent.iterdir()] if path.parent.is_dir() else []
        near = nearest(path.name, names)
        hint = "check the path" if near is None else f"did you mean {str(path.parent / near)!r}?"
        raise UsageError("no such file", hint, str(path))
    if not path.is_file():
        raise UsageError("not a file", "name a file", str(path))
    if not path.name.endswith(FORMATS):
        what = "the file name does not end like a table's"
        raise BuildError(what, f"name it {', '.join(FORMATS[:-1])} or {FORMATS[-1]}", str(path))
    if any(each in str(path) for each in _SEVERAL):
        what = f"the path contains one of {' '.join(_SEVERAL)}"
        raise BuildError(what, "rename the file or its folders", str(path))


def _no_table(path: Path, error: Exception) -> BuildError:
    """Return the error for a file that does not hold a table."""
    hint = "give a table in UTF-8, with commas and a first row of names, or a parquet file"
    line = _LINE.search(str(error))
    if line is not None:
        what = f"line {line[1]} is not a row of the table"
        return BuildError(what, hint, str(path))
    reason = _KIND.sub("", str(error)).strip().partition("\n")[0].rstrip(".")
    what = f"not a table: {reason[:1].lower()}{reason[1:]}"
    return BuildError(what, hint, str(path))
