"""Small models whose figures are all true, and worlds: terms and knowledge of every kind."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from agent.decision import decide as deciding
from agent.decision.cache import Cache
from agent.decision.choice import FEWEST, STILL_ADDS, uses_of
from agent.decision.context import Context, Limits, Prepared, Terms, prepare
from agent.decision.knowledge import Knowledge
from agent.decision.values import Decision, Request
from agent.model.attributes import Attribute, Query, Scope
from agent.model.model import Model
from agent.model.tables import gather
from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.coverage import Judged
from agent.tradeoff.measures import METRICS
from agent.tradeoff.objective import DisclosureObjective
from agent.tradeoff.search import ALGORITHMS
from agent.tradeoff.tables import Codes, Floats, Kinds, Population, QueryRows, pairs
from agent.tradeoff.utility import COST_METRICS, Mixture, Singles, query_utility

SHRINKAGE = 5.0
CARDS = (3, 4, 2, 3, 2)  # the last is a request attribute
PERSONS = 4
TOPICS = ("python", "restaurants", "weather", "trains", "films")
NAMES = ("age", "region", "gender", "job", "hours")
WORDED = frozenset({"age", "gender", "hours"})  # whose last value has a word for a search

OTHER_NAMES = {name: f"other_{number}" for number, name in enumerate(NAMES)}


def elsewhere(model: Model) -> Model:
    """Return a model that knows the same facts by other names."""
    named = (
        replace(each, name=OTHER_NAMES[each.name], concept=each.name) for each in model.attributes
    )
    return replace(model, id="elsewhere", attributes=tuple(named))


def made_model(
    seed: int, people: int = 40, queries: int = 2, rare: float = 1.0, *, shuffled: bool = False
) -> Model:
    """Return a model of random people whose intents depend on two of their attributes.

    ``rare``: how much rarer the last value of each attribute of a person is than the others. With
    more than three queries it has the utilities of pairs too. ``shuffled``: the intents of each
    query are dealt out anew.
    """
    rng = np.random.default_rng(seed)
    columns = [_column(rng, card, people, rare) for card in CARDS[:PERSONS]]
    codes = np.stack(columns, axis=1)
    rows = [_rows(rng, codes) for _ in range(queries)]
    if shuffled:
        rows = [replace(each, intent=rng.permutation(each.intent)) for each in rows]
    counts = rng.integers(1, 9, (people, 2), dtype=np.uint8)
    population = Population(codes, requests=(Kinds.of(counts),))
    return Model(
        id=f"made-{seed}",
        source="random numbers",
        licence="none",
        estimator="louo",
        attributes=tuple(map(_attribute, NAMES, CARDS)),
        queries=tuple(_query(number, each) for number, each in enumerate(rows)),
        tables=gather(population, rows, np.ones(queries), singles_of(population, rows)),
    )


def _column(rng: np.random.Generator, card: int, people: int, rare: float) -> Codes:
    codes = rng.integers(0, card, people, dtype=np.uint8)
    if rare == 1.0:
        return codes
    last = codes == card - 1
    return np.where(last & (rng.random(people) >= rare), codes - 1, codes).astype(np.uint8)


def _rows(rng: np.random.Generator, codes: Codes) -> QueryRows:
    """Give each person one to three rows, most of them wanting what their kind of person wants."""
    user = np.repeat(np.arange(len(codes)), rng.integers(1, 4, len(codes)))
    leaning = (codes[user, 0] + 2 * codes[user, 2]) % 4
    intent = np.where(rng.random(len(user)) < 0.7, leaning, rng.integers(0, 4, len(user)))
    request = rng.integers(0, 2, (len(user), 1)).astype(np.uint8)
    return QueryRows(user, intent.astype(np.intp), codes, request, 4)


def _attribute(name: str, card: int) -> Attribute:
    scope: Scope = "person" if name in NAMES[:PERSONS] else "request"
    values = ("unspecified", *(f"{name}{code}" for code in range(1, card)))
    words = {values[-1]: f"the {name}"} if name in WORDED else {}
    return Attribute(name=name, title=name.title(), scope=scope, values=values, words=words)


def _query(number: int, rows: QueryRows) -> Query:
    return Query(
        text=f"{TOPICS[number]} today",
        intents=("a", "b", "c", "d"),
        shrinkage=SHRINKAGE,
        rows=len(rows.user),
        users=len(rows.person),
        prior_entropy_bits=query_utility(rows, CARDS, "louo", SHRINKAGE).limit,
    )


def singles_of(
    population: Population, rows: list[QueryRows], cards: tuple[int, ...] = CARDS
) -> Singles:
    """Return the figures of single attributes, and of pairs with more than three queries."""
    everyone = AnonymitySet(population, cards)
    utilities = [query_utility(each, cards, "louo", SHRINKAGE) for each in rows]

    def gained(sets: list[int]) -> Floats:
        return np.array([[each.value(mask) for mask in sets] for each in utilities])

    def priced(sets: list[int]) -> Floats:
        return np.array(
            [[everyone.identifiability(mask, m, 1) for mask in sets] for m in COST_METRICS]
        )

    kinds = [[1 << attribute for attribute in range(len(cards))], [*pairs(len(cards))]]
    kinds = kinds[: 1 if len(rows) <= FEWEST else 2]
    return Singles(*(figure(sets) for sets in kinds for figure in (gained, priced)))


CACHE = Cache()

QUERIES = ("python today", "restaurants today")
HOW = ("auto", "auto", "auto", "ask", "always", "never")
CARD = dict(zip(NAMES, CARDS, strict=True))


def decide(
    request: Request, terms: Terms, knowledge: Knowledge, model: Model, cache: Cache | None = None
) -> Decision:
    """Decide without a context of one's own."""
    cache = cache or Cache()
    return deciding.decide(Context(request, terms, knowledge, model, cache=cache))


class World(NamedTuple):
    """One request in one model: all that a decision depends on, and the user's own codes."""

    model: Model
    request: Request
    terms: Terms
    known: Knowledge
    own: Mapping[str, int]
    stopped: bool = False

    def decided(self) -> Decision:
        return deciding.decide(self.context())

    def under(self, **changes: Any) -> "World":  # noqa: ANN401  # of any field
        """Return the same on other terms."""
        return self._replace(terms=replace(self.terms, **changes))

    def within(self, **changes: Any) -> "World":  # noqa: ANN401  # of any field
        """Return the same within other limits."""
        limits = replace(self.terms.limits, **changes)
        return self.under(limits=limits)

    def context(self) -> Context:
        return Context(self.request, self.terms, self.known, self.model, self.stopped, cache=CACHE)

    def prepared(self) -> Prepared:
        return prepare(self.context())

    def objective(self) -> DisclosureObjective:
        """Return the objective that the set is chosen by, with its limits."""
        query, case, model = self.model.texts.find(self.request.query), self.prepared(), self.model
        query = None if self.terms.mode == "standing" else query
        uses = CACHE.mean_utility(model) if query is None else uses_of(query, model, CACHE)
        part = Mixture((uses,), (STILL_ADDS,)) if self.terms.results == "both" else uses
        return DisclosureObjective(part, case.anonymity_set, case.settings)

    @property
    def remembered(self) -> frozenset[str]:
        """What the recipient holds and keeps."""
        return self.known.names if self.terms.memory == "remembers" else frozenset()

    def mask(self, names: tuple[str, ...]) -> int:
        return sum(1 << self.model.index(name) for name in names)


@cache
def model_of(seed: int) -> Model:
    """Return a made model; what it remembers changes no decision. Every third is of topics."""
    return judged(with_rows(seed), seed) if seed % 3 == 2 else with_rows(seed)


@cache
def with_rows(seed: int) -> Model:
    """Return a made model, never of topics.

    Every other one has so many queries that plans draw what each gains towards their mean.
    """
    return made_model(seed, queries=5 if seed % 2 else 2)


def judged(model: Model, seed: int) -> Model:
    """Return the model with topics in place of its queries, judged at random."""
    rng, topics = np.random.default_rng(seed), len(model.queries)
    grades = rng.choice([0.0, 0.1, 0.5, 1.0], (topics, PERSONS))
    likely = np.where(grades < 0.5, grades, rng.uniform(0.1, 1.0, grades.shape))
    weights = (grades * rng.uniform(0.5, 1.0, grades.shape)).astype(np.float32)
    figures = Judged(weights, weights.sum(axis=1), likely.astype(np.float32))
    queries = (
        replace(each, bits=float(rng.uniform(0.2, 2.0)), rows=0, users=0, intents=())
        for each in model.queries
    )
    tables = replace(model.tables, judged=figures)
    return replace(model, estimator="judged", queries=tuple(queries), tables=tables)


def rarely(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Draw none three times out of four."""
    return st.integers(0, 3).flatmap(lambda drawn: st.none() if drawn else values)


def limits() -> st.SearchStrategy[Limits]:
    return st.builds(
        Limits,
        k=rarely(st.integers(1, 12)),
        violations=st.sampled_from([0.0, 0.1, 0.5]),
        risk=rarely(st.floats(0.02, 1)),
        attributes_per_request=rarely(st.integers(0, 5)),
        new_facts_per_week=rarely(st.integers(0, 6)),
        protect=st.sampled_from(["everyone", "everyone", "me"]),
    )


@st.composite
def worlds(draw: st.DrawFn, *, forced: bool = True, exact: bool = False) -> World:
    """Draw a world; ``forced``: something may always leave; ``exact``: the best set is found."""
    how = {name: draw(st.sampled_from(HOW)) for name in NAMES}
    if not forced:
        how = {name: "auto" if each == "always" else each for name, each in how.items()}
    modes = ["dynamic"] if exact else ["dynamic", "dynamic", "standing", "planned"]
    algorithms = ["exact", "exhaustive"] if exact else list(ALGORITHMS)
    person = st.sampled_from(NAMES[:PERSONS])
    weights = st.dictionaries(st.sampled_from(NAMES), st.floats(0, 0.3), max_size=1)
    guard = st.tuples(st.tuples(person, st.floats(0.1, 2)))
    few = st.lists(st.sampled_from(NAMES), min_size=2, max_size=3, unique=True).map(tuple)
    terms = Terms(
        excluded=_named(how, "never"),
        ask=_named(how, "ask"),
        always=_named(how, "always"),
        trade_off=draw(st.sampled_from([0.0, 0.02, 0.1, 0.5]) | st.floats(0, 5)),
        metric=draw(st.sampled_from(METRICS)),
        metric_k=draw(st.integers(1, 10)),
        limits=draw(limits()),
        sensitivity=tuple(draw(weights).items()),
        guards=tuple(draw(rarely(guard)) or ()),
        together=tuple(draw(st.lists(st.tuples(few, st.floats(0, 2)), max_size=2))),
        mode=draw(st.sampled_from(modes)),
        algorithm=draw(st.sampled_from(algorithms)),
        memory=draw(st.sampled_from(["remembers", "remembers", "forgets"])),
        results=draw(st.sampled_from(["send", "send", "both"])),
    )
    model, own = model_of(draw(st.integers(0, 15))), draw(codes())
    if draw(st.booleans()):
        row = draw(st.integers(0, len(model.population.codes) - 1))
        own = dict(zip(NAMES, model.population.codes[row].tolist(), strict=False))
    asked = draw(rarely(st.frozensets(st.sampled_from(NAMES))))
    request = Request(draw(st.sampled_from(QUERIES)), asked=asked)
    held = draw(st.sets(person, max_size=2))
    queries = draw(st.dictionaries(st.integers(0, 1), st.integers(1, 9)))
    known = Knowledge(
        codes=tuple(sorted((name, own.get(name, 0)) for name in held)),
        recent=draw(st.integers(0, 4)),
        queries=tuple(sorted(queries.items())),
    )
    return World(model, request, terms, known, own, draw(st.integers(0, 7)) == 0)


def codes() -> st.SearchStrategy[dict[str, int]]:
    """Draw a person's codes, who need not be like anybody in the model."""
    return st.fixed_dictionaries({name: st.integers(0, CARD[name] - 1) for name in NAMES[:PERSONS]})


def _named(how: Mapping[str, str], which: str) -> frozenset[str]:
    return frozenset(name for name, each in how.items() if each == which)
