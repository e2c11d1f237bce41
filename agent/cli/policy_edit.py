"""Change what a policy rules: `set`, `unset`, `let`, `block` and `unblock`."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from difflib import get_close_matches
from functools import wraps
from pathlib import Path
from typing import Any

import click

from agent.cli.daemon_client import door, titles_of
from agent.cli.options import QUERY, Answer, OneOf, answers, names, once, option, pair, today
from agent.cli.policy import model_option, noted, policy_option, read_model, with_shipped
from agent.cli.policy_pages import Origins, written
from agent.cli.printing import note, paragraph
from agent.cli.reviews import Span, span_options
from agent.daemon.policy_file import Change, Edit, rewrite
from agent.decision.terms import attributes_of
from agent.errors import LockedError, PolicyError, UsageError
from agent.wire.base import Done
from agent.wire.client import Client
from agent.wire.decide import Allow, Allowed, Refuse
from agent.wire.policy import Disclose, Override, Ruled
from agent.words.notices import overridden, took_effect
from agent.words.titles import NONE, Titles, titled
from policy import amend
from policy.read import load
from policy.settings import SETTINGS, Value

VALUES: tuple[Disclose, ...] = ("never", "ask", "auto", "always")
CLOSERS: tuple[Disclose, ...] = ("never", "ask")  # what another word may have been meant for
ALIKE = 0.85  # how much of a host is that of another, from which on it may be misspelt
ONCE = "For the next request only that it changes."
ALWAYS = "For good, by a rule in the policy; the default."
BLOCKED = "{} gets nothing from now on, by a rule in the policy."
UNBLOCKED = "{} is treated like others again from now on."
NOT_BLOCKED = "{} was not blocked, so nothing was changed."
STILL = "{} still gets nothing, by {}, which reticent did not write: change it by hand."


def day(text: str) -> date:
    """Return a date; UsageError if it is none."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{text!r} is not a date", "write it as 2027-03-01") from None


def scope_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options for its file, and for which requests: its argument ``where``."""

    @option("--recipient", str, "HOST|GROUP", "For one recipient or group.")
    @option("--attribute", str, "NAME", "For one attribute, or a pattern.")
    @option("--query", QUERY, "WORDS", "For queries with these words; - reads the standard input.")
    @option("--expires", day, "DATE", "Through this day, as 2027-03-01.")
    @policy_option
    @model_option
    @wraps(command)
    def scoped(
        recipient: str | None,
        attribute: str | None,
        query: str | None,
        expires: date | None,
        **named: Any,  # noqa: ANN401  (of the command)
    ) -> None:
        command(where=amend.scope(recipient, attribute, query, expires), **named)

    return scoped


@click.command("set")
@click.argument("pairs", nargs=-1, required=True, metavar="KEY=VALUE...")
@scope_options
@answers
def set_(pairs: tuple[str, ...], where: amend.Scope, file: Path, model: Path | None) -> Answer:
    """Change a setting in a policy, for all requests or only for those that you name.

    Comments stay. Nothing is written if the result would not be a valid policy. Rules that still
    win over the new one are listed.
    """
    models = with_shipped(read_model(model))
    titles = {each.name: each.title for one in reversed(models) for each in one.attributes}
    given = once("KEY=VALUE", [pair(each) for each in pairs])
    for key, text in given.items():
        if key not in SETTINGS and key in titles:
            hint = f"write disclose={text} --attribute {key}"
            raise UsageError(f"{key!r} is an attribute, not a setting", hint)
    values = {key: amend.value_of(key, text) for key, text in given.items()}
    amend.check_day(where, today())
    edit = _rewritten(file, lambda text, policy: amend.with_settings(text, policy, where, values))
    noted(edit.after, models)
    known = attributes_of(models, models if model is None else models[:1])
    winning = amend.overriding_rules(edit.after, where, values, known, today())
    return _outcome(edit, where, values, winning, titles)


@click.command("unset")
@click.argument("keys", nargs=-1, required=True, metavar="KEY...")
@scope_options
@answers
def unset(keys: tuple[str, ...], where: amend.Scope, file: Path, model: Path | None) -> Answer:
    """Remove a setting from a policy, for all requests or only for those that you name.

    A rule without settings left is removed too.
    """
    del model
    gone: Mapping[str, Value | None] = dict.fromkeys(map(amend.checked_key, keys))
    edit = _rewritten(
        file, lambda text, policy: amend.without_settings(text, policy, where, [*gone])
    )
    return _outcome(edit, where, gone)


def _rewritten(path: Path, change: Change) -> Edit:
    """Change a policy file; else show all that is wrong with it, or would be."""
    load(path)
    try:
        return rewrite(path, change)
    except UsageError as error:
        if isinstance(error.__cause__, PolicyError):
            note("this is what the policy would be, and nothing was written")
            raise error.__cause__ from None
        raise


def _outcome(
    edit: Edit,
    where: amend.Scope,
    values: Mapping[str, Value | None],
    winning: Sequence[amend.OverridingRule] = (),
    titles: Titles = NONE,
) -> Answer:
    """Return what stands where now, null for what was removed, and what still wins over it."""
    origins = Origins(edit.after)
    stands = "Written" if edit.changed else "Already there"
    settings, lines = [], []
    for key, value in values.items():
        found = [
            each for each in amend.places(where, edit.after) if each.settings.get(key) == value
        ]
        rule = None if value is None or not found else found[0]
        record = None if rule is None else origins.record(rule, key)
        settings.append({"key": key, "value": value, "in": record})
        if rule is None or value is None:
            lines.append(f"{key} is removed from {origins.source}.")
        else:
            lines.append(f"{stands}: {key} = {written(value)} ({origins.long(rule, key)}).")
    for win in winning:
        of = f" of {', '.join(titled(win.names, titles))}" if win.names else ""
        what = f"{win.key} {written(win.value)}{of}, from {origins.long(win.rule, win.key)}."
        lines.append(f"This still wins: {what}")
    message = {
        "file": edit.after.source,
        "changed": edit.changed,
        "settings": settings,
        "wins": [
            {
                "key": each.key,
                "value": each.value,
                "attributes": [*each.names],
                "by": origins.record(each.rule, each.key),
            }
            for each in winning
        ],
    }
    return Answer(message, "\n".join(map(paragraph, lines)))


@click.command()
@click.argument("recipient", metavar="HOST")
@click.argument("attributes", type=names, metavar="ATTR[,ATTR]")
@click.argument("disclose", type=OneOf(VALUES, CLOSERS), metavar="never|ask|auto|always")
@span_options(ONCE, ALWAYS)
@answers
def let(recipient: str, attributes: tuple[str, ...], disclose: Disclose, span: Span) -> Answer:
    """Decide whether facts may be sent to HOST, and to whoever it shares what it learns with.

    \b
    never    not sent
    ask      they wait for your approval
    auto     sent when worth it
    always   sent unless a limit forbids it

    Guarded facts are never sent, and nothing is sent to a blocked recipient. This replaces your
    earlier decision, and lists the rules that still win over it. `reticent requests undo` reverts
    it. For other settings, queries or patterns, use `reticent policy set`.
    """  # noqa: D301  (click's mark for lines that are kept)
    if not attributes:
        raise UsageError("no attribute is named", "name some, joined by commas")
    word = Override(
        recipient=recipient,
        names=[*dict.fromkeys(attributes)],
        disclose=disclose,
        lasting=span.lasting or "always",
        about=span.about,
        days=span.days,
    )
    with door() as client:
        ruled: Ruled = client.call("override", word)
        place = None if ruled.written is None else client.call("policy").path
        titles = titles_of(client)
        _check_spelling(word.recipient, client)
    lines = [overridden(word, titles), *took_effect(ruled, place, titles)]
    return Answer(ruled, "\n".join(map(paragraph, lines)))


def _check_spelling(host: str, client: Client) -> None:
    """Note that a host is nearly one that was sent something; not while the vault is locked."""
    with suppress(LockedError):
        sites = [site for each in client.call("recipients") for site in each.sites]
        near = get_close_matches(host, sites, 1, ALIKE)
        if near and not any(f".{host}".endswith(f".{site}") for site in sites):
            note(f"nothing was sent to {host} so far; did you mean {near[0]}?")


@click.command()
@click.argument("recipient", metavar="HOST")
@answers
def block(recipient: str) -> Answer:
    """Send nothing more to HOST, from the next request on.

    The block is written into the policy, and covers HOST alone, not the rest of its group. HOST
    keeps what it already knows.
    """
    with door() as client:
        done: Done = client.call("refuse", Refuse(recipient=recipient))
    return Answer(done, paragraph(BLOCKED.format(recipient)))


@click.command()
@click.argument("recipient", metavar="HOST")
@answers
def unblock(recipient: str) -> Answer:
    """Treat HOST like others again after you blocked it or denied its offer."""
    with door() as client:
        done: Allowed = client.call("allow", Allow(recipient=recipient))
    text = (UNBLOCKED if done.done else NOT_BLOCKED).format(recipient)
    if done.rule is not None:
        line = "" if done.line is None else f" on line {done.line} of the policy"
        text = STILL.format(recipient, f"{done.rule!r}{line}")
    return Answer(done, paragraph(text))
