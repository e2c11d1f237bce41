"""How many people are left over time, in bars: on a logarithmic scale, as halving is what counts.

Pure: the command line draws by it, too.
"""

from collections.abc import Sequence
from math import log

BARS = "▁▂▃▄▅▆▇█"


def share(number: int, most: int) -> float:
    """Return how high a number stands from 1 to ``most``, from 0 to 1, by its logarithm."""
    return min(1.0, log(max(number, 1)) / log(max(most, 2)))


def bars(numbers: Sequence[int], most: int, width: int) -> str:
    """Return a bar for each number; of more than ``width`` some are left out.

    The first and the last never are.
    """
    end = len(numbers) - 1
    places = [*range(len(numbers))]
    if end >= width:
        places = [place * end // (width - 1) for place in range(width)]
    return "".join(BARS[round(share(numbers[place], most) * (len(BARS) - 1))] for place in places)


def columns(numbers: Sequence[int], most: int, height: int) -> list[str]:
    """Return so many lines of bars that stand on the last of them; 1 is the lowest bar."""
    eighths = [max(1, round(share(each, most) * height * len(BARS))) for each in numbers]
    return ["".join(_cell(each - line * len(BARS)) for each in eighths) for line in range(height)][
        ::-1
    ]


def _cell(eighths: int) -> str:
    """Return what stands in one character, of a bar that is so much higher than its bottom."""
    return " " if eighths <= 0 else BARS[min(eighths, len(BARS)) - 1]
