"""Studies: what changed between two models, and what a person's answers are worth in bits.

The people of the second of two models are those that the first has not seen, if its tables are of a
later period. Queries are the same by their text, attributes and values by their name.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite, log2
from typing import Any

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from agent.decision.cache import Cache
from agent.decision.context import Context, Terms
from agent.decision.decide import decide
from agent.decision.knowledge import Knowledge
from agent.decision.values import Figures, Request
from agent.errors import UsageError
from agent.model.model import Model
from agent.model.reading import Interpretation
from agent.tradeoff.counts import heldout_bits
from agent.tradeoff.study import NEVER, fit
from agent.tradeoff.tables import Indexes

QUESTIONS = ("sensitivity", "one_of")
IMPROVEMENTS = {"25%": 1.25, "50%": 1.5, "100%": 2.0, "4x": 4.0, "never": NEVER}
MOST_DIGITS = 10  # of a number of people


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

    trade_off: float = field(name="lambda")
    models: tuple[str, str]
    promised_bits: float | None
    kept_bits: float | None
    new_queries: tuple[str, ...]
    gone_queries: tuple[str, ...]
    new_attributes: tuple[str, ...]
    gone_attributes: tuple[str, ...]
    queries: tuple[QueryChange, ...]


def compare_models(old: Model, new: Model, trade_off: float) -> Comparison:
    """Compare two models, with a decision for each query; UsageError for an invalid lambda."""
    before, after = (_best_sets(each, trade_off) for each in (old, new))
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
        trade_off=trade_off,
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


def _best_sets(model: Model, trade_off: float) -> dict[str, Figures]:
    """The best set for each query, by its text."""
    terms, cache, sets = Terms(trade_off=trade_off), Cache(), dict[str, Figures]()
    for at, each in enumerate(model.queries):
        request, reading = Request(each.text), Interpretation.exact(at)
        context = Context(request, terms, Knowledge(), model, reading=reading, cache=cache)
        sets[each.text] = decide(context, brief=True).figures
    return sets


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


class Calibration(Struct, frozen=True, kw_only=True):
    """The prices that answers imply.

    ``trade_off``: λ by the metric maxprob, None where no answer has a price; ``error_bits``: the
    root mean square of what the answers are off the line. ``one_of``, ``sensitivity``: bits wanted,
    by number of people and by attribute, None for what is never shared.
    """

    trade_off: float | None = field(name="lambda")
    error_bits: float | None
    one_of: dict[str, float | None]
    sensitivity: dict[str, float | None]


def calibrated(answers: Mapping[str, Any], model: Model) -> Calibration:
    """Fit λ to what a person wants for being one of k people, whose identifiability is 1/k.

    ``answers``: to the QUESTIONS, each one of IMPROVEMENTS, of which a factor x is log2 x bits
    (paper 7.2). UsageError, with the nearest name, for an unknown question or an invalid answer,
    and where there is no answer at all.
    """
    wanted: dict[str, dict[str, float | None]] = {each: {} for each in QUESTIONS}
    for question, table in answers.items():
        if question not in QUESTIONS:
            raise UsageError.unknown("key", question, QUESTIONS)
        if not isinstance(table, dict):
            raise UsageError(f"{question!r} is not a table", f"write it as [{question}]")
        for name, answer in table.items():
            digits = name.isascii() and name.isdecimal() and len(name) <= MOST_DIGITS
            if question == "sensitivity":
                model.index(name)
            elif not digits or name.startswith("0"):
                hint = "write a whole number from 1, without signs, as in 1000 = '25%'"
                raise UsageError(f"{name!r} is not a number of people", hint)
            if not isinstance(answer, str) or answer not in IMPROVEMENTS:
                raise UsageError.unknown("improvement", str(answer), IMPROVEMENTS)
            bits = log2(IMPROVEMENTS[answer])
            wanted[question][name] = bits if isfinite(bits) else None
    if not any(wanted.values()):
        raise UsageError("no question is answered", "answer sensitivity, one_of, or both")
    priced = {k: bits for k, bits in wanted["one_of"].items() if bits is not None}
    line = fit(np.array([1 / int(k) for k in priced]), np.array([*priced.values()]))
    trade_off, error = (None, None) if line is None else line
    return Calibration(trade_off=trade_off, error_bits=error, **wanted)
