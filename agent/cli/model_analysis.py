"""`reticent model design` and `compare`: what a service should ask for, and what has changed."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import click

from agent.cli.decide import thinned
from agent.cli.model import summary
from agent.cli.options import Output, answers, option
from agent.cli.policy import model_path
from agent.cli.printing import Column, facts, numeric, page, paragraph, table, wide
from agent.decision.choice import LEAST
from agent.decision.studies import Comparison, Design, QueryChange, compare_models, design_of
from agent.decision.terms import Terms
from agent.decision.values import Figures
from agent.model.file import read
from agent.model.model import Model
from agent.words.figures import UNKNOWN, bits, counted, listed, measured, number, people
from agent.words.titles import Titles, titled

BAR = 12  # columns of the bar of the set that helps most
LAMBDA = "Bits of help demanded per unit of identifiability."
ADDED = (wide("fact"), Column("ask"), *map(numeric, ("adds", "queries", "singles out")))
CURVE = (*map(numeric, ("facts", "bits")), Column(""), *map(numeric, ("one guess", "alike")))
CURVE = (*CURVE, wide("added"))
MEANING = (
    "adds: bits more useful on the average request, beside the other facts asked for; queries: "
    "how many of them it helps; singles out: how much it adds to the chance that one guess finds "
    "the person behind an answer with all these facts. Facts that would add less than 0.001 bits "
    "are left out."
)
EACH_MORE = (
    "Here every request carries all the facts asked for, and each row asks for one more: the one "
    "that is best for the average request. one guess: the chance that it finds the person; alike: "
    "how many people are expected to give the same answers. The bits fall where a fact divides "
    "people into groups too small to learn from."
)

SHOWN, NAMED = 12, 8  # queries, those that changed most; names in one line
MATTERS = 0.01  # bits
LESS, MORE = 0.8, 1.25  # of what was predicted: between them a promise is kept
COLUMNS = (wide("query"), *map(numeric, ("helped", "helps", "kept", "new results")), wide("facts"))
LEGEND = (
    "helped, helps: how much the best facts help, in bits, by the old model and by the new one; "
    "kept: how much the old model's best facts help the people of the new one, which tests its "
    "promises if these are other people; new results: the share of the new answers whose result "
    "the old model lacks; facts: what the best set gained (+) and lost (-)."
)


@click.command()
@click.argument("path", type=model_path, metavar="M|NAME")
@option("--lambda trade_off", float, "BITS", LAMBDA, default=Terms().trade_off)
@answers
def design(path: Path, trade_off: float) -> Output:
    """Show which facts a service should ask for, by the queries of the model M.

    What each fact adds and for how many queries, what it costs not to ask for the others, and how
    help and risk grow with the number of facts. A larger --lambda asks for less. Takes seconds.
    """
    found = read(path)
    made = design_of(found, trade_off)
    verdict, reasons = verdict_of(made, found)
    text = page(
        verdict,
        *map(paragraph, reasons),
        table(ADDED, _added(made, found)),
        paragraph(MEANING),
        table(CURVE, _curve(made, found)),
        paragraph(EACH_MORE),
    )
    return Output(made, text)


def verdict_of(made: Design, found: Model) -> tuple[str, list[str]]:
    """What to ask for, in a sentence, and the reasons, in others."""

    def level(each: Figures) -> str:
        guess = measured(each.identifiability, "maxprob")
        better = f"{bits(each.utility)} bits better"
        return f"{better}; one guess finds the person with a chance of {guess}"

    titles = {each.name: each.title for each in found.attributes}
    asked = [titles[each.name] for each in made.attributes if each.asked]
    of = f"of the {len(found.attributes)} facts that {found.id} knows"
    about = f"{summary(found)} At lambda {number(made.trade_off)}."
    if not asked:
        none = "No fact helps the average request by more than it singles people out."
        return f"Ask for none {of}.", [none, about]
    standing, others = made.standing, len(found.attributes) - len(asked)
    same = f"ask for {listed(titles[each] for each in standing.names)}, and it is {level(standing)}"
    lost = made.everything.utility - made.asked.utility
    rest = f"The other {others} would add nothing."
    if lost >= LEAST:
        free = (
            f"the {counted(len(made.everything.names), 'fact')} to ask for if privacy cost nothing"
        )
        rest = (
            f"Not asking for the other {others} costs {bits(lost)} bits a request: with {free}, it "
        )
        rest += f"is served {level(made.everything)}."
    reasons = [
        f"If a request carries those that help its query, it is served {level(made.asked)}.",
        f"If every request is to carry the same, {same if standing.names else 'ask for nothing'}.",
        rest,
        about,
    ]
    if standing.utility > made.asked.utility:
        reasons[1] += " (By query, what may be luck is subtracted; on average it is little.)"
    return f"Ask for {len(asked)} {of}: {listed(asked)}.", reasons


def _added(made: Design, found: Model) -> Iterator[tuple[str, ...]]:
    """Yield a row for each attribute that is asked for, or adds more than noise."""
    most = max(each.identifiability_added or 0.0 for each in made.attributes)
    for each in made.attributes:
        risk = each.identifiability_added
        if each.gain_bits >= LEAST or each.asked:
            yield (
                found.attributes[found.index(each.name)].title,
                "yes" if each.asked else "",
                bits(each.gain_bits),
                f"{len(each.queries)} of {len(found.queries)}",
                UNKNOWN if risk is None else measured(risk, "maxprob", most),
            )


def _curve(made: Design, found: Model) -> Iterator[tuple[str, ...]]:
    """Yield a row for each point of the curve; of many, some."""
    highest = max(each.utility for each in made.curve)
    best = next(at for at, each in enumerate(made.curve) if each.utility == highest)
    for at in thinned(len(made.curve), {*range(min(7, best + 1)), best}):
        each = made.curve[at]
        yield (
            str(at),
            bits(each.utility),
            "#" * max(0, round(BAR * each.utility / highest)) if highest > 0 else "",
            measured(each.identifiability, "maxprob"),
            people(each.people_left),
            found.attributes[found.index(each.names[-1])].title if at else "nothing",
        )


@click.command()
@click.argument("old", type=model_path, metavar="OLD")
@click.argument("new", type=model_path, metavar="NEW")
@option("--lambda trade_off", float, "BITS", LAMBDA, default=Terms().trade_off)
@answers
def compare(old: Path, new: Path, trade_off: float) -> Output:
    """Show what changed from the model OLD to the model NEW.

    Which queries and facts came and went, for which the best facts or their help changed, and what
    is best if every request carries the same. To learn whether OLD kept its promises a year later,
    build NEW from the tables of the new period alone: its people then test OLD. Queries are the
    same by their text, facts and values by their name. Makes a decision for each query.
    """
    models = [read(each) for each in (old, new)]
    found = compare_models(models[0], models[1], trade_off)
    if models[0].digest == models[1].digest:
        return Output(found, paragraph(f"{old} and {new} are the same model."))
    titles = {each.name: each.title for each in chain(*(model.attributes for model in models))}
    queries = {each.text: each.title for each in chain(*(model.queries for model in models))}
    differing = [e for e in found.queries if abs(e.change_bits) >= LEAST or e.gained or e.lost]
    rows = [
        (
            each.title,
            *(bits(level.utility) for level in each.best),
            UNKNOWN if each.kept_bits is None else bits(each.kept_bits),
            f"{100 * each.new_results:.0f} %",
            _moved(each, titles),
        )
        for each in differing[:SHOWN]
    ]
    hidden = len(differing) - len(rows)
    more = f" {hidden} more changed less; --json has them all." if hidden else ""
    matter = sum(abs(each.change_bits) >= MATTERS for each in found.queries)
    text = page(
        f"{counted(len(found.queries), 'query is', 'queries are')} in both models; {matter} "
        f"changed by {MATTERS} bits or more. {len(found.new_queries)} came and "
        f"{len(found.gone_queries)} went.",
        facts(
            [
                *(
                    (name, f"{summary(model)} {_standing(found, at, titles)}")
                    for at, (name, model) in enumerate(zip(("old", "new"), models, strict=True))
                ),
                ("promises", promises_of(found)),
                *_lists(found, titles, queries),
            ]
        ),
        table(COLUMNS, rows),
        paragraph(LEGEND + more) if rows else "",
    )
    return Output(found, text)


def promises_of(found: Comparison) -> str:
    """Say whether the old model kept its promises to the people of the new one."""
    promised, kept = found.promised_bits, found.kept_bits
    if promised is None or kept is None:
        return "No query is in both models, so there is nothing to compare."
    if not promised:
        return "The old model promised no help, so there is nothing to compare."
    verdict = (
        "The old model's facts no longer help"
        if kept <= 0
        else "The old model overestimated"
        if kept < LESS * promised
        else "The old model underestimated"
        if kept > MORE * promised
        else "The old model kept its promises"
    )
    return (
        f"{verdict}: it predicted {bits(promised)} bits per request, new people gain {bits(kept)}."
    )


def _moved(change: QueryChange, titles: Titles) -> str:
    gained = [f"+{each}" for each in titled(change.gained, titles)]
    lost = [f"-{each}" for each in titled(change.lost, titles)]
    return ", ".join([*gained, *lost]) or "unchanged"


def _standing(found: Comparison, at: int, titles: Titles) -> str:
    standing = found.standing[at]
    guess = measured(standing.identifiability, "maxprob")
    sent = listed(titled(standing.names, titles), "nothing")
    return f"Best for every request: {sent}; {bits(standing.utility)} bits, one guess: {guess}."


def _lists(found: Comparison, facts_: Titles, queries: Titles) -> Iterator[tuple[str, str]]:
    for names, title, known in (
        (found.new_queries, "new queries", queries),
        (found.gone_queries, "gone queries", queries),
        (found.new_attributes, "new facts", facts_),
        (found.gone_attributes, "gone facts", facts_),
        (found.other_values, "other values", facts_),
        (found.no_longer_help, "no longer help", facts_),
        (found.help_now, "help now", facts_),
    ):
        if names:
            yield title, listed(titled(names, known), most=NAMED)
