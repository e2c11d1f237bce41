"""`reticent policy set` and `unset`: change a setting of a policy file, its comments kept."""

from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import TypedDict, TypeVar, Unpack

import click

from agent.cli.options import json_option, record
from agent.cli.parameters import QUERY, once, pair, today
from agent.cli.policy_options import model_option, names_of, policy_option
from agent.cli.policy_outcome import Outcome, outcome_record, outcome_text
from agent.cli.problems import note
from agent.daemon.policing.edited import Rewritten, rewritten
from agent.daemon.policing.rewriting import Change
from agent.errors import PolicyError, UsageError
from policy.load import load
from policy.scope import Scope, check_day, scope
from policy.setting import known, value_of, with_settings, without_settings
from policy.settings import Value
from policy.wins import wins

C = TypeVar("C", bound=Callable[..., object])


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
    """Set something in a policy: at its top, or for exactly the requests that you name.

    Comments stay, and nothing is written where the result would be no valid policy. What still
    wins over it is said.
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
    """Take something out of a policy: at its top, or for exactly the requests that you name.

    A rule that then sets nothing goes as well.
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
