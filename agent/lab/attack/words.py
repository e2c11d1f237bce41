"""Figures in words: with 95 of 100 resamples in brackets."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.lab.attack.intervals import Interval

NONE = "-"


def percent(found: Interval | None, digits: int = 1) -> str:
    """Return shares as percentages."""
    if found is None:
        return NONE
    return _sure([f"{100 * each:.{digits}f}" for each in found], " %")


def number(found: Interval, digits: int = 3) -> str:
    """Return numbers."""
    return _sure([f"{each:.{digits}f}" for each in found])


def chance(value: float) -> str:
    """Return a share with two significant digits, as a percentage."""
    return f"{100 * value:.2g} %" if value < 1 / 10 else f"{100 * value:.0f} %"


def multiple(found: Interval) -> str:
    """Return ratios, those below 1 as fractions."""
    return _sure([_fraction(each) for each in found])


def milliseconds(seconds: float) -> str:
    """Return what a decision took."""
    return NONE if isnan(seconds) else f"{1000 * seconds:.1f}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table in Markdown, line by line."""
    lines = [list(head), ["---"] * len(head), *map(list, rows)]
    return ["| " + " | ".join(each.replace("|", "\\|") for each in line) + " |" for line in lines]


def _sure(texts: Sequence[str], unit: str = "") -> str:
    mean, low, high = texts
    return f"{mean}{unit} [{low}, {high}]"


def _fraction(value: float) -> str:
    return f"1/{1 / value:.3g}" if value < 1 else f"{value:.3g}"
