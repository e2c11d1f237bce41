"""`reticent lab`: studies that anybody can run again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.cli.interrupt import Progress, extra
from agent.cli.options import PATH, Commands, Output, answers, option, seed_option, together
from agent.cli.printing import paragraph
from agent.lab import StudyOptions
from agent.model.file import shipped_model

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from click.decorators import FC

    from agent.lab.charts import Criterion


USUAL, MONTH = StudyOptions(), StudyOptions(people=20, requests=40)
MANY, CORES = 1_000_000, 64
SURVEY = "so2017"  # the model that comes with reticent and has rows of what people chose


@click.group(cls=Commands)
def lab() -> None:
    """Repeat the studies behind reticent on your own machine."""


def _counted(name: str, most: int, usual: int, text: str) -> Callable[[FC], FC]:
    """Make an option that takes a number of something, at least one."""
    return option(name, click.IntRange(min=1, max=most), "N", text, default=usual)


out_option = option("--out", PATH, "DIR", "Where to write.", required=True)


@lab.command()
@option("--data", PATH, "DIR", "Tables `users` and `events` with their `model.toml`.")
@out_option
@_counted("--people", MANY, USUAL.people, "How many send requests.")
@_counted("--requests", MANY, USUAL.requests, "Requests of each of them.")
@seed_option
@_counted("--processes", CORES, USUAL.processes, "How many processes run at once.")
@click.option("--matching", "of", flag_value="matching", help="Study drawn columns instead.")
@click.option("--silence", "of", flag_value="silence", help="Study facts in own words instead.")
@click.option("--rerank", "of", flag_value="rerank", help="Study re-ranked results instead.")
@click.option("--private", "of", flag_value="private", help="Study models to publish instead.")
@answers
def attack(data: Path | None, out: Path, of: str | None, **options: int) -> Output:
    """Let an adversary watch people's agents, and guess who they are.

    Builds a model from one half of the people in DIR, by default the time use survey in a checkout
    of reticent; people of the other half send their requests by many strategies, reticent's among
    them. Where the description names a column of weights, the model's rows stand for all people of
    the table, and all are on the adversary's list. With --matching half of the people of a survey
    draw columns from the others, by default those of everyday facts. With --silence people who have
    one fact in their own words send the first requests of `profiles.jsonl.gz`, likewise. With
    --rerank what helps is sent, or the results are put into the user's order instead. With
    --private models are built under differential privacy from that half, with so many requests of
    each person: what they keep, and whether it can be guessed who was there. Writes report.md,
    which says what was found. Takes minutes. Needs the extras `build` and `lab`; with --private
    the extra `private`, too.
    """
    with extra("build", "building a model"):
        from agent.lab.attack.matching import matching_of
        from agent.lab.attack.material import EVERYDAY, material_of, tables
    with extra("lab", "drawing figures"):
        from agent.lab.attack.criteria import criteria
        from agent.lab.attack.report import frontier, page_about
        from agent.lab.attack.rerank import RERANK_TITLE, rerank_page, rerank_study
        from agent.lab.attack.silence import SILENCE_TITLE, page_of, requests_in, silence
        from agent.lab.attack.study import study
        from agent.lab.drawing import write_page
    out.mkdir(parents=True, exist_ok=True)
    given = StudyOptions(**options)
    with Progress() as progress:
        progress("reading", 0.0)
        if of == "silence":
            families = silence(requests_in(data or EVERYDAY)[: given.requests], progress)
            bits = {name: each._asdict() for name, each in families.items()}
            return _told(SILENCE_TITLE, page_of(families), {"families": bits}, out)
        if of == "rerank":
            found = rerank_study(material_of(data, progress), given, progress)
            return _told(RERANK_TITLE, rerank_page(found), {"ways": found}, out)
        if of == "private":
            with extra("private", "differential privacy"):
                from agent.lab.attack.private import private_page
            return _told("Models to publish", private_page(data, given, progress), {}, out)
        if of == "matching":
            text, judged = matching_of(tables(data, EVERYDAY), given, progress)
            return _wrote(write_page(text, (), out), [], judged)
        result = study(material_of(data, progress), given, progress)
        progress("drawing", 1.0)
        figure, judged = frontier(result), [*criteria(result)]
        page = write_page(page_about(result, figure, judged), [figure], out)
    return _wrote(page, [figure.name], judged)


_of_everyday = together(  # of a study of everyday facts
    option("--data", PATH, "DIR", "The tables of everyday facts, with their `model.toml`."),
    out_option,
    _counted("--people", MANY, MONTH.people, "How many send requests."),
    _counted("--requests", MANY, MONTH.requests, "Requests of each of them."),
    seed_option,
)


@lab.command()
@_of_everyday
@answers
def month(data: Path | None, out: Path, **options: int) -> Output:
    """Count what recipients are told over many requests, needed and not.

    People with whole profiles, drawn as the model of everyday facts counts them, send requests to
    one recipient, to three, and to six in turn, by each preset. For comparison, all that is
    relevant is sent, or nothing. The model is made of what one judge said; what is needed, a second
    one says, in the tables in DIR, by default those in a checkout of reticent. Writes report.md and
    a figure. Takes minutes. Needs the extras `build` and `lab`.
    """
    with extra("build", "reading what was judged"):
        from agent.decision.engine import load_model
        from agent.lab.attack import month as study
        from agent.lab.attack.material import EVERYDAY
    with extra("lab", "drawing figures"):
        from agent.lab.drawing import write_page
    out.mkdir(parents=True, exist_ok=True)
    with Progress() as progress:
        ground = study.ground_of(data or EVERYDAY, load_model())
        found = study.month(ground, StudyOptions(**options), progress)
        progress("drawing", 1.0)
        chart, judged = study.curves(found), study.month_criteria(found)
        page = write_page(study.month_page(found, chart, judged), [chart], out)
    return _wrote(page, [chart.name], judged)


def _told(title: str, text: str, message: dict[str, object], out: Path) -> Output:
    """Write a study that is a text, and print it."""
    from agent.lab.drawing import write_page

    page = write_page(f"# {title}\n\n```\n{text}\n```\n", (), out)
    return Output({"report": str(page), **message}, text)


@lab.command("report")
@_of_everyday
@answers
def whole(data: Path | None, out: Path, **options: int) -> Output:
    """Write on one page what is given away: by what is told, and by what is not.

    The facts told as by `reticent lab month`, and for fewer people after five times as many
    requests. Then a reader of the words who has ten thousand people's whole profiles looks for the
    right one. Last, what silence tells. Writes report.md and three figures. Takes minutes.
    Needs the extras `build` and `lab`.
    """
    with extra("build", "reading what was judged"):
        from agent.lab.attack import whole as study
        from agent.lab.attack.material import EVERYDAY
    with extra("lab", "drawing figures"):
        from agent.lab.drawing import write_page
    out.mkdir(parents=True, exist_ok=True)
    with Progress() as progress:
        text, charts, judged = study.report(data or EVERYDAY, StudyOptions(**options), progress)
        page = write_page(text, charts, out)
    return _wrote(page, [each.name for each in charts], judged)


def _wrote(page: Path, figures: list[str], criteria: Sequence[Criterion]) -> Output:
    """Say what a study wrote, and how many criteria were met."""
    met, missed = ([each.met for each in criteria].count(word) for word in (True, False))
    text = f"Wrote {page}. Of {len(criteria)} criteria, {met} are met and {missed} are not."
    judged = [each._asdict() for each in criteria]
    return Output({"report": str(page), "figures": figures, "criteria": judged}, paragraph(text))


@lab.command()
@option("--model", PATH, "M", f"A model file. By default that of {SURVEY}.")
@out_option
@seed_option
@answers
def paper(model: Path | None, out: Path, seed: int) -> Output:
    """Draw the results of Krause and Horvitz (2010), section 7, from a model.

    Writes each figure as PNG, SVG and CSV, and report.md, which sets what was published beside
    what is found here. Takes minutes. Needs the extra `lab`.
    """
    with extra("lab", "drawing figures"):
        from agent.decision.engine import load_model
        from agent.lab.drawing import report, write_page
        from agent.lab.paper.study import TITLE, study
    out.mkdir(parents=True, exist_ok=True)
    with Progress() as progress:
        intro, findings = study(load_model(model or shipped_model(SURVEY)), seed, progress)
        progress("drawing", 1.0)
        charts = [each.chart for each in findings]
        page = write_page(report(TITLE, intro, findings), charts, out)
    shapes = [each.met for finding in findings for each in finding.criteria]
    same, other = shapes.count(True), shapes.count(False)
    figures = [each.name for each in charts]
    text = (
        f"Wrote {page} and {len(figures)} figures. Of the published results, {same} have the same "
        f"shape here, and {other} another; the report says why."
    )
    message = {"report": str(page), "figures": figures, "same": same, "other": other}
    return Output(message, paragraph(text))
