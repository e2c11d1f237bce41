"""Two tables to arrays: everything that a model is made of, before anything is fitted."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from types import MappingProxyType
from typing import Any, NamedTuple

import ibis
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from agent.build import tables
from agent.build.attributes import attributes_of, check_codes, check_printable, columns_of
from agent.build.canonical import MOST_ROWS, ArrangedPeople, Events, Observed, arranged, observed
from agent.build.engines import reading
from agent.build.kinds import by_kinds, in_kinds
from agent.build.matching import Bools, Coded, Hashes, read_survey, with_drawn
from agent.build.options import BuildOptions
from agent.build.shared_kinds import shared_kinds
from agent.errors import BuildError, UsageError, normalise
from agent.model.attributes import Attribute, Block, SharedKind
from agent.model.file import MAX_WEIGHT, MIN_PEOPLE
from agent.tradeoff.tables import Floats, Numbers, Population

# Different keys: a model of one half is validated by splitting that half once more.
HALF_KEY = b"reticent half"
VALIDATION_KEY = b"reticent validation"
SAMPLE_KEY = b"reticent sample"
MOST_PEOPLE = 1_000_000  # of a model: of more, those with the smallest hashes are kept
# Seconds that each step of counting takes: with any tables; more for each million values of request
# attributes; and for each million events. Only their ratios matter.
STEPS = {
    "duckdb": ((0.3, 0, 0, 0, 0, 0.1), (0, 0, 0, 0, 0.07, 0), (0, 0, 0.1, 0.05, 0.01, 0.12)),
    "pyspark": ((8, 0.7, 0.5, 2.3, 0, 2.4), (0, 0, 0, 0, 1.5, 0.5), (0, 0, 0, 3, 0, 2.2)),
}
_FIRST_BYTE = np.uint64(56)  # bits after it


def in_half_a(users: Iterable[str], key: bytes) -> Bools:
    """Whether each user is in half A, bool, shape (users,); the others are in half B.

    ``key``: at most 64 bytes; another key splits independently. The half depends on the id and the
    key alone: a user stays in it when others come and go. Source: RFC 7693 (BLAKE2b).
    """
    return np.asarray(np.frombuffer(_digests(users, key, 1), dtype=np.uint8) % 2 == 0)


def user_hashes(users: Iterable[str]) -> Hashes:
    """A keyed hash of each user's id, uint64, shape (users,).

    Of too many users, and of a query with too many rows, those with the smallest hashes are kept:
    users who come and go change little. Source: RFC 7693 (BLAKE2b).
    """
    return np.frombuffer(_digests(users, SAMPLE_KEY, 8), dtype="<u8").astype(np.uint64)


def _digests(users: Iterable[str], key: bytes, size: int) -> bytearray:
    digests = bytearray()
    for each in users:
        digests += blake2b(each.encode(), key=key, digest_size=size).digest()
    return digests


class Users(NamedTuple):
    """The users a model is built from, at most MOST_PEOPLE, in order of their ids.

    ``codes``: uint8, shape (N, P), of the person attributes; ``weights``: float64, shape (N,), or
    None; ``hashes``: uint64, shape (N,); ``table``: known_user, person and hash_byte, the first
    byte of the hash, of every user of the table. A person is the position of one of these users,
    from N on one of those who are too many, LEFT_OUT for one in the other half. ``sampled_from``:
    how many there are with those who are too many, None if none are; ``donors``: integers, shape
    (blocks, N), the donor of each user for each of ``blocks``, None without surveys; ``kinds``:
    facts beyond the attributes; ``marks``: which attributes were drawn otherwise.
    """

    ids: tuple[str, ...]
    codes: NDArray[np.uint8]
    weights: Floats | None
    hashes: Hashes
    table: ibis.Table
    sampled_from: int | None
    donors: Numbers | None = None
    blocks: tuple[Block, ...] = ()
    kinds: tuple[SharedKind, ...] = ()
    marks: Mapping[str, str] = MappingProxyType({})

    def coded(self, attributes: Sequence[Attribute]) -> Coded:
        """The users by attributes, those of requests not among them."""
        people = np.ones(len(self.ids)) if self.weights is None else self.weights
        persons = [each for each in attributes if each.scope == "person"]
        return Coded(persons, self.codes, people, self.hashes)


def read_users(users: ibis.Table, values: tables.Values, options: BuildOptions) -> Users:
    """Read the users in ``options.half``, or all; ``values``: of each person attribute, by name.

    Of more than MOST_PEOPLE, those with the smallest hashes. Users have weights where the
    description names their column; a half, or a sample, stands for as many people as all do.
    Raises BuildError if a user has no id or occurs twice, if there are none, or for a weight
    below 1.
    """
    coded = tables.coded_users(users, values).to_pyarrow()
    ids = coded[tables.USER]
    if unnamed := ids.null_count:
        what = f"the users table has {unnamed} rows without a user"
        raise BuildError(what, "give every row an id in the column 'user'")
    same = pc.equal(ids.slice(1), ids.slice(0, max(len(ids) - 1, 0)))
    if repeated := pc.sum(same).as_py():
        twice = ids[pc.index(same, True).as_py()].as_py()
        what = f"the users table repeats users in {repeated} rows"
        raise BuildError(what, f"keep one row per user; {twice!r} for example has several")
    half, hashes = np.ones(len(ids), dtype=bool), user_hashes(_texts(ids))
    if options.half is not None:
        half = in_half_a(_texts(ids), HALF_KEY) == (options.half == "A")
    if not half.any():
        raise BuildError("no users to build from", "give a users table with more rows")
    everybody, chosen = int(half.sum()), half
    if everybody > MOST_PEOPLE:
        chosen = half & (hashes <= np.partition(hashes[half], MOST_PEOPLE - 1)[MOST_PEOPLE - 1])
    count = int(chosen.sum())
    person = np.where(half, count + np.cumsum(half & ~chosen) - 1, tables.LEFT_OUT)
    person[chosen] = np.arange(count)
    columns = {
        "known_user": ids,
        "person": person.astype(np.int32),
        "hash_byte": (hashes >> _FIRST_BYTE).astype(np.int16),
    }
    weights = _weights(users, options.description.weights, chosen)
    if weights is None and everybody > count:
        weights = np.full(count, everybody / count)
    return Users(
        ids=tuple(_texts(ids.filter(pa.array(chosen)))),
        codes=np.stack([each.to_numpy()[chosen].astype(np.uint8) for each in coded.columns[1:]], 1),
        weights=weights,
        hashes=hashes[chosen],
        table=ibis.memtable(pa.table(columns)),
        sampled_from=everybody if everybody > count else None,
    )


def _texts(column: pa.ChunkedArray) -> Iterator[str]:
    for start in range(0, len(column), tables.BATCH):  # few of them at a time are Python's
        yield from column.slice(start, tables.BATCH).to_pylist()


def _weights(users: ibis.Table, column: str, chosen: Bools) -> Floats | None:
    """How many people each chosen user stands for, so that they stand for all of them."""
    if not column:
        return None
    weighted = tables.people_per_row(users, column).to_pyarrow()
    weights: Floats = weighted["number"].to_numpy()
    wrong = np.flatnonzero(~((weights >= MIN_PEOPLE) & (weights <= MAX_WEIGHT)))
    if len(wrong):
        user, text = (weighted[each][int(wrong[0])].as_py() for each in (tables.USER, "text"))
        what = f"column {column!r} has {'no weight' if text is None else repr(text[:40])}"
        hint = f"a weight is how many people a row stands for, from 1 to {MAX_WEIGHT:g}"
        raise BuildError(f"{what} in the row of user {user!r}", hint)
    more = 1.0 if chosen.all() else float(weights.sum() / weights[chosen].sum())
    return np.asarray(weights[chosen] * more)


def users_by_attributes(
    everything: tables.Source, options: BuildOptions
) -> tuple[Users, tuple[Attribute, ...]]:
    """Read the users, draw from surveys, and put all into kinds, as the description says.

    ``everything``: cleaned tables, whose columns of requests are attributes too. Errors as
    `observe`.
    """
    described = options.description
    donors, kinds = described.donors, described.kinds
    source = everything.without([*filter(None, (*described.without, described.weights))])
    surveys = {name: read_survey(each) for name, each in donors.items()}
    columns = columns_of(source, surveys.values())
    plain = options if kinds is None else options.described(attributes={})
    attributes = attributes_of(columns, plain, source.described)
    values = {each.name: each.values for each in attributes[: len(source.persons)]}
    people = read_users(everything.users, values, options)
    blocks = tuple(
        Block(name, each.source, each.columns, tuple(each.keys)) for name, each in donors.items()
    )
    if surveys:
        codes, drawn_from = with_drawn(people.coded(attributes), surveys)
        people = people._replace(codes=codes, donors=drawn_from, blocks=blocks)
    if kinds is not None:
        by_columns = people.coded(attributes)
        in_columns = in_kinds(by_columns, kinds)
        shared = tuple(shared_kinds(by_columns, kinds, in_columns))
        coded, blocks = by_kinds(in_columns, shared, people.hashes, blocks, options)
        attributes = tuple(coded.attributes)
        people = people._replace(
            codes=coded.codes,
            weights=coded.people,
            blocks=blocks,
            kinds=shared,
            marks=in_columns.marks,
        )
    check_codes(people.codes, attributes)
    return people, attributes


class QueryCounts(NamedTuple):
    """Integers of some queries, in order of their numbers.

    ``users``, ``rows``: how many different users and events, of the users that a model is built
    from; ``events``: of everybody.
    """

    query: NDArray[Any]
    users: NDArray[Any]
    rows: NDArray[Any]
    events: NDArray[Any]

    def where(self, chosen: NDArray[Any]) -> "QueryCounts":
        """The counts of some of the queries; ``chosen``: bools, or positions."""
        return QueryCounts(*(each[chosen] for each in self))

    def frequent(self, options: BuildOptions) -> tuple["QueryCounts", dict[str, int]]:
        """The queries of enough users, the most frequent of them, and how much is dropped and why.

        BuildError if none has enough.
        """
        enough = self.users >= options.min_users
        frequent, thin = self.where(enough), self.where(~enough)
        if not enough.any():
            what = f"no query has events from at least {options.min_users} users of the users table"
            hint = "check that both tables use the same user ids, or lower min-users"
            raise BuildError(what, hint)
        dropped = {"thin_queries": len(thin.query), "thin_rows": int(thin.events.sum())}
        if options.most_queries is not None:  # of equals, the first by their texts
            order = np.argsort(-frequent.events, kind="stable")
            rare = frequent.where(order[options.most_queries :])
            frequent = frequent.where(np.sort(order[: options.most_queries]))
            dropped |= {"rare_queries": len(rare.query), "rare_rows": int(rare.events.sum())}
        return frequent, dropped


@dataclass(frozen=True, slots=True, eq=False)
class Observations:
    """The contents of two tables.

    ``dropped``: how many events and queries were not used, by reason; ``users``: the id of each
    person, in the order of the population, which must not get into a model; ``sampled_from``: how
    many people there were, None if the population has them all; ``share``: of all usable events,
    those of ``queries``; ``donors``: integers, shape (blocks, N), in the order of the population;
    ``blocks``: what was drawn from them;
    """

    attributes: tuple[Attribute, ...]
    population: Population
    queries: tuple[Observed, ...]
    dropped: Mapping[str, int]
    users: tuple[str, ...] = field(repr=False)
    sampled_from: int | None = None
    share: float = 1.0
    donors: Numbers | None = None
    blocks: tuple[Block, ...] = ()

    @property
    def cards(self) -> tuple[int, ...]:
        """How many values each attribute has."""
        return tuple(len(attribute.values) for attribute in self.attributes)


def observe(
    source: tables.Source,
    options: BuildOptions,
    advance: Callable[[float], None] = lambda _share: None,
) -> Observations:
    """Count what the tables hold about ``options.half`` of the users, or about all.

    Queries with the same normalised text are one, named by it; those with fewer than
    ``options.min_users`` different users are dropped, and of the others all but the
    ``options.most_queries`` with the most events. Of each query at most MOST_ROWS rows are kept.
    ``advance`` is called with the share of the time that has passed, as in STEPS.
    Raises BuildError if the tables cannot make a model, UsageError for a description that does
    not fit them.
    """
    with reading(backend := source.users.get_backend()):
        events = source.events.count().to_pyarrow().as_py() / 1e6
        sizes = 1, events * len(source.requests), events
        passed = np.cumsum(np.array(sizes) @ STEPS[backend.name])
        source, shares = tables.clean(source), iter((passed / passed[-1]).tolist())
        advance(0.0)
        users, attributes = users_by_attributes(source, options)
        requests = {each.name: each.values for each in attributes if each.scope == "request"}
        advance(next(shares))
        texts, numbers = tables.numbered(tables.meanings(source.events.select("query")))
        for text in options.description.queries:
            if pc.index(texts, normalise(text)).as_py() < 0:
                raise UsageError.unknown("query", text, texts.to_pylist())
        advance(next(shares))
        rows = tables.numbered_events(source.events, requests, users.table, numbers).cache()
        advance(next(shares))
        unusable = tables.dropped(rows).to_pyarrow().to_pylist()[0]
        rows = tables.usable(rows)
        all_queries = QueryCounts(*_columns(tables.asked(rows, len(users.ids)).to_pyarrow()))
        frequent, dropped = all_queries.frequent(options)
        advance(next(shares))
        rows = rows.filter(rows.person < len(users.ids))
        counts = _counts(rows, len(users.ids), requests)
        people = arranged(users.codes, counts, users.weights)
        advance(next(shares))
        observed_queries = tuple(_queries(rows, frequent, texts, users, people))
    order = np.argsort(people.place)
    return Observations(
        attributes=attributes,
        population=people.population,
        queries=observed_queries,
        dropped={reason: int(count) for reason, count in unusable.items()} | dropped,
        users=tuple(users.ids[each] for each in order),
        donors=None if users.donors is None else users.donors[:, order],
        blocks=users.blocks,
        sampled_from=users.sampled_from,
        share=float(frequent.events.sum() / all_queries.events.sum()),
    )


def _counts(rows: ibis.Table, people: int, requests: tables.Values) -> list[NDArray[np.uint32]]:
    """How many rows each person has with each value of each request attribute."""
    counts = []
    for place, values in enumerate(requests.values()):
        person, value, count = _columns(tables.request_counts(rows, f"r{place}").to_pyarrow())
        counts.append(np.zeros((people, len(values)), dtype=np.uint32))
        counts[-1][person, value] = count
    return counts


def _queries(
    rows: ibis.Table, chosen: QueryCounts, texts: pa.Array, users: Users, people: ArrangedPeople
) -> Iterator[Observed]:
    """Yield the queries that are kept, in order, with at most MOST_ROWS rows of each.

    Of a larger one the engine returns the people with the smallest first bytes of their hashes.
    """
    last = np.full(len(chosen.query), tables.HASH_BYTES - 1, dtype=np.int16)
    large = np.flatnonzero(chosen.rows > MOST_ROWS)
    if len(large):
        which = ibis.memtable(pa.table({"known_query": chosen.query[large]}))
        query, byte, count = _columns(tables.by_hash_byte(rows, which).to_pyarrow())
        counts = np.zeros((len(large), tables.HASH_BYTES), dtype=np.int64)
        counts[np.searchsorted(chosen.query[large], query), byte] = count
        last[large] = (counts.cumsum(axis=1) <= MOST_ROWS).sum(axis=1)
    limits = ibis.memtable(pa.table({"known_query": chosen.query, "last": last}))
    rows = rows.join(limits, rows.query == limits.known_query)
    rows = rows.filter(rows.hash_byte <= rows.last).drop("known_query", "last").cache()
    pairs = rows.select(known_query="query", known_intent=tables.INTENT).distinct()
    pairs = pairs.order_by("known_query", "known_intent").to_pyarrow()
    check_printable(_texts(pairs["known_intent"]), "the intent")
    ends = [*chosen.query, chosen.query[-1] + 1]
    starts = np.searchsorted(pairs["known_query"].to_numpy(), ends)
    code = np.arange(len(pairs)) - np.repeat(starts[:-1], np.diff(starts))
    vocabulary = ibis.memtable(pairs.append_column("code", pa.array(code.astype(np.int32))))
    query, person, codes, *request = _columns(tables.coded_events(rows, vocabulary).to_pyarrow())
    cuts, hashes = np.searchsorted(query, ends), users.hashes[np.argsort(people.place)]
    for at, (number, events) in enumerate(zip(chosen.query, chosen.events, strict=True)):
        own, names = slice(*cuts[at : at + 2]), pairs["known_intent"][starts[at] : starts[at + 1]]
        columns = np.array([each[own] for each in request], dtype=np.uint8)
        columns = columns.reshape(len(request), len(person[own])).T
        every = Events(person[own].astype(np.intp), codes[own].astype(np.intp), columns)
        whole = observed(texts[int(number)].as_py(), tuple(names.to_pylist()), every, people)
        yield replace(whole, events=int(events)).capped(hashes)


def _columns(table: pa.Table) -> list[NDArray[Any]]:
    return [column.to_numpy() for column in table.columns]
