"""Change what a policy rules: `set` and `block`."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import wraps
from pathlib import Path
from typing import Any

import click

from agent.cli.daemon_client import door
from agent.cli.options import QUERY, Answer, answers, once, option, pair, today
from agent.cli.policy import model_option, noted, policy_option, read_model, with_shipped
from agent.cli.policy_pages import Origins, written
from agent.cli.printing import note, paragraph
from agent.daemon.policy_file import Change, Edit, rewrite
from agent.decision.terms import attributes_of
from agent.errors import PolicyError, UsageError
from agent.wire.base import Done
from agent.wire.decide import Allow, Allowed, Refuse
from agent.words.titles import NONE, Titles, titled
from policy import amend
from policy.read import load, preset, read
from policy.rules import Policy
from policy.settings import SETTINGS, Value

BLOCKED = "{} gets nothing from now on, by a rule in the policy."
UNBLOCKED = "{} is treated like others again from now on."
NOT_BLOCKED = "{} was not blocked, so nothing was changed."
STILL = "{} still gets nothing, by {}, which is not for it alone: change it by hand."


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

    KEY= takes a setting out, and a rule that has no other. Comments stay. Nothing is written if the
    result would not be a valid policy. Rules that still win over the new one are listed.
    """
    models = with_shipped(read_model(model))
    titles = {each.name: each.title for one in reversed(models) for each in one.attributes}
    given = once(
        "KEY=VALUE", [(each[:-1], "") if each.endswith("=") else pair(each) for each in pairs]
    )
    for key, text in given.items():
        if key not in SETTINGS and key in titles:
            hint = f"write disclose={text} --attribute {key}"
            raise UsageError(f"{key!r} is an attribute, not a setting", hint)
    removed: dict[str, Value | None] = {
        amend.checked_key(key): None for key, text in given.items() if not text
    }
    values = {key: amend.value_of(key, text) for key, text in given.items() if text}
    if values:
        amend.check_day(where, today())

    def change(text: str, policy: Policy) -> str:
        if removed:
            text = amend.without_settings(text, policy, where, [*removed])
            policy = read(text, policy.source, preset)
        return amend.with_settings(text, policy, where, values) if values else text

    edit = _rewritten(file, change)
    noted(edit.after, models)
    known = attributes_of(models, models if model is None else models[:1])
    winning = amend.overriding_rules(edit.after, where, values, known, today())
    return _outcome(edit, where, {**values, **removed}, winning, titles)


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
@click.option("--undo", is_flag=True, help="Treat HOST like others again.")
@answers
def block(recipient: str, *, undo: bool) -> Answer:
    """Send nothing more to HOST, from the next request on.

    The block is written into the policy, and covers HOST alone, not the rest of its group. HOST
    keeps what it already knows.
    """
    with door() as client:
        if not undo:
            done: Done = client.call("refuse", Refuse(recipient=recipient))
            return Answer(done, paragraph(BLOCKED.format(recipient)))
        lifted: Allowed = client.call("allow", Allow(recipient=recipient))
    text = (UNBLOCKED if lifted.done else NOT_BLOCKED).format(recipient)
    if lifted.rule is not None:
        line = "" if lifted.line is None else f" on line {lifted.line} of the policy"
        text = STILL.format(recipient, f"{lifted.rule!r}{line}")
    return Answer(lifted, paragraph(text))
