"""`reticent block` and `reticent unblock`: whether a recipient gets anything at all."""

import click

from agent.cli.door import door
from agent.cli.layout import paragraph
from agent.cli.options import json_option, record
from agent.cli.problems import printable
from agent.wire.asking import Allow, Refuse
from agent.wire.base import Done

BLOCKED = "{} gets nothing from now on, by a rule in the policy."
UNBLOCKED = "{} is treated like others again from now on."
NOT_OURS = (
    "Nothing was taken out of the policy: no rule of ours gives {} nothing. If one of your own "
    "does, `reticent policy explain` names it."
)


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
    _say(done, BLOCKED, recipient, as_json=as_json)


@click.command()
@click.argument("recipient", metavar="HOST")
@json_option
def unblock(*, recipient: str, as_json: bool) -> None:
    """Treat HOST like others again, once it was blocked or what it offered was denied."""
    with door() as client:
        done: Done = client.call("allow", Allow(recipient=recipient))
    _say(done, UNBLOCKED if done.done else NOT_OURS, recipient, as_json=as_json)


def _say(done: Done, text: str, recipient: str, *, as_json: bool) -> None:
    click.echo(record(done) if as_json else paragraph(text.format(printable(recipient))))
