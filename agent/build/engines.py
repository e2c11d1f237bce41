"""The engines that read and compute tables: DuckDB on this machine, or Spark."""

import csv
import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from weakref import finalize

import ibis

from agent.errors import BuildError, UsageError, install_hint, nearest

FORMATS = (".csv", ".csv.gz", ".parquet")
SEVERAL = "*?[{"  # in a name, engines take them for patterns that match several files
_KIND = re.compile(r"^([A-Z][A-Za-z ]* Error: |\[[A-Z_.]+\] )")
_LINE = re.compile(r"CSV Error on Line: (\d+)")  # as DuckDB has it
_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]+):/+", re.IGNORECASE)
MEMORY = "2GB"  # what DuckDB takes beyond that, it puts on the disk


def connected(spark: str | None = None) -> ibis.BaseBackend:
    """An engine that has no tables yet: Spark, here or on a cluster, or by default DuckDB.

    ``spark``: "local", or the address of a master. What exceeds MEMORY DuckDB puts into the
    system's temporary folder. BuildError if Spark is not installed or does not start; UsageError
    for an address that is not a master's.
    """
    if spark is not None:
        try:
            from agent.build.spark import connected as cluster
        except ModuleNotFoundError as error:
            what = f"--spark needs {error.name}, which is not installed"
            raise BuildError(what, install_hint("spark")) from error
        return cluster(spark)
    folder = mkdtemp(prefix="reticent-")  # closed to others; deleted with the tables
    connection = ibis.duckdb.connect(
        memory_limit=MEMORY, temp_directory=folder, preserve_insertion_order=False
    )
    finalize(connection, rmtree, folder, ignore_errors=True)
    return connection


def failures(backend: ibis.BaseBackend) -> tuple[type[Exception], ...]:
    """The exceptions that an engine raises where it cannot compute something."""
    if backend.name == "duckdb":
        import duckdb

        return (duckdb.Error,)
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    return PySparkException, Py4JError


def reason(error: Exception) -> str:
    """An engine's message in one line, without the kind of its error."""
    cause = getattr(error, "java_exception", error)  # else which of its calls failed
    text = _KIND.sub("", str(cause)).strip().partition("\n")[0].rstrip(".")
    return f"{text[:1].lower()}{text[1:200]}"


@contextmanager
def computing(backend: ibis.BaseBackend) -> Iterator[None]:
    """Raise BuildError where an engine fails to compute something meanwhile."""
    try:
        yield
    except failures(backend) as error:
        what = f"the tables could not be computed: {reason(error)}"
        hint = "check that the files are whole, and that there is room in memory and on the disk"
        raise BuildError(what, hint) from error


def address_of(path: Path) -> str | None:
    """The address that a path stands for, such as s3a://bucket/events; None for an ordinary path.

    Spark alone reads these. A path keeps one of the slashes after a colon.
    """
    match = _ADDRESS.match(str(path))
    if match is None:
        return None
    scheme = match[1].lower()
    slashes = "///" if scheme == "file" else "//"
    return f"{scheme}:{slashes}{str(path)[match.end() :]}"


def partitions(path: Path, backend: ibis.BaseBackend) -> list[str]:
    """The columns that come from the names of subfolders such as `day=monday`."""
    if address := address_of(path):
        from agent.build.spark import folders_of

        return [each.partition("=")[0] for each in folders_of(backend, address) if "=" in each]
    inner = next((each.relative_to(path) for each in files_of(path)), path).parts[:-1]
    return [each.partition("=")[0] for each in inner if "=" in each] if path.is_dir() else []


def files_of(path: Path) -> list[Path]:
    """The files of a table, without those that Spark and others write beside it, as _SUCCESS."""
    if not path.is_dir():
        return [path]
    inside = (each.relative_to(path) for each in sorted(path.rglob("*.parquet")))
    return [path / each for each in inside if not any(part[0] in "._" for part in each.parts)]


def parquet(backend: ibis.BaseBackend, path: Path) -> ibis.Table:
    """The table in a parquet file, or in all those of a folder and its partitions.

    A partition `name=value` is a column of text. BuildError for a folder without such files.
    """
    if address := address_of(path):
        from agent.build.spark import scanned

        return scanned(backend, None, [address])
    names, keys = [str(each) for each in files_of(path)], partitions(path, backend)
    if not names:
        what = "no parquet file in the folder"
        raise BuildError(what, "name a folder with files that end in .parquet", str(path))
    if backend.name == "duckdb":
        table = backend.read_parquet(names, hive_partitioning=bool(keys), hive_types_autocast=False)
    else:
        from agent.build.spark import scanned

        table = scanned(backend, str(path) if keys else None, names)
    # Of a folder further up, which is no part of the table.
    above = {part.partition("=")[0] for part in path.absolute().parts if "=" in part}
    return table.drop(*(above.difference(keys) & {*table.columns} if keys else ()))


def header_of(connection: ibis.BaseBackend, path: Path) -> list[str]:
    """The names of the columns of a file; errors as `open_tables`."""
    check_path(path, spark=connection.name == "pyspark")
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
    """A table that reads a file each time it is computed; from csv every column is text.

    ``header``: as `header_of` has it. Compute it within `reading`.
    """
    if is_parquet(path):
        return parquet(connection, path)
    # Without placeholders, a name that is a word of SQL would not be understood.
    columns = {f"c{place}": "VARCHAR" for place in range(len(header))}
    table = connection.read_csv(path, columns=columns, delim=",", quote='"', escape='"')
    return table.rename(dict(zip(header, columns, strict=True)))


def is_parquet(path: Path) -> bool:
    """Whether a table is in parquet: a file, or a folder of files, as at any address."""
    return path.is_dir() or path.name.endswith(".parquet") or address_of(path) is not None


@contextmanager
def reading(backend: ibis.BaseBackend, path: Path) -> Iterator[None]:
    """Raise BuildError where an engine finds a file to be damaged meanwhile."""
    try:
        yield
    except failures(backend) as error:
        raise _no_table(path, error) from error


def check_path(path: Path, *, spark: bool) -> None:
    """Refuse a path that is neither a folder nor a file of a known format.

    UsageError or BuildError. Whether there is a table at an address, only Spark can tell.
    """
    if address := address_of(path):
        if not spark:
            what = "only Spark reads addresses"
            raise UsageError(what, "use --spark, or name a file or folder", address)
        return
    if not path.exists():
        names = [each.name for each in path.parent.iterdir()] if path.parent.is_dir() else []
        other = nearest(path.name, names)
        hint = "check the path" if other is None else f"did you mean {str(path.parent / other)!r}?"
        raise UsageError("no such file", hint, str(path))
    if not (path.is_file() or path.is_dir()):
        raise UsageError("neither a file nor a folder", "name one of these", str(path))
    if not path.is_dir() and not path.name.endswith(FORMATS):
        what = "the file name does not end like a table's"
        raise BuildError(what, f"name it {', '.join(FORMATS[:-1])} or {FORMATS[-1]}", str(path))
    if any(mark in str(file) for file in files_of(path) for mark in SEVERAL):
        what = f"the path contains one of {' '.join(SEVERAL)}"
        raise BuildError(what, "rename the file or its folders", str(path))
    if spark and not is_parquet(path):
        hint = "write the table as parquet, or leave out --spark"
        raise UsageError("Spark reads parquet files only", hint, str(path))


def _no_table(path: Path, error: Exception) -> BuildError:
    hint = "give a table in UTF-8, with commas and a first row of names, or a parquet file"
    if address_of(path):
        hint = "check the address; of an object store, Spark needs a package, as hadoop-aws for s3a"
    line, where = _LINE.search(str(error)), address_of(path) or str(path)
    what = f"line {line[1]} is not a row of the table" if line else f"not a table: {reason(error)}"
    return BuildError(what, hint, where)
