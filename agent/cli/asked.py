"""Asking before something that cannot be taken back."""

import click

from agent.cli.terminal import at_terminal
from agent.errors import ReticentError, UsageError


def agree(question: str, *, yes: bool, word: str | None = None) -> None:
    """Return once the user agrees; ``yes``: beforehand; ``word``: what is to be typed, if not y.

    UsageError where nobody is there to answer, ReticentError where the answer is no.
    """
    if yes:
        return
    if not at_terminal():
        raise UsageError("this asks first, and nobody is there to answer", "agree with --yes")
    if not (click.confirm(question, err=True) if word is None else _typed(question) == word):
        hint = f"agree with {word or 'y'}, or with --yes"
        raise ReticentError("you did not agree, so nothing was done", hint)


def _typed(question: str) -> str:
    # With a default, an empty line is an answer, so that ours is the sentence about it.
    answer: str = click.prompt(question, default="", show_default=False, err=True)
    return answer.strip()
