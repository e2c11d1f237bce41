"""`reticent model compare`: what has changed, and whether promises were kept."""

from pathlib import Path

import click

from agent.cli.model import summary
from agent.cli.options import Output, answers, option
from agent.cli.policy import model_path
from agent.cli.printing import facts, numeric, page, paragraph, table, wide
from agent.decision.context import PRICE
from agent.decision.what_if import Comparison, QueryChange, compare_models
from agent.model.file import read
from agent.words.figures import UNKNOWN, bits, counted, listed
from agent.words.titles import Titles, titled

BITS = "Bits of help that leaving only 1,000 people like you must bring."
SHOWN, NAMED = 12, 8  # queries, those that changed most; names in one line
MATTERS = 0.01  # bits
NOISE = 0.001  # bits, from which on a change is shown
LESS, MORE = 0.8, 1.25  # of what was predicted: between them a promise is kept
COLUMNS = (wide("query"), *map(numeric, ("helped", "helps", "kept", "new results")), wide("facts"))
LEGEND = (
    "helped, helps: how much the best facts help, in bits, by the old model and by the new one; "
    "kept: how much the old model's best facts help the people of the new one, which tests its "
    "promises if these are other people; new results: the share of the new answers whose result "
    "the old model lacks; facts: what the best set gained (+) and lost (-)."
)


@click.command()
@click.argument("old", type=model_path, metavar="OLD")
@click.argument("new", type=model_path, metavar="NEW")
@option("--anonymity-price price", click.FloatRange(min=0), "BITS", BITS, default=PRICE)
@answers
def compare(old: Path, new: Path, price: float) -> Output:
    """Show what changed from the model OLD to the model NEW.

    Which queries and facts came and went, and for which queries the best facts or their help
    changed. To learn whether OLD kept its promises a year later, build NEW from the tables of the
    new period alone: its people then test OLD. Queries are the same by their text, facts and values
    by their name. Makes a decision for each query.
    """
    models = [read(each) for each in (old, new)]
    comparison = compare_models(models[0], models[1], price)
    titles = {each.name: each.title for model in models for each in model.attributes}
    queries = {each.text: each.title for model in models for each in model.queries}
    every = comparison.queries
    moved = [e for e in every if e.old.names != e.new.names or abs(e.change_bits) >= NOISE]
    rows = [
        (
            each.title,
            bits(each.old.utility),
            bits(each.new.utility),
            UNKNOWN if each.kept_bits is None else bits(each.kept_bits),
            f"{100 * each.new_results:.0f} %",
            _moved(each, titles),
        )
        for each in moved[:SHOWN]
    ]
    matter = sum(abs(each.change_bits) >= MATTERS for each in every)
    named = (
        ("new queries", comparison.new_queries, queries),
        ("gone queries", comparison.gone_queries, queries),
        ("new facts", comparison.new_attributes, titles),
        ("gone facts", comparison.gone_attributes, titles),
    )
    about = [(what, summary(each)) for what, each in zip(("old", "new"), models, strict=True)]
    about.append(("promises", promises_of(comparison)))
    about += [(what, listed(titled(some, of), most=NAMED)) for what, some, of in named if some]
    text = page(
        f"{counted(len(every), 'query is', 'queries are')} in both models; {matter} changed by "
        f"{MATTERS} bits or more.",
        facts(about),
        table(COLUMNS, rows),
        paragraph(LEGEND) if rows else "",
    )
    return Output(comparison, text)


def _moved(change: QueryChange, titles: Titles) -> str:
    old, new = change.old.names, change.new.names
    gained = [f"+{each}" for each in titled([each for each in new if each not in old], titles)]
    lost = [f"-{each}" for each in titled([each for each in old if each not in new], titles)]
    return ", ".join([*gained, *lost]) or "unchanged"


def promises_of(comparison: Comparison) -> str:
    """Say whether the old model kept its promises to the people of the new one."""
    promised, gained = comparison.promised_bits, comparison.kept_bits
    if promised is None or gained is None:
        return "No query is in both models, so there is nothing to compare."
    if not promised:
        return "The old model promised no help, so there is nothing to compare."
    verdict = "The old model kept its promises"
    if gained <= 0:
        verdict = "The old model's facts no longer help"
    elif not LESS * promised <= gained <= MORE * promised:
        off = "over" if gained < promised else "under"
        verdict = f"The old model {off}estimated"
    return f"{verdict}: it predicted {bits(promised)} bits, new people gain {bits(gained)}."
