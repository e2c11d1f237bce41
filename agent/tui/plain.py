"""Text from outside, made safe for one line of the screen."""

import csv
from collections.abc import Mapping, Sequence
from io import StringIO

from rich.cells import cell_len, set_cell_size

STRANGE = "\N{REPLACEMENT CHARACTER}"
JOINERS = (
    "\u200c\u200d\ufe0e\ufe0f"  # of letters and emoji: how wide they make them, terminals differ
)
DROPPED = str.maketrans("", "", JOINERS)
CUT = "…"
FORMULAS = ("=", "+", "-", "@")  # with which a spreadsheet lets a formula begin
HIDDEN = "•••"  # in place of a masked value


def plain(text: str) -> str:
    """Put a text in one line, without control characters."""
    if text.isascii() and text.isprintable():
        return text
    joined = text.translate(DROPPED)
    return "".join(each if each.isprintable() else STRANGE for each in joined)


def plain_lines(text: str) -> str:
    """Make each line of a text plain."""
    return "\n".join(map(plain, text.splitlines()))


def fitted(text: str, width: int, *, right: bool = False) -> str:
    """Fit a text into exactly this width: padded, or cut with an ellipsis."""
    shown = plain(text)
    missing = width - cell_len(shown)
    if missing >= 0:
        return " " * missing + shown if right else shown + " " * missing
    return set_cell_size(shown, width - 1) + CUT if width > 0 else ""


def csv_of(rows: Sequence[Mapping[str, str]]) -> str:
    """Write rows with the same columns as CSV; no spreadsheet takes a cell for a formula."""
    text = StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(rows[0])
    for row in rows:
        cells = map(plain, row.values())
        table.writerow(f"'{each}" if each.startswith(FORMULAS) else each for each in cells)
    return text.getvalue()
