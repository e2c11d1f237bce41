"""Two tables to arrays: all that a model is made of, before anything is chosen."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any

import ibis
import numpy as np

from agent.build import tables
from agent.build.clean import clean
from agent.build.population import People, arranged, counts_table
from agent.build.queries import Events, Observed, observed
from agent.build.texts import numbered
from agent.build.users import Users, read_users
from agent.build.values import attributes_of, check_printable
from agent.errors import BuildError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agent.build.options import BuildOptions
    from agent.build.tables import Source
    from agent.model.attributes import Attribute
    from agent.tradeoff.tables import Population

    Vocabulary = list[tuple[int, tuple[str, ...]]]


@dataclass(frozen=True, slots=True, eq=False)
class Observations:
    """What two tables hold.

    ``dropped``: how many events and queries were not used, by reason; ``users``: the id of each
    person, in the order of the population; it must not get into a model.
    """

    attributes: tuple[Attribute, ...]
    population: Population
    queries: tuple[Observed, ...]
    dropped: Mapping[str, int]
    users: tuple[str, ...] = field(repr=False)

    @property
    def cards(self) -> tuple[int, ...]:
        """How many values each attribute has."""
        return tuple(len(attribute.values) for attribute in self.attributes)


def observe(source: Source, options: BuildOptions) -> Observations:
    """Return what the tables hold about ``options.half`` of the users, or about all.

    Queries whose texts are normalised alike are one, called by the normalised text; those with
    fewer than ``options.min_users`` different users are dropped.
    Raises BuildError if the tables cannot make a model, UsageError for the title of no attribute.
    """
    source = clean(source)
    attributes = attributes_of(source, options.titles)
    persons = {each.name: each.values for each in attributes if each.scope == "person"}
    requests = {each.name: each.values for each in attributes if each.scope == "request"}
    users = read_users(source.users, persons, options.half)
    texts, numbers = numbered(source.events.select("query"))
    rows = tables.numbered_events(source.events, requests, users.table, numbers).cache()
    dropped = _one_row(tables.dropped(rows))
    rows = tables.usable(rows)
    dropped |= _one_row(tables.thin_queries(rows, options.min_users))
    people = _people(rows, users, [len(values) for values in requests.values()])
    vocabulary = _vocabulary(rows, options.min_users)
    events = _events(rows, vocabulary)
    queries = tuple(
        observed(texts[number].as_py(), intents, of_query, people)
        for (number, intents), of_query in zip(vocabulary, events, strict=True)
    )
    ids = tuple(users.ids[each] for each in np.argsort(people.place))
    return Observations(attributes, people.population, queries, dropped, ids)


def _people(rows: ibis.Table, users: Users, cards: Sequence[int]) -> People:
    """Return the people, with their request counts over all queries."""
    counts = []
    for place, card in enumerate(cards):
        found = tables.request_counts(rows, f"r{place}").to_pyarrow()
        cells = (found["person"].to_numpy(), found["value"].to_numpy(), found["rows"].to_numpy())
        counts.append(counts_table(len(users.ids), card, cells))
    return arranged(users.codes, counts)


def _vocabulary(rows: ibis.Table, min_users: int) -> Vocabulary:
    """Return the number and the intents of every query that is kept, both in order."""
    found = tables.intents(rows, min_users).to_pyarrow()
    pairs = sorted(zip(found["query"].to_pylist(), found["intent"].to_pylist(), strict=True))
    if not pairs:
        what = f"no query has events from at least {min_users} users of the users table"
        raise BuildError(what, "check that user means the same in both tables, or lower min-users")
    check_printable((intent for _, intent in pairs), "the intent")
    return [
        (query, tuple(intent for _, intent in group))
        for query, group in groupby(pairs, key=lambda pair: pair[0])
    ]


def _events(rows: ibis.Table, vocabulary: Vocabulary) -> list[Events]:
    """Return the events of each query in ``vocabulary``."""
    entries = [
        (query, intent, code)
        for query, intents in vocabulary
        for code, intent in enumerate(intents)
    ]
    query, intent, code = zip(*entries, strict=True)
    known = ibis.memtable(
        {"known_query": query, "known_intent": intent, "code": code},
        schema={"known_query": "int32", "known_intent": "string", "code": "int32"},
    )
    coded = tables.coded_events(rows, known).to_pyarrow()
    _, person, codes, *request = (column.to_numpy() for column in coded.columns)
    columns = np.stack(request, axis=1) if request else np.zeros((len(person), 0), np.uint8)
    cuts = np.flatnonzero(np.diff(coded["query"].to_numpy())) + 1
    parts = zip(*(np.split(each, cuts) for each in (person, codes, columns)), strict=True)
    return [Events(p.astype(np.intp), c.astype(np.intp), r) for p, c, r in parts]


def _one_row(table: ibis.Table) -> dict[str, int]:
    """Return the one row of a table of counts."""
    row: dict[str, Any] = table.to_pyarrow().to_pylist()[0]
    return {name: int(count) for name, count in row.items()}
