"""`reticent model build` and `info`: tables, or a search log, to a model; and what is in one."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack

import click

from agent.build.options import BuildOptions, Half
from agent.cli.interrupt import Progress, extra, uninterrupted
from agent.cli.options import PATH, OneOf, json_option, record, shrinkage
from agent.cli.printing import Column, facts, paragraph, printable, strong, table
from agent.errors import UsageError
from agent.lab.questions.defaults import AS_ANSWERED, with_default_sensitivities, within_outcomes
from agent.model.attributes import Attribute
from agent.model.file import SUFFIX, write
from agent.model.model import Figure, Model, Query
from agent.tradeoff.utility import Estimator
from agent.words.figures import bits

QUERIES = (
    Column("query", wraps=True),
    Column("rows", right=True),
    Column("users", right=True),
    Column("intents", right=True),
    Column("shrink", right=True),
    Column("prior", right=True),
    Column("predicted", right=True),
    Column("held out", right=True),
)
DROP = "dropped_"  # how the options of a model begin that say what was
DROPPED = {
    "unknown_user": ("row of an unknown user", "rows of unknown users"),
    "no_query": ("row without a query", "rows without a query"),
    "no_intent": ("row without an intent", "rows without an intent"),
    "thin_queries": ("query of too few users", "queries of too few users"),
    "thin_rows": ("row of such a query", "rows of such queries"),
}
ATTRIBUTES = (
    Column("attribute"),
    Column("scope"),
    Column("values, beside unspecified", wraps=True),
)
Sensitivities = Literal["scaled", "as-answered", "none"]
MAX_NAME = 240  # bytes; while it is written, a file has a longer name


def model_record(model: Model) -> dict[str, Any]:
    """Return what a model says of itself in JSON's own types, without its tables."""
    return {
        "id": model.id,
        "source": model.source,
        "licence": model.licence,
        "digest": model.digest,
        "estimator": model.estimator,
        "people": model.population.people,
        "person_level_rows": True,
        "attributes": [_attribute_record(each) for each in model.attributes],
        "queries": [_query_record(each) for each in model.queries],
        "options": _figures_record(model.options),
        "validation": _figures_record(model.validation),
    }


def _attribute_record(attribute: Attribute) -> dict[str, Any]:
    return {
        "name": attribute.name,
        "title": attribute.title,
        "scope": attribute.scope,
        "values": [*attribute.values],
        "refines": attribute.refines,
        "sensitivity": attribute.sensitivity,
    }


def _query_record(query: Query) -> dict[str, Any]:
    return {
        "text": query.text,
        "rows": query.rows,
        "users": query.users,
        "intents": [*query.intents],
        "shrinkage": query.shrinkage,
        "prior_entropy_bits": query.prior_entropy_bits,
        "predicted_bits": query.predicted_bits,
        "heldout_bits": query.heldout_bits,
    }


def _figures_record(figures: Mapping[str, Figure]) -> dict[str, Any]:
    return {
        name: [*figure] if isinstance(figure, tuple) else figure for name, figure in figures.items()
    }


def model_text(model: Model) -> str:
    """Return what a model says of itself, the plain sentence on top."""
    return "\n\n".join(
        (
            strong(paragraph(summary(model))),
            paragraph(
                "The file holds the rows of single people, so handle it as personal data: user "
                "ids are gone, but whoever has the file can look for somebody they know."
            ),
            facts(_facts(model)),
            "Queries (shrinkage in rows; prior entropy and utility in bits)",
            table(QUERIES, [_query(each) for each in model.queries]),
            "Attributes",
            table(ATTRIBUTES, [_attribute(each) for each in model.attributes]),
        )
    )


def summary(model: Model) -> str:
    """Return one plain sentence about a model."""
    counts = f"{len(model.queries)} queries and {len(model.attributes)} attributes"
    return f"{model.id} knows {counts}, learned from {model.population.people:,} people."


def dropped(model: Model) -> str:
    """Return what of the tables a model was not built from, in words; empty if it has all."""
    shown = []
    for name, (one, many) in DROPPED.items():
        count = model.options.get(DROP + name, 0)
        if isinstance(count, int) and count:
            shown.append(f"{count:,} {one if count == 1 else many}")
    return ", ".join(shown)


def _facts(model: Model) -> list[tuple[str, str]]:
    options = {name: each for name, each in model.options.items() if not name.startswith(DROP)}
    return [
        ("source", model.source or "not stated"),
        ("licence", model.licence or "not stated"),
        ("estimator", model.estimator),
        ("options", _figures(options)),
        ("dropped", dropped(model) or "nothing"),
        ("validation", _figures(model.validation)),
        ("digest", model.digest),
    ]


def _figures(figures: Mapping[str, Figure]) -> str:
    shown = (f"{name} {_figure(figure)}" for name, figure in figures.items())
    return ", ".join(shown) or "none stated"


def _figure(figure: Figure) -> str:
    if isinstance(figure, tuple):
        return "/".join(f"{number:g}" for number in figure)
    if figure is None or isinstance(figure, bool):
        return {None: "none", False: "no", True: "yes"}[figure]
    return f"{figure:.4g}" if isinstance(figure, float) else str(figure)


def _query(query: Query) -> tuple[str, ...]:
    return (
        query.text,
        f"{query.rows:,}",
        f"{query.users:,}",
        f"{len(query.intents):,}",
        f"{query.shrinkage:g}",
        bits(query.prior_entropy_bits),
        bits(query.predicted_bits),
        bits(query.heldout_bits),
    )


def _attribute(attribute: Attribute) -> tuple[str, ...]:
    values = ", ".join(attribute.values[1:]) or "none"
    price = f", to bring {bits(attribute.sensitivity)} bits" if attribute.sensitivity else ""
    return attribute.name, attribute.scope, f"{attribute.title}{price}: {values}"


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
@click.option("--licence", default="", metavar="TEXT", help="Licence of the data.")
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
        raise UsageError("no such folder", "make it first", str(out.parent))
    if out.exists() and not out.is_file():
        raise UsageError("not a file", "choose another name", str(out))
    if not os.access(out.parent, os.W_OK | os.X_OK):
        hint = "choose a folder that you can write to"
        raise UsageError("this folder is not writable", hint, str(out.parent))
