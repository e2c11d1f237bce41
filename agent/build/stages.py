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
from agent.build.tables import computed
from agent.errors import ReticentError, UsageError

T = TypeVar("T")
BLOCK = 64  # items of a stage
KEY = "key"  # the file that says what stages are of
SUFFIX = ".stages"  # of their folder, in place of the model's
LOCAL = ("duckdb", "polars")  # engines that share our disk; others keep their tables themselves


class Stages:
    """Tables by name, each made once; in ``folder``, or without one for as long as a build runs.

    ``found``: whether some are there already.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self.found = folder is not None and any(folder.glob("*.parquet"))
        self._names = set[str]()

    def computed(self, name: str, table: ibis.Table) -> ibis.Table:
        """Return a table, computed once and kept where its engine reads it."""
        backend = table.get_backend()
        if self.folder is None or backend.name not in LOCAL:
            return computed(table)
        return parquet(backend, self.file(name, lambda path: backend.to_parquet(table, path)))

    def fetched(self, name: str, table: ibis.Table) -> pa.Table:
        """Return what a table holds, in its order."""
        return self.saved(name, table.to_pyarrow)

    def saved(self, name: str, make: Callable[[], pa.Table]) -> pa.Table:
        """Return what ``make`` returns."""
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
        """Return a row for each item, a block of them a stage; ``advance``: told the share done."""

        def made(start: int) -> pa.Table:
            rows = []
            for place, item in enumerate(items[start : start + BLOCK], start + 1):
                rows.append(row(item))
                advance(place / len(items))
            return pa.Table.from_pylist(rows, schema)

        starts = range(0, len(items), BLOCK)
        return pa.concat_tables(self.saved(f"{name}-{at}", partial(made, at)) for at in starts)

    def file(self, name: str, write: Callable[[Path], object]) -> Path:
        """Return the file of a stage, which is whole or not there."""
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
def stages_beside(
    out: Path, options: BuildOptions, *more: object, resume: bool
) -> Iterator[Stages]:
    """Keep the stages of a build beside the model ``out`` until it is written.

    ``more``: what else decides what comes of it, each with a `repr` that says which it is. With
    ``resume``, stages of a build that was stopped are taken; UsageError if they are of other
    tables, options or another version, or while another build has them. They stay when the process
    is killed or interrupted, or when an engine fails, but not where the tables or options are at
    fault.
    """
    folder, key = out.absolute().with_suffix(SUFFIX), key_of(options, more)
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


def key_of(options: BuildOptions, more: Sequence[object]) -> str:
    """Return what changes with the version, the options, and a file's size or time.

    Of tables at an address it is the address alone.
    """
    of = [__version__, repr(options), repr(more)]
    for given in (getattr(options, name) for name in options.__slots__):
        for path in files_of(given) if isinstance(given, Path) and given.exists() else ():
            seen = path.stat()
            of.append(f"{path.absolute()} {seen.st_size} {seen.st_mtime_ns}")
    return sha256("\n".join(of).encode()).hexdigest()
