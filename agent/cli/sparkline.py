"""A few numbers as a line of bars, where the terminal can show them."""

import sys
from collections.abc import Sequence
from math import log

BARS = "▁▂▃▄▅▆▇█"
WIDTH = 8  # columns


def sparkline(numbers: Sequence[int], most: int) -> str:
    """Return a bar for each number, on a logarithmic scale from 1 to ``most``.

    Of more than there is room for some are left out, never the first or the last. It is empty
    where the terminal has no bars.
    """
    end = len(numbers) - 1
    places = [*range(len(numbers))]
    if end >= WIDTH:
        places = [place * end // (WIDTH - 1) for place in range(WIDTH)]
    bars = "".join(_bar(numbers[place], most) for place in places)
    try:
        bars.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return ""
    return bars


def _bar(number: int, most: int) -> str:
    height = log(max(number, 1)) / log(max(most, 2))
    return BARS[min(round(height * (len(BARS) - 1)), len(BARS) - 1)]
