"""Numbers along an order of attributes: what Figs. 6, 7, 9 and 10 are made of."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from agent.lab.charts import Mark, Panel, Series

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Floats = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Along:
    """An order of attributes, and numbers for the set of the first 1, 2, 3, ... of them.

    ``names``: in that order; ``curves``: a label and as many numbers as there are names, each.
    """

    names: tuple[str, ...]
    curves: tuple[tuple[str, Floats], ...]

    def curve(self, label: str) -> Floats:
        """Return the numbers under a label; KeyError if there are none."""
        return dict(self.curves)[label]


def prefixes(order: Sequence[int]) -> tuple[int, ...]:
    """Return the sets of the first 1, 2, 3, ... attributes, as masks."""
    return tuple(accumulate((1 << each for each in order), int.__or__))


def measured(order: Sequence[int], measure: Callable[[int], float]) -> Floats:
    """Return what ``measure`` says of the set of the first 1, 2, 3, ... attributes."""
    return tuple(measure(each) for each in prefixes(order))


def reached(values: Floats, share: float) -> int:
    """Return after how many attributes a share of the greatest value is reached; 0 without any."""
    if not values or max(values) <= 0:
        return 0
    return next(n for n, each in enumerate(values, 1) if each >= share * max(values))


def steps(values: Floats) -> Floats:
    """Return what each attribute adds; before the first there is 0."""
    return tuple(after - before for before, after in zip((0.0, *values), values, strict=False))


def panel(along: Along, labels: tuple[str, str], marks: Sequence[tuple[int, str]] = ()) -> Panel:
    """Return the curves of an order, drawn over the attributes.

    ``labels``: the title, and what the numbers are; ``marks``: how many attributes, and a word, at
    the first curve.
    """
    places = tuple(float(each) for each in range(len(along.names)))
    series = tuple(
        Series(label, places, values, names=along.names) for label, values in along.curves
    )
    first = along.curves[0][1]
    pointed = tuple(Mark(n - 1, first[n - 1], text) for n, text in marks if n)
    title, y_label = labels
    return Panel(title, "attributes, in this order", y_label, series, pointed, along.names)
