"""`reticent approve` and `reticent deny`: the user's word on what waits."""

from collections.abc import Callable, Sequence
from typing import Unpack

import click
import msgspec
from msgspec.structs import replace as changed

from agent.cli.door import door
from agent.cli.lasting import LastingOptions, about_of, lasting_of, lasting_options
from agent.cli.layout import paragraph
from agent.cli.options import json_option, record
from agent.cli.pending import waiting
from agent.cli.problems import printable
from agent.cli.verdict_text import ruled_lines, verdict_line
from agent.decision.phrases import listed
from agent.errors import UsageError
from agent.wire.client import Client
from agent.wire.reviews import Decided, Review, Ruled, Verdict

Command = Callable[..., None]
Given = tuple[Review, Verdict, Ruled]
ONCE = "For the next request only; the default, but for what a recipient offers to use."
ALWAYS = "For good; written into the policy."
FROM = "All attributes that wait for this recipient, or whoever it pools with; offers stay."
NO_ID = "`reticent pending` lists what waits, each with its ID; --from HOST is for all of one"


class VerdictOptions(LastingOptions):
    """The options of both commands, as click hands them over."""

    number: int | None
    names: tuple[str, ...]
    sender: str | None
    as_json: bool


def _options(command: Command) -> Command:
    """Give a command what both take."""
    for each in (
        json_option,
        lasting_options(ONCE, ALWAYS),
        click.option("--from", "sender", metavar="HOST", help=FROM),
        click.argument("names", nargs=-1, metavar="[NAME]..."),
        click.argument("number", type=int, metavar="ID", required=False),
    ):
        command = each(command)
    return command


@click.command()
@_options
def approve(**options: Unpack[VerdictOptions]) -> None:
    """Let what waits under ID leave, or only the attributes NAME, from the next request on.

    Of what a recipient offers to use: from then on it gets no more than that, as the policy allows,
    for good or with --days; when these are over, nothing. `reticent undo` takes the last back.
    """
    _rule("approve", options)


@click.command()
@_options
def deny(**options: Unpack[VerdictOptions]) -> None:
    """Keep what waits under ID, or only the attributes NAME, from the next request on.

    A recipient whose offer is denied gets nothing any more, for good or with --days, by a rule that
    is written into the policy. `reticent undo` takes the last back.
    """
    _rule("deny", options)


def _rule(decided: Decided, options: VerdictOptions) -> None:
    if options["sender"] is not None:
        _rule_all(decided, options, options["sender"])
        return
    if options["number"] is None:
        raise UsageError("missing argument 'ID'", NO_ID)
    verdict = _verdict(decided, options)
    with door() as client:
        review = waiting(options["number"], client.call("reviews"))
        if review.kind == "offer":
            _check_offer(options, verdict)
        given = _given(review, verdict, client)
        place = _place([given], client)
    click.echo(record(given[-1]) if options["as_json"] else _text([given], place))


def _rule_all(decided: Decided, options: VerdictOptions, sender: str) -> None:
    """Say the same of all that waits for a recipient and its pool, but of no offer."""
    if options["number"] is not None:
        raise UsageError("--from does not go with an ID", "say one of them")
    verdict = _verdict(decided, options)
    with door() as client:
        pool = client.call("knowledge", recipient=sender).pool
        found = [each for each in client.call("reviews") if each.pool == pool]
        offers = [each.id for each in found if each.kind == "offer"]
        asked = [each for each in found if each.kind == "ask"]
        if not asked:
            hint = "`reticent pending` lists what waits"
            hint = f"what it offers is settled by ID: {_ids(offers)}" if offers else hint
            raise UsageError(f"no attribute waits for {printable(sender)}", hint)
        given = [_given(each, verdict, client) for each in asked]
        place = _place(given, client)
    if options["as_json"]:
        ruled = [{"id": each.id, **msgspec.to_builtins(said)} for each, _, said in given]
        click.echo(record({"ruled": ruled, "offers": offers}))
        return
    left = f"What it offers to use still waits, to be settled by ID: {_ids(offers)}."
    click.echo("\n".join([_text(given, place), *([paragraph(left)] if offers else [])]))


def _ids(numbers: Sequence[int]) -> str:
    return listed([str(each) for each in numbers])


def _given(review: Review, verdict: Verdict, client: Client) -> Given:
    """Give a verdict on what a review has now, so that it is none on what it has later."""
    shown = _shown(verdict, review)
    return review, shown, client.call("verdict", shown, id=review.id)


def _place(given: Sequence[Given], client: Client) -> str | None:
    """Return where the policy is, if anything was written into it."""
    written = any(ruled.written is not None for *_, ruled in given)
    return client.call("policy").path if written else None


def _text(given: Sequence[Given], place: str | None) -> str:
    lines = [
        line
        for review, verdict, ruled in given
        for line in (verdict_line(review, verdict), *ruled_lines(ruled, place))
    ]
    return "\n".join(paragraph(printable(line)) for line in lines)


def _verdict(decided: Decided, options: VerdictOptions) -> Verdict:
    """Return the message; UsageError where it would last in two ways."""
    return Verdict(
        decided=decided,
        lasting=lasting_of(options, "once"),
        about=about_of(options),
        names=[*dict.fromkeys(options["names"])] or None,
        days=options["days"],
    )


def _shown(verdict: Verdict, review: Review) -> Verdict:
    """Return the verdict on what the review has now; UsageError for a name that is not in it."""
    for name in verdict.names or ():
        if name not in review.names:
            raise UsageError.unknown("attribute of the review", name, review.names)
    return changed(verdict, names=verdict.names or review.names, pool=review.pool)


def _check_offer(options: VerdictOptions, verdict: Verdict) -> None:
    """Refuse what cannot be said of an offer; UsageError."""
    for name in ("once", "until_restart"):
        if options[name]:
            what = f"--{name.replace('_', '-')} does not go with an offer"
            raise UsageError(what, "it is settled for good, or with --days N")
    if verdict.decided == "deny" and verdict.names:
        hint = f"`reticent approve {options['number']} NAME...` says what its recipient may use"
        raise UsageError("an offer is denied as a whole", hint)
