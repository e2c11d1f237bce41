"""The engines that read and compute tables: DuckDB on this machine, or Spark."""

import csv
import gzip
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.resources import files
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from weakref import finalize

import ibis
import msgspec
import pyarrow as pa
from pyarrow.dataset import Dataset, HivePartitioning, dataset
from pyarrow.fs import S3FileSystem

from agent.errors import BuildError, UsageError, install_hint
from agent.files import missing

FORMATS = (".csv", ".csv.gz", ".parquet")
SEVERAL = "*?[{"  # in a name, engines take them for patterns that match several files
_KIND = re.compile(r"^([A-Z][A-Za-z ]* Error: |\[[A-Z_.]+\] )")
_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]+):/+", re.IGNORECASE)
_FAILURES = msgspec.toml.decode((files("agent.build") / "failures.toml").read_bytes())
S3 = "s3a://"
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


def address_of(path: Path) -> str | None:
    """The address that a path stands for, such as s3a://bucket/events; None for an ordinary path.

    s3 is s3a, as Spark calls it. A path keeps one of the slashes after a colon.
    """
    match = _ADDRESS.match(str(path))
    if match is None:
        return None
    scheme = {"s3": "s3a"}.get(match[1].lower(), match[1].lower())
    slashes = "///" if scheme == "file" else "//"
    return f"{scheme}:{slashes}{str(path)[match.end() :]}"


def stored(address: str) -> Dataset:
    """The parquet files at or below an address of S3; a partition `name=value` is a column of text.

    Credentials, region and AWS_ENDPOINT_URL are where Amazon's own tools look for them.
    """
    place = address.removeprefix(S3)
    store = S3FileSystem(endpoint_override=os.environ.get("AWS_ENDPOINT_URL"))
    found = partial(dataset, place, filesystem=store, format="parquet")
    keys = [(each, pa.string()) for each in _keys(found().files, place)]
    return found(partitioning=HivePartitioning(pa.schema(keys)))


def partitions(path: Path, backend: ibis.BaseBackend) -> list[str]:
    """The columns that come from the names of subfolders such as `day=monday`."""
    if (address := address_of(path)) is None:
        return _keys(map(str, files_of(path)), str(path))
    if backend.name == "duckdb":
        return _keys(stored(address).files, address.removeprefix(S3))
    return _keys(backend.files_at(address), address)


def _keys(names: Iterable[str], place: str) -> list[str]:
    """Which partitions the first file below a place is in."""
    parts = next(iter(names), place).removeprefix(place).split("/")[:-1]
    return [each.partition("=")[0] for each in parts if "=" in each]


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
    duck, address = backend.name == "duckdb", address_of(path)
    if address and duck:
        backend.con.register(name := ibis.util.gen_name("parquet"), stored(address))
        return backend.table(name)
    names = [address] if address else [str(each) for each in files_of(path)]
    keys = partitions(path, backend)
    if not names:
        what = "no parquet file in the folder"
        raise BuildError(what, "name a folder with files that end in .parquet", str(path))
    if duck:
        table = backend.read_parquet(names, hive_partitioning=bool(keys), hive_types_autocast=False)
    else:
        table = backend.scanned(str(path) if keys and not address else None, names)
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
        raise _failure(error, path, str(error)) from error
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
def reading(backend: ibis.BaseBackend, path: Path | None = None) -> Iterator[None]:
    """Raise BuildError where an engine finds a file to be damaged meanwhile, or cannot compute."""
    import duckdb

    # Also of Arrow, which reads for DuckDB from a store and takes the results of both.
    kinds = duckdb.Error, OSError, UnicodeError, pa.ArrowException
    try:
        yield
    except (*kinds, *getattr(backend, "failures", ())) as error:
        raise _failure(error, path, getattr(backend, "cause", str)(error)) from error


def check_path(path: Path, *, spark: bool) -> None:
    """Refuse a path that is neither a folder nor a file of a known format.

    UsageError or BuildError. Whether there is a table at an address shows when it is read.
    """
    if address := address_of(path):
        if not (spark or address.startswith(S3)):
            what = "only Spark reads addresses other than those of S3"
            raise UsageError(what, "use --spark, or name s3://, a file or a folder", address)
        return
    if not path.exists():
        raise missing(path)
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


def _failure(error: Exception, path: Path | None, text: str) -> BuildError:
    """The error for what an engine or a file says."""
    where = None if path is None else address_of(path) or str(path)
    for each in _FAILURES["failure"]:
        if match := re.search(each["pattern"], f"{type(error).__name__}: {text}", re.DOTALL):
            return BuildError(match.expand(each["what"]), each["hint"], where)
    text = _KIND.sub("", text).strip().partition("\n")[0].rstrip(".")
    rest = _FAILURES["reading" if path else "computing"]
    return BuildError(f"{rest['what']}: {text[:1].lower()}{text[1:200]}", rest["hint"], where)
