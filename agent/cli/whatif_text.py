"""What another set would bring and cost as a page: the sentence, both sets, each attribute."""

from collections.abc import Sequence

from agent.cli.explanation_text import why
from agent.cli.layout import Column, facts, paragraph, strong, table
from agent.cli.problems import printable
from agent.decision.phrases import bits, people
from agent.wire.weighing import Row, Weighed, Weight

SETS = (
    Column("set"),
    Column("bits", right=True),
    Column("cost", right=True),
    Column("people", right=True),
    Column("breaks"),
    Column("attributes", wraps=True),
)
ROWS = (
    Column("attribute", wraps=True),
    Column("in"),
    Column("gain", right=True),
    Column("cost", right=True),
    Column("people", right=True),
    Column("rule"),
    Column("why", wraps=True),
)
READING = (
    "gain and cost: bits that it adds to the rest of the set, or would; people: expected to be "
    "left with it"
)
TODAY = "; figures and reasons are by the rules of today"


def weighed_text(weighed: Weighed, *, past: bool) -> str:
    """Return all that there is to say of a set beside another; ``past``: of one that has left.

    What is in comes first, then what would bring most for its cost.
    """
    chosen, other = weighed.chosen, weighed.weighed
    sets = [_set("told" if past else "leaves", chosen)]
    sets += [_set("what if", other)] if other != chosen else []
    rows = sorted(weighed.rows, key=lambda row: (not row.inside, -_net(row)))
    lines = [
        ("columns", READING + (TODAY if past else "")),
        *((each.label, printable(each.text)) for each in weighed.lines),
    ]
    parts = [strong(paragraph(printable(weighed.headline))), table(SETS, sets)]
    parts += [table(ROWS, [_row(each, chosen.names, past=past) for each in rows])] if rows else []
    return "\n\n".join([*parts, facts(lines)])


def _set(what: str, weight: Weight) -> tuple[str, ...]:
    return (
        what,
        bits(weight.utility_bits),
        bits(weight.cost_bits),
        people(weight.people_left),
        weight.breaks or "-",
        printable(", ".join(weight.names)) or "nothing",
    )


def _net(row: Row) -> float:
    return (row.gain_bits or 0.0) - (row.cost_bits or 0.0)


def _row(row: Row, chosen: Sequence[str], *, past: bool) -> tuple[str, ...]:
    return (
        printable(row.name),
        _place(row, chosen),
        bits(row.gain_bits, signed=True),
        bits(row.cost_bits),
        "-" if row.people_left is None else people(row.people_left),
        row.disclose,
        printable(_then(row, chosen, past=past) + why(row.reason, row.rule, row.limit)),
    )


def _then(row: Row, chosen: Sequence[str], *, past: bool) -> str:
    """Return what became of an attribute with a request of the past, before today's reason."""
    if not past:
        return ""
    return "told; today: " if row.name in chosen else ""


def _place(row: Row, chosen: Sequence[str]) -> str:
    """Return whether an attribute is in the set, and by which change."""
    if row.inside:
        return "yes" if row.name in chosen else "new"
    return "gone" if row.name in chosen else "-"
