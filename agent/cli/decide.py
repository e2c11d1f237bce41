"""`reticent model decide` and `curve`: which facts a request may carry, at one trade-off or all."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any

import click
from click.core import ParameterSource
from msgspec import to_builtins

from agent.cli.ask import explanation_page
from agent.cli.options import ASKED, QUERY, Answer, answers, explain_option, option
from agent.cli.policy import note_unknown_query
from agent.cli.printing import Column, facts, numeric, page, table, wide
from agent.cli.terms import context_asked, term_options
from agent.daemon.worded import worded
from agent.decision.decide import Decision, Figures
from agent.decision.decide import decide as decide_request
from agent.decision.tradeoff_curve import Curve, Step, curve_of
from agent.errors import UsageError
from agent.words.decisions import explanation
from agent.words.figures import bits, listed, number, people
from agent.words.outcomes import WHY_NOTHING
from agent.words.titles import NONE, Titles, titled
from policy.precedence import Verdict

ROWS = 12
EVIDENCE = ("proof", "bound", "certified", "exact", "node_limit_hit", "evaluations", "violations")
CANDIDATE = ("name", "disclosed", "gain_bits", "cost_bits", "reason", "limit", "serves")
ALL = "All queries of the model, in place of one; takes seconds."
BAR = 8  # columns of the bar of the set that brings most
LEFT, RIGHT = map(numeric, ("lambda", "bits")), map(numeric, ("cost", "people"))
COLUMNS = (*LEFT, Column(""), *RIGHT, Column("mark"), wide("sent"))


def decision_record(decision: Decision, elapsed_ms: float) -> dict[str, Any]:
    """Return a decision in JSON's own types; ``elapsed_ms``: what the decision alone took."""
    figures, terms = decision.figures, decision.terms
    settings = {} if terms.ruling is None else terms.ruling.settings
    pending = None
    if decision.pending is not None:
        more = decision.pending.figures
        pending = {
            "names": [*decision.pending.names],
            "utility_bits": more.utility,
            **_fields(more, ("objective", "people_left")),
        }
    return {
        "query": decision.request.query,
        "probability": decision.reading.probability,
        "mode": decision.mode,
        **_terms_record(decision),
        "disclose": [*decision.disclosed],
        **objective_record(figures),
        **_fields(decision.evidence, EVIDENCE),
        "elapsed_ms": elapsed_ms,
        **_fields(figures, ("people", "people_left")),
        "per_attribute": [
            {**_fields(each, CANDIDATE), "because": _because(terms.verdict("disclose", each.name))}
            for each in decision.candidates
        ],
        "guarded": to_builtins(decision.guarded),
        "pending": pending,
        "because": {key: _because(verdict) for key, verdict in settings.items()},
    }


def _fields(value: object, names: Iterable[str]) -> dict[str, Any]:
    """Return fields of a value by their names, which the object has too."""
    return {name: getattr(value, name) for name in names}


def _terms_record(found: Decision | Curve) -> dict[str, Any]:
    """Return what was understood of a request, and the terms on which it was decided."""
    return {
        **_fields(found, ("matched_query", "status")),
        "algorithm": found.terms.algorithm,
        "cost": found.terms.metric,
        "lambda": found.terms.trade_off,
    }


def objective_record(figures: Figures) -> dict[str, float]:
    """Return the terms of the objective at one set."""
    return {
        "utility_bits": figures.utility,
        "identifiability": figures.identifiability,
        "identifiability_cost": float(figures.identifiability_cost),
        "guard_bits": float(figures.guard),
        "sensitivity_bits": float(figures.sensitivity),
        "objective": figures.objective,
    }


def _because(verdict: Verdict | None) -> dict[str, Any] | None:
    """Return what a policy says of one thing, the rule that decided, and those that lost."""
    if verdict is None:
        return None
    lost = [rule.name for rule in verdict.lost]
    return {"value": verdict.value, "rule": verdict.rule.name, "lost": lost}


@click.command()
@option("--query", QUERY, "TEXT", ASKED, required=True)
@click.option("--standing", is_flag=True, help="The same set for every query.")
@term_options
@explain_option
@click.pass_context
@answers
def decide(context: click.Context, /, *, explain: bool, **_terms: object) -> Answer:
    """Decide which facts a request may carry, and send nothing.

    The decision depends on the query, the terms and what the recipient knows, never on facts it
    does not know; of a profile it depends only on which facts are set.
    """
    asked = context_asked(context)
    start = perf_counter()
    decision = decide_request(asked.request, asked.terms, asked.knowledge, asked.model, asked.own)
    elapsed_ms = 1000 * (perf_counter() - start)
    note_unknown_query(asked.request.query, asked.model)
    said = worded(decision, asked.model)
    text = explanation_page(explanation(said), said.titles, explain=explain)
    return Answer(decision_record(decision, elapsed_ms), text)


def curve_record(curve: Curve) -> dict[str, Any]:
    """Return a curve in JSON's own types; ``present`` and ``knee`` are indexes of points.

    The ``objective`` of a point is that at its ``lambda_from``.
    """
    return {
        "query": curve.request.query or None,
        "mode": curve.terms.mode,
        **_terms_record(curve),
        **_fields(curve, ("present", "knee")),
        "points": [
            {
                "lambda_from": step.least,
                "lambda_to": step.most,
                "disclose": [*step.disclosed],
                **objective_record(step.figures),
                "people_left": step.figures.people_left,
                **_fields(step, ("proof", "beaten")),
            }
            for step in curve.steps
        ],
    }


def curve_text(curve: Curve, source: str = "as asked", titles: Titles = NONE) -> str:
    """Return all that there is to say about a curve, in 80 columns; less is sent further up.

    ``source``: where the present lambda is from, in words.
    """
    kept = {curve.present} if curve.knee is None else {curve.present, curve.knee}
    shown = thinned(len(curve.steps), kept)
    highest = max(each.figures.utility for each in curve.steps)
    rows, before = [], frozenset[str]()
    for index in reversed(shown):
        step = curve.steps[index]
        figures, now = step.figures, frozenset(step.disclosed)
        changes = [f"+{titles.get(each, each)}" for each in step.disclosed if each not in before]
        changes += [f"-{each}" for each in titled(sorted(before - now), titles)]
        marks = {
            "* knee": index == curve.knee,
            "> now": index == curve.present,
            "! beaten": step.beaten,
        }
        rows.append(
            (
                number(step.least),
                bits(figures.utility),
                "#" * max(0, round(BAR * figures.utility / highest) if highest > 0 else 0),
                f"{figures.identifiability_cost:.2g}",
                people(figures.people_left),
                " ".join(mark for mark, there in marks.items() if there),
                ", ".join(changes) or "nothing",
            )
        )
        before = now
    return page(_headline(curve, source, titles), table(COLUMNS, rows), facts(_notes(curve, shown)))


def thinned(count: int, kept: Collection[int], most: int = ROWS) -> list[int]:
    """Return at most so many of the first ``count`` indexes, evenly spread, in ascending order.

    ``kept``, the first and the last are among them; of equally wide gaps the first is filled first.
    """
    chosen = {*kept, 0, count - 1}
    while len(chosen) < min(most, count):
        before, after = max(pairwise(sorted(chosen)), key=lambda gap: gap[1] - gap[0])
        chosen.add((before + after) // 2)
    return sorted(chosen)


def _headline(curve: Curve, source: str, titles: Titles) -> str:
    def brings(step: Step) -> str:
        if not step.disclosed:
            return "nothing is sent"
        verb = "is" if len(step.disclosed) == 1 else "are"
        names = listed(titled(step.disclosed, titles))
        return f"{names} {verb} sent, for {bits(step.figures.utility)} bits"

    trade_off = number(curve.terms.trade_off)
    now = f"At lambda {trade_off}, {source}, {brings(curve.steps[curve.present])}."
    if curve.knee is None:
        return f"{now} The curve has no knee."
    if curve.knee == curve.present:
        return f"{now} This is the knee of the curve."
    knee = curve.steps[curve.knee]
    until = "" if knee.least == knee.most else f" to {number(knee.most)}"
    return f"{now} At its knee, at lambda {number(knee.least)}{until}, {brings(knee)}."


def _notes(curve: Curve, shown: Sequence[int]) -> Iterator[tuple[str, str]]:
    """Yield what a reader of the table has to know."""
    steps, terms = curve.steps, curve.terms
    if curve.status != "decided":
        yield "note", WHY_NOTHING[curve.status]
    if terms.ask:
        yield "note", "what would wait for you is in no set"
    of = "on average over all queries" if curve.matched_query is None else "for this query"
    yield "lambda", "the lowest at which the set is chosen; it stays up to the row above"
    prices = any(each.figures.guard or each.figures.sensitivity for each in steps)
    priced = ", before sensitivity and guards are subtracted" if prices else ""
    yield "bits", f"how much better served {of}{priced}"
    yield "cost", f"identifiability added, as {terms.metric} measures it"
    yield "people", "how many still look like you to the recipient"
    yield "sent", "facts added (+) or dropped (-), compared with the row above"
    if curve.knee is not None:
        yield "* knee", "farthest above the straight line from the cheapest set to the dearest"
    if any(each.beaten for each in steps):
        yield "! beaten", "another set has more bits at no more cost, or less cost at no fewer bits"
    if len(shown) < len(steps):
        yield "left out", f"{len(steps) - len(shown)} of {len(steps)} sets; --json has all"
    if all(each.proof == "enumerated" for each in steps):
        yield "how good", "no better set exists, at any lambda that was tried"
    else:
        hint = "--algorithm exact looks further, and takes longer"
        yield "how good", f"better sets may exist; {hint}"


@click.command()
@option("--query", QUERY, "TEXT", ASKED)
@click.option("--all", "standing", is_flag=True, help=ALL)
@term_options
@click.pass_context
@answers
def curve(
    context: click.Context,
    /,
    query: str | None,
    *,
    standing: bool,
    policy: Path | None,
    **_: object,
) -> Answer:
    """Show what would be sent as lambda varies, and where the curve bends.

    Each row is a set, with the bits that it brings and how well it would tell you apart. The
    present lambda is that of --lambda or of --policy FILE: for a recipient, or without one what it
    rules for everybody. Nothing is sent or changed.
    """
    if standing == (query is not None):
        what = "a curve is that of one query or of all"
        raise UsageError(what, "give --query TEXT, or --all in its place")
    asked = context_asked(context, average=True)
    found = curve_of(asked)
    source = "the default (--policy FILE takes that of a policy)"
    if policy is not None:
        source = "as the policy has it now"
    elif context.get_parameter_source("lambda") is ParameterSource.COMMANDLINE:
        source = "as asked"
    titles = {each.name: each.title for each in asked.model.attributes}
    return Answer(curve_record(found), curve_text(found, source, titles))
