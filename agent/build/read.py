"""Files to Ibis tables."""

import csv
import gzip
import re
import zlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import ibis

from agent.build.engines import SEVERAL, address_of, connected, failures, parquet, reason
from agent.build.stages import IN_ENGINE, Stages
from agent.build.tables import Source, check_columns, tidy
from agent.errors import BuildError, UsageError, nearest

FORMATS = (".csv", ".csv.gz", ".parquet")

# How DuckDB says where in a file.
_LINE = re.compile(r"CSV Error on Line: (\d+)")


def open_tables(
    users: Path,
    events: Path,
    backend: ibis.BaseBackend | None = None,
    numbers: Collection[str] = (),
    stages: Stages = IN_ENGINE,
) -> Source:
    """Return the tables in two files or folders, on an engine, by default a new DuckDB.

    Every column is text. ``numbers``: columns that may hold any numbers, on any engine;
    ``stages``: where tables in csv are kept.
    Raises UsageError if there is no such file; BuildError if it is not a table, or if its
    columns are not as `check_columns` demands.
    """
    backend = connected() if backend is None else backend
    headers = [header_of(backend, path) for path in (users, events)]
    check_columns(*headers)
    tables = []
    for name, path, header in zip(("users", "events"), (users, events), headers, strict=True):
        with reading(backend, path):
            raw = scanned(backend, path, header)
            for column, kind in raw.schema().items() if backend.name != "duckdb" else ():
                alike = kind.is_string() or kind.is_integer() or kind.is_boolean() or kind.is_date()
                if not (alike or kind.is_null() or column in numbers):
                    what = f"column {column!r} holds {kind}"
                    what = f"{what}, which engines write differently as text"
                    raise BuildError(what, "write it as text, or use --engine duckdb", str(path))
            table = tidy(raw)
            tables.append(table if is_parquet(path) else stages.computed(f"table-{name}", table))
    return Source(*tables)


def header_of(connection: ibis.BaseBackend, path: Path) -> list[str]:
    """Return the names of the columns of a file; errors as `open_tables`."""
    check_path(path, connection.name.removeprefix("py"))
    if is_parquet(path):
        with reading(connection, path):
            return list(parquet(connection, path).columns)
    try:
        opened = gzip.open if path.name.endswith(".gz") else open
        with opened(path, "rt", encoding="utf-8-sig", newline="") as file:
            header = next(csv.reader(file), None)
    except (OSError, EOFError, UnicodeError, csv.Error, zlib.error) as error:
        raise _no_table(path, error) from error
    if header is None:
        raise BuildError("the table is empty", "give a table with a first row of names", str(path))
    return header


def scanned(connection: ibis.BaseBackend, path: Path, header: Sequence[str]) -> ibis.Table:
    """Return a table that reads a file whenever it is computed; from csv every column is text.

    ``header``: as `header_of` has it. What computes it belongs into `reading`.
    """
    if is_parquet(path):
        return parquet(connection, path)
    # Without placeholders, a name that is a word of SQL would not be understood.
    columns = {f"c{place}": "VARCHAR" for place in range(len(header))}
    found = connection.read_csv(path, columns=columns, delim=",", quote='"', escape='"')
    return found.rename(dict(zip(header, columns, strict=True)))


def is_parquet(path: Path) -> bool:
    """Say whether a table is in parquet: a file, or a folder of files, as at any address."""
    return path.is_dir() or path.name.endswith(".parquet") or address_of(path) is not None


@contextmanager
def reading(backend: ibis.BaseBackend, path: Path) -> Iterator[None]:
    """Raise BuildError for what an engine finds wrong with a file meanwhile."""
    try:
        yield
    except failures(backend) as error:
        raise _no_table(path, error) from error


def check_path(path: Path, engine: str) -> None:
    """Refuse a path that is neither a folder nor a file of a known format; Spark has addresses.

    Of what an address names, nothing is known before Spark has started.
    """
    if address := address_of(path):
        if engine != "spark":
            what = f"{engine} reads files and folders of this machine only"
            raise UsageError(what, "use --engine spark, or name one of these", address)
        return
    if not path.exists():
        names = [each.name for each in path.parent.iterdir()] if path.parent.is_dir() else []
        near = nearest(path.name, names)
        hint = "check the path" if near is None else f"did you mean {str(path.parent / near)!r}?"
        raise UsageError("no such file", hint, str(path))
    if not (path.is_file() or path.is_dir()):
        raise UsageError("neither a file nor a folder", "name one of these", str(path))
    if not path.is_dir() and not path.name.endswith(FORMATS):
        what = "the file name does not end like a table's"
        raise BuildError(what, f"name it {', '.join(FORMATS[:-1])} or {FORMATS[-1]}", str(path))
    if any(each in str(path) for each in SEVERAL):
        what = f"the path contains one of {' '.join(SEVERAL)}"
        raise BuildError(what, "rename the file or its folders", str(path))
    if engine != "duckdb" and not is_parquet(path):
        what = f"{engine} reads parquet files only"
        raise UsageError(what, "write the table as parquet, or use --engine duckdb", str(path))


def _no_table(path: Path, error: Exception) -> BuildError:
    """Return the error for a file that does not hold a table."""
    hint = "give a table in UTF-8, with commas and a first row of names, or a parquet file"
    if address_of(path):
        hint = "check the address; of an object store, Spark needs a package, as hadoop-aws for s3a"
    line, where = _LINE.search(str(error)), address_of(path) or str(path)
    what = f"line {line[1]} is not a row of the table" if line else f"not a table: {reason(error)}"
    return BuildError(what, hint, where)
