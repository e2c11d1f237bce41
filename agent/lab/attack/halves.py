"""The model of one half of the people, and the other half (the extra `build`)."""

from dataclasses import replace
from pathlib import Path

import ibis
import numpy as np
from numpy.typing import NDArray

from agent.build.build import model_of
from agent.build.log import open_log, source_of
from agent.build.observe import HALF_KEY, Observations, in_half_a, observe
from agent.build.options import BuildOptions, Description, TableFiles, read_description
from agent.build.tables import Source, open_tables
from agent.lab import Progress
from agent.lab.attack.heldout import HeldOut, Material
from agent.lab.paper.log import files_of, stated_source, table_in
from agent.model.model import Model

DESCRIPTION = "model.toml"
EACH = "one_each"  # the column of weights where every row is one person
USUAL = Path(__file__).parents[3] / "examples" / "data" / "atus"


def tables(data: Path | None) -> BuildOptions:
    """Read how models of two tables in a folder are built, by default of the time use survey.

    UsageError where one of the tables is missing, or the description cannot be read.
    """
    folder = data or USUAL
    describe = folder / DESCRIPTION
    description = read_description(describe) if describe.is_file() else Description()
    users, events = (table_in(folder, each) for each in ("users", "events"))
    return BuildOptions(users=users, events=events, description=description)


def material_of(data: Path | None, progress: Progress, *, everybody: bool = False) -> Material:
    """Build the model of one half of the users in a folder, and take the people of the other.

    ``data``: has two tables, or a log; ``everybody``: see `whole`, also where the description says
    how many people a row stands for. UsageError where there is no such file; BuildError where the
    tables cannot make a model.
    """
    progress("reading", 0.0)
    if data is not None and any(data.glob("log.*")):
        files = files_of(data)
        options = BuildOptions(**files._asdict())
        return _halves(source_of(open_log(files)), options, stated_source(data), progress)
    options = tables(data)
    if everybody or options.description.weights:
        return whole(options, progress)
    return _halves(open_tables(*TableFiles(*options.files[:2])), options, stated(options), progress)


def whole(options: BuildOptions, progress: Progress) -> Material:
    """Return the model of one half of the users, whose rows stand for all, and everybody.

    The rows of the table are all the people there are. Only the other half asks anything. Errors
    as `material_of`.
    """
    source = open_tables(*TableFiles(*options.files[:2]))
    source = replace(source, users=source.users.mutate(**{EACH: ibis.literal("1")}))
    unused = (options.description.weights,) if options.description.weights else ()
    without = (*options.description.without, *unused)
    one = replace(options, half="A", validation=False).described(weights=EACH, without=without)
    model = model_of(source, one, progress)
    seen = observe(source, replace(one, half=None, min_users=1))
    others = asked_by(held_out(seen, model), ~in_half_a(seen.users, HALF_KEY))
    return Material(model, others, stated(options))


def asked_by(everybody: HeldOut, asking: NDArray[np.bool_]) -> HeldOut:
    """Return the same people, of whom only some ask; ``asking``: bool, shape (N,)."""
    counts = np.diff(everybody.starts)
    kept = np.repeat(asking, counts)
    return replace(
        everybody,
        starts=np.append(0, np.cumsum(counts * asking)),
        query=everybody.query[kept],
        intent=everybody.intent[kept],
        request=everybody.request[kept],
    )


def stated(options: BuildOptions) -> str:
    """Return what is said of the source of two tables."""
    return stated_source(options.files[0].parent)


def _halves(source: Source, options: BuildOptions, said: str, progress: Progress) -> Material:
    # No figure is of what a model says that the held-out got.
    one = replace(options, half="A", validation=False).described(id="half")
    model = model_of(source, one, progress)
    others = held_out(observe(source, replace(one, half="B", min_users=1)), model)
    return Material(model, others, said)


def held_out(seen: Observations, model: Model) -> HeldOut:
    """Return the people that were seen, with those of their events that the model can rank.

    ``seen``: of the same tables as the model, so that codes mean the same.
    """
    places = {query.text: place for place, query in enumerate(model.queries)}
    request = len(model.attributes) - model.persons
    person, query, intent = (np.zeros(0, np.intp) for _ in range(3))
    codes, total = np.zeros((0, request), np.uint8), 0
    for each in seen.queries:
        total += len(each.rows.user)
        if each.text not in places:
            continue
        place = places[each.text]
        known = {name: number for number, name in enumerate(model.queries[place].intents)}
        numbers = np.array([known.get(name, -1) for name in each.intents])[each.rows.intent]
        kept = numbers >= 0
        person = np.append(person, each.people[each.rows.user[kept]])
        query = np.append(query, np.full(int(kept.sum()), place))
        intent = np.append(intent, numbers[kept])
        codes = np.concatenate([codes, each.rows.request[kept]])
    # Which of several equal events comes first must not depend on the order of a database.
    order = np.lexsort((*codes.T[::-1], intent, query, person))
    people = seen.population.rows
    return HeldOut(
        codes=seen.population.codes,
        starts=np.searchsorted(person[order], np.arange(people + 1)),
        query=query[order],
        intent=intent[order],
        request=codes[order],
        unranked=total - len(person),
    )
