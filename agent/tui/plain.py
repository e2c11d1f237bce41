"""Text from outside, made safe for one line of the screen."""

from rich.cells import cell_len, set_cell_size

from agent.words.layout import printable

JOINERS = "\u200c\u200d\ufe0e\ufe0f"  # of emoji and letters: terminals differ in their width
DROPPED = str.maketrans("", "", JOINERS)
CUT = "…"
HIDDEN = "•••"  # in place of a masked value


def plain(text: str) -> str:
    """Put a text in one line, without control characters."""
    if text.isascii() and text.isprintable():
        return text
    return printable(text.translate(DROPPED))


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
