"""A search log to what the figures are of: its model."""

from pathlib import Path

from agent.build.build import model_of
from agent.build.log import open_log, source_of
from agent.build.options import BuildOptions, Description, LogFiles
from agent.errors import UsageError
from agent.lab import Progress
from agent.lab.paper.subject import SHRINKAGE
from agent.lab.paper.survey import with_stated_sensitivities
from agent.model.file import SUFFIX, write

ENDINGS = (".parquet", ".csv.gz", ".csv")
SOURCE = "SOURCE.md"
MODEL = f"model{SUFFIX}"


def logged(folder: Path, out: Path, progress: Progress) -> Path:
    """Build the model of a log under the paper's estimator; return its file in ``out``.

    ``folder``: has log, people and sites; the first heading of its SOURCE.md, where there is one,
    becomes the model's source. Attributes get the sensitivities that the paper states, at the scale
    that its own sets allow. Raises UsageError and BuildError as a build does.
    """
    files = files_of(folder)
    options = BuildOptions(
        **files._asdict(),
        estimator="plugin",
        shrinkage=SHRINKAGE,
        validation=False,  # no figure is of what held-out people get
        description=Description(id="log", source=stated_source(folder)),
    )
    progress("reading", 0.0)
    source = source_of(open_log(files))
    progress("reading", 1.0)
    write(with_stated_sensitivities(model_of(source, options, progress)), out / MODEL)
    return out / MODEL


def files_of(folder: Path) -> LogFiles:
    """Find the tables of the log in a folder, whatever their form; UsageError if one is not."""
    return LogFiles(*(table_in(folder, name) for name in LogFiles._fields))


def table_in(folder: Path, name: str) -> Path:
    """Find a table in a folder, whatever its form; UsageError if it is not there."""
    for ending in ENDINGS:
        if (path := folder / f"{name}{ending}").is_file():
            return path
    hint = f"the folder needs {name}.parquet, {name}.csv.gz or {name}.csv"
    raise UsageError(f"there is no table {name}", hint, str(folder))


def stated_source(folder: Path) -> str:
    """Read the first heading of what is said of the source; without one, the folder's name."""
    path = folder / SOURCE
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    heading = next((each.lstrip("# ").strip() for each in lines if each.startswith("#")), "")
    if not heading:
        return folder.name
    return heading if folder.name in heading else f"{heading}: {folder.name}"
