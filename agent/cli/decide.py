"""`reticent decide`: which facts one request may carry."""

from collections.abc import Mapping
from time import perf_counter
from typing import Unpack

import click

from agent.cli.decision_record import decision_record
from agent.cli.decision_text import decision_text
from agent.cli.options import PATH, json_option, record
from agent.cli.own_values import read_values
from agent.cli.parameters import OneOf, check_asked, names, pair, today, weighted
from agent.cli.ruled import alone, ruled
from agent.cli.terms import METRIC_K, DecideOptions, knowledge_of, terms_of
from agent.decision.decide import decide as decide_request
from agent.decision.request import Request
from agent.decision.terms import Terms
from agent.errors import UsageError
from agent.model.file import read
from agent.model.model import Model
from agent.model.shipped import shipped_model
from agent.tradeoff.losses import METRICS
from agent.tradeoff.search import ALGORITHMS

DEFAULTS = Terms()


@click.command()
@click.option("--query", required=True, metavar="TEXT", help="What is asked.")
@click.option(
    "--model",
    type=PATH,
    metavar="M",
    help="The model's file. By default the one that comes with reticent.",
)
@click.option(
    "--lambda",
    "trade_off",
    type=float,
    default=DEFAULTS.trade_off,
    show_default=True,
    metavar="BITS",
    help="Bits of utility demanded per unit of identifiability.",
)
@click.option(
    "--cost",
    type=OneOf(METRICS),
    default=DEFAULTS.metric,
    show_default=True,
    help="How identifiability is measured.",
)
@click.option(
    "--k",
    type=int,
    metavar="K",
    help="At least K people must look alike. With --cost k-anonymity also the k that it counts "
    f"to, {METRIC_K} without this option.",
)
@click.option(
    "--max-violations",
    type=float,
    metavar="SHARE",
    help="Of the people, among fewer than K all the same; needs --k.  [default: 0]",
)
@click.option("--max-risk", type=float, metavar="B", help="Largest expected success of one guess.")
@click.option(
    "--know",
    type=pair,
    metavar="ATTR=VALUE",
    multiple=True,
    help="What the recipient holds already. May be repeated.",
)
@click.option(
    "--only", type=names, metavar="A,B", multiple=True, help="Nothing but these may leave."
)
@click.option("--exclude", type=names, metavar="A,B", multiple=True, help="These may not leave.")
@click.option(
    "--sensitivity",
    type=weighted,
    metavar="ATTR=BITS",
    multiple=True,
    help="Bits an attribute must bring. May be repeated.",
)
@click.option(
    "--guard",
    type=weighted,
    metavar="ATTR=WEIGHT",
    multiple=True,
    help="Never leaves; what others tell about it costs. May be repeated.",
)
@click.option(
    "--algorithm",
    type=OneOf(ALGORITHMS),
    default=DEFAULTS.algorithm,
    show_default=True,
    help="How the set is searched.",
)
@click.option("--standing", is_flag=True, help="The same set for every query.")
@click.option(
    "--policy",
    type=PATH,
    metavar="FILE",
    help="A policy file that sets the terms, in place of the options for them.",
)
@click.option("--recipient", metavar="HOST", help="Who receives it; a policy's rules need it.")
@click.option(
    "--profile",
    type=PATH,
    metavar="P.toml",
    help='Your values, attribute = "value"; read only under protect = "me".',
)
@json_option
@click.pass_context
def decide(context: click.Context, /, **options: Unpack[DecideOptions]) -> None:
    """Decide which few facts a request may carry.

    Enough to be served well, too little to be recognised. No profile is read: the decision
    depends on the query, the terms and what the recipient holds, never on values it does not.
    """
    check_asked(options["query"])
    model, terms = _terms(context, options)
    knowledge = knowledge_of(options["know"], model)
    request = Request(options["query"], options["recipient"] or "")
    own = _own(options, terms, model)
    start = perf_counter()
    decision = decide_request(request, terms, knowledge, model, own)
    elapsed_ms = 1000 * (perf_counter() - start)
    if options["as_json"]:
        click.echo(record(decision_record(decision, elapsed_ms)))
    else:
        click.echo(decision_text(decision))


def _terms(context: click.Context, options: DecideOptions) -> tuple[Model, Terms]:
    """Return the model and the terms, of a policy where one is given, else of the options."""
    policy, recipient = options["policy"], options["recipient"]
    if policy is None and recipient is not None:
        raise UsageError("--recipient needs --policy", "only the rules of a policy depend on it")
    if policy is None:
        terms = terms_of(options)
        return read(options["model"] or shipped_model()), terms
    alone(context)
    if recipient is None:
        hint = "say with --recipient who receives the request, as in books.example"
        raise UsageError("a policy depends on the recipient", hint)
    return ruled(policy, recipient, options["query"], options["model"], today())


def _own(options: DecideOptions, terms: Terms, model: Model) -> Mapping[str, int] | None:
    """Return the user's own codes where the terms protect the user; nobody else needs them."""
    profile = options["profile"]
    if terms.limits.protect == "everyone":
        return None
    if profile is None:
        hint = "name a file of your values with --profile, or protect everyone"
        raise UsageError("the policy protects you, whose values are not known here", hint)
    return read_values(profile, model)
