"""`reticent policy explain`: which rules decide about one request, and which lose to them."""

from pathlib import Path
from typing import TypedDict, Unpack

import click

from agent.cli.options import json_option, record
from agent.cli.parameters import ASKED, QUERY, check_asked, today
from agent.cli.policy_options import model_option, names_of, noted, policy_option, read_policy
from agent.cli.policy_record import explained_record
from agent.cli.policy_text import Explained, explained_text
from policy.match import Rulebook


class ExplainOptions(TypedDict):
    """The options of `reticent policy explain`, as click hands them over."""

    recipient: str
    query: str
    file: Path
    model: Path | None
    as_json: bool


@click.command()
@click.option("--recipient", required=True, metavar="HOST", help="Who receives the request.")
@click.option("--query", type=QUERY, required=True, metavar="TEXT", help=ASKED)
@policy_option
@model_option
@json_option
def explain(**options: Unpack[ExplainOptions]) -> None:
    """Say which rules of a policy decide about one request, and which lose to them, and why."""
    check_asked(options["query"])
    day = today()
    names = names_of(options["model"])
    policy = noted(read_policy(options["file"]), names)
    rulebook = Rulebook(policy, names)
    ruling = rulebook.match(options["recipient"], options["query"], day)
    explained = Explained(policy, ruling, options["query"], day)
    if options["as_json"]:
        click.echo(record(explained_record(explained)))
    else:
        click.echo(explained_text(explained))
