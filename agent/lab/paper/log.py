"""A search log to what the figures are of: its model, and the places that its people ask from.

A log has no addresses. It has what a reverse look-up of them gave, so that the zip code stands for
the whole address, and the city for the first half of it.
"""

from collections.abc import Mapping
from pathlib import Path

import ibis
import numpy as np
from numpy.typing import NDArray

from agent.build.build import model_of
from agent.build.log import Log, open_log, source_of
from agent.build.options import BuildOptions, Description, LogFiles
from agent.build.tables import Source
from agent.errors import UsageError
from agent.lab import Progress
from agent.lab.paper.subject import SHRINKAGE, PaperSubject, Places
from agent.lab.paper.survey import with_default_sensitivities, within_outcomes
from agent.model.file import SUFFIX, write
from agent.model.model import Model
from agent.tradeoff import Population, study

COLUMNS: Mapping[str, str] = {  # precision, as the survey asked of it, and the log's column
    "region": "region",
    "country": "country",
    "city": "city",
    "zip code": "zip",
}
UNKNOWN = 0
ENDINGS = (".parquet", ".csv.gz", ".csv")
SOURCE = "SOURCE.md"
MODEL = f"model{SUFFIX}"


def logged(folder: Path, out: Path, progress: Progress) -> PaperSubject:
    """Build the model of a log under the paper's estimator, and write it into ``out``.

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
    made = model_of(source, options, progress)
    model = write(with_default_sensitivities(made, within_outcomes()), out / MODEL)
    return PaperSubject(out / MODEL, places_of(log, source, model))


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
    """Return the first heading of what is said of the source, or the name of the folder."""
    path = folder / SOURCE
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    heading = next((each.lstrip("# ").strip() for each in lines if each.startswith("#")), "")
    if not heading:
        return folder.name
    return heading if folder.name in heading else f"{heading}: {folder.name}"


def places_of(log: Log, source: Source, model: Model) -> Places:
    """Return what each precision of a place costs and brings, for the people of a log."""
    users = log.people.select("user").order_by("user").to_pyarrow()["user"].to_pylist()
    numbers = {user: number for number, user in enumerate(users)}
    columns = [
        _coded(_usual(log.people if name == "region" else log.log, name), numbers)
        for name in COLUMNS.values()
    ]
    codes, cards = np.stack(columns, axis=1), [int(each.max()) + 1 for each in columns]
    crowd = study.AnonymitySet(Population(codes), cards)
    events = source.events.select("user", "query", "intent")
    table = events.filter(events.intent.notnull() & events["query"].notnull()).to_pyarrow()
    asked: dict[str, list[tuple[int, str]]] = {each.text: [] for each in model.queries}
    for user, query, intent in zip(*(each.to_pylist() for each in table.columns), strict=True):
        if query in asked and user in numbers:
            asked[query].append((numbers[user], intent))
    utilities = [
        study.query_utility(_rows(asked[each.text], codes), cards, model.estimator, each.shrinkage)
        for each in model.queries
    ]
    utility = study.MeanUtility(utilities, model.tables.query_weights)
    sets = {name: study.singleton(number) for number, name in enumerate(COLUMNS)}
    before = crowd.identifiability(0, "maxprob", 1)
    return Places(
        {name: crowd.identifiability(each, "maxprob", 1) - before for name, each in sets.items()},
        {name: utility.value(each) for name, each in sets.items()},
    )


def _usual(table: ibis.Table, name: str) -> dict[str, str]:
    """Return each person's most frequent value of a column; of equals the first by characters."""
    known = table.filter(table[name].notnull())
    counted = known.group_by("user", value=known[name]).aggregate(rows=known.count()).to_pyarrow()
    users, values, rows = (counted[each].to_pylist() for each in ("user", "value", "rows"))
    found: dict[str, str] = {}
    for _, value, user in sorted(zip((-each for each in rows), values, users, strict=True)):
        found.setdefault(user, value)
    return found


def _coded(usual: Mapping[str, str], numbers: Mapping[str, int]) -> NDArray[np.uint32]:
    """Return a code per person, UNKNOWN for those of whom nothing is known."""
    code = {value: code for code, value in enumerate(sorted({*usual.values()}), UNKNOWN + 1)}
    found = [code[usual[user]] if user in usual else UNKNOWN for user in numbers]
    return np.array(found, dtype=np.uint32)


def _rows(pairs: list[tuple[int, str]], codes: NDArray[np.uint32]) -> study.QueryRows:
    """Return the rows of a query, of person and intent; no request attributes."""
    persons, user = np.unique([person for person, _ in pairs], return_inverse=True)
    names, intent = np.unique([wanted for _, wanted in pairs], return_inverse=True)
    nothing = np.zeros((len(pairs), 0), np.uint8)
    return study.QueryRows(
        user.astype(np.intp), intent.astype(np.intp), codes[persons], nothing, len(names)
    )
