"""What is given away, on one page: facts told, who reads out of them, and what silence tells."""

from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np

from agent.decision.engine import load_model
from agent.lab import Progress, StudyOptions
from agent.lab.attack import month as months
from agent.lab.attack.criteria import number
from agent.lab.attack.outcome import DRAWS, between
from agent.lab.attack.profiles import agreement_of, judged_shares
from agent.lab.attack.reader import ANYBODYS, BAR, LISTED, Ranks, ranks
from agent.lab.attack.silence import Silence, page_of, requests_in, silence
from agent.lab.charts import Chart, Criterion, Panel, Series, criteria_table, section, table
from agent.model.model import Model

LONGER, FEWER = 5, 2  # how many times as many requests, of people how few of all
SILENT_FOR = 100  # requests
READ = "sent; questions; expected; found; with the questions; first; ln of found over expected"
READ += "; with the questions; bits told; by silence"
SHARED = "correlation of ranks; of logarithms; mean ln of suggested over judged; above three times"


def charts_of(
    study: months.MonthStudy, found: Ranks, families: Mapping[str, Silence]
) -> list[Chart]:
    """The three pictures."""
    note = months.note_of(study)
    lines = {sent: line for (sent, asked), line in found.items() if asked == ANYBODYS}
    places, names, words = list[Series](), tuple(lines), tuple(families)
    for name, line in lines.items():
        places.append(Series.ranked(name, np.sort(line[:, 0]), "line"))
        places.append(Series.ranked(f"{name}, by questions too", np.sort(line[:, 1]), "line"))
    labels = f"place among {LISTED:,}", "people, the best known first", "place"
    read = Panel(*labels, tuple(places), log_y=True, legend="below")
    means = np.mean([*lines.values()], axis=1)[:, 3:].T
    told = tuple(map(Series.ranked, ("told", "by silence"), means))
    in_words = (Series.ranked("bits", [each.bits for each in families.values()]),)
    silent = Panel("of who somebody is", "", "bits", told, ticks=names)
    more = Panel("of facts in own words", "", "bits", in_words, ticks=words)
    return [
        months.curves(study),
        Chart("reader", "Where a reader of the words has the right one", note, (read,)),
        Chart("silence", "What was told, and what silence tells", note, (silent, more)),
    ]


def shares_table(folder: Path, model: Model, seed: int) -> str:
    """How well suggested shares agree with judges', with 95 % of resamples of the statements."""
    logs = judged_shares(folder, model)
    samples = np.random.default_rng(seed).integers(len(logs.T), size=(DRAWS, len(logs.T)))
    drawn = np.array([agreement_of(logs[:, some]) for some in samples])
    figures = zip(agreement_of(logs), drawn.T, strict=True)
    return table(SHARED.split("; "), [[number(between(*each), 2) for each in figures]])


def report(
    folder: Path, options: StudyOptions, progress: Progress
) -> tuple[str, list[Chart], list[Criterion]]:
    """Study all of it: the page in Markdown, its pictures, and the criteria.

    ``folder``: with the tables of everyday facts. UsageError as `months.ground_of`.
    """
    ground, balanced = months.ground_of(folder, load_model()), months.BALANCED[:1]
    sheets, profiles = months.apart(ground)
    study = months.month(ground, options, progress, sheets=sheets)
    more = replace(options, people=-(-options.people // FEWER), requests=LONGER * options.requests)
    later = months.month(ground, more, progress, balanced, sheets)
    unseen = months.month(ground, options, progress, balanced, profiles)
    found = ranks(ground, options, progress)
    families = silence(requests_in(folder)[:SILENT_FOR], progress)
    rows, judged = list[tuple[str, ...]](), months.month_criteria(study)
    for (sent, asked), line in found.items():
        logs = [study.resamples.mean(each) for each in np.log(line[:, :2] / line[:, 2:3]).T]
        places = (f"{each:,.1f}" for each in np.median(line[:, [2, 0, 1]], axis=0))
        first, ratios = f"{(line[:, 0] <= 1).mean():.0%}", (number(each, 2) for each in logs)
        rows.append(
            (sent, asked, *places, first, *ratios, *(f"{e:.2f}" for e in line[:, 3:].mean(axis=0)))
        )
        away = max(abs(logs[0].low), abs(logs[0].high)) - BAR
        what, wanted = f"{sent}, {asked} questions: place found over expected", f"ln within ±{BAR}"
        judged.append(Criterion(what, wanted, number(logs[0], 2), away <= 0, f"{away:+.2f}"))
    charts = charts_of(study, found, families)
    names = "section_told", "section_read", "section_silence"
    template = (files("agent.lab.attack") / "whole.md").read_text("utf-8")
    page = template.format(
        **{name: section(each, each.note) for name, each in zip(names, charts, strict=True)},
        told=months.month_table(study),
        more=more,
        later=months.month_table(later),
        unseen=months.month_table(unseen),
        listed=LISTED,
        read=table(READ.split("; "), rows),
        silent_for=SILENT_FOR,
        families=page_of(families),
        shares=shares_table(folder, ground.model, options.seed),
        criteria=criteria_table(judged),
    )
    return page, charts, judged
