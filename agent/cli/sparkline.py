"""A few numbers as a line of bars, where the terminal can show them."""

import sys
from collections.abc import Sequence

from agent.tui.bars import bars

WIDTH = 8  # columns


def sparkline(numbers: Sequence[int], most: int) -> str:
    """Return a bar for each number, on a logarithmic scale from 1 to ``most``.

    Of more than there is room for some are left out, never the first or the last. It is empty
    where the terminal has no bars.
    """
    found = bars(numbers, most, WIDTH)
    try:
        found.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return ""
    return found
