"""A search log to what the figures are of: its model, and where its people ask from."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agent.build.build import model_of
from agent.build.log.read import open_log
from agent.build.log.source import source_of
from agent.build.options import BuildOptions, LogFiles
from agent.errors import UsageError
from agent.lab.paper.places import Places, places_of
from agent.lab.paper.published import SHRINKAGE
from agent.lab.questions.defaults import (
    with_default_sensitivities,
    within_outcomes,
)
from agent.model.file import SUFFIX, write

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ENDINGS = (".parquet", ".csv.gz", ".csv")
SOURCE = "SOURCE.md"
MODEL = f"model{SUFFIX}"


class Logged(NamedTuple):
    """The file of the model that was built, and the places."""

    path: Path
    places: Places


def logged(folder: Path, out: Path, progress: Callable[[str, float], None]) -> Logged:
    """Build the model of a log under the paper's estimator, write it into ``out``, and more.

    ``folder``: has log, people and sites; the first heading of its SOURCE.md, where there is one,
    becomes the model's source. Attributes get the default sensitivities, at the scale that the
    paper's own sets allow. Raises UsageError and BuildError as a build does.
    """
    files = files_of(folder)
    options = BuildOptions(
        **files._asdict(),
        estimator="plugin",
        shrinkage=SHRINKAGE,
        validation=False,  # no figure is of what held-out people get
        id="log",
        source=stated_source(folder),
    )
    progress("reading", 0.0)
    log = open_log(files)
    source = source_of(log)
    progress("reading", 1.0)
    made = model_of(source, options, progress)
    model = write(with_default_sensitivities(made, within_outcomes()), out / MODEL)
    return Logged(out / MODEL, places_of(log, source, model))


def files_of(folder: Path) -> LogFiles:
    """Return the tables of the log in a folder, whatever their form; UsageError if one is not."""
    return LogFiles(*(_file(folder, name) for name in LogFiles._fields))


def _file(folder: Path, name: str) -> Path:
    """Return a table of the log, whatever its form; UsageError if there is none."""
    for ending in ENDINGS:
        if (folder / f"{name}{ending}").is_file():
            return folder / f"{name}{ending}"
    hint = f"a folder of a log has {name}.parquet, {name}.csv.gz or {name}.csv"
    raise UsageError(f"there is no table {name}", hint, str(folder))


def stated_source(folder: Path) -> str:
    """Return the first heading of what is said of the source, or the name of the folder."""
    path = folder / SOURCE
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    heading = next((each.lstrip("# ").strip() for each in lines if each.startswith("#")), "")
    if not heading:
        return folder.name
    return heading if folder.name in heading else f"{heading}: {folder.name}"
