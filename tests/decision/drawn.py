"""Terms of every kind, what a recipient may hold, and what follows for each set of attributes."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

from hypothesis import strategies as st

from agent.decision.cache import Cache
from agent.decision.choice import uses_of
from agent.decision.context import Context, Prepared, prepare
from agent.decision.decide import decide
from agent.decision.knowledge import Knowledge
from agent.decision.terms import Limits, Terms
from agent.decision.values import Decision, Request
from agent.model.model import Model
from agent.tradeoff.measures import METRICS
from agent.tradeoff.objective import DisclosureObjective
from agent.tradeoff.search import ALGORITHMS
from tests.decision.made import CARDS, NAMES, PERSONS, made_model

CACHE = Cache()

QUERIES = ("python today", "restaurants today")
HOW = ("auto", "auto", "auto", "ask", "always", "never")
CARD = dict(zip(NAMES, CARDS, strict=True))


class World(NamedTuple):
    """One request in one model: all that a decision depends on."""

    model: Model
    request: Request
    terms: Terms
    known: Knowledge
    own: Mapping[str, int]

    def decided(self) -> Decision:
        """Return the decision."""
        return decide(self.request, self.terms, self.known, self.model, self.own, CACHE)

    def under(self, **changes: Any) -> "World":  # noqa: ANN401  # of any field
        """Return the same on other terms."""
        return self._replace(terms=replace(self.terms, **changes))

    def within(self, **changes: Any) -> "World":  # noqa: ANN401  # of any field
        """Return the same within other limits."""
        limits = replace(self.terms.limits, **changes)
        return self.under(limits=limits)

    def context(self) -> Context:
        """Return the context of the decision."""
        return Context(self.request, self.terms, self.known, self.model, self.own, cache=CACHE)

    def prepared(self) -> Prepared:
        """Return the context as it is decided."""
        return prepare(self.context())

    def objective(self) -> DisclosureObjective:
        """Return the objective that the set is chosen by, with its limits."""
        query, case, model = self.model.match(self.request.query), self.prepared(), self.model
        if self.terms.mode == "standing" or query is None:
            return DisclosureObjective(CACHE.mean_utility(model), case.anonymity_set, case.settings)
        return DisclosureObjective(uses_of(query, model, CACHE), case.anonymity_set, case.settings)

    def mask(self, names: tuple[str, ...]) -> int:
        """Return a set of names as a mask."""
        return sum(1 << self.model.index(name) for name in names)


@cache
def model_of(seed: int) -> Model:
    """Return a made model; what it remembers changes no decision.

    Every other one has so many queries that plans draw what each gains towards their mean.
    """
    return made_model(seed, queries=5 if seed % 2 else 2)


def rarely(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Draw none three times out of four."""
    return st.integers(0, 3).flatmap(lambda drawn: st.none() if drawn else values)


def limits() -> st.SearchStrategy[Limits]:
    """Draw limits, most of them none."""
    return st.builds(
        Limits,
        k=rarely(st.integers(1, 12)),
        max_violations=st.sampled_from([0.0, 0.1, 0.5]),
        max_risk=rarely(st.floats(0.02, 1)),
        per_request=rarely(st.integers(0, 5)),
        new_per_week=rarely(st.integers(0, 6)),
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
        mode=draw(st.sampled_from(modes)),
        algorithm=draw(st.sampled_from(algorithms)),
        memory=draw(st.sampled_from(["remembers", "remembers", "forgets"])),
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
    return World(model, request, terms, known, own)


def codes() -> st.SearchStrategy[dict[str, int]]:
    """Draw a person's codes, who need not be like anybody in the model."""
    return st.fixed_dictionaries({name: st.integers(0, CARD[name] - 1) for name in NAMES[:PERSONS]})


def _named(how: Mapping[str, str], which: str) -> frozenset[str]:
    return frozenset(name for name, each in how.items() if each == which)
