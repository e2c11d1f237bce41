"""Models of one half of the people, beside all others (the extra `build`)."""

from dataclasses import replace
from pathlib import Path

import ibis
import numpy as np

from agent.build.build import model_of
from agent.build.observe import HALF_KEY, Observations, in_half_a, observe
from agent.build.options import BuildOptions, Description, Half, read_description
from agent.build.tables import open_tables
from agent.errors import UsageError
from agent.lab import Progress
from agent.lab.attack.simulation import HeldOut, Material
from agent.model.model import Model

DESCRIPTION = "model.toml"
EACH = "one_each"  # the column of weights where every row is one person
USUAL = Path(__file__).parents[3] / "examples" / "data" / "atus"
EVERYDAY = USUAL.parent / "everyday"
ENDINGS = (".parquet", ".csv.gz", ".csv")
SOURCE = "SOURCE.md"


def tables(data: Path | None, usual: Path = USUAL) -> BuildOptions:
    """Read how models of two tables in a folder are built, by default of the time use survey.

    ``usual``: has the description where no folder is given. UsageError where one of the tables is
    missing, or the description cannot be read.
    """
    folder = data or USUAL
    describe = (data or usual) / DESCRIPTION
    description = read_description(describe) if describe.is_file() else Description()
    users, events = (table_in(folder, each) for each in ("users", "events"))
    return BuildOptions(users=users, events=events, description=description)


def table_in(folder: Path, name: str) -> Path:
    """Find a table in a folder, whatever its form; UsageError if it is not there."""
    for ending in ENDINGS:
        if (path := folder / f"{name}{ending}").is_file():
            return path
    hint = f"the folder needs {name}.parquet, {name}.csv.gz or {name}.csv"
    raise UsageError(f"there is no table {name}", hint, str(folder))


def stated(options: BuildOptions) -> str:
    """Read the first heading of what is said of the source of two tables, else their folder."""
    folder = options.files[0].parent
    path = folder / SOURCE
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    heading = next((each.lstrip("# ").strip() for each in lines if each.startswith("#")), "")
    if not heading:
        return folder.name
    return heading if folder.name in heading else f"{heading}: {folder.name}"


def material_of(data: Path | None, progress: Progress) -> Material:
    """Build the model of one half of the users in a folder, and take the people of the other.

    ``data``: has two tables. Where the description says how many people a row stands for, the rows
    of the table are all the people there are: the model's stand for all of them, and everybody is
    taken, but only the other half asks anything. UsageError where there is no such file; BuildError
    where the tables cannot make a model.
    """
    options = tables(data)
    source, described = open_tables(*options.files[:2]), options.description
    # Validation figures are dropped: they refer to the full model.
    one = replace(options, half="A", validation=False).described(id="half")
    half: Half | None = "B"
    if described.weights:
        source = replace(source, users=source.users.mutate(**{EACH: ibis.literal("1")}))
        one = one.described(weights=EACH, without=(*described.without, described.weights))
        half = None
    model = model_of(source, one, progress)
    people = observe(source, replace(one, half=half, min_users=1))
    return Material(model, held_out(people, model), stated(options))


def held_out(observations: Observations, model: Model) -> HeldOut:
    """Take the people that were seen, with those of their events that the model can rank.

    ``observations``: of the same tables as the model, so that codes mean the same. Only who is not
    of its half has events.
    """
    asking = ~in_half_a(observations.users, HALF_KEY)
    places = {query.text: place for place, query in enumerate(model.queries)}
    parts, total = [], 0
    for each in observations.queries:
        person = each.people[each.rows.user]
        total += int(asking[person].sum())
        if each.text in places:
            place = places[each.text]
            numbers = {name: number for number, name in enumerate(model.queries[place].intents)}
            intent = np.array([numbers.get(name, -1) for name in each.intents])[each.rows.intent]
            ranked = (intent >= 0) & asking[person]
            query = np.full(int(ranked.sum()), place)
            parts.append((person[ranked], query, intent[ranked], each.rows.request[ranked]))
    person, query, intent, codes = map(np.concatenate, zip(*parts, strict=True))
    # Which of several equal events comes first must not depend on the order of a database.
    order = np.lexsort((*codes.T[::-1], intent, query, person))
    return HeldOut(
        codes=observations.population.codes,
        starts=np.searchsorted(person[order], np.arange(observations.population.rows + 1)),
        query=query[order],
        intent=intent[order],
        request=codes[order],
        unranked=total - len(person),
    )
