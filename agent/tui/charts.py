"""Charts in characters: bars on a logarithmic scale, and a curve between two axes. Pure."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from math import log
from typing import NamedTuple

BARS = "▁▂▃▄▅▆▇█"
MARGIN = 8  # columns: a number, and the axis
BELOW = 2  # lines: the axis, and its numbers
LEAST_WIDTH, LEAST_HEIGHT = 24, 5  # of the whole, below which nothing can be seen
DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))  # of a braille character, by column
BRAILLE = 0x2800
FINE = 0.05  # upwards, below which two decimals of numbers may be equal
ACROSS, DOWN = 2, 4  # dots in a character


def share(number: int, most: int) -> float:
    """Place a number between 1 and ``most`` on a logarithmic scale from 0 to 1."""
    return min(1.0, log(max(number, 1)) / log(max(most, 2)))


def bars(numbers: Sequence[int], most: int, width: int) -> str:
    """Draw a bar for each number; of more than ``width`` some are left out.

    The first and the last never are.
    """
    end = len(numbers) - 1
    places = [*range(len(numbers))]
    if end >= width:
        places = [place * end // (width - 1) for place in range(width)]
    return "".join(BARS[round(share(numbers[place], most) * (len(BARS) - 1))] for place in places)


class Spot(NamedTuple):
    """A sign at a place of the curve, in the units of the axes, and letters beside it.

    ``joined``: the line runs by it.
    """

    x: float
    y: float
    sign: str
    letters: str
    joined: bool


class Area(NamedTuple):
    """Characters between the axes, and the greatest values there are; 0 stands in the corner.

    ``below``: the least value upwards, 0 or less.
    """

    width: int
    height: int
    right: float
    top: float
    below: float

    def column(self, x: float, per: int = 1) -> int:
        """Find the column of a value, in characters or in ``per`` parts of each."""
        return _place(x, 0.0, self.right, self.width * per)

    def line(self, y: float, per: int = 1) -> int:
        """Find the line of a value, from above."""
        return self.height * per - 1 - _place(y, self.below, self.top, self.height * per)


def curve(
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
    for column, line, sign in (*_line(spots, area), *_signs(spots, area)):
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


def _line(spots: Iterable[Spot], area: Area) -> Iterator[tuple[int, int, str]]:
    """Yield the characters of the line through the spots that it joins, by the lower axis."""
    found: dict[tuple[int, int], int] = {}
    joined = sorted((each.x, each.y) for each in spots if each.joined)
    dots_of = [(area.column(x, ACROSS), area.line(y, DOWN)) for x, y in joined]
    for (x, y), (x2, y2) in pairwise(dots_of):
        steps = max(abs(x2 - x), abs(y2 - y), 1)
        for step in range(0, steps + 1, 2):  # every other dot of a straight line
            column = round(x + (x2 - x) * step / steps)
            line = round(y + (y2 - y) * step / steps)
            place = (column // ACROSS, line // DOWN)
            found[place] = found.get(place, 0) | DOTS[column % ACROSS][line % DOWN]
    for (column, line), dots in found.items():
        yield column, line, chr(BRAILLE + dots)
