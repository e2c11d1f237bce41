"""What computes tables: DuckDB or Polars on this machine, or Spark."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from weakref import finalize

import ibis

from agent.build.options import Engine
from agent.errors import BuildError, install_hint

SEVERAL = "*?[{"  # in a name, engines take them for patterns that match several files
_KIND = re.compile(r"^([A-Z][A-Za-z ]* Error: |\[[A-Z_.]+\] )")
_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]+):/+", re.IGNORECASE)
MEMORY = "2GB"  # what DuckDB takes beyond that, it puts on the disk


def connected(
    engine: Engine = "duckdb", master: str | None = None, spill: Path | None = None
) -> ibis.BaseBackend:
    """Return an engine that has no tables yet; ``master``: the address of a Spark cluster.

    ``spill``: the folder where DuckDB puts what exceeds MEMORY, by default the system's own.
    Raises BuildError if it is not installed or does not start.
    """
    try:
        if engine == "polars":
            return ibis.polars.connect()
        if engine == "spark":
            from agent.build.spark import connected as spark

            return spark(master)
    except ModuleNotFoundError as error:
        what = f"the engine {engine} needs {error.name}, which is not installed"
        raise BuildError(what, install_hint(engine)) from error
    folder = mkdtemp(prefix="reticent-", dir=spill)  # closed to others; it goes with the tables
    connection = ibis.duckdb.connect(
        memory_limit=MEMORY, temp_directory=folder, preserve_insertion_order=False
    )
    finalize(connection, rmtree, folder, ignore_errors=True)
    return connection


def failures(backend: ibis.BaseBackend) -> tuple[type[Exception], ...]:
    """Return what an engine raises where it cannot compute something."""
    if backend.name == "duckdb":
        import duckdb

        return (duckdb.Error,)
    if backend.name == "polars":
        from polars.exceptions import PolarsError

        return (PolarsError,)
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    return PySparkException, Py4JError


def reason(error: Exception) -> str:
    """Return in a line what an engine says, without the kind of its error."""
    said = getattr(error, "java_exception", error)  # else which of its calls failed
    text = _KIND.sub("", str(said)).strip().partition("\n")[0].rstrip(".")
    return f"{text[:1].lower()}{text[1:200]}"


@contextmanager
def computing(backend: ibis.BaseBackend) -> Iterator[None]:
    """Raise BuildError for what an engine cannot compute meanwhile."""
    try:
        yield
    except failures(backend) as error:
        what = f"the tables could not be computed: {reason(error)}"
        hint = "check that the files are whole, and that there is room in memory and on the disk"
        raise BuildError(what, hint) from error


def address_of(path: Path) -> str | None:
    """Return the address that a path was given as, such as s3a://bucket/events; None if none was.

    Spark alone reads these. A path keeps one of the slashes after a colon.
    """
    found = _ADDRESS.match(str(path))
    if found is None:
        return None
    scheme = found[1].lower()
    slashes = "///" if scheme == "file" else "//"
    return f"{scheme}:{slashes}{str(path)[found.end() :]}"


def partitions(path: Path, backend: ibis.BaseBackend) -> list[str]:
    """Return the columns that the names of a folder's own folders give, as `day=monday` does."""
    if address := address_of(path):
        from agent.build.spark import folders_of

        return [each.partition("=")[0] for each in folders_of(backend, address) if "=" in each]
    inner = next((each.relative_to(path) for each in files_of(path)), path).parts[:-1]
    return [each.partition("=")[0] for each in inner if "=" in each] if path.is_dir() else []


def files_of(path: Path) -> list[Path]:
    """Return the files of a table; what Spark and others write beside it begins like _SUCCESS."""
    if not path.is_dir():
        return [path]
    inside = (each.relative_to(path) for each in sorted(path.rglob("*.parquet")))
    return [path / each for each in inside if not any(part[0] in "._" for part in each.parts)]


def parquet(backend: ibis.BaseBackend, path: Path) -> ibis.Table:
    """Return the table in a parquet file, or in all those of a folder and its partitions.

    A partition `name=value` is a column of text. BuildError for a folder without such files.
    """
    if address := address_of(path):
        from agent.build.spark import scanned

        return scanned(backend, None, [address])
    names, keys = [str(each) for each in files_of(path)], partitions(path, backend)
    if not names:
        what = "no parquet file in the folder"
        raise BuildError(what, "name a folder with files that end in .parquet", str(path))
    if any(mark in name for name in names for mark in SEVERAL):
        what = f"a file's path contains one of {' '.join(SEVERAL)}"
        raise BuildError(what, "rename the file or its folders", str(path))
    if backend.name == "duckdb":
        table = backend.read_parquet(names, hive_partitioning=bool(keys), hive_types_autocast=False)
    elif backend.name == "polars":
        import polars as pl

        texts = dict.fromkeys(keys, pl.String) or None
        found = pl.scan_parquet(names, glob=False, hive_partitioning=bool(keys), hive_schema=texts)
        table = backend.create_table(ibis.util.gen_name("parquet"), found)
    else:
        from agent.build.spark import scanned

        table = scanned(backend, str(path) if keys else None, names)
    # Of a folder further up, which is no part of the table.
    above = {part.partition("=")[0] for part in path.absolute().parts if "=" in part}
    return table.drop(*(above.difference(keys) & {*table.columns} if keys else ()))
