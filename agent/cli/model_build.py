"""`reticent model build`: tables, or a search log, to a model."""

import os
from pathlib import Path
from typing import Literal, TypedDict, Unpack

import click

from agent.build.options import BuildOptions, Half
from agent.cli.extras import extra
from agent.cli.interrupt import uninterrupted
from agent.cli.layout import paragraph
from agent.cli.model_record import model_record
from agent.cli.model_text import dropped, summary
from agent.cli.options import PATH, json_option, record
from agent.cli.parameters import OneOf, shrinkage
from agent.cli.problems import printable
from agent.cli.progress import Progress
from agent.errors import UsageError
from agent.lab.questions.defaults import (
    AS_ANSWERED,
    with_default_sensitivities,
    within_outcomes,
)
from agent.model.file import SUFFIX, write
from agent.model.model import Model
from agent.tradeoff.utility import Estimator

Sensitivities = Literal["scaled", "as-answered", "none"]
MAX_NAME = 240  # bytes; while it is written, a file has a longer name


class BuildFlags(TypedDict):
    """The options of `reticent model build`, as click hands them over."""

    users: Path | None
    events: Path | None
    log: Path | None
    people: Path | None
    sites: Path | None
    out: Path
    estimator: Estimator
    shrinkage: float | None
    min_users: int
    half: Half | None
    sensitivities: Sensitivities | None
    id: str | None
    source: str
    licence: str
    as_json: bool


@click.command()
@click.option("--users", type=PATH, metavar="F", help="A row per user.")
@click.option("--events", type=PATH, metavar="F", help="A row per request.")
@click.option("--log", type=PATH, metavar="F", help="Instead: a row per page visited.")
@click.option("--people", type=PATH, metavar="F", help="With --log: a row per person.")
@click.option("--sites", type=PATH, metavar="F", help="With --log: a row per host and topic.")
@click.option("--out", required=True, type=PATH, metavar="M.safetensors", help="Where to write.")
@click.option(
    "--estimator",
    type=OneOf(["louo", "plugin"]),
    default="louo",
    show_default=True,
    help="Leave-one-user-out, or the paper's.",
)
@click.option(
    "--shrinkage",
    type=shrinkage,
    metavar="auto|ROWS",
    default="auto",
    show_default=True,
    help="Weight of the prior, in rows.",
)
@click.option(
    "--min-users",
    type=int,
    default=30,
    show_default=True,
    metavar="N",
    help="Drop queries of fewer users.",
)
@click.option("--half", type=OneOf(["A", "B"]), help="Build from one half of the users only.")
@click.option(
    "--sensitivities",
    type=OneOf(["scaled", "as-answered", "none"]),
    help="Of attributes, by default: from two surveys, or none. With --log scaled, else none.",
)
@click.option("--id", metavar="NAME", help="Name of the model. By default that of the file.")
@click.option("--source", default="", metavar="TEXT", help="Where the data comes from.")
@click.option("--licence", default="", metavar="TEXT", help="On which terms.")
@json_option
def build(**flags: Unpack[BuildFlags]) -> None:
    """Build a model from two tables, or from a raw search log: csv, csv.gz or parquet.

    Users: a column user, and one per attribute of the person. Events: columns user, query,
    intent, and one per attribute that is set anew for every request. The three tables of a log
    are described in agent/build/FORMAT_LOG.md, and where sensitivities come from in
    agent/lab/questions/SOURCES.md. Needs the extra `build`.
    """
    out = flags["out"]
    _check_place(out)
    options = BuildOptions(
        users=flags["users"],
        events=flags["events"],
        log=flags["log"],
        people=flags["people"],
        sites=flags["sites"],
        estimator=flags["estimator"],
        shrinkage=flags["shrinkage"],
        min_users=flags["min_users"],
        half=flags["half"],
        id=out.stem if flags["id"] is None else flags["id"],
        source=flags["source"],
        licence=flags["licence"],
    )
    with extra("build", "building a model"):
        from agent.build.build import build_model
    with Progress() as progress:
        made = build_model(options, progress)
    made = _priced(made, flags["sensitivities"] or ("none" if options.log is None else "scaled"))
    with uninterrupted():
        built = write(made, out)
    if flags["as_json"]:
        click.echo(record(model_record(built)))
        return
    click.echo(paragraph(f"Wrote {out}: {summary(built)}"))
    left = dropped(built)
    if left:
        click.echo(paragraph(f"Dropped from the tables: {left}."))
    priced = sum(each.sensitivity > 0 for each in built.attributes)
    if priced:
        what = f"{priced} attributes have a default sensitivity from two surveys"
        click.echo(paragraph(f"{what}; `--sensitivities none` leaves them without."))
    click.echo(printable(f"Look at it with `reticent model info {out}`."))


def _priced(model: Model, which: Sensitivities) -> Model:
    """Return a model with the default sensitivities that are wanted."""
    if which == "none":
        return model
    return with_default_sensitivities(
        model, within_outcomes() if which == "scaled" else AS_ANSWERED
    )


def _check_place(out: Path) -> None:
    """Refuse a place where no model can be written, before the work and not after it."""
    if out.suffix != SUFFIX:
        hint = f"call it {out.with_suffix(SUFFIX)}" if out.name else f"call it NAME{SUFFIX}"
        raise UsageError(f"the name of a model ends in {SUFFIX}", hint, str(out))
    if len(os.fsencode(out.name)) > MAX_NAME:
        what = f"the name of the model has more than {MAX_NAME} bytes"
        raise UsageError(what, "choose a shorter one", str(out))
    if not out.parent.is_dir():
        raise UsageError("there is no such folder", "make it first", str(out.parent))
    if out.exists() and not out.is_file():
        raise UsageError("this is not a file", "choose another name", str(out))
    if not os.access(out.parent, os.W_OK | os.X_OK):
        hint = "choose a folder that you can write to"
        raise UsageError("nothing can be written to this folder", hint, str(out.parent))
