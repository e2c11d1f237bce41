"""`reticent whatif`: what another set of attributes would bring and cost."""

from typing import TypedDict, Unpack

import click

from agent.cli.ask import note_unknown
from agent.cli.door import door
from agent.cli.options import json_option, record
from agent.cli.parameters import QUERY, check_asked, check_host, flat, names
from agent.cli.undecided import UNDECIDED, undecided
from agent.cli.whatif_text import weighed_text
from agent.errors import UsageError
from agent.paths import paths
from agent.wire.weighing import Weighed, WhatIf

WHICH = "write QUERY and --recipient HOST, or --all in place of QUERY, or --entry N alone"


class WhatIfOptions(TypedDict):
    """The options of `reticent whatif`, as click hands them over."""

    query: str | None
    recipient: str | None
    asked: tuple[str, ...] | None
    entry: int | None
    add: tuple[tuple[str, ...], ...]
    drop: tuple[tuple[str, ...], ...]
    standing: bool
    as_json: bool


@click.command()
@click.argument("query", type=QUERY, required=False)
@click.option("--recipient", metavar="HOST", help="Who would receive the request.")
@click.option(
    "--asked",
    type=names,
    metavar="A,B",
    help="The attributes that the recipient can use. By default any.",
)
@click.option(
    "--entry",
    type=click.IntRange(1),
    metavar="N",
    help="The request of entry N of the ledger, as things stood before it.",
)
@click.option("--with", "add", type=names, multiple=True, metavar="A,B", help="Add these.")
@click.option("--without", "drop", type=names, multiple=True, metavar="A,B", help="Drop these.")
@click.option(
    "--all", "standing", is_flag=True, help="All queries of the model on average, not one."
)
@json_option
@click.pass_context
def whatif(context: click.Context, /, **options: Unpack[WhatIfOptions]) -> None:
    """Show what another set of attributes would bring and cost.

    Beside what leaves with QUERY, or left with an entry of the ledger. Each attribute has a row,
    also one that may not leave. Nothing is sent, recorded or changed. With - as QUERY it is read
    from the standard input, where no other user of this machine sees it.
    """
    body = _body(options)
    with door() as client:
        found: Weighed = client.call("whatif", body)
        if found.code in UNDECIDED and not options["as_json"]:
            raise undecided(found.code, client.call("status"), paths())
    note_unknown(body.asked or (), [each.name for each in found.rows])
    click.echo(record(found) if options["as_json"] else weighed_text(found, past=bool(body.entry)))
    context.exit(UNDECIDED[found.code].exit_code if found.code in UNDECIDED else 0)


def _body(options: WhatIfOptions) -> WhatIf:
    """Return the question; UsageError where it is not said, or said twice, which request."""
    query, recipient, asked = options["query"], options["recipient"], options["asked"]
    named = (query, recipient, asked)
    if options["entry"] is not None:
        if options["standing"] or any(each is not None for each in named):
            raise UsageError("--entry says itself which request is meant", WHICH)
    elif recipient is None:
        raise UsageError("it is not said which request is meant", WHICH)
    elif options["standing"] == bool((query or "").strip()):
        raise UsageError("what is weighed is for one query or for all", WHICH)
    if query is not None:
        check_asked(query, "`reticent whatif 'version control' --recipient books.example`")
    if recipient is not None:
        check_host(recipient)
    return WhatIf(
        entry=options["entry"],
        recipient=recipient,
        query=None if options["standing"] else query,
        asked=None if asked is None else [*asked],
        add=sorted(flat(options["add"])),
        drop=sorted(flat(options["drop"])),
    )
