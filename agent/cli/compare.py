"""`reticent model compare`: what changed from one model to the next, and which promises it kept."""

from collections.abc import Iterator
from itertools import chain

import click

from agent.cli.design import LAMBDA
from agent.cli.model import model_path, summary
from agent.cli.options import Answer, answers, option
from agent.cli.printing import facts, numeric, page, paragraph, table, wide
from agent.decision.choice import LEAST
from agent.decision.compare import Comparison, QueryChange, compare_models
from agent.decision.terms import Terms
from agent.model.file import read
from agent.words.figures import UNKNOWN, bits, counted, listed, measured
from agent.words.titles import Titles, titled

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
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@option("--lambda trade_off", float, "BITS", LAMBDA, default=Terms().trade_off)
@answers
def compare(old: str, new: str, trade_off: float) -> Answer:
    """Show what changed from the model OLD to the model NEW.

    Which queries and facts came and went, for which the best facts or their help changed, and what
    is best if every request carries the same. To learn whether OLD kept its promises a year later,
    build NEW from the tables of the new period alone: its people then test OLD. Queries are the
    same by their text, facts and values by their name. Makes a decision for each query.
    """
    models = [read(model_path(each)) for each in (old, new)]
    found = compare_models(models[0], models[1], trade_off)
    if models[0].digest == models[1].digest:
        return Answer(found, paragraph(f"{old} and {new} are the same model."))
    titles = {each.name: each.title for each in chain(*(model.attributes for model in models))}
    queries = {each.text: each.title for each in chain(*(model.queries for model in models))}
    differing = [e for e in found.queries if abs(e.change_bits) >= LEAST or e.gained or e.lost]
    rows = [
        (
            each.title,
            *(bits(level.utility_bits) for level in each.best),
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
    return Answer(found, text)


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
    standing = found.models[at].standing
    guess = measured(standing.identifiability, "maxprob")
    sent = listed(titled(standing.names, titles), "nothing")
    return (
        f"Best for every request: {sent}; {bits(standing.utility_bits)} bits, one guess: {guess}."
    )


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
