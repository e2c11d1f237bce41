"""`reticent decide`: which facts one request may carry."""

from time import perf_counter
from typing import Unpack

import click

from agent.cli.decision_record import decision_record
from agent.cli.decision_text import decision_text
from agent.cli.demands import own_asked, term_options, terms_asked
from agent.cli.options import json_option, record
from agent.cli.parameters import ASKED, QUERY, check_asked
from agent.cli.terms import DecideOptions, knowledge_of
from agent.decision.decide import decide as decide_request
from agent.decision.request import Request


@click.command()
@click.option("--query", type=QUERY, required=True, metavar="TEXT", help=ASKED)
@click.option("--standing", is_flag=True, help="The same set for every query.")
@term_options
@json_option
@click.pass_context
def decide(context: click.Context, /, **options: Unpack[DecideOptions]) -> None:
    """Decide which few facts a request may carry.

    Enough to be served well, too little to be recognised. The decision depends on the query, the
    terms and what the recipient holds, never on values it does not; of a profile that is given
    only which attributes it sets.
    """
    check_asked(options["query"])
    model, terms = terms_asked(context, options)
    knowledge = knowledge_of(options["know"], model)
    request = Request(options["query"], options["recipient"] or "")
    own = own_asked(options, terms, model)
    start = perf_counter()
    decision = decide_request(request, terms, knowledge, model, own)
    elapsed_ms = 1000 * (perf_counter() - start)
    if options["as_json"]:
        click.echo(record(decision_record(decision, elapsed_ms)))
    else:
        click.echo(decision_text(decision))
