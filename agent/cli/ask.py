"""`reticent ask`: what one request may carry, with the values, as the daemon answers it."""

from collections.abc import Iterable, Sequence
from typing import TypedDict, Unpack

import click

from agent.cli.ask_text import answer_text, explained_text
from agent.cli.door import door
from agent.cli.options import json_option, record
from agent.cli.parameters import QUERY, check_asked, check_host, names
from agent.cli.problems import note
from agent.cli.undecided import UNDECIDED, undecided
from agent.errors import nearest
from agent.paths import paths
from agent.wire.asking import Answer, Ask, Explained
from agent.wire.client import Client
from agent.wire.reviews import Review

STALE = (
    "the policy file has mistakes, so the rules before it are in use; "
    "`reticent policy check` lists them"
)


class AskOptions(TypedDict):
    """The options of `reticent ask`, as click hands them over."""

    recipient: str
    query: str
    only: tuple[str, ...] | None
    dry_run: bool
    as_json: bool


@click.command()
@click.argument("recipient")
@click.argument("query", type=QUERY)
@click.option(
    "--only-names",
    "only",
    type=names,
    metavar="A,B",
    help="The attributes that the recipient can use. By default any.",
)
@click.option("--dry-run", is_flag=True, help="Explain what would be decided; nothing is recorded.")
@json_option
@click.pass_context
def ask(context: click.Context, /, **options: Unpack[AskOptions]) -> None:
    """Get what a request of QUERY to RECIPIENT may carry, and record that it was disclosed.

    Ask only for what you are about to send: what is answered counts as told to the recipient.
    With - as QUERY it is read from the standard input: every user of this machine can read the
    arguments of a running command, and a shell keeps them.
    """
    request = _request(options)
    with door() as client:
        if options["dry_run"]:
            found: Explained = client.call("explain", request)
            text = record(found) if options["as_json"] else explained_text(found)
            code, stale = found.code, found.stale_rules
            note_unknown(options["only"] or (), _names(found))
        else:
            answer: Answer = client.call("decide", request)
            text = record(answer) if options["as_json"] else _page(client, answer)
            code, stale = answer.code, answer.stale_rules
            unseen = {*(options["only"] or ())} - {*answer.attributes, *answer.unspecified}
            if unseen and code not in UNDECIDED:
                note_unknown(sorted(unseen), _names(client.call("explain", request)))
        if stale:
            note(STALE)
        if code in UNDECIDED and not options["as_json"]:
            raise undecided(code, client.call("status"), paths())
    click.echo(text)
    context.exit(UNDECIDED[code].exit_code if code in UNDECIDED else 0)


def _request(options: AskOptions) -> Ask:
    """Return the request; UsageError where it cannot be one."""
    check_host(options["recipient"])
    check_asked(options["query"], "`reticent ask books.example 'version control'`")
    only = options["only"]
    asked = None if only is None else [*only]
    return Ask(recipient=options["recipient"], query=options["query"], asked=asked)


def note_unknown(asked: Iterable[str], known: Sequence[str]) -> None:
    """Say which names the model lacks: it may for another recipient's, so that is no mistake.

    ``known``: those it has; none where nothing may leave anyway, and then nothing is said.
    """
    for name in asked:
        if known and name not in known:
            near = nearest(name, known)
            meant = "" if near is None else f": did you mean {near!r}?"
            note(f"the model has no {name!r}{meant}")


def _names(found: Explained) -> list[str]:
    return [each.name for each in found.candidates]


def _page(client: Client, answer: Answer) -> str:
    """Return the page of an answer; what waits is asked for only where something does."""
    summary = answer.summary
    if summary is None or not summary.waiting:
        return answer_text(answer, ())
    reviews: list[Review] = client.call("reviews")
    return answer_text(answer, [each for each in reviews if each.pool == summary.pool])
