"""`reticent model build` and `info`: from tables or a search log to a model, and its contents."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import click

from agent.build.options import BuildOptions
from agent.cli.interrupt import Progress, extra, uninterrupted
from agent.cli.options import PATH, Answer, OneOf, answers, shrinkage
from agent.cli.printing import Column, facts, page, paragraph, table
from agent.errors import UsageError
from agent.lab.questions.defaults import AS_ANSWERED, with_default_sensitivities, within_outcomes
from agent.model.attributes import Attribute
from agent.model.file import SUFFIX, read, shipped_model, write
from agent.model.model import Figure, Model
from agent.paths import paths
from agent.words.figures import bits, counted
from agent.words.titles import in_order, value_title

QUERIES: dict[str, tuple[Column, Callable[[Any], str]]] = {  # in the order of the object
    "text": (Column("query", wraps=True), str),
    "rows": (Column("answers", right=True), "{:,}".format),
    "users": (Column("people", right=True), "{:,}".format),
    "intents": (Column("results", right=True), lambda intents: f"{len(intents):,}"),
    "shrinkage": (Column("prior", right=True), "{:g}".format),
    "prior_entropy_bits": (Column("at most", right=True), bits),
    "predicted_bits": (Column("predicted", right=True), bits),
    "heldout_bits": (Column("measured", right=True), bits),
}
LEGEND = (
    "Queries it knows. prior: its weight, in answers; at most: the bits of help that no fact "
    "exceeds; predicted, measured: bits of help from the best facts, by the model and for people "
    "left out of it."
)
PERSONAL = (
    "The file holds the rows of single people, so handle it as personal data: user ids are gone, "
    "but whoever has the file can look for somebody they know."
)
DROP = "dropped_"  # how the options of a model begin that say what was
DROPPED = {
    "unknown_user": ("row of an unknown user", "rows of unknown users"),
    "no_query": ("row without a query", "rows without a query"),
    "no_intent": ("row without an intent", "rows without an intent"),
    "thin_queries": ("query of too few users", "queries of too few users"),
    "thin_rows": ("row of such a query", "rows of such queries"),
}
ATTRIBUTES = (Column("name in files"), Column("fact, and its values", wraps=True))
MAX_NAME = 240  # bytes; while it is written, a file has a longer name


def model_record(model: Model) -> dict[str, Any]:
    """Return what a model states about itself, without its tables."""
    names = ("id", "source", "licence", "digest", "estimator")
    return {
        **{name: getattr(model, name) for name in names},
        "people": model.population.people,
        "person_level_rows": True,
        "attributes": model.attributes,
        "queries": [{name: getattr(each, name) for name in QUERIES} for each in model.queries],
        "options": dict(model.options),
        "validation": dict(model.validation),
    }


def summary(model: Model) -> str:
    """Return one plain sentence about a model."""
    counts = f"{len(model.queries)} queries and {len(model.attributes)} attributes"
    return f"{model.id} knows {counts}, learned from {model.population.people:,} people."


def dropped(model: Model) -> str:
    """Return which parts of the tables a model left out, in words; empty if none."""
    counts = {name: model.options.get(DROP + name, 0) for name in DROPPED}
    return ", ".join(
        counted(count, *DROPPED[name])
        for name, count in counts.items()
        if isinstance(count, int) and count
    )


def _figures(figures: Mapping[str, Figure]) -> str:
    shown = []
    for name, figure in figures.items():
        match figure:
            case tuple():
                text = "/".join(f"{number:g}" for number in figure)
            case None | bool():
                text = {None: "none", False: "no", True: "yes"}[figure]
            case _:
                text = f"{figure:.4g}" if isinstance(figure, float) else str(figure)
        shown.append(f"{name} {text}")
    return ", ".join(shown) or "none stated"


def _attribute(each: Attribute) -> tuple[str, str]:
    values = "; ".join(value_title(value, each.title) for value in in_order(each.values[1:]))
    price = f", must bring {bits(each.sensitivity)} bits" if each.sensitivity else ""
    scope = ", of the request" if each.scope == "request" else ""
    return each.name, f"{each.title}{scope}{price}: {values or 'no values'}"


def model_path(named: str) -> Path:
    """Return where a model lies, named by its file or as policies name it."""
    path = Path(named)
    if path.exists() or path.suffix or path.name != named:
        return path
    known = {each.stem: each for each in (shipped_model(), *paths().models.glob(f"*{SUFFIX}"))}
    if named not in known:
        raise UsageError.unknown("model", named, known)
    return known[named]


@click.command()
@click.argument("model", required=False, metavar="[M|NAME]")
@answers
def info(model: str | None) -> Answer:
    """Describe the model in the file M or in use as NAME, by default the one that is shipped."""
    found = read(shipped_model() if model is None else model_path(model))
    options = {name: each for name, each in found.options.items() if not name.startswith(DROP)}
    about = [
        ("source", found.source or "not stated"),
        ("licence", found.licence or "not stated"),
        ("estimator", found.estimator),
        ("options", _figures(options)),
        ("dropped", dropped(found) or "nothing"),
        ("validation", _figures(found.validation)),
        ("digest", found.digest),
    ]
    rows = [
        [form(getattr(each, name)) for name, (_, form) in QUERIES.items()] for each in found.queries
    ]
    text = page(
        summary(found),
        paragraph(PERSONAL),
        facts(about),
        paragraph(LEGEND),
        table([column for column, _ in QUERIES.values()], rows),
        table(ATTRIBUTES, map(_attribute, found.attributes)),
    )
    return Answer(model_record(found), text)


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
@click.option(
    "--id", "name", metavar="NAME", help="Name of the model. By default that of the file."
)
@click.option("--source", default="", metavar="TEXT", help="Where the data comes from.")
@click.option("--licence", default="", metavar="TEXT", help="Licence of the data.")
@answers
def build(
    out: Path,
    name: str | None,
    sensitivities: Literal["scaled", "as-answered", "none"] | None,
    **options: Any,  # noqa: ANN401  (the fields of BuildOptions)
) -> Answer:
    """Build a model from two tables, or from a raw search log: csv, csv.gz or parquet.

    Users: a column user, and one per attribute of the person. Events: columns user, query,
    intent, and one per attribute that changes with every request. The three tables of a log
    are described in agent/build/FORMAT_LOG.md, and where sensitivities come from in
    agent/lab/questions/SOURCES.md. Needs the extra `build`.
    """
    _check_place(out)
    chosen = BuildOptions(id=out.stem if name is None else name, **options)
    with extra("build", "building a model"):
        from agent.build.build import build_model
    with Progress() as progress:
        made = build_model(chosen, progress)
    which = sensitivities or ("none" if chosen.log is None else "scaled")
    if which != "none":
        outcomes = within_outcomes() if which == "scaled" else AS_ANSWERED
        made = with_default_sensitivities(made, outcomes)
    with uninterrupted():
        built = write(made, out)
    lines = [f"Wrote {out}: {summary(built)}"]
    if left := dropped(built):
        lines.append(f"Dropped from the tables: {left}.")
    if priced := sum(each.sensitivity > 0 for each in built.attributes):
        what = f"{priced} attributes have a default sensitivity from two surveys"
        lines.append(f"{what}; `--sensitivities none` leaves them without.")
    lines.append(f"Look at it with `reticent model info {out}`.")
    return Answer(model_record(built), "\n".join(map(paragraph, lines)))


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
