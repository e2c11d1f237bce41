"""A search log to what the figures are of: its model, and what the places of its people cost."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import ibis
import numpy as np
from numpy.typing import NDArray

from agent.build.build import model_of
from agent.build.log import Log, open_log, source_of
from agent.build.options import BuildOptions, Description, LogFiles
from agent.errors import UsageError
from agent.lab import Progress
from agent.lab.paper.subject import SHRINKAGE
from agent.lab.paper.survey import with_default_sensitivities
from agent.model.file import SUFFIX, write
from agent.tradeoff import Population
from agent.tradeoff.anonymity_set import AnonymitySet

COLUMNS: Mapping[str, str] = {  # precision, as the survey asked of it, and the log's column
    "region": "region",
    "country": "country",
    "city": "city",
    "zip code": "zip",
}
ENDINGS = (".parquet", ".csv.gz", ".csv")
SOURCE = "SOURCE.md"
MODEL = f"model{SUFFIX}"


def logged(folder: Path, out: Path, progress: Progress) -> tuple[Path, dict[str, float]]:
    """Build the model of a log under the paper's estimator: its file in ``out``, and place costs.

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
        description=Description(id="log", source=stated_source(folder)),
    )
    progress("reading", 0.0)
    log = open_log(files)
    source = source_of(log)
    progress("reading", 1.0)
    model = with_default_sensitivities(model_of(source, options, progress))
    write(model, out / MODEL)
    return out / MODEL, place_costs(log)


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


def place_costs(log: Log) -> dict[str, float]:
    """Compute I less I of nothing by precision, coarsest first (``maxprob``), for a log's people.

    The place of a person is where most of their pages were opened from; that of nobody is unknown.
    """
    users = log.people.select("user").order_by("user").to_pyarrow()["user"].to_pylist()
    columns = [
        _coded(_usual(log.people if name == "region" else log.log, name), users)
        for name in COLUMNS.values()
    ]
    cards = [int(each.max()) + 1 for each in columns]
    crowd = AnonymitySet(Population(np.stack(columns, axis=1)), cards)
    nothing = crowd.identifiability(0, "maxprob", 1)
    return {
        name: crowd.identifiability(1 << place, "maxprob", 1) - nothing
        for place, name in enumerate(COLUMNS)
    }


def _usual(table: ibis.Table, name: str) -> dict[str, str]:
    """Find each person's most frequent value of a column; of equals the first by characters."""
    given = table.filter(table[name].notnull())
    counted = given.group_by("user", value=given[name]).aggregate(rows=given.count()).to_pyarrow()
    users, values, rows = (counted[each].to_pylist() for each in ("user", "value", "rows"))
    usual: dict[str, str] = {}
    for _, value, user in sorted(zip((-each for each in rows), values, users, strict=True)):
        usual.setdefault(user, value)
    return usual


def _coded(usual: Mapping[str, str], users: Sequence[str]) -> NDArray[np.uint32]:
    """Encode the places of people, 0 for those of whom nothing is known."""
    code = {value: code for code, value in enumerate(sorted({*usual.values()}), 1)}
    return np.array([code.get(usual.get(user, ""), 0) for user in users], dtype=np.uint32)
