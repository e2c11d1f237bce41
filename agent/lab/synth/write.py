"""A synthetic search log to files: a block of people at a time, so that memory stays the same."""

from __future__ import annotations

from contextlib import ExitStack
from inspect import cleandoc
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from agent import __version__
from agent.build.options import LogFiles
from agent.errors import UsageError, reason
from agent.files import replace_bytes, unfinished
from agent.lab import synth
from agent.lab.synth.block import block, world_of
from agent.lab.synth.marginals import PEOPLE, QUERIES, SOURCE
from agent.lab.synth.tables import SCHEMAS, log_table, people_table, sites_table

if TYPE_CHECKING:
    from pathlib import Path

    from agent.build.options import Progress


def write_log(folder: Path, times: int, seed: int, progress: Progress) -> LogFiles:
    """Write a synthetic log of ``times`` the paper's size into a new or empty folder.

    Returns its three parquet files, beside which SOURCE.md says that they are synthetic. The same
    ``times``, ``seed`` >= 0 and version write the same bytes. ``progress`` is told which share is
    done, 0 to 1. Raises UsageError if the folder cannot be made, or holds anything.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            hint = "choose a new one, or remove what is in it"
            raise UsageError("this folder is not empty", hint, str(folder))
        files = LogFiles(*(folder / f"{name}.parquet" for name in LogFiles._fields))
        with ExitStack() as on_failure:
            parts = LogFiles(*(unfinished(path) for path in files))
            for part in parts:
                on_failure.callback(part.unlink, missing_ok=True)
            _write(parts, times, seed, progress)
            replace_bytes(_source(times, seed).encode(), folder / SOURCE)
            for part, path in zip(parts, files, strict=True):
                part.replace(path)
    except OSError as error:
        hint = "choose a folder that can be written to and has space"
        raise UsageError(reason(error), hint, str(folder)) from error
    return files


def _write(files: LogFiles, times: int, seed: int, progress: Progress) -> None:
    what = "writing a synthetic log"
    progress(what, 0.0)
    world = world_of(seed)
    pq.write_table(sites_table(world), files.sites)
    with ExitStack() as open_files:
        log, people = (
            open_files.enter_context(pq.ParquetWriter(path, SCHEMAS[name]))
            for name, path in (("log", files.log), ("people", files.people))
        )
        for number in range(1, times + 1):
            made = block(seed, number, world)
            people.write_table(people_table(made, number))
            log.write_table(log_table(made, number, world))
            progress(what, number / times)


def _source(times: int, seed: int) -> str:
    """Return what SOURCE.md says."""
    return f"""# Synthetic

These tables were written by `reticent lab synth` (version {__version__}, seed {seed}, {times} times
the paper's size: {PEOPLE * times:,} people, {QUERIES * times:,} queries). They are made up, and
prove nothing about people.

{cleandoc(synth.__doc__ or "")}
"""
