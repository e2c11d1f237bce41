"""A chart in characters: a curve between two axes. Pure."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

MARGIN = 8  # columns: a number, and the axis
BELOW = 2  # lines: the axis, and its numbers
LEAST_WIDTH, LEAST_HEIGHT = 24, 5  # of the whole, below which nothing can be seen
FINE = 0.05  # upwards, below which two decimals of numbers may be equal


class Spot(NamedTuple):
    """A sign at a place of the curve, in the units of the axes, and letters beside it."""

    x: float
    y: float
    sign: str
    letters: str


class Area(NamedTuple):
    """Characters between the axes, and the greatest values there are; 0 stands in the corner.

    ``below``: the least value upwards, 0 or less.
    """

    width: int
    height: int
    right: float
    top: float
    below: float

    def column(self, x: float) -> int:
        """Find the column of a value."""
        return _place(x, 0.0, self.right, self.width)

    def line(self, y: float) -> int:
        """Find the line of a value, from above."""
        return self.height - 1 - _place(y, self.below, self.top, self.height)


def picture_of(
    spots: Sequence[Spot], width: int, height: int, across: Callable[[float], str]
) -> list[str]:
    """Draw a picture as lines; later spots stand before earlier ones.

    ``across``: writes a value of the lower axis.
    """
    area = Area(
        width=max(width, LEAST_WIDTH) - MARGIN,
        height=max(height, LEAST_HEIGHT) - BELOW,
        right=max(each.x for each in spots),
        top=max(each.y for each in spots),
        below=min(0.0, *(each.y for each in spots)),
    )
    cells = [[" "] * area.width for _ in range(area.height)]
    for column, line, sign in _signs(spots, area):
        cells[line][column] = sign
    values = (area.below, (area.below + area.top) / 2, area.top, 0.0)
    digits = 2 if area.top - area.below >= FINE else 3
    numbers = {area.line(value): f"{value:.{digits}f}" for value in values}
    picture = [
        f"{numbers.get(at, ''):>6} {'┤' if at in numbers else '│'}{''.join(row)}"
        for at, row in enumerate(cells)
    ]
    centre = (area.width - 1) // 2
    axis = ["─"] * area.width
    axis[0] = axis[centre] = axis[-1] = "┬"
    left, middle, right = (across(area.right * part / 2) for part in range(3))
    below = f"{'':{MARGIN}}{left}"
    below = below.ljust(MARGIN + centre + len(middle) // 2 - len(middle)) + middle
    below = below.ljust(MARGIN + area.width - len(right)) + right
    return [*picture, f"{'':{MARGIN - 1}}└{''.join(axis)}", below]


def _place(value: float, least: float, most: float, count: int) -> int:
    if most <= least:
        return 0
    return min(count - 1, max(0, round((value - least) / (most - least) * (count - 1))))


def _signs(spots: Sequence[Spot], area: Area) -> Iterator[tuple[int, int, str]]:
    """Yield the signs, and their letters where no sign is: to the right, or else to the left."""
    places = [(area.column(each.x), area.line(each.y)) for each in spots]
    for each, (column, line) in zip(spots, places, strict=True):
        yield column, line, each.sign
        for side in (1, -1):
            beside = [(column + side * (1 + at), line) for at in range(len(each.letters))]
            if all(0 <= at < area.width and (at, line) not in places for at, _ in beside):
                yield from (
                    (at, line, sign) for (at, _), sign in zip(beside, each.letters, strict=True)
                )
                break
