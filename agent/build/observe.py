"""Two tables to arrays: all that a model is made of, before anything is chosen."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any, NamedTuple

import ibis
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from agent.build import tables
from agent.build.canonical import MOST_ROWS, Events, Observed, People, arranged, observed
from agent.build.engines import computing
from agent.build.options import AttributeNote, BuildOptions, Half, concept_of
from agent.errors import BuildError, UsageError
from agent.model.attributes import (
    MAX_VALUES,
    UNSPECIFIED,
    Attribute,
    Scope,
    is_plain,
    wrong_implication,
)
from agent.model.file import MAX_WEIGHT, MIN_PEOPLE
from agent.model.lookup import normalise
from agent.tradeoff.tables import Population

# Different keys: a model of one half is validated by splitting that half once more.
HALF_KEY = b"reticent half"
VALIDATION_KEY = b"reticent validation"
SAMPLE_KEY = b"reticent sample"
UPDATE_KEY = b"reticent update"
MOST_EXCEPTIONS = 0.01  # of the people with a value, who contradict what it implies
Marks = NDArray[np.uint64]
_FIRST_BYTE = np.uint64(56)  # bits after it
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def in_half_a(users: Sequence[str], key: bytes) -> NDArray[np.bool_]:
    """Return whether each user is in half A, bool, shape (users,); the others are in half B.

    ``key``: at most 64 bytes; another key splits independently. It depends on the user and the
    key alone: a user stays in its half when others come and go. Source: RFC 7693 (BLAKE2b).
    """
    even: NDArray[np.bool_] = np.frombuffer(_digests(users, key, 1), dtype=np.uint8) % 2 == 0
    return even


def marks_of(users: Sequence[str], key: bytes = SAMPLE_KEY) -> Marks:
    """Return what each user draws, uint64, shape (users,), by the id and the key alone.

    Of a query that is too large, those with the smallest are kept: those who come and go change
    little.
    """
    return np.frombuffer(_digests(users, key, 8), dtype="<u8").astype(np.uint64)


def _digests(users: Sequence[str], key: bytes, size: int) -> bytes:
    return b"".join(blake2b(each.encode(), key=key, digest_size=size).digest() for each in users)


class Users(NamedTuple):
    """The users a model is built from, in order of their ids.

    ``codes``: uint8, shape (N, P), of the person attributes; ``marks``: uint64, shape (N,), what
    each drew, by the id alone; ``table``: known_user, person, the position of every user of the
    table, LEFT_OUT for those in the other half, and mark, the first byte of its mark.
    """

    ids: tuple[str, ...]
    codes: NDArray[np.uint8]
    weights: NDArray[np.float64] | None
    marks: Marks
    table: ibis.Table


def read_users(
    users: ibis.Table, values: tables.Values, half: Half | None, weights: str | None = None
) -> Users:
    """Return the users in ``half``, or all; ``values``: of each person attribute, by name.

    ``weights``: the column that has them; those of a half stand for as many people as all do.
    Raises BuildError if a user has no id or occurs twice, if there are none, or for a weight
    below 1.
    """
    found = tables.coded_users(users, values).to_pyarrow()
    ids: list[str] = found[tables.USER].to_pylist()
    unnamed = found[tables.USER].null_count
    if unnamed:
        what = f"the users table has {unnamed} rows without a user"
        raise BuildError(what, "give every row an id in the column 'user'")
    repeated = len(ids) - len(set(ids))
    if repeated:
        twice = next(one for one, other in pairwise(ids) if one == other)
        what = f"the users table repeats users in {repeated} rows"
        raise BuildError(what, f"keep one row per user; {twice!r} for example has several")
    codes = np.stack([each.to_numpy().astype(np.uint8) for each in found.columns[1:]], axis=1)
    chosen = np.ones(len(ids), dtype=bool)
    if half is not None:
        chosen = in_half_a(ids, HALF_KEY) == (half == "A")
    if not chosen.any():
        raise BuildError("no users to build from", "give a users table with more rows")
    person = np.where(chosen, np.cumsum(chosen) - 1, tables.LEFT_OUT)
    marks = marks_of(ids)
    table = ibis.memtable(
        pa.table(
            {
                "known_user": found[tables.USER],
                "person": person.astype(np.int32),
                "mark": (marks >> _FIRST_BYTE).astype(np.int16),
            }
        )
    )
    kept = tuple(each for each, taken in zip(ids, chosen, strict=True) if taken)
    weighed = weights_of(users, weights, chosen)
    return Users(kept, codes[chosen], weighed, marks[chosen], table)


def weights_of(
    users: ibis.Table, column: str | None, chosen: NDArray[np.bool_]
) -> NDArray[np.float64] | None:
    """Return how many people each chosen user stands for, so that they stand for all of them."""
    if column is None:
        return None
    found = tables.people_per_row(users, column).to_pyarrow()
    weights: NDArray[np.float64] = found["number"].to_numpy()
    wrong = np.flatnonzero(~((weights >= MIN_PEOPLE) & (weights <= MAX_WEIGHT)))
    if len(wrong):
        user, text = (found[each][int(wrong[0])].as_py() for each in (tables.USER, "text"))
        what = f"column {column!r} has {'no weight' if text is None else repr(text[:40])}"
        hint = f"a weight is how many people a row stands for, from 1 to {MAX_WEIGHT:g}"
        raise BuildError(f"{what} in the row of user {user!r}", hint)
    scale = float(weights.sum() / weights[chosen].sum())
    return np.asarray(weights[chosen] * scale)


def attributes_of(source: tables.Source, options: BuildOptions) -> tuple[Attribute, ...]:
    """Return the attributes, those of persons first, in the order of the columns.

    The values of each are "unspecified", those it is described with, and those in the table, in
    order of their characters.
    Raises BuildError for too many values; UsageError for a description that does not fit.
    """
    scopes: dict[str, Scope] = dict.fromkeys(source.persons, "person")
    scopes |= dict.fromkeys(source.requests, "request")
    for name, note in options.attributes.items():
        implied = (each for then in note.implies.values() for each in then)
        for each in (name, note.refines, *implied):
            if each and each not in scopes:
                raise UsageError.unknown("attribute", each, scopes)
    lists = tables.distinct_values(source.users, source.persons)
    lists |= tables.distinct_values(source.events, source.requests)
    attributes = []
    for name, scope in scopes.items():
        known = source.described.get(name) or tables.Described(name.replace("_", " "))
        note = options.attributes.get(name) or AttributeNote(concept=known.concept)
        found = sorted({*lists[name]} - {UNSPECIFIED})
        values = tuple(dict.fromkeys((UNSPECIFIED, *known.values, *note.values, *found)))
        if len(values) > MAX_VALUES:
            what = f"attribute {name!r} has {len(values) - 1} different values"
            hint = f"group them: {MAX_VALUES - 1} are the most it may have besides {UNSPECIFIED!r}"
            raise BuildError(what, hint)
        check_printable(found, f"attribute {name!r}: the value")
        if wrong := next((each for each in note.words.values() if not is_plain(each)), None):
            what = f"attribute {name!r}: {wrong!r} is no plain word for a search"
            raise UsageError(what, "agent/build/FORMAT_DESCRIPTION.md says what `words` may be")
        concept, spoken = concept_of(f"{options.id}.{name}", note, values)
        attributes.append(
            Attribute(
                name=name,
                title=note.title or known.title,
                scope=scope,
                values=values,
                refines=note.refines or None,
                sensitivity=note.sensitivity,
                concept=concept,
                value_concepts=spoken,
                implies=note.implies,
                words=note.words,
            )
        )
    if problem := wrong_implication(attributes):
        raise UsageError(problem, "agent/build/FORMAT_DESCRIPTION.md says what `implies` may be")
    return tuple(attributes)


def check_implications(codes: NDArray[np.uint8], attributes: Sequence[Attribute]) -> None:
    """Raise BuildError for an implication that more than MOST_EXCEPTIONS of the people contradict.

    Of those who have the value and state the other attribute. ``codes``: uint8, shape (N, P).
    """
    places = {each.name: place for place, each in enumerate(attributes)}
    for place, each in enumerate(attributes):
        for value, then in each.implies.items():
            having = codes[codes[:, place] == each.code(value)] if then else codes[:0]
            for name, other in then.items():
                stated = having[:, places[name]]
                stated = stated[stated != 0]
                wrong = int((stated != attributes[places[name]].code(other)).sum())
                if wrong > MOST_EXCEPTIONS * len(stated):
                    what = f"{each.name} {value!r} does not imply {name} {other!r}"
                    hint = f"{wrong:,} of {len(stated):,} people say otherwise: remove it"
                    raise BuildError(what, hint)


def check_ladders(codes: NDArray[np.uint8], attributes: Sequence[Attribute]) -> None:
    """Raise BuildError for a value of the person in two values of the attribute it refines."""
    names = [each.name for each in attributes]
    for fine, each in enumerate(attributes[: codes.shape[1]]):
        coarse = fine if each.refines is None else names.index(each.refines)
        if coarse == fine or coarse >= codes.shape[1]:
            continue
        pairs = codes[:, (fine, coarse)]
        pairs = np.unique(pairs[pairs.all(axis=1)], axis=0)  # where both are specified
        again = np.flatnonzero(pairs[1:, 0] == pairs[:-1, 0])
        if len(again):
            code, first = pairs[again[0]].tolist()
            other = attributes[coarse].values[pairs[again[0] + 1, 1]]
            what = f"attribute {each.name!r} does not refine {each.refines!r}"
            both = f"{attributes[coarse].values[first]!r} and {other!r}"
            raise BuildError(what, f"its value {each.values[code]!r} lies in both {both}")


def check_printable(texts: Iterable[str], kind: str) -> None:
    """Raise BuildError for a text with a control character: it will be shown on a terminal."""
    for text in texts:
        if _CONTROL.search(text):
            what = f"{kind} {text[:40]!r} has a control character"
            raise BuildError(what, "clean the table: no tabs, line ends or the like within a field")


class Crowds(NamedTuple):
    """How many different users and events each query has, in order of its number; all integers."""

    query: NDArray[Any]
    users: NDArray[Any]
    rows: NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Observations:
    """What two tables hold.

    ``dropped``: how many events and queries were not used, by reason; ``users``: the id of each
    person, in the order of the population; must not get into a model.
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


def observe(source: tables.Source, options: BuildOptions) -> Observations:
    """Return what the tables hold about ``options.half`` of the users, or about all.

    Queries whose texts are normalised alike are one, called by the normalised text; those with
    fewer than ``options.min_users`` different users are dropped. Of each query at most MOST_ROWS
    rows are kept.
    Raises BuildError if the tables cannot make a model, UsageError for a description that does
    not fit them.
    """
    with computing(source.users.get_backend()):
        everything = tables.clean(source)
        weighing = () if options.weights is None else (options.weights,)
        source = everything.without((*options.without, *weighing))
        attributes = attributes_of(source, options)
        persons = {each.name: each.values for each in attributes if each.scope == "person"}
        requests = {each.name: each.values for each in attributes if each.scope == "request"}
        users = read_users(everything.users, persons, options.half, options.weights)
        check_ladders(users.codes, attributes)
        check_implications(users.codes, attributes)
        texts, numbers = tables.numbered(source.events.select("query"))
        for text in options.queries:
            if normalise(text) not in (known := texts.to_pylist()):
                raise UsageError.unknown("query", text, known)
        rows = tables.numbered_events(source.events, requests, users.table, numbers)
        rows = tables.computed(rows)
        row = tables.dropped(rows).to_pyarrow().to_pylist()[0]
        rows = tables.usable(rows)
        people = arranged(users.codes, _counts(rows, len(users.ids), requests), users.weights)
        crowds = Crowds(*_columns(tables.crowds(rows).order_by("query")))
        thin = crowds.users < options.min_users
        if thin.all():
            what = f"no query has events from at least {options.min_users} users of the users table"
            hint = "check that both tables use the same user ids, or lower min-users"
            raise BuildError(what, hint)
        kept = Crowds(*(each[~thin] for each in crowds))
        queries = tuple(_queries(rows, kept, texts, users, people))
    dropped = {reason: int(count) for reason, count in row.items()}
    dropped |= {"thin_queries": int(thin.sum()), "thin_rows": int(crowds.rows[thin].sum())}
    ids = tuple(users.ids[each] for each in np.argsort(people.place))
    return Observations(attributes, people.population, queries, dropped, ids)


def _counts(rows: ibis.Table, people: int, requests: tables.Values) -> list[NDArray[np.uint32]]:
    """Return how many rows each person has with each value of each request attribute."""
    counts = []
    for place, values in enumerate(requests.values()):
        person, value, count = _columns(tables.request_counts(rows, f"r{place}"))
        counts.append(np.zeros((people, len(values)), dtype=np.uint32))
        counts[-1][person, value] = count
    return counts


def _queries(
    rows: ibis.Table, kept: Crowds, texts: pa.Array, users: Users, people: People
) -> Iterator[Observed]:
    """Yield the queries of these numbers, in order, with at most MOST_ROWS rows of each.

    Of a larger one the engine gives the people with the smallest first bytes of their marks.
    """
    last = np.full(len(kept.query), tables.MARKS - 1, dtype=np.int16)
    large = np.flatnonzero(kept.rows > MOST_ROWS)
    if len(large):
        which = ibis.memtable(pa.table({"known_query": kept.query[large]}))
        query, mark, count = _columns(tables.marked(rows, which))
        counts = np.zeros((len(large), tables.MARKS), dtype=np.int64)
        counts[np.searchsorted(kept.query[large], query), mark] = count
        last[large] = (counts.cumsum(axis=1) <= MOST_ROWS).sum(axis=1)
    limits = ibis.memtable(pa.table({"known_query": kept.query, "last": last}))
    rows = rows.join(limits, rows.query == limits.known_query)
    found = rows.select("query", tables.INTENT).distinct().to_pyarrow()
    pairs = sorted(zip(found["query"].to_pylist(), found[tables.INTENT].to_pylist(), strict=True))
    check_printable((intent for _, intent in pairs), "the intent")
    intents = [tuple(intent for _, intent in group) for _, group in groupby(pairs, itemgetter(0))]
    numbers = [code for group in intents for code in range(len(group))]
    numbered, named = zip(*pairs, strict=True)
    known = ibis.memtable(
        {"known_query": numbered, "known_intent": named, "code": numbers},
        schema={"known_query": "int32", "known_intent": "string", "code": "int32"},
    )
    coded = tables.coded_events(rows.filter(rows.mark <= rows.last), known)
    query, person, codes, *request = _columns(coded)
    columns = np.array(request, dtype=np.uint8).reshape(len(request), len(person)).T
    cuts = np.flatnonzero(np.diff(query)) + 1
    parts = (np.split(each, cuts) for each in (person, codes, columns))
    marks = users.marks[np.argsort(people.place)]
    for number, events, names, p, c, r in zip(kept.query, kept.rows, intents, *parts, strict=True):
        given = Events(p.astype(np.intp), c.astype(np.intp), r)
        whole = observed(texts[int(number)].as_py(), names, given, people)
        yield replace(whole, events=int(events)).kept(marks)


def _columns(table: ibis.Table) -> list[NDArray[Any]]:
    """Return the columns of a table of numbers, as its engine gives them."""
    return [column.to_numpy() for column in table.to_pyarrow().columns]
