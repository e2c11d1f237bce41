"""Change what a policy rules: `set`, `unset`, `let`, `block` and `unblock`."""

from collections.abc import Callable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple, TypedDict, TypeVar, Unpack

import click

from agent.cli.daemon_client import door
from agent.cli.options import QUERY, OneOf, json_option, names, once, pair, record, today
from agent.cli.policy import model_option, names_of, policy_option
from agent.cli.policy_pages import Origins, written
from agent.cli.printing import note, paragraph, printable
from agent.cli.reviews import LastingOptions, about_of, lasting_of, lasting_options
from agent.daemon.policy_api import Rewritten, rewritten
from agent.daemon.policy_file import Change
from agent.errors import PolicyError, UsageError
from agent.wire.base import Done
from agent.wire.decide import Allow, Allowed, Refuse
from agent.wire.policy import Disclose, Override, Ruled
from agent.words.notices import overridden, took_effect
from policy.read import load
from policy.rules import Policy, Rule
from policy.scope import (
    Scope,
    Win,
    check_day,
    known,
    places,
    scope,
    value_of,
    wins,
    with_settings,
    without_settings,
)
from policy.settings import Value

C = TypeVar("C", bound=Callable[..., object])
VALUES: tuple[Disclose, ...] = ("never", "ask", "auto", "always")
CLOSERS: tuple[Disclose, ...] = ("never", "ask")  # what another word may have been meant for
ONCE = "For the next request only that it changes."
ALWAYS = "For good, by a rule in the policy; the default."
BLOCKED = "{} gets nothing from now on, by a rule in the policy."
UNBLOCKED = "{} is treated like others again from now on."
NOT_BLOCKED = "{} was not blocked, so nothing was changed."
STILL = "{} still gets nothing, by {}, which is not a rule of ours: change it by hand."


class Outcome(NamedTuple):
    """A policy after a change, for what it was changed, and what decides otherwise there."""

    policy: Policy
    where: Scope
    values: Mapping[str, Value | None]
    wins: tuple[Win, ...]
    changed: bool


def outcome_text(outcome: Outcome) -> str:
    """Return the page: what stands where now, and what decides otherwise."""
    return "\n".join(_lines(outcome))


def outcome_record(outcome: Outcome) -> dict[str, Any]:
    """Return the same in JSON's types; a setting that was taken out is null."""
    origins = Origins(outcome.policy)
    return {
        "file": outcome.policy.source,
        "changed": outcome.changed,
        "settings": [
            {"key": key, "value": value, "in": _record(origins, outcome, key)}
            for key, value in outcome.values.items()
        ],
        "wins": [
            {
                "key": win.key,
                "value": win.value,
                "attributes": [*win.names],
                "by": origins.record(win.rule, win.key),
            }
            for win in outcome.wins
        ],
    }


def _standing(outcome: Outcome, key: str) -> Rule | None:
    """Return the rule that has what was written, None where it was taken out."""
    value = outcome.values[key]
    found = places(outcome.where, outcome.policy)
    return next(
        (each for each in found if value is not None and each.settings.get(key) == value), None
    )


def _lines(outcome: Outcome) -> Iterator[str]:
    origins = Origins(outcome.policy)
    for key, value in outcome.values.items():
        rule = _standing(outcome, key)
        if rule is None or value is None:
            yield paragraph(f"{key} is taken out of {origins.source}.")
        else:
            stands = "Written" if outcome.changed else "It stands there already"
            what = f"{key} = {written(value)} in {origins.long(rule, key)}."
            yield paragraph(f"{stands}: {printable(what)}")
    for win in outcome.wins:
        of = f" of {', '.join(win.names)}" if win.names else ""
        what = f"{win.key} {written(win.value)}{of}, from {origins.long(win.rule, win.key)}."
        yield paragraph(f"This still wins: {printable(what)}")


def _record(origins: Origins, outcome: Outcome, key: str) -> dict[str, str | int | None] | None:
    rule = _standing(outcome, key)
    return None if rule is None else origins.record(rule, key)


class SetOptions(TypedDict):
    """The options of both commands, as click hands them over."""

    recipient: str | None
    attribute: str | None
    query: str | None
    expires: str | None
    file: Path
    model: Path | None
    as_json: bool


def selectors(command: C) -> C:
    """Add the options that say for which requests, and of which file."""
    for option in (
        json_option,
        model_option,
        policy_option,
        click.option("--expires", metavar="DATE", help="Up to and on this day, as 2027-03-01."),
        click.option(
            "--query",
            type=QUERY,
            metavar="WORDS",
            help="For queries with these words; - reads them from the standard input.",
        ),
        click.option("--attribute", metavar="NAME", help="For one attribute, or a pattern."),
        click.option("--recipient", metavar="HOST|GROUP", help="For one recipient or group."),
    ):
        command = option(command)
    return command


@click.command("set")
@click.argument("pairs", nargs=-1, required=True, metavar="KEY=VALUE...")
@selectors
def set_(pairs: tuple[str, ...], **options: Unpack[SetOptions]) -> None:
    """Change a setting in a policy, for all requests or only for those that you name.

    Comments stay. Nothing is written if the result would not be a valid policy. Rules that still
    win over the new one are listed.
    """
    given = once("KEY=VALUE", [pair(each) for each in pairs])
    values = {key: value_of(key, text) for key, text in given.items()}
    day = today()
    where = _scope(options, day)
    after, changed = _rewritten(
        options["file"], lambda text, policy: with_settings(text, policy, where, values)
    )
    winning = wins(after, where, values, names_of(options["model"]), day)
    _say(Outcome(after, where, values, winning, changed), as_json=options["as_json"])


@click.command("unset")
@click.argument("keys", nargs=-1, required=True, metavar="KEY...")
@selectors
def unset(keys: tuple[str, ...], **options: Unpack[SetOptions]) -> None:
    """Remove a setting from a policy, for all requests or only for those that you name.

    A rule without settings left is removed too.
    """
    gone: Mapping[str, Value | None] = dict.fromkeys(map(known, keys))
    where = _scope(options, date.min)
    after, changed = _rewritten(
        options["file"], lambda text, policy: without_settings(text, policy, where, [*gone])
    )
    _say(Outcome(after, where, gone, (), changed), as_json=options["as_json"])


def _scope(options: SetOptions, earliest: date) -> Scope:
    """Return for what something is to be set; UsageError where that is over or cannot be."""
    text = options["expires"]
    try:
        expires = None if text is None else date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{text!r} is no date", "write it as 2027-03-01") from None
    where = scope(options["recipient"], options["attribute"], options["query"], expires)
    check_day(where, earliest)
    return where


def _rewritten(path: Path, change: Change) -> Rewritten:
    """Change a policy file; else show all that is wrong with it, or would be."""
    load(path)
    try:
        return rewritten(path, change)
    except PolicyError:
        note("this is what the policy would be, and nothing was written")
        raise


def _say(outcome: Outcome, *, as_json: bool) -> None:
    click.echo(record(outcome_record(outcome)) if as_json else outcome_text(outcome))


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
    """Decide whether facts may be sent to HOST.

    And to whoever it shares what it learns with. never: not sent; ask: they wait for your approval;
    auto: sent when worth it; always: sent unless a limit forbids it. Guarded facts are never sent,
    and nothing is sent to a blocked recipient.

    It replaces your earlier decision on them, holds from the next request on, and names the rules
    that still win over it; `reticent requests undo` reverts it. Where it is not written into the
    policy, a stricter rule that comes later wins, and so does one for fewer requests. To edit a
    policy file, for other settings, queries or patterns, there is `reticent policy set`.
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
    lines = [overridden(word), *took_effect(ruled, place)]
    click.echo("\n".join(paragraph(printable(each)) for each in lines))


@click.command()
@click.argument("recipient", metavar="HOST")
@json_option
def block(*, recipient: str, as_json: bool) -> None:
    """Send nothing more to HOST, from the next request on.

    The block is written into the policy, and covers HOST alone, not the rest of its group. HOST
    keeps what it already knows.
    """
    with door() as client:
        done: Done = client.call("refuse", Refuse(recipient=recipient))
    text = BLOCKED.format(printable(recipient))
    click.echo(record(done) if as_json else paragraph(text))


@click.command()
@click.argument("recipient", metavar="HOST")
@json_option
def unblock(*, recipient: str, as_json: bool) -> None:
    """Treat HOST like others again after you blocked it or denied its offer."""
    with door() as client:
        done: Allowed = client.call("allow", Allow(recipient=recipient))
    click.echo(record(done) if as_json else paragraph(printable(_allowed(done, recipient))))


def _allowed(done: Allowed, recipient: str) -> str:
    """Return what holds from now on, and by which rule if it is nothing all the same."""
    if done.rule is None:
        return (UNBLOCKED if done.done else NOT_BLOCKED).format(recipient)
    line = "" if done.line is None else f" on line {done.line} of the policy"
    return STILL.format(recipient, f"{done.rule!r}{line}")
