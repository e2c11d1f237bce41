"""Text from outside, made safe for one line of the screen."""

from rich.cells import cell_len, set_cell_size

STRANGE = "\N{REPLACEMENT CHARACTER}"
JOINERS = (
    "\u200c\u200d\ufe0e\ufe0f"  # of letters and emoji: how wide they make them, terminals differ
)
DROPPED = str.maketrans("", "", JOINERS)
CUT = "…"
HIDDEN = "•••"  # a value that may not be seen


def plain(text: str) -> str:
    """Return a text in one line, without control characters."""
    if text.isascii() and text.isprintable():
        return text
    joined = text.translate(DROPPED)
    return "".join(each if each.isprintable() else STRANGE for each in joined)


def plain_lines(text: str) -> str:
    """Return a text of several lines, each of them plain."""
    return "\n".join(map(plain, text.splitlines()))


def fitted(text: str, width: int, *, right: bool = False) -> str:
    """Return a plain text of exactly this width: padded, or cut with an ellipsis."""
    shown = plain(text)
    missing = width - cell_len(shown)
    if missing >= 0:
        return " " * missing + shown if right else shown + " " * missing
    return set_cell_size(shown, width - 1) + CUT if width > 0 else ""
