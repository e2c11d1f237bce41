"""People whom the model has not seen, and the requests that each of them sends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agent import Model
from agent.lab import Progress
from agent.tradeoff import members

if TYPE_CHECKING:  # the extra `build`, which only `halves` and `halves_of_log` need
    from agent.build.observe import Observations
    from agent.build.options import LogFiles, TableFiles
    from agent.build.tables import Source

Codes = NDArray[np.unsignedinteger]
Indexes = NDArray[np.intp]
Floats = NDArray[np.float64]
Received = Indexes
Table = NDArray[np.bool_]

SILENT = 0  # where nothing was said of an attribute; a code is received as one more


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """The people of the other half, and their events that a model of the first can rank.

    ``codes``: unsigned, shape (N, P), of the person attributes; the events, in order of person:
    ``starts``: intp, shape (N + 1,), where each person's begin; ``query``, ``intent``: intp,
    shape (E,), indexes of the model; ``request``: unsigned, shape (E, R), of the request
    attributes. ``unranked``: how many events the model has no result for.
    """

    codes: Codes
    starts: Indexes
    query: Indexes
    intent: Indexes
    request: Codes
    unranked: int

    def events_of(self, person: int) -> slice:
        """Return which events are a person's."""
        return slice(int(self.starts[person]), int(self.starts[person + 1]))

    @property
    def askers(self) -> Indexes:
        """The people with at least one event, ascending."""
        return np.flatnonzero(np.diff(self.starts))


def halves(users: Path, events: Path, progress: Progress) -> tuple[Model, HeldOut]:
    """Return the model of one half of the users of two tables, and the people of the other.

    UsageError where there is no such file; BuildError where the tables cannot make a model.
    """
    from agent.build.options import TableFiles
    from agent.build.read import open_tables

    progress("reading", 0.0)
    return _halves(open_tables(users, events), TableFiles(users, events), progress)


def halves_of_log(folder: Path, progress: Progress) -> tuple[Model, HeldOut]:
    """Return the same for the log, people and sites in a folder; errors as ``halves``."""
    from agent.build.log.read import open_log
    from agent.build.log.source import source_of
    from agent.lab.paper.log import files_of

    progress("reading", 0.0)
    files = files_of(folder)
    return _halves(source_of(open_log(files)), files, progress)


def _halves(
    source: Source, files: TableFiles | LogFiles, progress: Progress
) -> tuple[Model, HeldOut]:
    from agent.build.build import model_of
    from agent.build.observe import observe
    from agent.build.options import BuildOptions

    # No figure is of what a model says that the held-out got.
    one = BuildOptions(**files._asdict(), half="A", validation=False, id="half")
    model = model_of(source, one, progress)
    return model, held_out(observe(source, replace(one, half="B", min_users=1)), model)


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
    people = seen.population.people
    return HeldOut(
        codes=seen.population.codes,
        starts=np.searchsorted(person[order], np.arange(people + 1)),
        query=query[order],
        intent=intent[order],
        request=codes[order],
        unranked=total - len(person),
    )


class Asked(NamedTuple):
    """One request: the query and what was chosen, indexes of the model; codes of the request."""

    query: int
    intent: int
    request: tuple[int, ...]


class Person(NamedTuple):
    """Somebody whom the model has not seen.

    ``place``: among the held-out people; ``codes``: of the person attributes; ``requests``: sent.
    """

    place: int
    codes: tuple[int, ...]
    requests: tuple[Asked, ...]


def drawn(held: HeldOut, people: int, requests: int, seed: int) -> tuple[Person, ...]:
    """Return so many different people, all if there are fewer, with so many requests each.

    Requests are drawn from the person's own events, with replacement. Who is drawn, and what a
    person asks first, does not depend on how many requests there are.
    """
    askers = held.askers
    chosen = np.random.default_rng(seed).permutation(askers)[:people]
    people_drawn = []
    for person in chosen.tolist():
        events = held.events_of(person)
        # A draw a request, and no array of them: a longer stream then begins as a shorter one.
        generator = np.random.default_rng((seed, person))
        places = [int(generator.integers(events.start, events.stop)) for _ in range(requests)]
        asked = (
            Asked(int(held.query[e]), int(held.intent[e]), tuple(held.request[e].tolist()))
            for e in places
        )
        people_drawn.append(Person(person, tuple(held.codes[person].tolist()), tuple(asked)))
    return tuple(people_drawn)


def received(codes: Codes, masks: Sequence[int]) -> Received:
    """Return what each of n requests says: SILENT, or the code and one.

    ``codes``: unsigned, shape (n, attributes), of who asks, and of the request; ``masks``: the
    set attached to each. What comes back is intp, shape (n, attributes).
    """
    return (codes.astype(np.intp) + 1) * as_table(masks, codes.shape[1])


def as_table(masks: Sequence[int], attributes: int) -> Table:
    """Return sets as a table, bool, shape (n, attributes)."""
    known = {mask: np.isin(np.arange(attributes), [*members(mask)]) for mask in {*masks}}
    return np.array([known[mask] for mask in masks], dtype=bool).reshape(-1, attributes)
