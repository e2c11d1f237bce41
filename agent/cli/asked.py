"""Asking before something that cannot be taken back."""

import sys

import click

from agent.errors import ReticentError, UsageError


def agree(question: str, *, yes: bool) -> None:
    """Return once the user agrees; ``yes``: agreed beforehand.

    UsageError where nobody is there to answer, ReticentError where the answer is no.
    """
    if yes:
        return
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError("this asks first, and nobody is there to answer", "agree with --yes")
    if not click.confirm(question, err=True):
        raise ReticentError("you did not agree, so nothing was done", "agree with y, or with --yes")
