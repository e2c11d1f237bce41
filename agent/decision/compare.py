"""What changed from one model to the next, and whether the first kept its promises.

The people of the second model are those that the first one had not seen, if its tables are of a
later period. Queries are the same by their text, attributes by their name, values by their name.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection
from typing import NamedTuple

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from agent.decision.cache import Cache
from agent.decision.context import Context
from agent.decision.decide import decide_context
from agent.decision.design import Level
from agent.decision.request import Knowledge
from agent.decision.terms import Terms
from agent.decision.values import Decision, Request
from agent.model.model import Model
from agent.model.reading import NOTHING, Interpretation
from agent.tradeoff.counts import heldout_bits
from agent.tradeoff.tables import QueryRows

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
    changes, promised, kept = (
        list[QueryChange](),
        defaultdict[str, float](float),
        defaultdict[str, float](float),
    )
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
        changes.append(
            QueryChange(
                query=query.text,
                title=query.title,
                best=best,
                change_bits=best[1].utility_bits - best[0].utility_bits,
                prior_entropy_bits=(
                    old.queries[first].prior_entropy_bits,
                    query.prior_entropy_bits,
                ),
                heldout_bits=(old.queries[first].heldout_bits, query.heldout_bits),
                asked=(float(before.shares[first]), share),
                new_results=rows.new_results,
                kept_bits=helped,
            )
        )
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
