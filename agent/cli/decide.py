"""`reticent model decide` and `curve`: which facts a request may carry, at one trade-off or all."""

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from time import perf_counter
from typing import Any, Unpack

import click
from click.core import ParameterSource

from agent.cli.ask import explanation_page
from agent.cli.options import ASKED, QUERY, check_asked, explain_option, json_option, record
from agent.cli.printing import Column, facts, paragraph, strong, table
from agent.cli.terms import DecideOptions, knowledge_of, own_asked, term_options, terms_asked
from agent.daemon.worded import worded
from agent.decision.context import Context
from agent.decision.decide import Candidate, Decision, Figures
from agent.decision.decide import decide as decide_request
from agent.decision.request import Request
from agent.decision.tradeoff_curve import Curve, Step, curve_of
from agent.errors import UsageError
from agent.model.model import Model
from agent.words.decisions import headline, lines
from agent.words.figures import bits, listed, number, people
from agent.words.outcomes import WHY_NOTHING
from policy.precedence import Verdict

ROWS = 12
BAR = 8  # columns of the bar of the set that brings most
COLUMNS = (
    Column("lambda", right=True),
    Column("bits", right=True),
    Column(""),
    Column("cost", right=True),
    Column("people", right=True),
    Column("mark"),
    Column("leaves", wraps=True),
)


def decision_record(decision: Decision, elapsed_ms: float) -> dict[str, Any]:
    """Return a decision in JSON's own types; ``elapsed_ms``: what the decision alone took."""
    figures, evidence, terms = decision.figures, decision.evidence, decision.terms
    return {
        "query": decision.request.query,
        "matched_query": decision.matched_query,
        "status": decision.status,
        "mode": decision.mode,
        "algorithm": terms.algorithm,
        "cost": figures.metric,
        "lambda": terms.trade_off,
        "disclose": [*decision.disclosed],
        **objective_record(figures),
        "proof": evidence.proof,
        "bound": evidence.bound,
        "certified": evidence.certified,
        "exact": evidence.exact,
        "node_limit_hit": evidence.node_limit_hit,
        "evaluations": evidence.evaluations,
        "violations": evidence.violations,
        "elapsed_ms": elapsed_ms,
        "people": figures.people,
        "people_left": figures.people_left,
        "per_attribute": [_attribute(each, decision) for each in decision.candidates],
        "guarded": [
            {"name": each.name, "bits": each.bits, "best_guess": each.best_guess}
            for each in decision.guarded
        ],
        "pending": _pending(decision),
        "because": _settings(decision),
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


def _attribute(candidate: Candidate, decision: Decision) -> dict[str, Any]:
    return {
        "name": candidate.name,
        "disclosed": candidate.disclosed,
        "gain_bits": candidate.gain_bits,
        "cost_bits": candidate.cost_bits,
        "reason": candidate.reason,
        "because": _because(decision.terms.verdict("disclose", candidate.name)),
        "limit": candidate.limit,
        "serves": [*candidate.serves],
    }


def _pending(decision: Decision) -> dict[str, Any] | None:
    """Return what waits for the user, and the figures with all of it."""
    if decision.pending is None:
        return None
    figures = decision.pending.figures
    return {
        "names": [*decision.pending.names],
        "utility_bits": figures.utility,
        "objective": figures.objective,
        "people_left": figures.people_left,
    }


def _settings(decision: Decision) -> dict[str, Any]:
    """Return the rule behind each setting of the request; empty without a policy."""
    ruling = decision.terms.ruling
    return {} if ruling is None else {k: _because(v) for k, v in ruling.settings.items()}


def _because(verdict: Verdict | None) -> dict[str, Any] | None:
    """Return what a policy says of one thing, the rule that decided, and those that lost."""
    if verdict is None:
        return None
    lost = [rule.name for rule in verdict.lost]
    return {"value": verdict.value, "rule": verdict.rule.name, "lost": lost}


def decision_text(decision: Decision, model: Model, *, explain: bool = True) -> str:
    """Return all that there is to say about a decision, the verdict on top."""
    said = worded(decision, model)
    first = [*said.disclosed, *said.pending]
    shown = lines(said)
    return explanation_page(
        headline(said), said.outcomes, first, shown, said.titles, explain=explain
    )


@click.command()
@click.option("--query", type=QUERY, required=True, metavar="TEXT", help=ASKED)
@click.option("--standing", is_flag=True, help="The same set for every query.")
@term_options
@explain_option
@json_option
@click.pass_context
def decide(context: click.Context, /, *, explain: bool, **options: Unpack[DecideOptions]) -> None:
    """Decide which few facts a request may carry.

    Enough to be served well, too little to be recognised. The decision depends on the query, the
    terms and what the recipient holds, never on values it does not; of a profile that is given
    only which attributes it sets.
    """
    check_asked(options["query"])
    model, terms = terms_asked(context, options)
    knowledge = knowledge_of(options["know"], model)
    request = Request(options["query"], options["recipient"] or "")
    own = own_asked(options, terms, model)
    start = perf_counter()
    decision = decide_request(request, terms, knowledge, model, own)
    elapsed_ms = 1000 * (perf_counter() - start)
    if options["as_json"]:
        click.echo(record(decision_record(decision, elapsed_ms)))
    else:
        click.echo(decision_text(decision, model, explain=explain))


def curve_record(curve: Curve) -> dict[str, Any]:
    """Return a curve in JSON's own types; ``present`` and ``knee`` are indexes of points."""
    return {
        "query": curve.request.query or None,
        "matched_query": curve.matched_query,
        "status": curve.status,
        "mode": curve.terms.mode,
        "algorithm": curve.terms.algorithm,
        "cost": curve.terms.metric,
        "lambda": curve.terms.trade_off,
        "present": curve.present,
        "knee": curve.knee,
        "points": [_point(each) for each in curve.steps],
    }


def _point(step: Step) -> dict[str, Any]:
    """Return one set; ``objective`` is that at ``lambda_from``."""
    figures = step.figures
    return {
        "lambda_from": step.least,
        "lambda_to": step.most,
        "disclose": [*step.disclosed],
        **objective_record(figures),
        "people_left": figures.people_left,
        "proof": step.proof,
        "beaten": step.beaten,
    }


def curve_text(curve: Curve, source: str = "as asked") -> str:
    """Return all that there is to say about a curve, in 80 columns; less leaves further up.

    ``source``: where the present lambda is from, in words.
    """
    shown = thinned(len(curve.steps), _marked(curve))
    rows = _rows(curve, shown[::-1])
    parts = (
        strong(paragraph(_headline(curve, source))),
        table(COLUMNS, rows),
        facts(_notes(curve, shown)),
    )
    return "\n\n".join(parts)


def thinned(count: int, kept: Collection[int], most: int = ROWS) -> list[int]:
    """Return at most so many of the first ``count`` indexes, evenly spread, in ascending order.

    ``kept``, the first and the last are among them; of equally wide gaps the first is filled first.
    """
    chosen = {*kept, 0, count - 1}
    while len(chosen) < min(most, count):
        before, after = max(pairwise(sorted(chosen)), key=lambda gap: gap[1] - gap[0])
        chosen.add((before + after) // 2)
    return sorted(chosen)


def _marked(curve: Curve) -> set[int]:
    return {curve.present} if curve.knee is None else {curve.present, curve.knee}


def _headline(curve: Curve, source: str) -> str:
    present = number(curve.terms.trade_off)
    now = f"At lambda {present}, {source}, {_brings(curve, curve.present)}."
    if curve.knee is None:
        return f"{now} The curve has no knee."
    if curve.knee == curve.present:
        return f"{now} This is the knee of the curve."
    knee = curve.steps[curve.knee]
    where = f"lambda {number(knee.least)}"
    where += "" if knee.least == knee.most else f" to {number(knee.most)}"
    return f"{now} The knee of the curve is at {where}: there {_brings(curve, curve.knee)}."


def _brings(curve: Curve, index: int) -> str:
    step = curve.steps[index]
    if not step.disclosed:
        return "nothing leaves"
    leave = "leaves" if len(step.disclosed) == 1 else "leave"
    return f"{listed(step.disclosed)} {leave}, for {bits(step.figures.utility)} bits"


def _rows(curve: Curve, shown: Sequence[int]) -> list[tuple[str, ...]]:
    """Return a row for each index, each with what it changes about the one before."""
    highest = max(each.figures.utility for each in curve.steps)
    rows: list[tuple[str, ...]] = []
    before = frozenset[str]()
    for index in shown:
        step = curve.steps[index]
        figures = step.figures
        length = round(BAR * figures.utility / highest) if highest > 0 else 0
        rows.append(
            (
                number(step.least),
                bits(figures.utility),
                "#" * max(0, length),
                f"{figures.identifiability_cost:.2g}",
                people(figures.people_left),
                _mark(curve, index),
                _change(before, step),
            )
        )
        before = frozenset(step.disclosed)
    return rows


def _mark(curve: Curve, index: int) -> str:
    marks = [
        "* knee" if index == curve.knee else "",
        "> now" if index == curve.present else "",
        "! beaten" if curve.steps[index].beaten else "",
    ]
    return " ".join(filter(None, marks))


def _change(before: frozenset[str], step: Step) -> str:
    new = [f"+{name}" for name in step.disclosed if name not in before]
    gone = [f"-{name}" for name in sorted(before.difference(step.disclosed))]
    return " ".join((*new, *gone)) or "nothing"


def _notes(curve: Curve, shown: Sequence[int]) -> Iterator[tuple[str, str]]:
    """Yield what has to be known to read the table."""
    steps, terms = curve.steps, curve.terms
    if curve.status != "decided":
        yield "note", WHY_NOTHING[curve.status]
    if terms.ask:
        yield "note", "what would wait for you is in no set"
    of = "on average over all queries" if curve.matched_query is None else "for this query"
    yield "lambda", "the least at which the set is chosen; it stays up to the row above"
    prices = any(each.figures.guard or each.figures.sensitivity for each in steps)
    priced = ", before sensitivity and guards are taken off" if prices else ""
    yield "bits", f"how much better served {of}{priced}"
    yield "cost", f"identifiability added, as {terms.metric} measures it"
    yield "people", f"who still look like you, of {people(steps[0].figures.people)}"
    yield "leaves", "what comes (+) or goes (-), compared with the row above"
    if curve.knee is not None:
        yield "* knee", "farthest above the straight line from the cheapest set to the dearest"
    if any(each.beaten for each in steps):
        yield (
            "! beaten",
            "another set of the curve is better in one of bits and cost, worse in none",
        )
    if len(shown) < len(steps):
        yield "left out", f"{len(steps) - len(shown)} of {len(steps)} sets; --json has all"
    yield "proven", _proven(steps)


def _proven(steps: Sequence[Step]) -> str:
    if all(each.proof == "enumerated" for each in steps):
        return "no better set exists, at any lambda that was tried"
    return "not that these sets are the best; --algorithm exact looks further, and takes longer"


@click.command()
@click.option("--query", type=QUERY, default="", metavar="TEXT", help=ASKED)
@click.option(
    "--all",
    "standing",
    is_flag=True,
    help="All queries of the model, in place of one; takes seconds.",
)
@term_options
@json_option
@click.pass_context
def curve(context: click.Context, /, **options: Unpack[DecideOptions]) -> None:
    """Show what would leave as lambda varies, and where the curve bends.

    A row for each set, with the bits that it brings and how well it would tell you apart. The
    present lambda is that of --lambda or of --policy FILE: for a recipient, or without one what it
    rules for everybody. Nothing is sent, and nothing changed.
    """
    if options["standing"] == bool(options["query"].strip()):
        what = "a curve is that of one query or of all"
        raise UsageError(what, "give --query TEXT, or --all in its place")
    if not options["standing"]:
        check_asked(options["query"])
    model, terms = terms_asked(context, options, average=True)
    knowledge = knowledge_of(options["know"], model)
    request = Request(options["query"], options["recipient"] or "")
    found = curve_of(Context(request, terms, knowledge, model, own_asked(options, terms, model)))
    text = curve_text(found, _source(context, options))
    click.echo(record(curve_record(found)) if options["as_json"] else text)


def _source(context: click.Context, options: DecideOptions) -> str:
    """Return where the present lambda is from: no policy is read that is not named."""
    if options["policy"] is not None:
        return "as the policy has it now"
    given = context.get_parameter_source("trade_off") is ParameterSource.COMMANDLINE
    return "as asked" if given else "the default (--policy FILE takes that of a policy)"
