"""Draw what a command prints today as examples/terminal.svg, the picture in the README."""

import shlex
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from html import escape
from io import StringIO
from pathlib import Path

from agent.cli.main import outcome

COMMAND = 'reticent model decide --query "quick dinner ideas for two" --explain'
ROWS = 12  # lines of the table that are drawn
PICTURE = Path(__file__).with_name("terminal.svg")

CHARACTER = 8.4  # width in pixels at FONT_SIZE
FONT_SIZE, LINE, MARGIN = 14, 19, 16
UNBROKEN = "\N{NO-BREAK SPACE}"  # of other spaces in a row, a viewer shows one
FONTS = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"


def picture() -> str:
    """Draw an SVG of the command and of what it prints now."""
    with redirect_stdout(StringIO()) as printed:
        code = outcome(shlex.split(COMMAND)[1:])
    if code:
        sys.exit(code)
    verdict, table, *rest = printed.getvalue().split("\n\n")
    rows = table.splitlines()
    left_out = f"  (... {len(rows) - ROWS} more lines)"
    lines = [*verdict.splitlines(), "", *rows[:ROWS], left_out, "", *"\n\n".join(rest).splitlines()]
    return drawn([f"$ {COMMAND}", "", *lines])


def drawn(lines: list[str]) -> str:
    """Draw an SVG of lines of text, of which the first stands out."""
    columns = max(map(len, lines))
    width, height = round(columns * CHARACTER) + 2 * MARGIN, len(lines) * LINE + 2 * MARGIN
    size = f'width="{width}" height="{height}"'
    font = f'font-family="{FONTS}" font-size="{FONT_SIZE}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" {size}>',
        f'<rect {size} rx="8" fill="#1b1f27"/>',
        f'<g {font} fill="#d7dce4">',
        *_texts(lines),
        "</g>",
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _texts(lines: list[str]) -> Iterator[str]:
    """Yield one element per line; every word has its place, whatever the font's width is."""
    for number, line in enumerate(lines):
        if line:
            colour = ' fill="#8fd19e"' if number == 0 else ""
            down, length = MARGIN + LINE * number + FONT_SIZE, len(line) * CHARACTER
            yield (
                f'<text x="{MARGIN}" y="{down}" textLength="{length:.1f}"{colour}>'
                f"{escape(line).replace(' ', UNBROKEN)}</text>"
            )


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
