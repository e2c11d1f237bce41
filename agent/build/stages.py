"""What a build has finished, as parquet beside its model: stopped, it goes on from there.

The tables have user ids in them: only the owner can open their folder, and it goes when the model
is written.
"""

import fcntl
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from typing import TypeVar

import ibis
import pyarrow as pa
import pyarrow.parquet as pq

from agent import __version__
from agent.build.engines import SEVERAL, files_of, parquet
from agent.build.options import BuildOptions
from agent.errors import ReticentError, UsageError

T = TypeVar("T")
BLOCK = 64  # items of a stage
KEY = "key"  # the file that says what stages are of
SUFFIX = ".stages"  # of their folder, in place of the model's


class Stages:
    """Tables by name, each made once; in ``folder``, or without one for as long as a build runs.

    ``found``: whether some are there already.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self.found = folder is not None and any(folder.glob("*.parquet"))
        self._names = set[str]()

    def computed(self, name: str, table: ibis.Table) -> ibis.Table:
        """A table, computed once and kept where its engine reads it."""
        backend = table.get_backend()
        if self.folder is None or backend.name != "duckdb":  # Spark keeps its own
            return table.cache()
        return parquet(backend, self.file(name, lambda path: backend.to_parquet(table, path)))

    def fetched(self, name: str, table: ibis.Table) -> pa.Table:
        """The rows of a table, in its order."""
        return self.saved(name, table.to_pyarrow)

    def saved(self, name: str, make: Callable[[], pa.Table]) -> pa.Table:
        """The table that ``make`` returns, made once."""
        if self.folder is None:
            return make()
        path = self.file(name, lambda path: pq.write_table(make(), path))
        return pq.ParquetFile(path).read()

    def in_blocks(
        self,
        name: str,
        items: Sequence[T],
        row: Callable[[T], Mapping[str, object]],
        schema: pa.Schema,
        advance: Callable[[float], None],
    ) -> pa.Table:
        """A row for each item, a block of them a stage; ``advance``: told the share done."""

        def made(start: int) -> pa.Table:
            rows = []
            for place, item in enumerate(items[start : start + BLOCK], start + 1):
                rows.append(row(item))
                advance(place / len(items))
            return pa.Table.from_pylist(rows, schema)

        starts = range(0, len(items), BLOCK)
        return pa.concat_tables(self.saved(f"{name}-{at}", partial(made, at)) for at in starts)

    def file(self, name: str, write: Callable[[Path], object]) -> Path:
        """The file of a stage, which is whole or not there."""
        if name in self._names:
            raise ValueError(f"two stages are called {name}")
        self._names.add(name)
        path = Path(self.folder or "", f"{name}.parquet")
        if not path.exists():
            part = path.with_suffix(".part")
            write(part)
            part.replace(path)
        return path


IN_ENGINE = Stages()


@contextmanager
def stages_beside(out: Path, options: BuildOptions, *, resume: bool) -> Iterator[Stages]:
    """Keep the stages of a build beside the model ``out`` until it is written.

    With ``resume``, the stages of an interrupted build are used; UsageError if they belong to
    other tables, options or another version, or while another build uses them. They stay when the
    process is killed or interrupted, or when an engine fails, but not where the tables or options
    are at fault.
    """
    folder, key = out.absolute().with_suffix(SUFFIX), key_of(options)
    if any(each in str(folder) for each in SEVERAL):
        if resume:
            what = f"no build goes on where a path contains one of {' '.join(SEVERAL)}"
            raise UsageError(what, "give --out another place", str(folder))
        yield IN_ENGINE
        return
    folder.mkdir(mode=0o700, exist_ok=True)
    with locked(folder):
        found = [*folder.iterdir()]
        if found and not (folder / KEY).is_file():
            raise UsageError("this is where stages would go", "move it away", str(folder))
        if resume and found and (folder / KEY).read_text() != key:
            what = "the tables, the options or the version have changed since the build stopped"
            raise UsageError(what, "leave out --resume to start anew", str(folder))
        for each in () if resume else found:
            rmtree(each) if each.is_dir() else each.unlink()
        (folder / KEY).write_text(key)
        try:
            yield Stages(folder)
        except ReticentError as error:
            if error.__cause__ is None or not any(folder.glob("*.parquet")):
                rmtree(folder)
            raise
        rmtree(folder)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep a folder for one build at a time; UsageError while another one has it."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            what = "another build is writing this model"
            raise UsageError(what, "wait until it ends, or give --out another place") from None
        yield
    finally:
        os.close(descriptor)


def key_of(options: BuildOptions) -> str:
    """A hash of the version, the options, and the size and time of each file."""
    parts = [__version__, repr(options)]
    for given in (getattr(options, name) for name in options.__slots__):
        for path in files_of(given) if isinstance(given, Path) and given.exists() else ():
            stat = path.stat()
            parts.append(f"{path.absolute()} {stat.st_size} {stat.st_mtime_ns}")
    return sha256("\n".join(parts).encode()).hexdigest()
