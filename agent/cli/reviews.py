"""What waits for the user's word, and their word on it: approve, deny, undo."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypedDict, TypeVar, Unpack

import click
import msgspec
from msgspec.structs import replace as changed

from agent.cli.daemon_client import door
from agent.cli.options import json_option, names, record
from agent.cli.printing import facts, paragraph, printable, strong
from agent.errors import UsageError
from agent.wire.base import MOST_DAYS
from agent.wire.client import Client
from agent.wire.policy import About, Decided, Lasting, Review, Ruled, Undone, Verdict
from agent.words.figures import counted, listed, moment
from agent.words.notices import asks, settled, took_effect

ALL = "all"
SHOWN = 5  # numbers in a hint
MEANWHILE = "it may have been settled meanwhile, on the screen or by another command"
HOW = (
    "`reticent requests approve ID` sends it with the next request, `reticent requests deny ID` "
    "does not. Both can last longer: see --help."
)
OFFERS = (
    "What a recipient asks for is settled for good, or with --days. If you approve, it gets no "
    "more than that, as far as the policy allows; if you deny, it gets nothing, by a rule."
)
C = TypeVar("C", bound=Callable[..., object])
SAID: Mapping[str, Lasting] = {
    "once": "once",
    "until_restart": "until restart",
    "days": "days",
    "always": "always",
}
Command = Callable[..., None]
Given = tuple[Review, Verdict, Ruled]
ONCE = "For the next request only; the default, but for what a recipient offers to use."
ALWAYS = "For good; written into the policy."
FROM = "All attributes that wait for this recipient, or whoever it pools with; offers stay."
NO_ID = (
    "`reticent requests pending` lists what waits, each with its ID; --from HOST is for all of one"
)


def _numbers(text: str) -> tuple[int, ...] | None:
    """Return the numbers in a list, None for all; UsageError if it is neither."""
    parts = names(text)
    if parts == (ALL,):
        return None
    if not parts or not all(each.isascii() and each.isdecimal() for each in parts):
        raise UsageError(
            f"{text!r} is not a list of IDs", f"write --dismiss 3,4, or --dismiss {ALL}"
        )
    return tuple(map(int, parts))


@click.command()
@click.option(
    "--dismiss",
    type=_numbers,
    metavar="ID,ID",
    multiple=True,
    help=f"Take these off the list, or {ALL} of it, without deciding.",
)
@json_option
def pending(*, dismiss: tuple[tuple[int, ...] | None, ...], as_json: bool) -> None:
    """List what waits for your approval.

    These are facts that your rules ask about, and facts that recipients ask for. The list is in
    the daemon's memory only: what you leave open when it stops waits again with the next request
    that needs it.
    """
    with door() as client:
        found: list[Review] = client.call("reviews")
        for each in (gone := _dismissed(dismiss, found)):
            client.call("dismiss", id=each)
        if gone:
            found = client.call("reviews")
    click.echo(record({"waiting": found}) if as_json else pending_text(found))


def _dismissed(
    wanted: tuple[tuple[int, ...] | None, ...], found: Sequence[Review]
) -> tuple[int, ...]:
    """Return what is to go, each once; UsageError, before anything goes, for what is not there."""
    if None in wanted:
        return tuple(each.id for each in found)
    numbers = dict.fromkeys(each for group in wanted for each in group or ())
    for each in numbers:
        waiting(each, found)
    return tuple(numbers)


def waiting(number: int, found: Sequence[Review]) -> Review:
    """Return what waits under a number; UsageError where nothing does."""
    for each in found:
        if each.id == number:
            return each
    hint = f"{MEANWHILE}; nothing else waits"
    if found:
        known = listed((str(each.id) for each in found), most=SHOWN)
        hint = f"{MEANWHILE}; `reticent requests pending` lists what does wait: {known}"
    raise UsageError(f"nothing waits under {number}", hint)


def pending_text(reviews: list[Review]) -> str:
    """Return what waits as a page, each with its number."""
    if not reviews:
        return "Nothing waits for you."
    verb = "waits" if len(reviews) == 1 else "wait"
    head = strong(f"{counted(len(reviews), 'request')} {verb} for you.")
    lines = [(str(each.id), printable(f"{asks(each)} ({moment(each.at)})")) for each in reviews]
    kinds = {each.kind for each in reviews}
    how = [text for kind, text in (("ask", HOW), ("offer", OFFERS)) if kind in kinds]
    return "\n\n".join([head, facts(lines), *map(paragraph, how)])


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
    """Approve what waits under ID, or only the attributes NAME.

    It is sent from the next request on. A recipient that asked for the facts itself gets only
    those, within your rules: for good, or for --days and then nothing.
    `reticent requests undo` reverts it.
    """
    _rule("approve", options)


@click.command()
@_options
def deny(**options: Unpack[VerdictOptions]) -> None:
    """Deny what waits under ID, or only the attributes NAME.

    A recipient that asked for the facts itself gets nothing from then on, for good or for --days,
    by a rule that is written into the policy. `reticent requests undo` reverts it.
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
            hint = "`reticent requests pending` lists what waits"
            hint = (
                f"what it offers is settled by ID: {listed(map(str, offers))}" if offers else hint
            )
            raise UsageError(f"no attribute waits for {printable(sender)}", hint)
        given = [_given(each, verdict, client) for each in asked]
        place = _place(given, client)
    if options["as_json"]:
        ruled = [{"id": each.id, **msgspec.to_builtins(said)} for each, _, said in given]
        click.echo(record({"ruled": ruled, "offers": offers}))
        return
    left = f"What it offers to use still waits, to be settled by ID: {listed(map(str, offers))}."
    click.echo("\n".join([_text(given, place), *([paragraph(left)] if offers else [])]))


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
        for line in (settled(review, verdict), *took_effect(ruled, place))
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
        use = f"reticent requests approve {options['number']} NAME..."
        hint = f"`{use}` says what its recipient may use"
        raise UsageError("an offer is denied as a whole", hint)


@click.command()
@json_option
def undo(*, as_json: bool) -> None:
    """Undo your last approve, deny, let or dismissal, once.

    What waited for you waits again, and what was written into the policy is removed, unless you
    have edited the file since. Data already sent cannot be recalled. Locking the vault forgets what
    could be undone.
    """
    with door() as client:
        undone: Undone = client.call("undo")
    click.echo(record(undone) if as_json else paragraph(printable(undone.what)))
