"""`reticent model decide` and `curve`: which facts a request may carry, at one trade-off or all."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import click

from agent.cli import options
from agent.cli import policy as shared
from agent.cli.ask import decision_page
from agent.cli.options import option, together
from agent.cli.policy import model_path, read_model, read_policy
from agent.cli.printing import page, texts
from agent.decision.context import Context, Terms, rulebook, terms_under
from agent.decision.decide import decide as decision_of
from agent.decision.knowledge import Knowledge
from agent.decision.topics import topics_of
from agent.decision.values import Curve, Request
from agent.decision.what_if import curve_of
from agent.errors import UsageError
from agent.model.file import SHIPPED, shipped_model
from agent.model.model import Model
from agent.words.figures import bits, demand, listed, people, price
from agent.words.layout import Column, facts, numeric, table, wide
from agent.words.titles import NONE, WHY_NOTHING, Titles, titled
from policy import read as policies
from policy.amend import value_of
from policy.hosts import ANYBODY
from policy.match import PER_ATTRIBUTE, Rulebook, Ruling, Verdict
from policy.rules import Layer, Policy, Rule
from policy.settings import Value

SOURCE = "--set"
EVERY = "By default all queries, which takes seconds."
OPEN = 'preset = "none"'  # the policy of whoever names none
MODEL = "The model. By default all that come with reticent, as one."
TEXTS = texts("decide")
ROWS = 12
COLUMNS = (*map(numeric, ("price", "bits", "cost", "people")), Column("mark"), wide("sent"))


term_options = together(  # that say on which terms a request is decided
    option("--model", model_path, "M|NAME", MODEL),
    option("--policy", options.PATH, "FILE", "A policy that sets the terms."),
    option("--recipient", str, "RECIPIENT", "Who receives it; a policy's rules need it."),
    option("--know", options.pair, "FACT=VALUE", TEXTS["know"], multiple=True),
    option("--set settings", options.pair, "KEY=VALUE", TEXTS["set"], multiple=True),
)


def context_of(
    query: str | None,
    *,
    model: Path | None,
    policy: Path | None,
    recipient: str | None,
    know: Sequence[tuple[str, str]],
    settings: Sequence[tuple[str, str]],
    anybody: bool = False,
) -> Context:
    """Gather a request and all that decides about it; ``query``: None for all queries on average.

    ``anybody``: without a recipient a policy's rules for everybody hold.
    UsageError where a setting or a value cannot be; PolicyError for a policy that is wrong,
    SignatureError for a model whose maker it does not trust.
    """
    if recipient is None and policy is not None and not anybody:
        hint = "name the recipient with --recipient, as in books.example"
        raise UsageError("a policy depends on the recipient", hint)
    if recipient is not None and policy is None:
        raise UsageError("--recipient needs --policy", "only the rules of a policy depend on it")
    rules = policies.read(OPEN, SOURCE, policies.preset) if policy is None else read_policy(policy)
    own, values = dict(settings), dict(know)
    if model is None and "population" in own:
        model = model_path(own["population"])
    whom = ANYBODY if recipient is None else shared.member_of(rules, recipient)
    request = whom, query or "", options.now()
    chosen = _model(rules, request, model)
    shared.noted(rules, models := shared.with_others(chosen))
    if policy is not None:
        shared.check_policy(rules, models)
    topics = topics_of(rules, models, Model.read, request[1])
    ruling = rulebook(rules, chosen, models).match(*request, topics, "cli")
    one_each = frozenset(each.name for each in chosen.attributes if not each.further)
    terms = replace(_with_settings(ruling, own, chosen), available=one_each)
    if query is None:
        terms = replace(terms, mode="standing")
    attributes = {name: chosen.attributes[chosen.index(name)] for name in sorted(values)}
    codes = tuple((name, each.code(values[name])) for name, each in attributes.items())
    return Context(Request(query or "", recipient or ""), terms, Knowledge(codes), chosen)


def _model(rules: Policy, request: tuple[str, str, Any], path: Path | None) -> Model:
    """Read the model of a file or that a policy asks for, by default the world of the shipped."""
    if path is not None:
        return read_model(path, rules.trusted_keys)
    verdict = Rulebook(rules, {}).match(*request).settings.get("population")
    if verdict is not None and verdict.value not in SHIPPED:
        what = f"{verdict.rule.name!r} asks for the model {verdict.value!r}"
        raise UsageError(what, "name its file with --model")
    return read_model(None if verdict is None else shipped_model(str(verdict.value)))


def _with_settings(ruling: Ruling, settings: Mapping[str, str], model: Model) -> Terms:
    """Turn a ruling into terms, in which these settings override what any rule says."""
    every, whole = dict[str, Value](), dict[str, Value]()  # of each attribute, of the request
    own: dict[str, dict[str, Value]] = {}  # by attribute
    for key, text in settings.items():
        name, dot, rest = key.rpartition(".")
        if dot and rest not in PER_ATTRIBUTE:
            raise UsageError.unknown("setting of a fact", rest, PER_ATTRIBUTE)
        if dot:
            attribute = model.attributes[model.index(name)].name
            own.setdefault(attribute, {})[rest] = value_of(rest, text)
        else:
            (every if key in PER_ATTRIBUTE else whole)[key] = value_of(key, text)

    def verdicts(values: Mapping[str, Value]) -> dict[str, Verdict]:
        rule = Rule(SOURCE, values, Layer.FILE, SOURCE)
        return {key: Verdict(value, rule) for key, value in values.items()}

    attributes = {
        name: {**ruled, **verdicts({**every, **own.get(name, {})})}
        for name, ruled in ruling.attributes.items()
    }
    ruled = replace(ruling, settings={**ruling.settings, **verdicts(whole)}, attributes=attributes)
    try:
        return terms_under(ruled, model)
    except UsageError as error:
        raise UsageError(error.what, error.hint, SOURCE) from None


@click.command()
@option("--query", options.QUERY, "TEXT", options.ASKED, required=True)
@term_options
@options.explain_option
@options.all_option
@options.answers
def decide(query: str, *, explain: bool, every: bool, **terms: Any) -> options.Output:  # noqa: ANN401  (of the options)
    """Decide which facts a request may carry, and send nothing.

    The decision depends on the query, the terms and what the recipient knows, never on facts it
    does not know.
    """
    context = context_of(query, **terms)
    shared.note_unknown_query(query, context.model)
    decision = decision_of(context)
    return options.Output(decision, decision_page(decision, explain=explain, every=every))


def curve_text(curve: Curve, titles: Titles = NONE) -> str:
    """Lay out a curve in 80 columns; less is sent further up."""
    required = {curve.present} if curve.knee is None else {curve.present, curve.knee}
    shown = thinned(len(curve.points), required)
    rows, before = [], frozenset[str]()
    for index in reversed(shown):
        point = curve.points[index]
        figures, now = point.figures, frozenset(point.figures.names)
        changes = [f"+{titles.get(each, each)}" for each in figures.names if each not in before]
        changes += [f"-{each}" for each in titled(sorted(before - now), titles)]
        marks = {
            "* knee": index == curve.knee,
            "> now": index == curve.present,
            "! beaten": point.beaten,
        }
        rows.append(
            (
                price(point.least, curve.metric),
                bits(figures.utility),
                f"{figures.identifiability_cost:.2g}",
                people(figures.people_left),
                " ".join(mark for mark, there in marks.items() if there),
                ", ".join(changes) or "nothing",
            )
        )
        before = now
    return page(_headline(curve, titles), table(COLUMNS, rows), facts(_notes(curve, shown)))


def thinned(count: int, required: Collection[int], most: int = ROWS) -> list[int]:
    """Choose at most so many of the first ``count`` indexes, evenly spread, in ascending order.

    ``required``, the first and the last are among them; of equally wide gaps the first is filled.
    """
    chosen = {*required, 0, count - 1}
    while len(chosen) < min(most, count):
        before, after = max(pairwise(sorted(chosen)), key=lambda gap: gap[1] - gap[0])
        chosen.add((before + after) // 2)
    return sorted(chosen)


def _headline(curve: Curve, titles: Titles) -> str:
    point = curve.points[curve.present].figures
    names = listed(titled(point.names, titles))
    at = f"At a price of {price(curve.trade_off, curve.metric)},"
    if not names:
        return f"{at} nothing is sent."
    verb = "is" if len(point.names) == 1 else "are"
    return f"{at} {names} {verb} sent, for {bits(point.utility)} bits."


def _notes(curve: Curve, shown: Sequence[int]) -> Iterator[tuple[str, str]]:
    """Yield what a reader of the table has to know."""
    points = curve.points
    if curve.code != "answered":
        yield "note", WHY_NOTHING[curve.code]
    if curve.asks:
        yield "note", "facts that would wait for you are in no set"
    what = "on average over all queries" if curve.read_as is None else "for this query"
    yield "price", "the lowest at which the set is chosen; it stays up to the row above"
    yield "> now", demand(curve.trade_off, curve.metric)
    yield "bits", f"how much more useful the answer is {what}, before prices are subtracted"
    yield "cost", f"identifiability added, as {curve.metric} measures it"
    yield "people", "how many still look like you to the recipient"
    yield "sent", "facts added (+) or dropped (-), compared with the row above"
    yield "* knee", "farthest above the straight line from the cheapest set to the dearest"
    if any(each.beaten for each in points):
        yield "! beaten", "another set has more bits at no more cost, or less cost at no fewer bits"
    if len(shown) < len(points):
        yield "left out", f"{len(points) - len(shown)} of {len(points)} sets; --json has all"
    exact = all(each.proof == "enumerated" for each in points)
    best = "no better set exists, at any price that was tried"
    yield "how good", best if exact else "better sets may exist, that the search did not find"


@click.command()
@option("--query", options.QUERY, "TEXT", f"{options.ASKED} {EVERY}")
@term_options
@options.answers
def curve(query: str | None, **terms: Any) -> options.Output:  # noqa: ANN401  (of the options)
    """Show what would be sent as the price of anonymity varies, and where the curve bends.

    Each row is a set, with the bits that it brings and how well it would tell you apart. The
    present price is that of --set anonymity_price=BITS, or of --policy FILE: for a recipient, or
    without one what it rules for everybody. Nothing is sent or changed.
    """
    context = context_of(query, **terms, anybody=True)
    result = curve_of(context)
    return options.Output(result, curve_text(result, context.model.titles))
