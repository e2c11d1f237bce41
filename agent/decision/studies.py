"""Studies of models: which facts a service should ask for, and what changed between two models.

Nobody's values are needed, and no recipient's knowledge: both follow from models and lambda. Which
facts to ask for: paper 9.3, 9.5.1. The people of the second of two models are those that the first
has not seen, if its tables are of a later period. Queries are the same by their text, attributes by
their name, values by their name.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from msgspec import Struct, field, structs
from numpy.typing import NDArray

from agent.decision.cache import Cache
from agent.decision.choice import LEAST, choice_of, objective_of, uses_of
from agent.decision.context import Context, Prepared, prepare
from agent.decision.decide import decide, figures_of
from agent.decision.knowledge import Knowledge
from agent.decision.terms import Terms
from agent.decision.values import Figures, Request
from agent.model.attributes import Attribute
from agent.model.model import Model
from agent.model.reading import NOTHING, Interpretation
from agent.tradeoff.counts import heldout_bits
from agent.tradeoff.objective import DisclosureObjective
from agent.tradeoff.plan import Portfolio, Queries, Scope, plan
from agent.tradeoff.search import greedy_order
from agent.tradeoff.tables import Indexes, members, singleton, union
from agent.tradeoff.utility import HELPS_NOTHING


class Addition(Struct, frozen=True):
    """An attribute, and what asking for it adds to asking for the others that are recommended.

    ``asked``: whether it is recommended; ``gain_bits``: on the average request, of the queries that
    it helps; ``queries``: these, the most frequent first; ``identifiability_added``: to all that is
    recommended; None where there are too many combinations of values to compute it.
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
    asked: Figures
    plan: tuple[str, ...]
    standing: Figures
    everything: Figures
    attributes: tuple[Addition, ...]
    curve: tuple[Figures, ...]


def recommended(model: Model, trade_off: float) -> tuple[str, ...]:
    """Recommend the attributes to ask for, in the order of the model."""
    asked, _ = _asked(_prepared(model, trade_off))
    return tuple(model.attributes[each].name for each in members(asked.mask))


def design_of(model: Model, trade_off: float) -> Design:
    """Recommend the attributes to ask for, with reasons; UsageError for an invalid lambda."""
    prepared, weights = _prepared(model, trade_off), shares_of(model)
    (asked, planned), standing = _asked(prepared), choice_of(prepared).result
    everything, _ = _asked(_prepared(model, 0.0, prepared.context.cache), [asked.mask])
    objective, anonymity_set = objective_of(prepared, None), prepared.anonymity_set
    queries = [uses_of(at, model, prepared.context.cache) for at in range(len(weights))]

    def of_plan(portfolio: Portfolio) -> Figures:
        figures = figures_of(objective, portfolio.mask, prepared)
        helped = [each.value(use) for each, use in zip(queries, portfolio.uses, strict=True)]
        bits = float(weights @ helped)
        return structs.replace(figures, utility=bits, objective=bits - figures.cost)

    gains = np.zeros((len(weights), len(model.attributes)))
    for row, uses, use in zip(gains, queries, asked.uses, strict=True):
        level, beside = uses.value(use), uses.beside(use, prepared.free & ~use)
        for each in members(prepared.free):
            inside = use & singleton(each)
            row[each] = level - uses.value(use ^ inside) if inside else beside[each] - level
    gains[gains <= LEAST] = 0.0
    by_weight = np.argsort(-weights, kind="stable")

    def addition(at: int, attribute: Attribute) -> Addition:
        with_it, without = asked.mask | singleton(at), asked.mask & ~singleton(at)
        risk = None
        if objective.feasible(with_it):
            risk = anonymity_set.identifiability(with_it, "maxprob", 1)
            risk -= anonymity_set.identifiability(without, "maxprob", 1)
        helped = (model.queries[each].text for each in by_weight if gains[each, at] > 0)
        bits = float(weights @ gains[:, at])
        return Addition(attribute.name, with_it == asked.mask, bits, tuple(helped), risk)

    additions = (addition(at, each) for at, each in enumerate(model.attributes))
    order, _ = greedy_order(objective)
    return Design(
        model=model.id,
        digest=model.digest,
        trade_off=trade_off,
        asked=of_plan(asked),
        plan=tuple(model.attributes[each].name for each in planned.order),
        standing=figures_of(objective, standing.mask, prepared, standing.order),
        everything=of_plan(everything),
        attributes=tuple(sorted(additions, key=lambda each: -each.gain_bits)),
        curve=tuple(
            figures_of(objective, union(order[:count]), prepared, order[:count])
            for count in range(len(order) + 1)
        ),
    )


def _prepared(model: Model, trade_off: float, free: Cache | None = None) -> Prepared:
    """Prepare to choose for the average request; ``free``: at no price of any attribute."""
    sensitivity = tuple((each.name, 0.0) for each in model.attributes if free)
    terms = Terms(mode="standing", trade_off=trade_off, sensitivity=sensitivity)
    cache = free or Cache()
    return prepare(Context(Request(""), terms, Knowledge(), model, reading=NOTHING, cache=cache))


def shares_of(model: Model) -> NDArray[np.float64]:
    """Return the share of each query in all requests."""
    shares: NDArray[np.float64] = model.tables.query_weights / model.tables.query_weights.sum()
    return shares


def _asked(prepared: Prepared, starts: Sequence[int] = ()) -> tuple[Portfolio, Portfolio]:
    """Plan the attributes to ask for, by query; and return the plan that they contain.

    Planned is for a recipient that knows nothing. What changes with every request is priced like
    the rest: as if one request told all of the plan. ``starts``: sets to grow a plan from, too.
    """
    model, cache = prepared.context.model, prepared.context.cache
    standing = choice_of(prepared).result.mask
    queries = Queries([uses_of(at, model, cache) for at in range(len(model.queries))])
    weights = shares_of(model).tolist()
    prices = DisclosureObjective(HELPS_NOTHING, prepared.anonymity_set, prepared.settings)
    scope = Scope(0, prepared.free, least=LEAST)
    planned = plan(queries, weights, prices, scope, [standing, *starts])
    both = planned.mask | standing
    held = both if prices.feasible(both) else planned.mask
    return plan(queries, weights, prices, scope._replace(held=held, free=0)), planned


class QueryChange(Struct, frozen=True, kw_only=True):
    """A query of both models; a pair is before and after.

    ``best``: the best set for a recipient that knows nothing; ``share``: of all new requests;
    ``new_results``: the share of the new rows whose intent the old model lacks; ``kept_bits``: how
    much the old model's best set, by what that model learned, helps the people of the new one; None
    where that cannot be told.
    """

    query: str
    title: str
    best: tuple[Figures, Figures]
    change_bits: float
    share: float
    new_results: float
    kept_bits: float | None

    @property
    def gained(self) -> tuple[str, ...]:
        """The attributes that came into the best set."""
        return _beyond(self.best[1].names, self.best[0].names)

    @property
    def lost(self) -> tuple[str, ...]:
        """The attributes that went from the best set."""
        return _beyond(self.best[0].names, self.best[1].names)


class Comparison(Struct, frozen=True, kw_only=True):
    """What changed from one model to the next, at one trade-off.

    ``models``: their ids; ``standing``: the sets that are best if every request carries the same;
    ``promised_bits``, ``kept_bits``: how much the old model's best sets help on the average new
    request, as that model predicts it and for the people of the new one; None where no query says.
    """

    trade_off: float = field(name="lambda")
    models: tuple[str, str]
    standing: tuple[Figures, Figures]
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
    queries: tuple[QueryChange, ...]


def compare_models(old: Model, new: Model, trade_off: float) -> Comparison:
    """Compare two models, with a decision for each query; UsageError for an invalid lambda.

    Queries in order of the size of their change.
    """
    before, after = (_best_sets(each, trade_off) for each in (old, new))
    shares, places = shares_of(new), {each.text: at for at, each in enumerate(old.queries)}

    def change(at: int, text: str) -> QueryChange:
        best = before[text], after[text]
        new_results, kept = _kept((old, new), (places[text], at), best[0].names)
        return QueryChange(
            query=text,
            title=new.queries[at].title,
            best=best,
            change_bits=best[1].utility - best[0].utility,
            share=float(shares[at]),
            new_results=new_results,
            kept_bits=kept,
        )

    texts = [each.text for each in new.queries]
    changes = [change(at, text) for at, text in enumerate(texts) if text in places]
    scored = [each for each in changes if each.kept_bits is not None]
    total = sum(each.share for each in scored)

    def mean(figure: Callable[[QueryChange], float | None]) -> float | None:
        return sum((figure(e) or 0.0) * e.share for e in scored) / total if total else None

    values = [{each.name: each.values for each in model.attributes} for model in (old, new)]
    uses = [
        Counter(n for text in best for n in best[text].names if text) for best in (before, after)
    ]
    both = [name for name in values[1] if name in values[0]]
    return Comparison(
        trade_off=trade_off,
        models=(old.id, new.id),
        standing=(before[""], after[""]),
        promised_bits=mean(lambda each: each.best[0].utility),
        kept_bits=mean(lambda each: each.kept_bits),
        new_results=mean(lambda each: each.new_results) or 0.0,
        new_queries=_beyond(texts, places),
        gone_queries=_beyond(places, texts),
        new_attributes=_beyond(values[1], values[0]),
        gone_attributes=_beyond(values[0], values[1]),
        other_values=tuple(name for name in both if values[0][name] != values[1][name]),
        no_longer_help=tuple(name for name in both if uses[0][name] and not uses[1][name]),
        help_now=tuple(name for name in both if uses[1][name] and not uses[0][name]),
        queries=tuple(sorted(changes, key=lambda each: -abs(each.change_bits))),
    )


def _beyond(names: Iterable[str], others: Iterable[str]) -> tuple[str, ...]:
    """Return the names that are not among the others, in their order."""
    others = {*others}
    return tuple(name for name in names if name not in others)


def _best_sets(model: Model, trade_off: float) -> dict[str, Figures]:
    """Return the best set for each query, by its text; for all of them alike under ''."""
    terms, cache = Terms(trade_off=trade_off, unknown_queries="standing"), Cache()
    readings = {each.text: Interpretation.exact(at) for at, each in enumerate(model.queries)}
    sets = dict[str, Figures]()
    for text, reading in {"": NOTHING, **readings}.items():
        request = Request(text)
        context = Context(request, terms, Knowledge(), model, reading=reading, cache=cache)
        sets[text] = decide(context, brief=True).figures
    return sets


def _kept(
    models: tuple[Model, Model], places: tuple[int, int], names: Sequence[str]
) -> tuple[float, float | None]:
    """Test what one model says of a query on the people of another one.

    ``places``: of the query in each. Returns the share of their rows whose intent is new, and how
    much these attributes help them, in bits, by what the first model's rows teach; None where a
    model lacks one of the attributes.
    """
    pairs = [*zip(models, places, strict=True)]
    queries, rows = [m.queries[at] for m, at in pairs], [m.rows(at) for m, at in pairs]
    intent = _numbered([each.intents for each in queries], [each.intent for each in rows])
    trained = np.arange(len(intent)) < len(rows[0].intent)
    new_results = 1 - float(np.isin(intent[~trained], intent[trained]).mean())
    if not names:
        return new_results, 0.0
    if any(name not in {each.name for each in m.attributes} for m in models for name in names):
        return new_results, None
    columns = []
    for name in names:
        indexes = [model.index(name) for model in models]
        codes = [
            each.person[each.user, at] if at < m.persons else each.request[:, at - m.persons]
            for each, m, at in zip(rows, models, indexes, strict=True)
        ]
        values = [m.attributes[at].values for m, at in zip(models, indexes, strict=True)]
        columns.append(_numbered(values, codes))
    _, groups = np.unique(np.array(columns), axis=1, return_inverse=True)
    return new_results, heldout_bits(intent, trained, queries[0].shrinkage, groups)


def _numbered(names: Sequence[Sequence[str]], codes: Sequence[NDArray[Any]]) -> Indexes:
    """Join codes of several models under common numbers; ``names``: of each model's codes."""
    numbers: dict[str, int] = {}
    common = [np.array([numbers.setdefault(n, len(numbers)) for n in each]) for each in names]
    return np.concatenate([own[each] for own, each in zip(common, codes, strict=True)])
