"""Whether somebody is there."""

import sys


def at_terminal() -> bool:
    """Say whether somebody is there to answer."""
    return sys.stdin is not None and sys.stdin.isatty()


def sees_terminal() -> bool:
    """Say whether somebody is there to answer, and sees what is printed."""
    return at_terminal() and sys.stdout is not None and sys.stdout.isatty()
