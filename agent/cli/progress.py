"""One line on a terminal that says how far long work has come; nothing elsewhere."""

import sys
from types import TracebackType
from typing import Self

import click

CELLS = 24
CLEAR = "\r\x1b[K"


class Progress:
    """Called with what is being done and which share of it is done, 0 to 1."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()

    def __enter__(self) -> Self:
        return self

    def __call__(self, what: str, share: float) -> None:
        """Draw the line anew."""
        if self._shown:
            full = round(CELLS * share)
            bar = "#" * full + "." * (CELLS - full)
            click.echo(f"{CLEAR}{what:<32.32} [{bar}] {share:4.0%}", nl=False, err=True)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Leave an empty line, whatever happened."""
        if self._shown:
            click.echo(CLEAR, nl=False, err=True)
