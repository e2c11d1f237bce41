"""What waits for the user's word, and their word on it: approve, deny, undo."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from difflib import get_close_matches
from functools import wraps
from typing import Any

import click
import msgspec
from msgspec.structs import replace as changed

from agent.cli.daemon_client import call, door, titles_of
from agent.cli.options import FACT, Output, answers, known, option
from agent.cli.printing import facts, note, page, paragraph, texts
from agent.cli.prompts import Command
from agent.decision.values import Decision
from agent.errors import LockedError, ReticentError, UsageError
from agent.wire.base import MOST_DAYS, Undone
from agent.wire.client import Client
from agent.wire.decide import Ask
from agent.wire.policy import Review, Ruled, Word
from agent.wire.state import Recipient
from agent.words.figures import counted, listed, moment
from agent.words.notices import asks, overridden, settled, took_effect
from agent.words.titles import why

TEXTS = texts("reviews")  # by the kind of what waits
ALIKE = 0.85  # how much of a host is that of another, from which on it may be misspelt
SHOWN = 5  # numbers in a hint
MEANWHILE = "it may have been settled meanwhile, on the screen or by another command"
ONLY_ONCE = "For the next request alone, not for good."
DAYS = "For N days, not for good."
FAMILY = "For all facts of their families and all recipients of this kind, for good."


def waiting_page() -> Output:
    """Show what waits for the user, and how to settle it."""
    with door() as client:
        pending: list[Review] = client.call("reviews")
        titles = titles_of(client)
    verb = "waits" if len(pending) == 1 else "wait"
    lines = [(str(each.id), f"{asks(each, titles)} ({moment(each.at)})") for each in pending]
    kinds = {"assistant" if each.address else each.kind for each in pending}
    how = [paragraph(text) for kind, text in TEXTS.items() if kind in kinds]
    once = next((each for each in pending if each.families), None)
    how += [] if once is None else [paragraph(TEXTS["once"].format(once.families[0], once.whom))]
    text = page(f"{counted(len(pending), 'question')} {verb} for you.", facts(lines), *how)
    return Output({"waiting": pending}, text if pending else "Nothing waits for you.")


def likely(host: str, recipients: Iterable[Recipient]) -> str:
    """Ask whether the nearest of the recipients was meant, as a sentence behind another."""
    names = {name for each in recipients for name in (each.pool, *each.sites)}
    near = get_close_matches(host, names, 1, ALIKE)
    below = any(f".{host}".endswith(f".{each}") for each in names)
    return f" Did you mean {near[0]!r}?" if near and not below else ""


def word_options(command: Command) -> Command:
    """Give a command what `approve` and `deny` take; the options become its argument ``word``."""

    @click.argument("which", type=known("reviews", "recipients"), metavar="ID|RECIPIENT")
    @click.argument("names", type=FACT, nargs=-1, metavar="[FACT]...")
    @option("--days", click.IntRange(1, MOST_DAYS), "N", DAYS)
    @click.option("--once", is_flag=True, help=ONLY_ONCE)
    @click.option("--everyone", is_flag=True, help="For every recipient, not this one.")
    @click.option("--family", is_flag=True, help=FAMILY)
    @wraps(command)
    def worded(which: str, names: tuple[str, ...], **more: Any) -> object:  # noqa: ANN401  (of click)
        days, once, everyone, family = map(more.pop, ("days", "once", "everyone", "family"))
        if once and days:
            raise UsageError("--days does not go with --once", "choose one of them")
        if family and (days or once or everyone or names or not which.isdecimal()):
            raise UsageError("--family goes with an ID and nothing else", "name one that waits")
        word = Word(
            disclose="auto",
            lasting="once" if once or family else "days" if days else "always",
            about="family" if family else "everyone" if everyone else "recipient",
            names=[*dict.fromkeys(names)] or None,
            days=days,
        )
        return command(which=which, word=word, **more)

    return worded


@click.command()
@word_options
@answers
def approve(which: str, word: Word) -> Output:
    """Approve the request ID, or all that wait for RECIPIENT, or only the facts named.

    They are sent from the next request on, for good, as `a` does on the screens: this is written
    into the policy. Facts that do not wait for RECIPIENT may be sent to it when worth it. One that
    asked for facts itself gets only those, within your rules. `reticent undo` reverts it.
    """
    return _decided(which, word)


@click.command()
@word_options
@answers
def deny(which: str, word: Word) -> Output:
    """Deny the request ID, or all that wait for RECIPIENT, or only the facts named.

    They are not sent to it, for good, as `d` does on the screens: this is written into the policy.
    A recipient that asked for facts itself gets nothing from then on. `reticent undo` reverts it.
    """
    return _decided(which, changed(word, disclose="never"))


def _decided(which: str, word: Word) -> Output:
    """Answer one review, all attributes that wait for a pool, or decide about facts of a host."""
    number = int(which) if which.isascii() and which.isdecimal() else None
    given: list[tuple[Review, Word, Ruled]] = []
    with door() as client:
        reviews, offers = _waiting_for(number, which, word.names, client)
        if not reviews and word.names:
            return _override(which, word, client)
        for review in reviews:
            if review.kind == "offer" and word.names and word.disclose == "never":
                use = f"reticent approve {review.id} FACT..."
                hint = f"`{use}` names what its recipient may use"
                raise UsageError("an offer is denied as a whole", hint)
            # On what it has now, so that it is no answer to what it has later.
            shown = changed(word, names=word.names or review.names or None, recipient=review.pool)
            given.append((review, shown, client.call("verdict", shown, id=review.id)))
        written = any(ruled.written is not None for *_, ruled in given)
        place = client.call("status").policy.path if written else None
        titles, texts = titles_of(client), list[str]()
        for review, shown, outcome in given:
            texts += [settled(review, shown, titles), *took_effect(outcome, place, titles)]
            texts += held_back(review, shown, client)
    texts += [f"What it asks for still waits: settle it by ID: {_ids(offers)}."] if offers else []
    text = "\n".join(map(paragraph, texts))
    if number is not None:
        return Output(given[0][-1], text)
    ruled = [{"id": review.id, **msgspec.to_builtins(outcome)} for review, _, outcome in given]
    return Output({"ruled": ruled, "offers": offers}, text)


def held_back(review: Review, word: Word, client: Client) -> Iterator[str]:
    """Yield for what was approved, and will not be sent with a request like this one now, why."""
    if review.kind != "ask" or word.disclose != "auto":
        return
    with suppress(ReticentError):  # the word stands all the same
        ask = Ask(query=review.query, recipient=review.recipient)
        decision: Decision = client.call("explain", ask)
        out = (e for e in decision.outcomes if not e.disclosed and e.reason != "waits for you")
        for each in out:
            if decision.called(each.name) in (word.names or review.names):
                because = why(each.reason, each.rule, each.limit, decision.fewest)
                yield f"At present {each.title} will not be sent: {because}."


def _waiting_for(
    number: int | None, host: str, chosen: Sequence[str] | None, client: Client
) -> tuple[list[Review], list[int]]:
    """Find what waits under a number, or for a recipient and its pool, and the IDs of its offers.

    ``chosen``: with these facts alone, where any are named. UsageError where nothing does but
    offers: they are settled for good, each by itself.
    """
    pending: list[Review] = client.call("reviews")
    if number is not None:
        if waits := [each for each in pending if each.id == number]:
            return waits, []
        hint = f"{MEANWHILE}; `reticent requests list --waiting` lists what does wait"
        raise UsageError(f"nothing waits under {number}", hint)
    pool = client.call("recipients", recipient=host)[0].pool
    offers = [each.id for each in pending if (each.kind, each.pool) == ("offer", pool)]
    waits = [each for each in pending if (each.kind, each.pool) == ("ask", pool)]
    if chosen:
        return [each for each in waits if {*chosen} <= {*each.names}][-1:], []
    if not waits:
        hint = f"settle what it asks for by ID: {_ids(offers)}"
        hint = hint if offers else "name facts, or see `reticent requests list --waiting`"
        raise UsageError(f"no fact waits for {host}", hint)
    return waits, offers


def _override(host: str, word: Word, client: Client) -> Output:
    """Decide about facts that do not wait for a recipient."""
    word = changed(word, recipient=host)
    ruled: Ruled = client.call("override", word)
    place = None if ruled.written is None else client.call("status").policy.path
    titles = titles_of(client)
    with suppress(LockedError):
        if hint := likely(host, client.call("recipients")):
            note(f"nothing was sent to {host} so far;{hint[:2].lower()}{hint[2:]}")
    lines = [overridden(word, titles), *took_effect(ruled, place, titles)]
    return Output(ruled, "\n".join(map(paragraph, lines)))


def _ids(numbers: Iterable[int]) -> str:
    return listed(map(str, numbers), most=SHOWN)


@click.command()
@answers
def undo() -> Output:
    """Undo your last approval, denial, dismissal or change of your facts, once.

    What waited for you waits again, and what was written into the policy is removed, unless you
    have edited the file since. Data already sent cannot be recalled. Once the vault is locked,
    nothing can be undone.
    """
    undone: Undone = call("undo")
    return Output(undone, paragraph(undone.what))
