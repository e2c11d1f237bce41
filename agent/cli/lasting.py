"""For how long and for whom a word of the user holds: the options that say so, and the words."""

from collections.abc import Callable, Mapping
from typing import TypedDict, TypeVar

import click

from agent.cli.layout import counted
from agent.errors import UsageError
from agent.wire.base import MOST_DAYS
from agent.wire.reviews import About, Lasting, Override, Verdict

C = TypeVar("C", bound=Callable[..., object])

SAID: Mapping[str, Lasting] = {
    "once": "once",
    "until_restart": "until restart",
    "days": "days",
    "always": "always",
}


class LastingOptions(TypedDict):
    """The options, as click hands them over."""

    once: bool
    until_restart: bool
    days: int | None
    always: bool
    everyone: bool


def lasting_options(once: str, always: str) -> Callable[[C], C]:
    """Return what adds the options to a command; ``once``, ``always``: the help of these two."""

    def add(command: C) -> C:
        for option in (
            click.option("--everyone", is_flag=True, help="For every recipient, not this one."),
            click.option("--always", is_flag=True, help=always),
            click.option(
                "--days",
                type=click.IntRange(1, MOST_DAYS),
                metavar="N",
                help="For N days; written into the policy.",
            ),
            click.option("--until-restart", is_flag=True, help="Until the daemon ends."),
            click.option("--once", is_flag=True, help=once),
        ):
            command = option(command)
        return command

    return add


def lasting_of(options: LastingOptions, default: Lasting) -> Lasting:
    """Return for how long a word is to hold; UsageError where it would in two ways."""
    chosen = [name for name in SAID if options[name]]  # type: ignore[literal-required]  # each is a key
    if len(chosen) > 1:
        one, other = (f"--{name.replace('_', '-')}" for name in chosen[:2])
        raise UsageError(f"{one} does not go with {other}", "say one of them")
    return SAID[chosen[0]] if chosen else default


def about_of(options: LastingOptions) -> About:
    """Return for whom a word is to hold."""
    return "everyone" if options["everyone"] else "recipient"


def how_long(word: Verdict | Override) -> str:
    """Return for how long a word holds, as the end of a sentence."""
    match word.lasting:
        case "once":
            return "with the next request"
        case "until restart":
            return "until the daemon ends"
        case "days":
            return f"for {counted(word.days or 0, 'day')}"
    return "from now on"
