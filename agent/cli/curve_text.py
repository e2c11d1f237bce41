"""A trade-off curve as a page of text: the sentence, a row for each set, what the columns mean."""

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from agent.cli.layout import Column, facts, paragraph, strong, table
from agent.decision.curve import Curve, Step
from agent.decision.phrases import LARGE, bits, listed, people
from agent.decision.words import SILENT

ROWS = 12
BAR = 8  # columns of the bar of the set that brings most
COLUMNS = (
    Column("lambda", right=True),
    Column("bits", right=True),
    Column(""),
    Column("cost", right=True),
    Column("people", right=True),
    Column("mark"),
    Column("leaves", wraps=True),
)


def curve_text(curve: Curve, source: str = "as asked") -> str:
    """Return all that there is to say about a curve, in 80 columns; less leaves further up.

    ``source``: where the present lambda is from, in words.
    """
    shown = thinned(len(curve.steps), _marked(curve))
    rows = _rows(curve, shown[::-1])
    parts = (
        strong(paragraph(_headline(curve, source))),
        table(COLUMNS, rows),
        facts(_notes(curve, shown)),
    )
    return "\n\n".join(parts)


def thinned(count: int, kept: Collection[int], most: int = ROWS) -> list[int]:
    """Return at most so many of the first ``count`` indexes, evenly spread, in ascending order.

    ``kept``, the first and the last are among them; of equally wide gaps the first is filled first.
    """
    chosen = {*kept, 0, count - 1}
    while len(chosen) < min(most, count):
        before, after = max(pairwise(sorted(chosen)), key=lambda gap: gap[1] - gap[0])
        chosen.add((before + after) // 2)
    return sorted(chosen)


def _marked(curve: Curve) -> set[int]:
    return {curve.present} if curve.knee is None else {curve.present, curve.knee}


def _headline(curve: Curve, source: str) -> str:
    present = _number(curve.terms.trade_off)
    now = f"At lambda {present}, {source}, {_brings(curve, curve.present)}."
    if curve.knee is None:
        return f"{now} The curve has no knee."
    if curve.knee == curve.present:
        return f"{now} This is the knee of the curve."
    knee = curve.steps[curve.knee]
    where = f"lambda {_number(knee.least)}"
    where += "" if knee.least == knee.most else f" to {_number(knee.most)}"
    return f"{now} The knee of the curve is at {where}: there {_brings(curve, curve.knee)}."


def _brings(curve: Curve, index: int) -> str:
    step = curve.steps[index]
    if not step.disclosed:
        return "nothing leaves"
    leave = "leaves" if len(step.disclosed) == 1 else "leave"
    return f"{listed(step.disclosed)} {leave}, for {bits(step.figures.utility)} bits"


def _rows(curve: Curve, shown: Sequence[int]) -> list[tuple[str, ...]]:
    """Return a row for each index, each with what it changes about the one before."""
    highest = max(each.figures.utility for each in curve.steps)
    rows: list[tuple[str, ...]] = []
    before = frozenset[str]()
    for index in shown:
        step = curve.steps[index]
        figures = step.figures
        length = round(BAR * figures.utility / highest) if highest > 0 else 0
        rows.append(
            (
                _number(step.least),
                bits(figures.utility),
                "#" * max(0, length),
                f"{figures.identifiability_cost:.2g}",
                people(figures.people_left),
                _mark(curve, index),
                _change(before, step),
            )
        )
        before = frozenset(step.disclosed)
    return rows


def _mark(curve: Curve, index: int) -> str:
    marks = [
        "* knee" if index == curve.knee else "",
        "> now" if index == curve.present else "",
        "! beaten" if curve.steps[index].beaten else "",
    ]
    return " ".join(filter(None, marks))


def _change(before: frozenset[str], step: Step) -> str:
    new = [f"+{name}" for name in step.disclosed if name not in before]
    gone = [f"-{name}" for name in sorted(before.difference(step.disclosed))]
    return " ".join((*new, *gone)) or "nothing"


def _notes(curve: Curve, shown: Sequence[int]) -> Iterator[tuple[str, str]]:
    """Yield what has to be known to read the table."""
    steps, terms = curve.steps, curve.terms
    if curve.status in SILENT:
        yield "note", SILENT[curve.status]
    if terms.ask:
        yield "note", "what would wait for you is in no set"
    of = "on average over all queries" if curve.matched_query is None else "for this query"
    yield "lambda", "the least at which the set is chosen; it stays up to the row above"
    prices = any(each.figures.guard or each.figures.sensitivity for each in steps)
    priced = ", before sensitivity and guards are taken off" if prices else ""
    yield "bits", f"how much better served {of}{priced}"
    yield "cost", f"identifiability added, as {terms.metric} measures it"
    yield "people", f"who still look like you, of {people(steps[0].figures.people)}"
    yield "leaves", "what comes (+) or goes (-), compared with the row above"
    if curve.knee is not None:
        yield "* knee", "farthest above the straight line from the cheapest set to the dearest"
    if any(each.beaten for each in steps):
        yield (
            "! beaten",
            "another set of the curve is better in one of bits and cost, worse in none",
        )
    if len(shown) < len(steps):
        yield "left out", f"{len(steps) - len(shown)} of {len(steps)} sets; --json has all"
    yield "proven", _proven(steps)


def _proven(steps: Sequence[Step]) -> str:
    if all(each.proof == "enumerated" for each in steps):
        return "no better set exists, at any lambda that was tried"
    return "not that these sets are the best; --algorithm exact looks further, and takes longer"


def _number(trade_off: float) -> str:
    """Return lambda with three digits or as a whole number."""
    return f"{trade_off:,.0f}" if 1000 <= trade_off < LARGE else f"{trade_off:.3g}"  # noqa: PLR2004  (from four digits on)
