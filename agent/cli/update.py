"""`reticent model update`: a model and the tables of a later period, and what has changed."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent.cli.interrupt import build_beside, extra
from agent.cli.model import check_place, dropped, model_path, model_record, of_tables, summary
from agent.cli.options import Answer, answers, option
from agent.cli.printing import facts, numeric, page, paragraph, table, wide
from agent.errors import UsageError
from agent.model.file import read
from agent.model.model import Model
from agent.words.figures import bits, counted, listed
from agent.words.titles import Titles, titled

if TYPE_CHECKING:
    from agent.build.update import QueryDrift

SHOWN, NAMED = 12, 8  # queries, those that changed most; names in one line
LESS, MORE = 0.8, 1.25  # of what was promised, from which on it is not as promised
AFTER = {"counting": 2.0, "comparing": 0.7, "choosing the shrinkage": 0.0}  # as `model build`
HALF_LIFE = "After how many updates half of the old people are left. By default all stay."
QUERIES = (
    wide("query"),
    *map(numeric, ("asked", "asked now", "new results", "promised", "helped")),
)
FACTS = (wide("fact"), *map(numeric, ("queries", "promised", "helped")))
LEGEND = (
    "asked, asked now: its share of all requests, in the old model and in the new tables; new "
    "results: the share of the new answers whose result the old model does not know; promised, "
    "helped: bits better served with the best facts, by the old model and for the new people."
)
OF_FACTS = (
    "What each fact adds to the best facts on the average new request: promised by the old model, "
    "and helped the new people."
)
TWICE = (
    "A model has no user ids, so somebody who is in several of its {0} periods counts as several "
    "people, and one guess may find them up to {0} times as often as the model says. If you still "
    "have the old tables, build a model of all of them with the same ids instead."
)


@click.command()
@click.argument("old", metavar="OLD")
@of_tables
@option("--half-life", float, "N", HALF_LIFE)
@answers
def update(old: str, out: Path, half_life: float | None, *, resume: bool, **given: Any) -> Answer:  # noqa: ANN401  (fields of BuildOptions)
    """Bring the model OLD up to date with tables of a later period, and show what changed.

    The tables are as for `model build`, with the attributes of OLD; other columns are ignored.
    All else is as OLD was built. With --half-life, some of the people of OLD are left out with
    all their rows: by chance, but the same for the same file. Without --phrasings, texts are read
    as OLD reads them, and queries that are new by their names only. --resume is as for
    `model build`, for the same OLD.
    """
    from agent.build.options import BuildOptions

    check_place(out)
    before = read(model_path(old))
    if out.exists() and model_path(old).samefile(out):
        raise UsageError("this would replace the old model", "give --out another name", str(out))
    options = BuildOptions(**{name: each for name, each in given.items() if each is not None})
    with extra("build", "building a model"):
        from agent.build.update import Update
    drift: list[QueryDrift] = []
    step, key = Update(before, half_life, drift), (before.digest, half_life)
    built = build_beside(out, options, *key, resume=resume, after=AFTER, make=step)
    record = drift_record(before, drift)
    titles = {each.name: each.title for each in built.attributes}
    asked = {each.text: each.title for each in built.queries}
    changes = [each for each in record["queries"] if each["change_bits"] is not None]
    changes.sort(key=lambda each: -abs(each["change_bits"]))
    rows = [
        (
            asked[each["query"]],
            *(f"{100 * each[name]:.1f} %" for name in ("asked", "asked_now")),
            f"{100 * each['new_results']:.0f} %",
            *(bits(each[name]) for name in ("promised_bits", "helped_bits")),
        )
        for each in changes[:SHOWN]
    ]
    of_facts = [
        (
            titles[each["name"]],
            f"{each['queries']:,}",
            *(bits(each[name]) for name in ("promised_bits", "helped_bits")),
        )
        for each in record["attributes"]
    ]
    less = len(changes) - len(rows)
    more = f" {less} more changed less; --json has all." if less else ""
    left = f" Dropped: {text}." if (text := dropped(built)) else ""
    text = page(
        verdict_of(record),
        facts(notes_of(record, titles, {each.text: each.title for each in before.queries} | asked)),
        table(QUERIES, rows),
        paragraph(LEGEND + more),
        table(FACTS, of_facts),
        paragraph(OF_FACTS) if of_facts else "",
        paragraph(TWICE.format(built.options["periods"])),
        paragraph(f"Wrote {out}: {summary(built)}{left}"),
    )
    return Answer({**model_record(built), "drift": record}, text)


def drift_record(before: Model, drift: Sequence["QueryDrift"]) -> dict[str, Any]:
    """Return what has become of the queries in JSON's own types; means are by new request."""
    sums = [max(1, sum(each.events[now] for each in drift)) for now in (0, 1)]
    both = [each for each in drift if each.trial is not None]
    known = sum(each.events[1] for each in both)
    uses, promised, helped = Counter[str](), defaultdict[str, float](float), dict[str, float]()
    for each in both:
        for name, fact in each.facts.items():
            uses[name] += 1
            promised[name] += fact.predicted * each.events[1] / known
            helped[name] = helped.get(name, 0.0) + fact.heldout * each.events[1] / known
    asked = {each.text for each in drift if each.events[1]}

    def mean(name: str) -> float | None:
        figures = (getattr(each.trial, name) * each.events[1] for each in both)
        return sum(figures) / known if known else None

    return {
        "promised_bits": mean("predicted_bits"),
        "helped_bits": mean("heldout_bits"),
        "new_results": sum(each.unseen * each.events[1] for each in drift) / sums[1],
        "in_both": len(both),
        "new_queries": [each.text for each in drift if not each.events[0]],
        "gone_queries": [each.text for each in before.queries if each.text not in asked],
        "no_longer_help": [name for name in promised if helped[name] <= 0 < promised[name]],
        "queries": [
            {
                "query": each.text,
                "asked": each.events[0] / sums[0],
                "asked_now": each.events[1] / sums[1],
                "new_results": each.unseen,
                "promised_bits": each.trial and each.trial.predicted_bits,
                "helped_bits": each.trial and each.trial.heldout_bits,
                "change_bits": each.trial and each.trial.heldout_bits - each.trial.predicted_bits,
            }
            for each in drift
        ],
        "attributes": [
            {
                "name": name,
                "queries": count,
                "promised_bits": promised[name],
                "helped_bits": helped[name],
            }
            for name, count in sorted(uses.items(), key=lambda each: -promised[each[0]])
        ],
    }


def verdict_of(record: Mapping[str, Any]) -> str:
    """Return in a sentence whether the old model kept its promises."""
    promised, helped = record["promised_bits"], record["helped_bits"]
    if promised is None:
        return "No query is in both periods, so nothing can be said about promises."
    if not promised:
        return "The old model promised no help, and so there is nothing to compare."
    share = helped / promised
    how = (
        "no longer help"
        if share <= 0
        else "help less than promised"
        if share < LESS
        else "help more than promised"
        if share > MORE
        else "help as much as promised"
    )
    return (
        f"The facts {how}: {bits(promised)} bits a request by the old model, "
        f"{bits(helped)} for the new people."
    )


def notes_of(record: Mapping[str, Any], titles: Titles, asked: Titles) -> Iterator[tuple[str, str]]:
    """Yield what came, went and no longer helps."""
    yield "queries", f"{counted(record['in_both'], 'query is', 'queries are')} in both periods"
    yield "results", f"{100 * record['new_results']:.0f} % of the new answers are new results"
    for key, title, known in (
        ("new_queries", "new queries", asked),
        ("gone_queries", "not asked now", asked),
        ("no_longer_help", "no longer help", titles),
    ):
        if names := record[key]:
            yield title, listed(titled(names, known), most=NAMED)
