"""`reticent lab synth`: a synthetic search log, with its shares beside the paper's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from agent.cli.extras import extra
from agent.cli.layout import Column, paragraph, table
from agent.cli.options import PATH, json_option, record, seed_option
from agent.cli.parameters import OneOf
from agent.cli.problems import printable
from agent.cli.progress import Progress
from agent.lab.synth.marginals import MIN_USERS, PEOPLE, QUERIES, SOURCE, TEXTS

if TYPE_CHECKING:
    from agent.lab.synth.log import Measured

_SIZES = ("1", "10", "100")
_COLUMNS = (Column("what"), Column("paper", right=True), Column("here", right=True), Column("§"))


class SynthFlags(TypedDict):
    """The options of `reticent lab synth`, as click hands them over."""

    out: Path
    times: str
    seed: int
    uncounted: bool
    as_json: bool


@click.command()
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
