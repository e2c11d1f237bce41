"""`reticent curve`: what would leave at every trade-off between what helps and what tells."""

from typing import Unpack

import click
from click.core import ParameterSource

from agent.cli.curve_record import curve_record
from agent.cli.curve_text import curve_text
from agent.cli.demands import own_asked, term_options, terms_asked
from agent.cli.options import json_option, record
from agent.cli.parameters import ASKED, QUERY, check_asked
from agent.cli.terms import DecideOptions, knowledge_of
from agent.decision.curve import curve_of
from agent.decision.request import Request
from agent.errors import UsageError


@click.command()
@click.option("--query", type=QUERY, default="", metavar="TEXT", help=ASKED)
@click.option(
    "--all",
    "standing",
    is_flag=True,
    help="All queries of the model, in place of one; takes seconds.",
)
@term_options
@json_option
@click.pass_context
def curve(context: click.Context, /, **options: Unpack[DecideOptions]) -> None:
    """Show what would leave as lambda varies, and where the curve bends.

    A row for each set, with the bits that it brings and how well it would tell you apart. The
    present lambda is that of --lambda or of --policy FILE: for a recipient, or without one what it
    rules for everybody. Nothing is sent, and nothing changed.
    """
    if options["standing"] == bool(options["query"].strip()):
        what = "a curve is that of one query or of all"
        raise UsageError(what, "give --query TEXT, or --all in its place")
    if not options["standing"]:
        check_asked(options["query"])
    model, terms = terms_asked(context, options, average=True)
    knowledge = knowledge_of(options["know"], model)
    request = Request(options["query"], options["recipient"] or "")
    found = curve_of(request, terms, knowledge, model, own_asked(options, terms, model))
    text = curve_text(found, _source(context, options))
    click.echo(record(curve_record(found)) if options["as_json"] else text)


def _source(context: click.Context, options: DecideOptions) -> str:
    """Return where the present lambda is from: no policy is read that is not named."""
    if options["policy"] is not None:
        return "as the policy has it now"
    given = context.get_parameter_source("trade_off") is ParameterSource.COMMANDLINE
    return "as asked" if given else "the default (--policy FILE takes that of a policy)"
