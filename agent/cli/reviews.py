"""What waits for the user's word, and their word on it: approve, deny, undo."""

from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
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
from agent.wire.policy import About, Decided, Lasting, Override, Review, Ruled, Undone, Verdict
from agent.words.figures import bits, counted, listed, moment, people

ALL = "all"
SHOWN = 5  # numbers in a hint
MEANWHILE = "it may have been settled meanwhile, on the screen or by another command"
HOW = (
    "`reticent requests approve ID` sends it with the next request, `reticent requests deny ID` "
    "does not. Both can last longer: see --help."
)
OFFERS = (
    "What a recipient can use is settled for good, or with --days. Approved, it gets no more than "
    "that, as far as the policy allows; denied, nothing at all, by a rule in the policy."
)
C = TypeVar("C", bound=Callable[..., object])
SAID: Mapping[str, Lasting] = {
    "once": "once",
    "until_restart": "until restart",
    "days": "days",
    "always": "always",
}
MAY = {
    "never": "{names} {do} not leave to {whom} {long}.",
    "ask": "{names} {wait} for your word before leaving to {whom} {long}.",
    "auto": "{names} may leave to {whom} {long}, where it is worth it.",
    "always": "{names} {leave} to {whom} {long}, unless a limit or a guard forbids it.",
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
        raise UsageError(f"{text!r} is no list of IDs", f"write --dismiss 3,4, or --dismiss {ALL}")
    return tuple(map(int, parts))


@click.command()
@click.option(
    "--dismiss",
    type=_numbers,
    metavar="ID,ID",
    multiple=True,
    help=f"Take these off the list, or {ALL} of it, ruling nothing.",
)
@json_option
def pending(*, dismiss: tuple[tuple[int, ...] | None, ...], as_json: bool) -> None:
    """List what waits for your word: attributes ruled `ask`, and what recipients offer to use.

    The list is in the daemon's memory only: it is gone when that ends, and what was not settled
    waits again with the next request that asks for it.
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
        known = [str(each.id) for each in found[:SHOWN]]
        known += [f"{len(found) - SHOWN} more"] if len(found) > SHOWN else []
        hint = f"{MEANWHILE}; `reticent requests pending` lists what does wait: {listed(known)}"
    raise UsageError(f"nothing waits under {number}", hint)


def pending_text(reviews: list[Review]) -> str:
    """Return what waits as a page, each with its number."""
    if not reviews:
        return "Nothing waits for you."
    verb = "waits" if len(reviews) == 1 else "wait"
    head = strong(f"{counted(len(reviews), 'request')} {verb} for you.")
    lines = [(str(each.id), printable(review_line(each))) for each in reviews]
    kinds = {each.kind for each in reviews}
    how = [text for kind, text in (("ask", HOW), ("offer", OFFERS)) if kind in kinds]
    return "\n\n".join([head, facts(lines), *map(paragraph, how)])


def review_line(review: Review) -> str:
    """Return in one sentence who would get what, why, what it would mean, and since when."""
    return f"{what_waits(review)} ({moment(review.at)})"


def what_waits(review: Review) -> str:
    """Return the same without the time."""
    names = listed(review.names)
    if review.kind == "offer":
        where = "" if review.search is None else f" in searches at {review.search}"
        return f"{review.recipient} says that it can use {names}{where}"
    pool = "" if review.pool == review.recipient else f", and so {review.pool}"
    why = f", with {review.query!r}" if review.query else ""
    return f"{names} to {review.recipient}{pool}{why}{_figures(review)}"


def _figures(review: Review) -> str:
    more, left = review.more_bits, review.people_left
    return brought(
        None if more is None else bits(more, signed=True),
        None if left is None else f"about {people(left)}",
    )


def brought(gain: str | None, left: str | None) -> str:
    """Return how many bits something brings and how many people it leaves, after a colon."""
    said = [] if gain is None else [f"{gain} bits better served"]
    said += [] if left is None else [f"{left} people left"]
    return f": {listed(said)}" if said else ""


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


def verdict_line(review: Review, verdict: Verdict) -> str:
    """Return what was said, about whom and for how long."""
    names = listed(verdict.names or review.names)
    approved = verdict.decided == "approve"
    if review.kind == "offer":
        lasting = how_long(verdict) if verdict.days else "from now on"
        if approved:
            more = "; when these are over, nothing" if verdict.days else ""
            may = f"{review.recipient} may get {names} and nothing else {lasting}"
            return f"{may}, as the policy allows{more}."
        return f"{review.recipient} gets nothing {lasting}."
    whom = "everyone" if verdict.about == "everyone" else review.pool
    may = "may leave to" if approved else "does not leave to"
    return f"{names} {may} {whom} {how_long(verdict)}."


def override_line(word: Override) -> str:
    """Return what was said of attributes, about whom and for how long."""
    whom = "everyone" if word.about == "everyone" else f"{word.recipient} and its pool"
    one = len(word.names) == 1
    return MAY[word.disclose].format(
        names=listed(word.names),
        whom=whom,
        long=how_long(word),
        do="does" if one else "do",
        wait="waits" if one else "wait",
        leave="leaves" if one else "leave",
    )


def ruled_lines(ruled: Ruled, place: str | None) -> list[str]:
    """Return where the word was written, and what it does not reach, and why."""
    lines = [] if ruled.written is None else [f"Written into {place} as {ruled.written!r}."]
    if ruled.blocked and ruled.decided_by:
        by = f"the recipient is blocked, by {ruled.decided_by[0]!r}"
        return [
            *lines,
            f"Nothing leaves all the same: {by}; `reticent policy unblock` takes that back.",
        ]
    for name, rule in zip_longest(ruled.without_effect, ruled.decided_by, fillvalue="another rule"):
        lines.append(f"Without effect on {name}, about which {rule!r} decides.")
    return lines


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
    for good or with --days; when these are over, nothing. `reticent requests undo` reverts it.
    """
    _rule("approve", options)


@click.command()
@_options
def deny(**options: Unpack[VerdictOptions]) -> None:
    """Keep what waits under ID, or only the attributes NAME, from the next request on.

    A recipient whose offer is denied gets nothing any more, for good or with --days, by a rule that
    is written into the policy. `reticent requests undo` reverts it.
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
        use = f"reticent requests approve {options['number']} NAME..."
        hint = f"`{use}` says what its recipient may use"
        raise UsageError("an offer is denied as a whole", hint)


@click.command()
@json_option
def undo(*, as_json: bool) -> None:
    """Take back the last approve, deny, let or dismissal, once.

    What waited waits again, and what was written into the policy is taken out, unless the file was
    edited since. What left meanwhile stays told. Locking forgets what could be taken back.
    """
    with door() as client:
        undone: Undone = client.call("undo")
    click.echo(record(undone) if as_json else paragraph(printable(undone.what)))
