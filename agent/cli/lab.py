"""`reticent lab`: studies that anybody can run again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from agent.cli.groups import Commands
from agent.cli.interrupt import Progress, extra
from agent.cli.options import PATH, OneOf, folder_for, json_option, record, seed_option
from agent.cli.printing import Column, paragraph, printable, table
from agent.errors import UsageError
from agent.files import replace_bytes
from agent.lab.attack.ways import Options as AttackOptions
from agent.lab.paper.published import SAMPLES
from agent.lab.paper.published import Options as PaperOptions
from agent.lab.questions.survey import TRADE_OFF
from agent.lab.synth.marginals import MIN_USERS, PEOPLE, QUERIES, SOURCE, TEXTS
from agent.model.file import shipped_model

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from click.decorators import FC

    from agent.lab.attack.bars import Bar
    from agent.lab.attack.study import Material
    from agent.lab.paper.subject import Places
    from agent.lab.synth.log import Measured


PLAIN = AttackOptions()
MANY, CORES = 1_000_000, 64
_SIZES = ("1", "10", "100")
_COLUMNS = (Column("what"), Column("paper", right=True), Column("here", right=True), Column("§"))


@click.group(cls=Commands)
def lab() -> None:
    """Repeat the studies behind reticent on your own machine."""


class AttackFlags(TypedDict):
    """The options of `reticent lab attack`, as click hands them over."""

    users: Path | None
    events: Path | None
    log: Path | None
    out: Path
    people: int
    requests: int
    seed: int
    processes: int
    exact: int
    as_json: bool


def _counted(name: str, most: int, usual: int, text: str) -> Callable[[FC], FC]:
    """Return an option that takes a number of something, at least one."""
    kind = click.IntRange(min=1, max=most)
    return click.option(name, type=kind, default=usual, show_default=True, metavar="N", help=text)


@lab.command()
@click.option("--users", type=PATH, metavar="F", help="A row per user, as `model build` has it.")
@click.option("--events", type=PATH, metavar="F", help="A row per request.")
@click.option("--log", type=PATH, metavar="DIR", help="A log, as of `reticent lab synth`.")
@click.option("--out", required=True, type=PATH, metavar="DIR", help="Where to write.")
@_counted("--people", MANY, PLAIN.people, "How many are attacked.")
@_counted("--requests", MANY, PLAIN.requests, "Requests of each of them.")
@seed_option
@_counted("--exact", MANY, PLAIN.exact, "How many of them slow exact search answers too.")
@_counted("--processes", CORES, PLAIN.processes, "How many processes run at once.")
@json_option
def attack(**flags: Unpack[AttackFlags]) -> None:
    """Let an adversary watch the agent of people, and guess who they are.

    Builds a model from one half of the users of two tables, or of a log; people of the other half
    send their requests in many ways, reticent's among them. Writes figures, attack.csv, and
    report.md, which says what it means. Takes minutes. Needs the extras `build` and `lab`.
    """
    reader = _reader(flags)
    with extra("lab", "drawing figures"):
        from agent.lab.attack.bars import bars
        from agent.lab.attack.charts import NAME, charts, numbers
        from agent.lab.attack.report import page
        from agent.lab.attack.study import study
        from agent.lab.drawing import write_page
    folder = folder_for(flags["out"])
    options = AttackOptions(
        people=flags["people"],
        requests=flags["requests"],
        seed=flags["seed"],
        processes=flags["processes"],
        exact=flags["exact"],
    )
    with Progress() as progress:
        found = study(reader(progress), options, progress)
        progress("drawing", 1.0)
        figures, judged = charts(found), bars(found)
        replace_bytes(numbers(found).encode(), folder / NAME)
        report = write_page(page(found, figures, judged), figures, folder)
    if flags["as_json"]:
        names = [each.name for each in figures]
        said = [each._asdict() for each in judged]
        click.echo(record({"report": str(report), "figures": names, "bars": said}))
        return
    click.echo(paragraph(_sentence(report, judged)))


def _sentence(report: Path, found: Sequence[Bar]) -> str:
    met, missed = ([each.met for each in found].count(word) for word in (True, False))
    return f"Wrote {report} and its figures. Of {len(found)} bars {met} are met, {missed} are not."


def _reader(flags: AttackFlags) -> Callable[[Progress], Material]:
    """Return who reads the two halves, and what is said of their source."""
    with extra("build", "building a model"):
        from agent.lab.attack.heldout import halves, halves_of_log
        from agent.lab.attack.study import Material
        from agent.lab.paper.log import stated_source
    match flags["users"], flags["events"], flags["log"]:
        case Path() as users, Path() as events, None:
            return lambda told: Material(*halves(users, events, told), stated_source(users.parent))
        case None, None, Path() as log:
            return lambda told: Material(*halves_of_log(log, told), stated_source(log))
    raise UsageError("the people are of one source", "give --users and --events, or --log")


class PaperFlags(TypedDict):
    """The options of `reticent lab paper`, as click hands them over."""

    model: Path | None
    survey: bool
    log: Path | None
    out: Path
    trade_off: float
    samples: int
    seed: int
    processes: int
    as_json: bool


@lab.command()
@click.option("--model", type=PATH, metavar="M", help="A model file.")
@click.option("--survey", is_flag=True, help="The model that comes with reticent; the default.")
@click.option("--log", type=PATH, metavar="DIR", help="A log, as of `reticent lab synth`.")
@click.option("--out", required=True, type=PATH, metavar="DIR", help="Where to write.")
@click.option(
    *("--lambda", "trade_off"),
    type=click.FloatRange(min=0, max=1e9),
    default=TRADE_OFF,
    show_default=True,
    help="Of the calibrated objective.",
)
@click.option(
    "--samples",
    type=click.IntRange(min=1, max=1_000_000),
    default=SAMPLES,
    show_default=True,
    metavar="N",
    help="Rows, and people, in a sample.",
)
@seed_option
@click.option(
    "--processes",
    type=click.IntRange(min=1, max=2),
    default=2,
    show_default=True,
    help="One, or one per estimator.",
)
@json_option
def paper(**flags: Unpack[PaperFlags]) -> None:
    """Draw the results of Krause and Horvitz (2010), section 7, from a model or a log.

    Writes each figure as PNG, SVG and CSV, and report.md, which sets what was published beside
    what is found here. Takes minutes. Needs the extra `lab`, and --log the extra `build` too.
    """
    if sum([flags["model"] is not None, flags["survey"], flags["log"] is not None]) > 1:
        raise UsageError("the figures are of one thing", "give --model, --survey or --log")
    with extra("lab", "drawing figures"):
        from agent.lab.drawing import write_report
        from agent.lab.paper.study import study
        from agent.lab.paper.subject import Material
    folder = folder_for(flags["out"])
    options = PaperOptions(
        trade_off=flags["trade_off"], samples=flags["samples"], seed=flags["seed"]
    )
    with Progress() as progress:
        material = Material(*_material(flags, folder, progress))
        found = study(material, options, flags["processes"], progress)
        progress("drawing", 1.0)
        page = write_report(found.title, found.intro, found.findings, folder)
    claims = [claim for finding in found.findings for claim in finding.claims]
    same = sum(claim.same is True for claim in claims)
    other = sum(claim.same is False for claim in claims)
    if flags["as_json"]:
        figures = [finding.chart.name for finding in found.findings]
        click.echo(record({"report": str(page), "figures": figures, "same": same, "other": other}))
        return
    click.echo(
        paragraph(
            f"Wrote {page} and {len(found.findings)} figures. Of the published results, {same} "
            f"have the same shape here, and {other} another; the report says why."
        )
    )


def _material(flags: PaperFlags, folder: Path, progress: Progress) -> tuple[Path, Places | None]:
    """Return the file of the model, and of a log, which is built here, the places too."""
    if flags["log"] is not None:
        with extra("build", "building a model"):
            from agent.lab.paper.log import logged

        return logged(flags["log"], folder, progress)
    return flags["model"] or shipped_model(), None


class SynthFlags(TypedDict):
    """The options of `reticent lab synth`, as click hands them over."""

    out: Path
    times: str
    seed: int
    uncounted: bool
    as_json: bool


@lab.command()
@click.argument("out", type=PATH, metavar="OUT")
@click.option(
    "--times",
    type=OneOf(_SIZES),
    default="1",
    show_default=True,
    help="How many times the paper's size.",
)
@seed_option
@click.option("--uncounted", is_flag=True, help="Do not count: at 100 times, that takes memory.")
@json_option
def synth(**flags: Unpack[SynthFlags]) -> None:
    """Write a synthetic search log into the folder OUT.

    It has the size and the published shares of the log in Krause and Horvitz (2010), section 5:
    each is counted in what was written, and printed beside the paper's. SOURCE.md in OUT says
    what is assumed. Needs the extra `build`.
    """
    with extra("build", "writing a log"):
        from agent.lab.synth.log import measured, write_log
    times = int(flags["times"])
    with Progress() as progress:
        files = write_log(flags["out"], times, flags["seed"], progress)
        progress("counting what was written", 0.0)
        found = None if flags["uncounted"] else measured(files)
    if flags["as_json"]:
        click.echo(record(_record(flags, found)))
        return
    out = flags["out"]
    click.echo(paragraph(f"Wrote a synthetic log to {out}: nobody searched for any of it."))
    if found is not None:
        click.echo(table(_COLUMNS, [*_sizes(found, times), *_shares(found)]))
    click.echo(printable(f"What is assumed stands in {out / SOURCE}."))


def _sizes(found: Measured, times: int) -> list[tuple[str, str, str, str]]:
    """Return rows of what can be counted."""
    counts = (
        ("people", PEOPLE * times, found.people),
        ("queries", QUERIES * times, found.queries),
        ("different queries", TEXTS, found.texts),
    )
    rows = [(name, f"{paper:,}", f"{here:,}", "5") for name, paper, here in counts]
    return [*rows, ("fewest people of a query", f"≥ {MIN_USERS}", f"{found.min_users:,}", "5")]


def _shares(found: Measured) -> list[tuple[str, str, str, str]]:
    return [
        (each.words, f"{each.share:.0%}", f"{share:.1%}", each.place)
        for each, share in found.shares
    ]


def _record(flags: SynthFlags, found: Measured | None) -> dict[str, object]:
    written: dict[str, object] = {
        "synthetic": True,
        "folder": str(flags["out"]),
        "times": int(flags["times"]),
        "seed": flags["seed"],
    }
    if found is None:
        return written
    return written | {
        "people": found.people,
        "queries": found.queries,
        "texts": found.texts,
        "min_users": found.min_users,
        "shares": [
            {"name": each.name, "section": each.place, "paper": each.share, "here": share}
            for each, share in found.shares
        ],
    }
