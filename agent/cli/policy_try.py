"""`reticent policy try`: what a policy would have disclosed for past requests."""

from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict, Unpack

import click

from agent.cli.history import read_history
from agent.cli.options import PATH, json_option, record
from agent.cli.own_values import read_values
from agent.cli.policy_options import noted, read_policy
from agent.cli.progress import Progress
from agent.cli.ruled import expect_shipped
from agent.cli.tried import Tried
from agent.cli.try_record import try_record
from agent.cli.try_text import try_text
from agent.decision.compared import Outcome, summary_of
from agent.decision.past import Past, Worlds, worlds_of
from agent.decision.replay import replay
from agent.model.file import read
from agent.model.model import Model
from agent.model.shipped import shipped_model
from agent.model.signature import trusted
from policy.match import Rulebook
from policy.rules import Policy


class TryOptions(TypedDict):
    """The options of `reticent policy try`, as click hands them over."""

    file: Path
    history: Path
    profile: Path | None
    model: Path | None
    as_json: bool


@click.command("try")
@click.argument("file", type=PATH)
@click.option(
    "--history",
    type=PATH,
    required=True,
    metavar="L.jsonl",
    help="Past requests, a JSON object a line (policy/FORMAT.md); sorted by time.",
)
@click.option(
    "--profile",
    type=PATH,
    metavar="P.toml",
    help='Your values, attribute = "value"; what is not there is not set.',
)
@click.option(
    "--model",
    type=PATH,
    metavar="M",
    help="The model's file. By default the one that comes with reticent.",
)
@json_option
def try_(**options: Unpack[TryOptions]) -> None:
    """Replay past requests under a policy file, and show what would differ.

    Each recipient is taken to hold what this policy would have disclosed to it before. What waits
    for you counts as withheld. Values that neither history nor profile has are taken from people
    of the model who agree with the rest, and figures are then means.
    """
    rules = read_policy(options["file"])
    model = (
        read(shipped_model())
        if options["model"] is None
        else trusted(options["model"], rules.trusted_keys)
    )
    history = read_history(options["history"], model)
    if options["model"] is None:
        _expect_shipped(rules, history.requests)
    profile = None if options["profile"] is None else read_values(options["profile"], model)
    worlds = worlds_of(history.requests, model, profile)
    noted(rules, [each.name for each in model.attributes])
    outcomes = _replayed(history.requests, rules, model, worlds)
    tried = Tried(outcomes, summary_of(outcomes), worlds, history.sorted)
    if options["as_json"]:
        click.echo(record(try_record(tried)))
    else:
        click.echo(try_text(tried))


def _expect_shipped(rules: Policy, requests: Sequence[Past]) -> None:
    """Refuse a history for part of which the policy asks for a model that is not named."""
    rulebook = Rulebook(rules, ())
    for past in requests:
        expect_shipped(rulebook.match(past.recipient, past.query, past.at.date()).settings)


def _replayed(
    requests: Sequence[Past], rules: Policy, model: Model, worlds: Worlds
) -> tuple[Outcome, ...]:
    with Progress() as progress:
        outcomes = []
        for outcome in replay(requests, rules, model, worlds):
            outcomes.append(outcome)
            progress("replaying", len(outcomes) / len(requests))
    return tuple(outcomes)
