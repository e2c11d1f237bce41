"""What another set, another lambda or another model would bring and cost. Pure.

`weigh` and `curve_of` tell a person what to expect before they decide about an attribute; like the
decision, they look at no value that was not disclosed (DESIGN.md 2.6). `compare_models` compares
two models for whoever installs them, and no person's values.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from agent.decision.choice import choice_of, objective_of
from agent.decision.context import Context, mask_of, prepare
from agent.decision.decide import accounted, added_by, figures_of, read_by
from agent.decision.engine import Engine
from agent.decision.values import Curve, CurvePoint, Decision, Figures, Outcome, SetComparison
from agent.errors import UsageError
from agent.model.model import Model
from agent.tradeoff import tradeoff_curve as tradeoff
from agent.tradeoff.anonymity_set import COMBINATIONS
from agent.tradeoff.counts import heldout_bits
from agent.tradeoff.objective import DisclosureObjective
from agent.tradeoff.tables import Indexes
from agent.tradeoff.utility import HELPS_NOTHING


def weigh(
    decision: Decision,
    context: Context,
    *,
    add: Collection[str] = (),
    drop: Collection[str] = (),
    base: Collection[str] | None = None,
) -> SetComparison:
    """Compare another set with that of a decision, and each attribute with the rest of the set.

    ``context``: of the decision, with all that it excludes; ``base``: what is added to and dropped
    from, None for what is decided. Attributes that may not be sent are weighed too; their figures
    are None where there are too many combinations, and ``gain_bits`` where the query is not known.
    UsageError for a name that is absent or both added and dropped, and for too many combinations.
    """
    if both := sorted({*add} & {*drop}):
        raise UsageError(f"{both[0]!r} is both added and dropped", "name it once")
    model, terms, prepared = context.model, context.terms, prepare(context)
    reading, anonymity_set = prepared.reading, prepared.anonymity_set
    before = mask_of(decision.disclosed if base is None else base, model)
    mask = (before | mask_of(add, model)) & ~mask_of(drop, model)
    if max(map(anonymity_set.combinations, (before, mask))) > COMBINATIONS:
        what = "the set has too many attributes that change with every request"
        raise UsageError(what, "add fewer of them, or drop some")
    informed = reading.query is not None or terms.unknown_queries == "standing"
    average = terms.mode == "standing" or reading.query is None
    if informed:
        objective = objective_of(prepared, None if average else reading)
    else:
        objective = DisclosureObjective(HELPS_NOTHING, anonymity_set, prepared.settings)
    objective.extensions(mask, ())
    new, sets = ~anonymity_set.disclosed if context.stopped else 0, (before, mask)
    broken = ["protect" if each & new else objective.broken(each) for each in sets]
    chosen, changed = (
        structs.replace(figures_of(objective, each, prepared), breaks=limit)
        for each, limit in zip(sets, broken, strict=True)
    )
    decided, rows = {each.name: each for each in decision.outcomes}, list[Outcome]()
    for index in accounted(prepared):
        attribute, own, gain, cost = model.attributes[index], 1 << index, None, None
        if anonymity_set.combinations(mask | own) <= COMBINATIONS:
            gain, cost = added_by(own, mask, objective)
        outcome = decided.get(attribute.name) or Outcome(
            name=attribute.name,
            title=attribute.title,
            disclosed=False,
            reason=decision.code,
            disclose=terms.disclose(attribute.name),
        )
        rows.append(
            structs.replace(
                outcome,
                disclosed=bool(mask & own),
                held=bool(anonymity_set.disclosed & own),
                gain_bits=gain if informed else None,
                cost_bits=cost,
                people_left=min(float(chosen.people), anonymity_set.people_left(mask | own)),
            )
        )
    return SetComparison(chosen=chosen, changed=changed, outcomes=tuple(rows), informed=informed)


def curve_of(context: Context) -> Curve:
    """Decide at each lambda of a grid that has that of the terms.

    In standing mode it is a curve of all queries, whatever the request's is. What waits for the
    user is not in it. UsageError where ``decide`` raises it, and where it would look for no set.
    """
    terms, reading = context.terms, context.meaning
    if terms.nothing:
        hint = "ask about another recipient or query, or change the rule"
        raise UsageError("the policy lets nothing leave with this request", hint)
    if reading.query is None and terms.mode != "standing" and terms.unknown_queries == "nothing":
        hint = "ask about one that it knows, or without a query about all of them"
        raise UsageError("the model does not know this query", hint)
    figures: dict[float, Figures] = {}
    chosen: list[tradeoff.Point] = []
    for each in tradeoff.grid(terms.trade_off):
        prepared = prepare(replace(context, terms=replace(terms, trade_off=each)))
        choice = choice_of(prepared)
        mask, objective = choice.result.mask, choice.objective
        figures[each] = figures_of(objective, mask, prepared)
        point = tradeoff.Point(each, each, mask, objective.parts(mask), choice.result.proof)
        chosen.append(point)
    points = tradeoff.merged(chosen)
    return Curve(
        code=prepared.code,
        read_as=None if terms.mode == "standing" else read_by(reading, context.model),
        metric=terms.metric,
        trade_off=terms.trade_off,
        asks=bool(terms.ask),
        points=tuple(
            CurvePoint(
                least=each.least,
                most=each.most,
                figures=figures[each.least],
                proof=each.proof,
                beaten=out,
            )
            for each, out in zip(points, tradeoff.beaten(points), strict=True)
        ),
        present=next(at for at, each in enumerate(points) if terms.trade_off <= each.most),
        knee=tradeoff.knee(points),
    )


class QueryChange(Struct, frozen=True, kw_only=True):
    """A query of both models.

    ``old``, ``new``: the best set for a recipient that knows nothing; ``share``: of all new
    requests; ``new_results``: the share of the new rows whose intent the old model lacks;
    ``kept_bits``: how much the old set, by what the old model learned, helps the people of the new
    one; None where that cannot be told.
    """

    query: str
    title: str
    old: Figures
    new: Figures
    share: float
    new_results: float
    kept_bits: float | None

    @property
    def change_bits(self) -> float:
        """How much more the best set helps by now."""
        return self.new.utility - self.old.utility


class Comparison(Struct, frozen=True, kw_only=True):
    """What changed from one model to the next, at one trade-off; names that came and went.

    ``promised_bits``, ``kept_bits``: how much the old model's best sets help on the average new
    request, as that model predicts it and for the people of the new one; None where no query says.
    ``queries``: those that changed most first.
    """

    anonymity_price: float
    models: tuple[str, str]
    promised_bits: float | None
    kept_bits: float | None
    new_queries: tuple[str, ...]
    gone_queries: tuple[str, ...]
    new_attributes: tuple[str, ...]
    gone_attributes: tuple[str, ...]
    queries: tuple[QueryChange, ...]


def compare_models(old: Model, new: Model, price: float) -> Comparison:
    """Compare two models, with a decision for each query; UsageError for an invalid price.

    ``price``: of anonymity, in bits.

    The people of the second are people that the first has not seen, if its tables are of a later
    period. Queries are the same by their text, attributes and values by their name.
    """
    before, after = (_best_sets(each, price) for each in (old, new))
    names = [[each.name for each in model.attributes] for model in (old, new)]
    shares = new.tables.query_weights / new.tables.query_weights.sum()
    changes = []
    for at, query in enumerate(new.queries):
        if query.text in before:
            best = before[query.text]
            place = [*before].index(query.text)
            new_results, kept_bits = _kept_bits((old, new), (place, at), best.names)
            changes.append(
                QueryChange(
                    query=query.text,
                    title=query.title,
                    old=best,
                    new=after[query.text],
                    share=float(shares[at]),
                    new_results=new_results,
                    kept_bits=kept_bits,
                )
            )
    scored = [(e.share, e.old.utility, e.kept_bits) for e in changes if e.kept_bits is not None]
    total = sum(share for share, _, _ in scored)
    return Comparison(
        anonymity_price=price,
        models=(old.id, new.id),
        promised_bits=sum(s * bits for s, bits, _ in scored) / total if total else None,
        kept_bits=sum(s * bits for s, _, bits in scored) / total if total else None,
        new_queries=_beyond(after, before),
        gone_queries=_beyond(before, after),
        new_attributes=_beyond(names[1], names[0]),
        gone_attributes=_beyond(names[0], names[1]),
        queries=tuple(sorted(changes, key=lambda each: -abs(each.change_bits))),
    )


def _beyond(names: Iterable[str], others: Iterable[str]) -> tuple[str, ...]:
    """The names that are not among the others, in their order."""
    others = {*others}
    return tuple(name for name in names if name not in others)


def _best_sets(model: Model, price: float) -> dict[str, Figures]:
    """The best set for each query, by its text."""
    engine, texts = Engine([model]), [each.text for each in model.queries]
    return {text: engine.decide(text, anonymity_price=price).figures for text in texts}


def _kept_bits(
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
