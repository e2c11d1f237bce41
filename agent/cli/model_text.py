"""A model as a page of text: what it is, what it can answer, whom it knows."""

from collections.abc import Mapping

from agent.cli.layout import Column, facts, paragraph, strong, table
from agent.decision.phrases import bits
from agent.model.attributes import Attribute
from agent.model.model import Figure, Model, Query

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
