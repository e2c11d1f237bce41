"""Studies of models: which facts a service should ask for, and what changed between two models.

Nobody's values are needed, and no recipient's knowledge: both follow from models and lambda. Which
facts to ask for: paper 9.3, 9.5.1. The people of the second of two models are those that the first
has not seen, if its tables are of a later period. Queries are the same by their text, attributes by
their name, values by their name.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from agent.decision.cache import Cache
from agent.decision.choice import LEAST, choice_of, objective_of, uses_of
from agent.decision.context import Context, Prepared, prepare
from agent.decision.decide import decide_context
from agent.decision.knowledge import Knowledge
from agent.decision.terms import Terms
from agent.decision.values import Decision, Request
from agent.model.model import Model, Query
from agent.model.reading import NOTHING, Interpretation
from agent.tradeoff.counts import heldout_bits
from agent.tradeoff.objective import DisclosureObjective
from agent.tradeoff.plan import Portfolio, Queries, Scope, plan
from agent.tradeoff.search import greedy_order
from agent.tradeoff.tables import QueryRows, members, singleton, union
from agent.tradeoff.utility import HELPS_NOTHING


class Level(Struct, frozen=True):
    """The figures of disclosing ``names``, in the order chosen.

    ``utility_bits``: of the request, or of the average one; ``identifiability``: the chance that
    one guess finds somebody who disclosed them all; ``people_left``: how many people are expected
    to agree with somebody in all of them.
    """

    names: tuple[str, ...]
    utility_bits: float
    identifiability: float
    people_left: float


class Addition(Struct, frozen=True):
    """An attribute, and what asking for it adds to asking for the others that are recommended.

    ``asked``: whether it is recommended; ``gain_bits``: on the average request, of the queries that
    it helps; ``queries``: these, the most frequent first; ``identifiability_added``: as in Level;
    None where there are too many combinations of values to compute it.
    """

    name: str
    asked: bool
    gain_bits: float
    queries: tuple[str, ...]
    identifiability_added: float | None


class Design(Struct, frozen=True):
    """The attributes that a service should ask for, by the model ``model``.

    ``plan``: what is best where each request uses what helps its query; ``standing``: where every
    request carries the same; ``asked``: both, used by query; ``everything``: likewise, at no cost.
    By query, the utilities are less what they owe to luck; for the mean of all that is little.
    ``attributes``: all of the model, those that add most first; ``curve``: from nothing, one
    attribute more at a time, each the best for the mean query, all carried by every request.
    """

    model: str
    digest: str
    trade_off: float = field(name="lambda")
    asked: Level
    plan: tuple[str, ...]
    standing: Level
    everything: Level
    attributes: tuple[Addition, ...]
    curve: tuple[Level, ...]


def recommended(model: Model, trade_off: float) -> tuple[str, ...]:
    """Return what a service should ask for, in the order of the model."""
    prepared = _prepared(model, trade_off)
    asked, _ = _asked(prepared)
    return prepared.names(members(asked.mask))


def design_of(model: Model, trade_off: float) -> Design:
    """Return what a service should ask for, and why; UsageError for a lambda that cannot be."""
    prepared, weights = _prepared(model, trade_off), _weights(model)
    (found, planned), standing, cache = _asked(prepared), choice_of(prepared), prepared.cache
    free = tuple((each.name, 0.0) for each in model.attributes)
    unpriced = _prepared(model, 0.0, free, cache)
    most, _ = _asked(unpriced, [found.mask])
    objective, anonymity_set = objective_of(prepared, None), prepared.anonymity_set

    def level_of(order: Sequence[int], utility: float) -> Level:
        mask = union(order)
        risk = anonymity_set.identifiability(mask, "maxprob", 1)
        return Level(prepared.names(order), utility, risk, anonymity_set.people_left(mask))

    def of_plan(portfolio: Portfolio) -> Level:
        pairs = enumerate(portfolio.uses)
        bits = np.array([uses_of(at, model, cache).value(use) for at, use in pairs])
        return level_of([*members(portfolio.mask)], float(weights @ bits))

    by_weight = np.argsort(-weights, kind="stable")
    gains = np.zeros((len(weights), len(model.attributes)))
    for at, (row, use) in enumerate(zip(gains, found.uses, strict=True)):
        uses = uses_of(at, model, cache)
        level, beside = uses.value(use), uses.beside(use, prepared.free & ~use)
        for each in members(prepared.free):
            inside = use & singleton(each)
            row[each] = level - uses.value(use ^ inside) if inside else beside[each] - level
    gains[gains <= LEAST] = 0.0

    def risk_added(attribute: int) -> float | None:
        own = singleton(attribute)
        if not objective.feasible(found.mask | own):
            return None
        with_it = anonymity_set.identifiability(found.mask | own, "maxprob", 1)
        return with_it - anonymity_set.identifiability(found.mask & ~own, "maxprob", 1)

    attributes = [
        Addition(
            each.name,
            bool(found.mask & singleton(at)),
            float(weights @ gains[:, at]),
            tuple(model.queries[query].text for query in by_weight if gains[query, at] > 0),
            risk_added(at),
        )
        for at, each in enumerate(model.attributes)
    ]
    order, _ = greedy_order(objective)
    steps = [order[:count] for count in range(len(order) + 1)]
    return Design(
        model=model.id,
        digest=model.digest,
        trade_off=trade_off,
        asked=of_plan(found),
        plan=prepared.names(planned.order),
        standing=level_of(standing.order, objective.utility(standing.mask)),
        everything=of_plan(most),
        attributes=tuple(sorted(attributes, key=lambda each: -each.gain_bits)),
        curve=tuple(level_of(each, objective.utility(union(each))) for each in steps),
    )


def _prepared(
    model: Model,
    trade_off: float,
    sensitivity: tuple[tuple[str, float], ...] = (),
    cache: Cache | None = None,
) -> Prepared:
    terms = Terms(mode="standing", trade_off=trade_off, sensitivity=sensitivity)
    request, cache = Request(""), cache or Cache()
    return prepare(Context(request, terms, Knowledge(), model, reading=NOTHING, cache=cache))


def _weights(model: Model) -> NDArray[np.float64]:
    """The share of each query in all requests."""
    shares: NDArray[np.float64] = model.tables.query_weights / model.tables.query_weights.sum()
    return shares


def _asked(prepared: Prepared, starts: Sequence[int] = ()) -> tuple[Portfolio, Portfolio]:
    """Return what to ask for with what each query uses of it, and the plan that it holds.

    Planned is for a recipient that knows nothing. What changes with every request is priced like
    the rest: as if one request told all of the plan. ``starts``: sets to grow a plan from, too.
    """
    model, standing = prepared.model, choice_of(prepared).mask
    queries = Queries([uses_of(at, model, prepared.cache) for at in range(len(model.queries))])
    weights = _weights(model).tolist()
    prices = DisclosureObjective(HELPS_NOTHING, prepared.anonymity_set, prepared.settings)
    scope = Scope(0, prepared.free, least=LEAST)
    planned = plan(queries, weights, prices, scope, [standing, *starts])
    both = planned.mask | standing
    held = both if prices.feasible(both) else planned.mask
    return plan(queries, weights, prices, scope._replace(held=held, free=0)), planned


Score = Callable[[Collection[str]], float | None]


class ComparedModel(Struct, frozen=True):
    """A model, and the set that is best if every request carries the same."""

    id: str
    digest: str
    people: int
    population_rows: int
    standing: Level


class QueryChange(Struct, frozen=True):
    """A query of both models; a pair is before and after.

    ``best``: the best set for a recipient that knows nothing; ``change_bits``: how much more it
    helps; ``asked``: the share of all requests; ``new_results``: the share of the new rows whose
    intent the old model lacks; ``kept_bits``: how much the old model's best set, by what that model
    learned, helps the people of the new one; None where that cannot be told.
    """

    query: str
    title: str
    best: tuple[Level, Level]
    change_bits: float
    prior_entropy_bits: tuple[float, float]
    heldout_bits: tuple[float | None, float | None]
    asked: tuple[float, float]
    new_results: float
    kept_bits: float | None

    @property
    def gained(self) -> tuple[str, ...]:
        """The attributes that came into the best set."""
        return tuple(each for each in self.best[1].names if each not in self.best[0].names)

    @property
    def lost(self) -> tuple[str, ...]:
        """The attributes that went from the best set."""
        return tuple(each for each in self.best[0].names if each not in self.best[1].names)


class AttributeChange(Struct, frozen=True):
    """An attribute of one of the models or both.

    ``queries``: how many of their queries have it in the best set; ``promised_bits``,
    ``kept_bits``: what it adds to the old model's best sets on the average new request, as that
    model predicts it and for the people of the new one.
    """

    name: str
    queries: tuple[int, int]
    promised_bits: float
    kept_bits: float


class Comparison(Struct, frozen=True):
    """What changed from one model to the next, at one trade-off.

    ``promised_bits``, ``kept_bits``: how much the old model's best sets help on the average new
    request, as that model predicts it and for the people of the new one; None where no query says.
    """

    trade_off: float = field(name="lambda")
    models: tuple[ComparedModel, ComparedModel]
    promised_bits: float | None
    kept_bits: float | None
    new_results: float
    new_queries: tuple[str, ...]
    gone_queries: tuple[str, ...]
    new_attributes: tuple[str, ...]
    gone_attributes: tuple[str, ...]
    other_values: tuple[str, ...]
    no_longer_help: tuple[str, ...]
    help_now: tuple[str, ...]
    attributes: tuple[AttributeChange, ...]
    queries: tuple[QueryChange, ...]


def compare_models(old: Model, new: Model, trade_off: float) -> Comparison:
    """Compare two models, with a decision for each query; UsageError for an invalid lambda.

    Queries in order of the size of their change.
    """
    before, after = (_Side.of(each, trade_off) for each in (old, new))
    places = {each.text: at for at, each in enumerate(old.queries)}
    promised, kept = defaultdict[str, float](float), defaultdict[str, float](float)
    changes = list[QueryChange]()
    for at, query in enumerate(new.queries):
        if query.text not in places:
            continue
        first = places[query.text]
        rows, share = _Rows.of(old, new, first, at), float(after.shares[at])
        decision = before.decisions[query.text]
        best, score = (_level(decision), _level(after.decisions[query.text])), rows.score
        helped = score(decision.disclosed)
        for each in decision.outcomes if helped is not None else ():
            if each.disclosed:
                others = [name for name in decision.disclosed if name != each.name]
                promised[each.name] += share * (each.gain_bits or 0.0)
                kept[each.name] += share * ((helped or 0.0) - (score(others) or 0.0))
        asked = float(before.shares[first]), share
        changes.append(_change(old.queries[first], query, best, asked, (rows, helped)))
    scored = [each for each in changes if each.kept_bits is not None]
    total = sum(each.asked[1] for each in scored)

    def mean(figure: Callable[[QueryChange], float]) -> float | None:
        return sum(figure(each) * each.asked[1] for each in scored) / total if total else None

    names = [{each.name: each for each in model.attributes} for model in (old, new)]
    uses = before.uses, after.uses
    both = [name for name in names[1] if name in names[0]]
    return Comparison(
        trade_off=trade_off,
        models=(before.summary, after.summary),
        promised_bits=mean(lambda each: each.best[0].utility_bits),
        kept_bits=mean(lambda each: each.kept_bits or 0.0),
        new_results=mean(lambda each: each.new_results) or 0.0,
        new_queries=tuple(each.text for each in new.queries if each.text not in places),
        gone_queries=tuple(text for text in places if text not in after.decisions),
        new_attributes=tuple(name for name in names[1] if name not in names[0]),
        gone_attributes=tuple(name for name in names[0] if name not in names[1]),
        other_values=tuple(n for n in both if names[0][n].values != names[1][n].values),
        no_longer_help=tuple(name for name in both if uses[0][name] and not uses[1][name]),
        help_now=tuple(name for name in both if uses[1][name] and not uses[0][name]),
        attributes=tuple(
            AttributeChange(
                name,
                (uses[0][name], uses[1][name]),
                promised[name] / (total or 1.0),
                kept[name] / (total or 1.0),
            )
            for name in dict.fromkeys((*names[0], *names[1]))
        ),
        queries=tuple(sorted(changes, key=lambda each: -abs(each.change_bits))),
    )


def _change(
    old: Query,
    new: Query,
    best: tuple[Level, Level],
    asked: tuple[float, float],
    scored: "tuple[_Rows, float | None]",
) -> QueryChange:
    """Compare one query; ``scored``: its new rows, and the bits that the old best set keeps."""
    return QueryChange(
        query=new.text,
        title=new.title,
        best=best,
        change_bits=best[1].utility_bits - best[0].utility_bits,
        prior_entropy_bits=(old.prior_entropy_bits, new.prior_entropy_bits),
        heldout_bits=(old.heldout_bits, new.heldout_bits),
        asked=asked,
        new_results=scored[0].new_results,
        kept_bits=scored[1],
    )


class _Side(NamedTuple):
    """One of the models: its best sets by query, how many of them have an attribute, the shares."""

    summary: ComparedModel
    decisions: dict[str, Decision]
    uses: Counter[str]
    shares: NDArray[np.float64]

    @classmethod
    def of(cls, model: Model, trade_off: float) -> "_Side":
        terms, cache = Terms(trade_off=trade_off, unknown_queries="standing"), Cache()

        def best(text: str, reading: Interpretation) -> Decision:
            request = Request(text)
            context = Context(request, terms, Knowledge(), model, reading=reading, cache=cache)
            return decide_context(context, brief=True)

        decisions = {
            query.text: best(query.text, Interpretation.exact(at))
            for at, query in enumerate(model.queries)
        }
        standing, rows = _level(best("", NOTHING)), model.population.rows
        return cls(
            ComparedModel(model.id, model.digest, round(model.people), rows, standing),
            decisions,
            Counter(name for each in decisions.values() for name in each.disclosed),
            model.tables.query_weights / model.tables.query_weights.sum(),
        )


class _Rows(NamedTuple):
    """The rows of a query in both models, old ones first, with intents numbered alike."""

    models: tuple[Model, Model]
    rows: tuple[QueryRows, QueryRows]
    intent: NDArray[np.intp]
    shrinkage: float

    @classmethod
    def of(cls, old: Model, new: Model, first: int, second: int) -> "_Rows":
        queries, rows = (
            (old.queries[first], new.queries[second]),
            (old.rows(first), new.rows(second)),
        )
        numbers: dict[str, int] = {}
        intents = [
            np.array([numbers.setdefault(name, len(numbers)) for name in query.intents])[
                each.intent
            ]
            for query, each in zip(queries, rows, strict=True)
        ]
        return cls((old, new), rows, np.concatenate(intents), queries[0].shrinkage)

    @property
    def trained(self) -> NDArray[np.bool_]:
        """Which rows are of the old model."""
        return np.arange(len(self.intent)) < len(self.rows[0].user)

    @property
    def new_results(self) -> float:
        seen = np.isin(self.intent[~self.trained], self.intent[self.trained])
        return 1 - float(seen.mean())

    def score(self, names: Collection[str]) -> float | None:
        """How much these attributes help the new people by what the old ones teach, in bits."""
        if not names:
            return 0.0
        columns = [self._column(name) for name in names]
        if any(column is None for column in columns):
            return None
        _, groups = np.unique(np.array(columns), axis=1, return_inverse=True)
        return heldout_bits(self.intent, self.trained, self.shrinkage, groups)

    def _column(self, name: str) -> NDArray[np.intp] | None:
        """The value of an attribute in each row, numbered alike; None where a model lacks it."""
        numbers: dict[str, int] = {}
        column = []
        for model, rows in zip(self.models, self.rows, strict=True):
            place = next(
                (at for at, each in enumerate(model.attributes) if each.name == name), None
            )
            if place is None:
                return None
            values = model.attributes[place].values
            codes = np.array([numbers.setdefault(value, len(numbers)) for value in values])
            person = place < model.persons
            own = (
                rows.person[rows.user, place] if person else rows.request[:, place - model.persons]
            )
            column.append(codes[own])
        return np.concatenate(column)


def _level(decision: Decision) -> Level:
    figures = decision.figures
    return Level(decision.disclosed, figures.utility, figures.identifiability, figures.people_left)
