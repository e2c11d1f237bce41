"""Settings written into the policy and taken out of it, its comments kept."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import NamedTuple

from agent.daemon.agent import Agent
from agent.daemon.policing.chosen import names_for
from agent.daemon.policing.rewriting import Change, rewrite
from agent.errors import PolicyError, UsageError
from agent.wire.policy import Edited, PolicyEdit
from agent.wire.policy import Win as Said
from policy.read import preset, read
from policy.rules import Layer, Policy
from policy.scope import (
    Scope,
    Win,
    check_day,
    fitting,
    known,
    scope,
    wins,
    with_settings,
    without_settings,
)
from policy.settings import Value
from policy.toml_edit import Key, line_of, lines_of


class Rewritten(NamedTuple):
    """What a policy file says after a change, and whether its text is another."""

    policy: Policy
    changed: bool


class Done(NamedTuple):
    """An edit that is made: for what, what it set, and what the policy says since."""

    where: Scope
    values: Mapping[str, Value]
    policy: Policy
    changed: bool


def edited(edit: PolicyEdit, path: Path, today: date) -> Done:
    """Write an edit into a policy file.

    UsageError, and the file as it was, for what is no setting or no value of one, for a day that
    is over, for what is not set for exactly this, where the result would be no policy, and as in
    `rewrite`.
    """
    gone = [*dict.fromkeys(map(known, edit.unset))]
    values = {key: fitting(key, value) for key, value in edit.set.items()}
    _check_keys(values, gone)
    where = scope(edit.recipient, edit.attribute, edit.query, edit.expires)
    if values:
        check_day(where, today)
    try:
        done = rewritten(path, lambda text, policy: _changed(text, policy, where, values, gone))
    except PolicyError as error:
        what = f"this would be no policy, so nothing was written: {error}"
        raise UsageError(what, error.hint) from None
    return Done(where, values, *done)


def outcome(done: Done, now: datetime, agent: Agent) -> Edited:
    """Return what still decides otherwise after an edit, once its policy is in use."""
    host, query = done.where.host(done.policy), done.where.words()
    names = names_for(host, query, now, agent)
    lines = lines_of(done.policy.text)
    winning = wins(done.policy, done.where, done.values, names, now.date())
    return Edited(changed=done.changed, wins=[_said(each, lines) for each in winning])


def rewritten(path: Path, change: Change) -> Rewritten:
    """Change a policy file; PolicyError, and nothing written, where the result would be none.

    UsageError as in `rewrite`.
    """
    before: list[str] = []

    def checked(text: str, policy: Policy) -> str:
        before[:] = [text]
        after = change(text, policy)
        read(after, str(path), preset)
        return after

    policy = rewrite(path, checked)
    return Rewritten(policy, [policy.text] != before)


def _check_keys(values: Mapping[str, Value], gone: Sequence[str]) -> None:
    """Raise UsageError where nothing is to change, or the same is to be set and unset."""
    if not values and not gone:
        raise UsageError("this edit changes nothing", "say what to set, or what to take out")
    for key in gone:
        if key in values:
            raise UsageError(f"{key!r} is to be set and to be taken out", "say one of the two")


def _changed(
    text: str, policy: Policy, where: Scope, values: Mapping[str, Value], gone: Sequence[str]
) -> str:
    """Return the text with settings in it and without others.

    A rule in which one takes the place of another stays.
    """
    if values:
        text = with_settings(text, policy, where, values)
        policy = read(text, policy.source, preset)
    return without_settings(text, policy, where, gone) if gone else text


def _said(win: Win, lines: Mapping[Key, int]) -> Said:
    path = (*win.rule.path, win.key)
    return Said(
        key=win.key,
        value=win.value,
        names=[*win.names],
        rule=win.rule.name,
        line=line_of(lines, path) if win.rule.layer is Layer.FILE else None,
    )
