"""`reticent lab attack`: what an adversary gains from watching the agent, and what it is worth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from agent.cli.extras import extra
from agent.cli.folders import folder_for
from agent.cli.layout import paragraph
from agent.cli.options import PATH, json_option, record, seed_option
from agent.cli.progress import Progress
from agent.errors import UsageError
from agent.files import replace_bytes
from agent.lab.attack.ways import Options

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from click.decorators import FC

    from agent.lab.attack.bars import Bar
    from agent.lab.attack.study import Material

PLAIN = Options()
MANY, CORES = 1_000_000, 64


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


@click.command()
@click.option("--users", type=PATH, metavar="F", help="A row per user, as `model build` has it.")
@click.option("--events", type=PATH, metavar="F", help="A row per request.")
@click.option("--log", type=PATH, metavar="DIR", help="A log, as of `reticent lab synth`.")
@click.option("--out", required=True, type=PATH, metavar="DIR", help="Where to write.")
@_counted("--people", MANY, PLAIN.people, "How many are attacked.")
@_counted("--requests", MANY, PLAIN.requests, "Of each of them.")
@seed_option
@_counted("--exact", MANY, PLAIN.exact, "How many of them slow exact search answers too.")
@_counted("--processes", CORES, PLAIN.processes, "At work at once.")
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
    options = Options(
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
