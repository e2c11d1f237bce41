"""`reticent let`: the user's word on attributes that need not wait."""

from typing import Unpack

import click

from agent.cli.door import door
from agent.cli.lasting import LastingOptions, about_of, lasting_of, lasting_options
from agent.cli.layout import paragraph
from agent.cli.options import json_option, record
from agent.cli.parameters import OneOf, names
from agent.cli.problems import printable
from agent.cli.verdict_text import override_line, ruled_lines
from agent.errors import UsageError
from agent.wire.reviews import Disclose, Override, Ruled

VALUES: tuple[Disclose, ...] = ("never", "ask", "auto", "always")
CLOSERS: tuple[Disclose, ...] = ("never", "ask")  # what another word may have been meant for
ONCE = "For the next request only that it changes."
ALWAYS = "For good, by a rule in the policy; the default."


class LetOptions(LastingOptions):
    """The options, as click hands them over."""

    recipient: str
    attributes: tuple[str, ...]
    disclose: Disclose
    as_json: bool


@click.command()
@click.argument("recipient", metavar="HOST")
@click.argument("attributes", type=names, metavar="ATTR[,ATTR]")
@click.argument("disclose", type=OneOf(VALUES, CLOSERS), metavar="never|ask|auto|always")
@lasting_options(ONCE, ALWAYS)
@json_option
def let(**options: Unpack[LetOptions]) -> None:
    """Say whether attributes may leave to HOST and whoever it pools with.

    never: they stay; ask: they wait for your word; auto: they leave where it is worth it; always:
    they leave unless a limit forbids it. No word lets out what is guarded, or anything to a
    recipient that gets nothing.

    Your word takes back what you said of them before, holds in the running daemon from the next
    request on, and says which rule of yours wins over it; `reticent undo` takes it back. Where it
    is not written into the policy, a stricter rule that comes later wins, and so does one for fewer
    requests. To edit a policy file with the daemon or without, for other settings, queries or
    patterns, there is `reticent policy set`.
    """
    if not options["attributes"]:
        raise UsageError("no attribute is named", "name some, joined by commas")
    word = Override(
        recipient=options["recipient"],
        names=[*dict.fromkeys(options["attributes"])],
        disclose=options["disclose"],
        lasting=lasting_of(options, "always"),
        about=about_of(options),
        days=options["days"],
    )
    with door() as client:
        ruled: Ruled = client.call("override", word)
        place = None if ruled.written is None else client.call("policy").path
    if options["as_json"]:
        click.echo(record(ruled))
        return
    lines = [override_line(word), *ruled_lines(ruled, place)]
    click.echo("\n".join(paragraph(printable(each)) for each in lines))
