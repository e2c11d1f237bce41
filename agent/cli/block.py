"""`reticent block` and `reticent unblock`: whether a recipient gets anything at all."""

import click

from agent.cli.door import door
from agent.cli.layout import paragraph
from agent.cli.options import json_option, record
from agent.cli.problems import printable
from agent.wire.asking import Allow, Allowed, Refuse
from agent.wire.base import Done

BLOCKED = "{} gets nothing from now on, by a rule in the policy."
UNBLOCKED = "{} is treated like others again from now on."
NOT_BLOCKED = "{} was not blocked, so nothing was changed."
STILL = "{} still gets nothing, by {}, which is not a rule of ours: change it by hand."


@click.command()
@click.argument("recipient", metavar="HOST")
@json_option
def block(*, recipient: str, as_json: bool) -> None:
    """Give HOST nothing any more, from the next request on.

    It is listed in a rule of the policy; those that it pools with get what they got. What it holds
    it keeps.
    """
    with door() as client:
        done: Done = client.call("refuse", Refuse(recipient=recipient))
    text = BLOCKED.format(printable(recipient))
    click.echo(record(done) if as_json else paragraph(text))


@click.command()
@click.argument("recipient", metavar="HOST")
@json_option
def unblock(*, recipient: str, as_json: bool) -> None:
    """Treat HOST like others again, once it was blocked or what it offered was denied."""
    with door() as client:
        done: Allowed = client.call("allow", Allow(recipient=recipient))
    click.echo(record(done) if as_json else paragraph(printable(_allowed(done, recipient))))


def _allowed(done: Allowed, recipient: str) -> str:
    """Return what holds from now on, and by which rule if it is nothing all the same."""
    if done.rule is None:
        return (UNBLOCKED if done.done else NOT_BLOCKED).format(recipient)
    line = "" if done.line is None else f" on line {done.line} of the policy"
    return STILL.format(recipient, f"{done.rule!r}{line}")
