"""One line on a terminal that says how far long work has come; nothing elsewhere."""

import sys
from types import TracebackType
from typing import Self

import click

from agent.cli.interrupt import check

CELLS, LETTERS = 24, 32
WIDTH = LETTERS + CELLS + len(" [] 100%")


class Progress:
    """Called with what is being done and which share of it is done, 0 to 1."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()

    def __enter__(self) -> Self:
        return self

    def __call__(self, what: str, share: float) -> None:
        """Draw the line anew; Interrupted if Ctrl-C has come unnoticed."""
        check()
        if self._shown:
            full = round(CELLS * share)
            bar = "#" * full + "." * (CELLS - full)
            line = f"{what:<{LETTERS}.{LETTERS}} [{bar}] {share:4.0%}"
            click.echo(f"\r{line}", nl=False, err=True)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Leave an empty line, whatever happened."""
        if self._shown:
            click.echo(f"\r{' ' * WIDTH}\r", nl=False, err=True)
