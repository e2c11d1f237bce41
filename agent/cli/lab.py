"""`reticent lab`: studies that anybody can run again."""

from __future__ import annotations

from functools import partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent.cli.groups import Commands
from agent.cli.interrupt import Progress, extra
from agent.cli.options import PATH, Answer, answers, folder_for, option, seed_option
from agent.cli.printing import Column, numeric, paragraph, table
from agent.errors import UsageError
from agent.files import replace_bytes
from agent.lab.attack.ways import Options as AttackOptions
from agent.lab.paper.published import SAMPLES
from agent.lab.paper.published import Options as PaperOptions
from agent.lab.people import Options as PeopleOptions
from agent.lab.questions.survey import TRADE_OFF
from agent.lab.synth.marginals import MIN_USERS, PEOPLE, QUERIES, SOURCE, TEXTS
from agent.model.file import shipped_model

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from click.decorators import FC

    from agent.lab.attack.bars import Bar


PLAIN, USUAL = AttackOptions(), PeopleOptions()
MANY, CORES = 1_000_000, 64
LAMBDA = click.FloatRange(min=0, max=1e9)
_COLUMNS = (Column("what"), numeric("paper"), numeric("here"), Column("§"))


@click.group(cls=Commands)
def lab() -> None:
    """Repeat the studies behind reticent on your own machine."""


def _counted(name: str, most: int, usual: int, text: str) -> Callable[[FC], FC]:
    """Return an option that takes a number of something, at least one."""
    return option(name, click.IntRange(min=1, max=most), "N", text, default=usual)


log_option = option("--log", PATH, "DIR", "A log, as of `reticent lab synth`.")
out_option = option("--out", PATH, "DIR", "Where to write.", required=True)


def _watched(usual: AttackOptions | PeopleOptions) -> Callable[[FC], FC]:
    """Return the options of each study of people who send requests."""
    each = (
        option("--users", PATH, "F", "A row per person, as `model build` has it."),
        option("--events", PATH, "F", "A row per request."),
        option("--describe", PATH, "F", "What the columns are, as `model build` has it."),
        out_option,
        _counted("--people", MANY, usual.people, "How many send requests."),
        _counted("--requests", MANY, usual.requests, "Requests of each of them."),
        seed_option,
        _counted("--processes", CORES, usual.processes, "How many processes run at once."),
    )
    return lambda command: reduce(lambda made, add: add(made), reversed(each), command)


@lab.command()
@_watched(PLAIN)
@log_option
@_counted("--exact", MANY, PLAIN.exact, "How many of them slow exact search answers too.")
@answers
def attack(
    users: Path | None,
    events: Path | None,
    describe: Path | None,
    log: Path | None,
    out: Path,
    **options: int,
) -> Answer:
    """Let an adversary watch the agent of people, and guess who they are.

    Builds a model from one half of the users of two tables, by default the time use survey in a
    checkout of reticent, or of a log; people of the other half send their requests in many ways,
    reticent's among them. Where the description names a column of weights, the model's rows stand
    for all people of the table, and all are on the adversary's list. Writes figures, attack.csv,
    and report.md, which says what it means. Takes minutes. Needs the extras `build` and `lab`.
    """
    if log is not None and (users or events or describe):
        raise UsageError("the people are of one source", "give --users and --events, or --log")
    with extra("build", "building a model"):
        from agent.lab.attack.halves import halves, halves_of_log, tables
    with extra("lab", "drawing figures"):
        from agent.lab.attack.bars import bars
        from agent.lab.attack.charts import NAME, charts, numbers
        from agent.lab.attack.report import page
        from agent.lab.attack.study import study
        from agent.lab.drawing import write_page
    if log is None:
        read = partial(halves, tables(users, events, describe))
    else:
        read = partial(halves_of_log, log)
    folder = folder_for(out)
    with Progress() as progress:
        found = study(read(progress), AttackOptions(**options), progress)
        progress("drawing", 1.0)
        figures, judged = charts(found), bars(found)
        replace_bytes(numbers(found).encode(), folder / NAME)
        report = write_page(page(found, figures, judged), figures, folder)
    return _wrote(report, [each.name for each in figures], judged)


@lab.command()
@_watched(PLAIN)
@answers
def limits(
    users: Path | None, events: Path | None, describe: Path | None, out: Path, **options: int
) -> Answer:
    """Attack the agent with a list of everybody, under many pairs of k and risk.

    For models whose rows stand for many people. The table, by default the time use survey in a
    checkout of reticent, is the whole population; one half of it makes the model, and the other
    sends requests. Writes a figure, and report.md. Takes minutes. Needs the extras `build` and
    `lab`.
    """
    with extra("build", "building a model"):
        from agent.lab.attack.halves import tables, whole
    with extra("lab", "drawing figures"):
        from agent.lab.attack.limits import TITLE, frontier, page
        from agent.lab.drawing import write_report
    built, folder = tables(users, events, describe), folder_for(out)
    with Progress() as progress:
        found = frontier(whole(built, progress), AttackOptions(**options), progress)
        progress("drawing", 1.0)
        intro, figures = page(found)
        report = write_report(TITLE, intro, figures, folder)
    return _wrote(report, [each.chart.name for each in figures], found.best.bars)


@lab.command()
@_watched(USUAL)
@_counted("--k", MANY, USUAL.k, "How many shall look alike.")
@answers
def people(
    users: Path | None, events: Path | None, describe: Path | None, out: Path, **options: int
) -> Answer:
    """Compare what models of samples predict of people with all people.

    Takes a big table as the whole population, by default the time use survey in a checkout of
    reticent, and builds models of samples of 1, 5 and 20 %. Writes figures, and report.md with what
    was predicted of each decision, what it is, and bars. Takes minutes. Needs the extras `build`
    and `lab`.
    """
    with extra("build", "building a model"):
        from agent.lab.attack.halves import stated, tables
        from agent.lab.people.samples import world_of
    with extra("lab", "drawing figures"):
        from agent.lab.drawing import write_report
        from agent.lab.people.report import TITLE, findings
        from agent.lab.people.study import study
    built, folder = tables(users, events, describe), folder_for(out)
    with Progress() as progress:
        progress("reading", 0.0)
        found = study(world_of(built), PeopleOptions(**options), progress)
        progress("drawing", 1.0)
        intro, charts = findings(found, stated(built))
        page = write_report(TITLE, [intro], charts, folder)
    return _wrote(page, [each.chart.name for each in charts], found.bars)


def _wrote(page: Path, figures: list[str], bars: Sequence[Bar]) -> Answer:
    """Return what a study says that has bars to meet."""
    met, missed = ([each.met for each in bars].count(word) for word in (True, False))
    text = f"Wrote {page} and its figures. Of {len(bars)} bars {met} are met, {missed} are not."
    judged = [each._asdict() for each in bars]
    return Answer({"report": str(page), "figures": figures, "bars": judged}, paragraph(text))


@lab.command()
@option("--model", PATH, "M", "A model file.")
@click.option("--survey", is_flag=True, help="The model that comes with reticent; the default.")
@log_option
@out_option
@option("--lambda trade_off", LAMBDA, None, "Of the calibrated objective.", default=TRADE_OFF)
@_counted("--samples", MANY, SAMPLES, "Rows, and people, in a sample.")
@seed_option
@_counted("--processes", 2, 2, "One, or one per estimator.")
@answers
def paper(
    model: Path | None,
    log: Path | None,
    out: Path,
    processes: int,
    *,
    survey: bool,
    **options: Any,  # noqa: ANN401  (the fields of the study's options)
) -> Answer:
    """Draw the results of Krause and Horvitz (2010), section 7, from a model or a log.

    Writes each figure as PNG, SVG and CSV, and report.md, which sets what was published beside
    what is found here. Takes minutes. Needs the extra `lab`, and --log the extra `build` too.
    """
    if [model is not None, survey, log is not None].count(True) > 1:
        raise UsageError("the figures are of one thing", "give --model, --survey or --log")
    with extra("lab", "drawing figures"):
        from agent.lab.drawing import write_report
        from agent.lab.paper.study import study
        from agent.lab.paper.subject import Material
    folder = folder_for(out)
    with Progress() as progress:
        material = Material(model or shipped_model(), None)
        if log is not None:
            with extra("build", "building a model"):
                from agent.lab.paper.log import logged
            material = logged(log, folder, progress)
        found = study(material, PaperOptions(**options), processes, progress)
        progress("drawing", 1.0)
        page = write_report(found.title, found.intro, found.findings, folder)
    claims = [claim.same for finding in found.findings for claim in finding.claims]
    same, other = claims.count(True), claims.count(False)
    figures = [finding.chart.name for finding in found.findings]
    text = (
        f"Wrote {page} and {len(figures)} figures. Of the published results, {same} have the same "
        f"shape here, and {other} another; the report says why."
    )
    message = {"report": str(page), "figures": figures, "same": same, "other": other}
    return Answer(message, paragraph(text))


@lab.command()
@click.argument("out", type=PATH, metavar="OUT")
@_counted("--times", MANY, 1, "How many times the paper's size.")
@seed_option
@click.option("--uncounted", is_flag=True, help="Do not count what was written.")
@answers
def synth(out: Path, times: int, seed: int, *, uncounted: bool) -> Answer:
    """Write a synthetic search log into the folder OUT.

    It has the size and the published shares of the log in Krause and Horvitz (2010), section 5:
    each is counted in what was written, and printed beside the paper's. SOURCE.md in OUT says
    what is assumed. Needs the extra `build`.
    """
    with extra("build", "writing a log"):
        from agent.lab.synth.log import measured, write_log
    with Progress() as progress:
        files = write_log(out, times, seed, progress)
        progress("counting what was written", 0.0)
        found = None if uncounted else measured(files)
    message = {"synthetic": True, "folder": str(out), "times": times, "seed": seed}
    lines = [paragraph(f"Wrote a synthetic log to {out}: nobody searched for any of it.")]
    if found is not None:
        counts = {"people": found.people, "queries": found.queries, "texts": found.texts}
        shares = [
            {"name": each.name, "section": each.place, "paper": each.share, "here": share}
            for each, share in found.shares
        ]
        message |= {**counts, "min_users": found.min_users, "shares": shares}
        rows = [
            ("people", f"{PEOPLE * times:,}", f"{found.people:,}", "5"),
            ("queries", f"{QUERIES * times:,}", f"{found.queries:,}", "5"),
            ("different queries", f"{TEXTS:,}", f"{found.texts:,}", "5"),
            ("fewest people of a query", f"≥ {MIN_USERS}", f"{found.min_users:,}", "5"),
        ]
        rows += [
            (each.words, f"{each.share:.0%}", f"{share:.1%}", each.place)
            for each, share in found.shares
        ]
        lines.append(table(_COLUMNS, rows))
    lines.append(paragraph(f"{out / SOURCE} says what is assumed."))
    return Answer(message, "\n".join(lines))
