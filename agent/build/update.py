"""A model and the tables of a later period to a model of both, and what has changed between them.

A model has no user ids, so its people are others than those of the tables, whoever they are. What
comes out is what a build of both periods' tables gives, where their users have different ids, and
where some people of the first were left out with all their rows: the older, the more of them.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from agent.build.build import model_from
from agent.build.canonical import Events, Observed, People, arranged, observed
from agent.build.observe import UPDATE_KEY, Observations, marks_of, observe
from agent.build.options import AttributeNote, BuildOptions, Progress, QueryNote, concepts
from agent.build.stages import IN_ENGINE, Stages
from agent.build.tables import KEYS, USER, Source, check_keys
from agent.build.validate import TRIALS, Fact, Training, Trial
from agent.errors import BuildError, UsageError
from agent.model.attributes import Attribute
from agent.model.file import MAX_WEIGHT, MIN_PEOPLE
from agent.model.model import Figure, Model
from agent.model.tables import keys_of
from agent.tradeoff.tables import Population

NEVER = -1e9  # the bias of a class that no text is read as
PERIODS, READ, DROPPED = "periods", "reading_", "dropped_"  # how options and figures begin
ALL = 2.0**64  # marks are below it
FACT = pa.struct([("name", pa.string()), *((name, pa.float64()) for name in Fact._fields)])
DRIFT = pa.schema([*TRIALS, ("unseen", pa.float64()), ("facts", pa.list_(FACT))])


class QueryDrift(NamedTuple):
    """What has become of a query of the new model.

    ``trial``: the set that is best by the old rows, as they promise it and as the new people have
    it, None where one of the periods says nothing about it; ``unseen``: the share of the new rows
    with an intent that the old ones lack; ``facts``: what each attribute of the set adds, by its
    name; ``events``: how many rows it had of the people who stay, and has in the new tables.
    """

    text: str
    trial: Trial | None
    unseen: float
    facts: Mapping[str, Fact]
    events: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class Update:
    """How a model is brought up to date, as `build_model` has models made of tables.

    ``half_life``: after how many updates half of the people are left, None where all stay;
    ``drift``: gets what has become of each query.
    """

    old: Model
    half_life: float | None
    drift: list[QueryDrift]

    def __post_init__(self) -> None:
        if self.half_life is not None and not 0 < self.half_life <= MAX_WEIGHT:
            what = f"a half-life of {self.half_life:g} updates is out of range"
            raise UsageError(what, "give a number above 0, such as 2")

    @property
    def share(self) -> float:
        """Which share of the model's people stay."""
        return 1.0 if self.half_life is None else 0.5 ** (1 / self.half_life)

    def options(self, given: BuildOptions) -> BuildOptions:
        """Return with what to build: as the model was built, but for its place and its texts."""
        old, built = self.old, self.old.options
        shrinkage, least, half = (built.get(each) for each in ("shrinkage", "min_users", "half"))
        most = built.get("most_queries")
        return replace(
            given,
            id=old.id,
            source=old.source,
            licence=old.licence,
            stands_for=old.stands_for,
            estimator=old.estimator,
            shrinkage=float(shrinkage) if isinstance(shrinkage, int | float) else None,
            min_users=least if isinstance(least, int) else given.min_users,
            most_queries=most if isinstance(most, int) else None,
            half="A" if half == "A" else "B" if half == "B" else None,
            attributes={
                each.name: AttributeNote(
                    refines=each.refines or "",
                    values=each.values[1:],
                    implies={value: {**then} for value, then in each.implies.items()},
                )
                for each in old.attributes
            },
        )

    def __call__(
        self, source: Source, given: BuildOptions, progress: Progress, stages: Stages = IN_ENGINE
    ) -> Model:
        """Return the model of both periods; ``source``: the new tables; ``stages``: done already.

        Raises UsageError or BuildError for tables that do not fit the model.
        """
        old, options = self.old, self.options(given)
        sampled = options.weights is None and "sampled_from" in old.options  # which gave weights
        if not sampled and (old.population.weights is None) != (options.weights is None):
            what = f"the people of {old.id} have {'no ' if options.weights else ''}weights"
            hint = "leave --weights out" if options.weights else "give --weights COLUMN"
            raise UsageError(what, hint)
        progress("counting", 0.0)
        every = replace(options, min_users=1, most_queries=None)
        source = fitted_to(source, old, options.weights)
        new = observe(source, every, stages, partial(progress, "counting"))
        pairs = zip(old.attributes, new.attributes, strict=True)
        new = replace(new, attributes=tuple(extended(one, each.values) for one, each in pairs))
        before = observed_of(old, self.share)
        seen, was = merged(before, new, options.min_users, options.most_queries)
        progress("counting", 1.0)
        asked = [Counter({each.text: each.events for each in one.queries}) for one in (before, new)]
        for each in drifts(seen, was, options, partial(progress, "comparing"), stages):
            self.drift.append(each._replace(events=(asked[0][each.text], asked[1][each.text])))
        notes = {each.text: QueryNote(title=each.title) for each in old.queries}
        trials = [each.trial for each in self.drift]
        made = model_from(seen, replace(options, queries=notes), progress, trials, stages)
        periods = old.options.get(PERIODS)
        about: dict[str, Figure] = {
            PERIODS: (periods if isinstance(periods, int) else 1) + 1,
            "half_life": self.half_life,
            "updated_from": old.digest,
        }
        return reading_as(replace(made, options={**made.options, **about}), old)


def drifts(
    seen: Observations,
    was: NDArray[np.bool_],
    options: BuildOptions,
    advance: Callable[[float], None] = lambda _share: None,
    stages: Stages = IN_ENGINE,
) -> Iterator[QueryDrift]:
    """Yield what has become of each query; ``was``: bool, shape (N,), the people of before."""
    training = Training.of(seen, was, options.estimator, options.shrinkage) if was.any() else None

    def row(query: Observed) -> dict[str, object]:
        rows, facts = query.rows, dict[int, Fact]()
        held = ~was[query.people][rows.user]
        seen_before = np.isin(rows.intent[held], rows.intent[~held])
        trial = training.trial(query, facts) if training else None
        return {
            **({} if trial is None else trial._asdict()),
            "unseen": 1 - float(seen_before.mean()) if held.any() else 0.0,
            "facts": [{"name": seen.attributes[at].name, **facts[at]._asdict()} for at in facts],
        }

    found = stages.in_blocks("drift", seen.queries, row, DRIFT, advance).to_pylist()
    for query, each in zip(seen.queries, found, strict=True):
        yield QueryDrift(
            text=query.text,
            trial=None if each["predicted_bits"] is None else Trial(*map(each.get, Trial._fields)),
            unseen=each["unseen"],
            facts={one["name"]: Fact(one["predicted"], one["heldout"]) for one in each["facts"]},
        )


def extended(attribute: Attribute, values: Sequence[str]) -> Attribute:
    """Return an attribute with more values behind its own; ``values``: all of them."""
    known, spoken = concepts().get(attribute.concept), [*attribute.value_concepts]
    for value in values[len(spoken) :]:
        fits = value not in spoken and (known is None or value in known)
        spoken.append(value if fits else None)
    return replace(attribute, values=tuple(values), value_concepts=tuple(spoken))


def reading_as(made: Model, old: Model) -> Model:
    """Return a model that reads texts as another one does; queries that it lacks by name only."""
    at = {each.text: place for place, each in enumerate(old.queries)}
    queries = tuple(
        replace(each, phrasings=old.queries[at[each.text]].phrasings) if each.text in at else each
        for each in made.queries
    )
    classifier, figures = old.tables.classifier, dict[str, Figure]()
    if classifier is not None:
        lines = [at.get(each.text, -1) for each in queries]
        known = np.array([*(line >= 0 for line in lines), True])
        weights = np.where(known[:, None], classifier.weights[[*lines, -1]], 0)
        biases = np.where(known, classifier.biases[[*lines, -1]], NEVER)
        weights, biases = weights.astype(np.float32), biases.astype(np.float32)
        classifier = replace(classifier, weights=weights, biases=biases)
        figures = {name: each for name, each in old.validation.items() if name.startswith(READ)}
    return replace(
        made,
        queries=queries,
        tables=replace(made.tables, classifier=classifier),
        validation={**made.validation, **figures},
    )


def observed_of(old: Model, share: float) -> Observations:
    """Return the tables that a model stands for, as far as it holds them; ``share``: of its people.

    Each person of a query is one of those with the same codes: another one for each. By chance
    that the file alone decides, people stay with all their rows, or are gone.
    """
    population = old.population
    ids = tuple(f"{old.digest[:16]} {at}" for at in range(population.rows))
    stays = marks_of(ids, UPDATE_KEY) < share * ALL
    keys, of_row, alike = np.unique(
        keys_of(population.codes), return_inverse=True, return_counts=True
    )
    by_codes = np.argsort(of_row, kind="stable")
    first = np.cumsum(alike) - alike
    place, queries = np.cumsum(stays) - 1, []
    for at, query in enumerate(old.queries):
        rows = old.rows(at)
        found = np.searchsorted(keys, keys_of(rows.person))
        order = np.argsort(found, kind="stable")
        turn = np.empty_like(order)  # of each user among those of the query with the same codes
        turn[order] = np.arange(len(order)) - np.searchsorted(found[order], found[order])
        people = by_codes[first[found] + (turn + at) % alike[found]]
        whole = Observed(query.text, query.intents, rows, people, query.events or query.rows)
        if left := whole.part(stays):
            events = round(whole.events * len(left.rows.user) / query.rows)
            queries.append(replace(left, people=place[left.people], events=events))
    counts = tuple(each._replace(of_row=each.of_row[stays]) for each in population.requests)
    weights = None if population.weights is None else population.weights[stays]
    stated = {name.removeprefix(DROPPED): each for name, each in old.options.items()}
    everybody, of_all = (old.options.get(each) for each in ("sampled_from", "share_of_events"))
    return Observations(
        attributes=old.attributes,
        population=Population(population.codes[stays], weights, counts),
        queries=tuple(queries),
        dropped={name: each for name, each in stated.items() if isinstance(each, int)},
        users=tuple(each for each, kept in zip(ids, stays, strict=True) if kept),
        everybody=everybody if isinstance(everybody, int) else None,
        share=of_all if isinstance(of_all, float) else 1.0,
    )


def merged(
    old: Observations, new: Observations, min_users: int, most_queries: int | None = None
) -> tuple[Observations, NDArray[np.bool_]]:
    """Return what two tables hold together, and who of its people is of the first: bool, (N,).

    ``new``: of the same attributes, which may have values that ``old`` lacks, behind the others.
    Weights are scaled so that both stand for as many people as ``new`` does; where one is a sample
    of people, and the other has no weights, each of that one's rows is one person before.
    ``most_queries``: only so many are kept, the most frequent, of equals the first.
    """
    both, split = (old.population, new.population), old.population.rows
    counts = []
    for one, other in zip(*(each.requests for each in both), strict=True):
        cards = other.counts.shape[1]
        table = np.zeros((split, cards), np.uint32)
        table[:, : one.counts.shape[1]] = one.by_row
        counts.append(np.vstack([table, other.by_row]).astype(np.uint32))
    weights = None
    if any(each.weights is not None for each in both):
        own = [np.ones(each.rows) if each.weights is None else each.weights for each in both]
        weights = np.concatenate(own)
        weights = (weights * (own[1].sum() / weights.sum())).clip(MIN_PEOPLE, MAX_WEIGHT)
    codes = np.vstack([both[0].codes, both[1].codes]).astype(np.uint8)
    people = arranged(codes, counts, weights)
    order = np.argsort(people.place)
    users = (*old.users, *new.users)
    ids = tuple(users[each] for each in order)
    marks, was = marks_of(ids), order < split
    found: dict[str, list[tuple[Observed, int]]] = {}
    for offset, each in ((0, old), (split, new)):
        for query in each.queries:
            found.setdefault(query.text, []).append((query, offset))
    queries, thin = list[Observed](), list[Observed]()
    for text in sorted(found):
        whole = joined(text, found[text], people, marks, was)
        sampled = whole.events > len(whole.rows.user)
        (queries if sampled or len(whole.rows.person) >= min_users else thin).append(whole)
    if not queries:
        what = f"no query has events from at least {min_users} users of both periods"
        raise BuildError(what, "give tables of the model's queries, or a longer half-life")
    dropped = {name: old.dropped.get(name, 0) + count for name, count in new.dropped.items()}
    dropped["thin_queries"] += len(thin)
    dropped["thin_rows"] += sum(each.events for each in thin)
    if most_queries is not None:
        queries, rare = most_frequent(queries, most_queries)
        dropped["rare_queries"] = old.dropped.get("rare_queries", 0) + len(rare)
        lost = sum(each.events for each in rare)
        dropped["rare_rows"] = old.dropped.get("rare_rows", 0) + lost
    asked = sum(sum(each.events for each in one.queries) / one.share for one in (old, new))
    some = old.everybody is not None or new.everybody is not None
    return Observations(
        new.attributes,
        people.population,
        tuple(queries),
        dropped,
        ids,
        round(people.population.people) if some else None,
        sum(each.events for each in queries) / asked,
    ), was


def most_frequent(queries: Sequence[Observed], most: int) -> tuple[list[Observed], list[Observed]]:
    """Return the queries with the most events, of equals the first, by text; and the rest."""
    order = sorted(queries, key=lambda each: (-each.events, each.text))
    return sorted(order[:most], key=lambda each: each.text), order[most:]


def joined(
    text: str,
    parts: Sequence[tuple[Observed, int]],
    people: People,
    marks: NDArray[np.uint64],
    was: NDArray[np.bool_],
) -> Observed:
    """Return a query of one or two periods, each with where its people begin in both tables.

    Where one of them is a sample of its rows, the other is made one too, so that a row of either
    stands for as many.
    """
    names = tuple(sorted({name for each, _ in parts for name in each.intents}))
    code = {name: at for at, name in enumerate(names)}
    user = np.concatenate([each.people[each.rows.user] + offset for each, offset in parts])
    intent = np.concatenate(
        [np.array([code[name] for name in each.intents])[each.rows.intent] for each, _ in parts]
    )
    request = np.vstack([each.rows.request for each, _ in parts]).astype(np.uint8)
    order = np.argsort(user, kind="stable")  # rows of a user are in order in either
    given = Events(user[order], intent[order], request[order])
    whole = observed(text, names, given, people)
    whole = replace(whole, events=sum(each.events for each, _ in parts))
    shares = [len(each.rows.user) / each.events for each, _ in parts]
    if min(shares) < 1:
        # A sample has those with the smallest marks; the model's were drawn before it had these.
        drawn = marks.astype(np.float64)
        drawn[was] *= shares[0] if not parts[0][1] else 1.0
        whole = whole.part(drawn < min(shares) * ALL) or whole
        marks = drawn.astype(np.uint64)
    return whole.kept(marks)


def fitted_to(source: Source, old: Model, weights: str | None) -> Source:
    """Return the tables with the columns of a model, in its order; BuildError if one is missing."""
    persons = [each.name for each in old.attributes if each.scope == "person"]
    requests = [each.name for each in old.attributes if each.scope == "request"]
    users = (USER, *persons, *([] if weights is None else [weights]))
    check_keys("users", source.users.columns, users)
    check_keys("events", source.events.columns, (*KEYS, *requests))
    return replace(
        source,
        users=source.users.select(*users),
        events=source.events.select(*KEYS, *requests),
        described={},
    )
