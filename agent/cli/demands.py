"""The options that say on which terms a request is decided, and what comes of them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import reduce
from typing import Any, TypeVar

import click

from agent.cli.options import PATH
from agent.cli.own_values import read_values
from agent.cli.parameters import OneOf, names, pair, today, weighted
from agent.cli.ruled import alone, ruled
from agent.cli.terms import METRIC_K, DecideOptions, terms_of
from agent.decision.terms import Terms
from agent.errors import UsageError
from agent.model.file import read
from agent.model.model import Model
from agent.model.shipped import shipped_model
from agent.tradeoff.anonymity_set import METRICS
from agent.tradeoff.search import ALGORITHMS
from policy.hosts import ANYBODY

F = TypeVar("F", bound=Callable[..., Any])

DEFAULTS = Terms()
_OPTIONS = (
    click.option(
        "--model",
        type=PATH,
        metavar="M",
        help="The model's file. By default the one that comes with reticent.",
    ),
    click.option(
        "--lambda",
        "trade_off",
        type=float,
        default=DEFAULTS.trade_off,
        show_default=True,
        metavar="BITS",
        help="Bits of utility demanded per unit of identifiability.",
    ),
    click.option(
        "--cost",
        type=OneOf(METRICS),
        default=DEFAULTS.metric,
        show_default=True,
        help="How identifiability is measured.",
    ),
    click.option(
        "--k",
        type=int,
        metavar="K",
        help="At least K people must look alike. With --cost k-anonymity also the k that it counts "
        f"to, {METRIC_K} without this option.",
    ),
    click.option(
        "--max-violations",
        type=float,
        metavar="SHARE",
        help="Of the people, among fewer than K all the same; needs --k.  [default: 0]",
    ),
    click.option(
        "--max-risk", type=float, metavar="B", help="Largest expected success of one guess."
    ),
    click.option(
        "--know",
        type=pair,
        metavar="ATTR=VALUE",
        multiple=True,
        help="What the recipient holds already, as an example: every user of this machine can read "
        "it. `reticent ask HOST - --dry-run` takes what it really holds from the vault.",
    ),
    click.option(
        "--only", type=names, metavar="A,B", multiple=True, help="Nothing but these may leave."
    ),
    click.option(
        "--exclude", type=names, metavar="A,B", multiple=True, help="These may not leave."
    ),
    click.option(
        "--sensitivity",
        type=weighted,
        metavar="ATTR=BITS",
        multiple=True,
        help="Bits an attribute must bring. May be repeated.",
    ),
    click.option(
        "--guard",
        type=weighted,
        metavar="ATTR=WEIGHT",
        multiple=True,
        help="Never leaves; what others tell about it costs. May be repeated.",
    ),
    click.option(
        "--algorithm",
        type=OneOf(ALGORITHMS),
        default=DEFAULTS.algorithm,
        show_default=True,
        help="How the set is searched.",
    ),
    click.option(
        "--policy",
        type=PATH,
        metavar="FILE",
        help="A policy file that sets the terms, in place of the options for them.",
    ),
    click.option("--recipient", metavar="HOST", help="Who receives it; a policy's rules need it."),
    click.option(
        "--profile",
        type=PATH,
        metavar="P.toml",
        help='Your values, attribute = "value": what is not there is not set, and never leaves. '
        'The values themselves are read only under protect = "me".',
    ),
)


def term_options(command: F) -> F:
    """Give a command the options on whose terms a request is decided."""
    return reduce(lambda made, option: option(made), reversed(_OPTIONS), command)


def terms_asked(
    context: click.Context, options: DecideOptions, *, average: bool = False
) -> tuple[Model, Terms]:
    """Return the model and the terms, of a policy where one is given, else of the options.

    ``average``: a policy is also asked for what it rules for everybody, and for all queries. Where
    a profile is given only what it sets is a candidate, and all else that is set anew for every
    request.
    """
    model, terms = _asked(context, options, average=average)
    if options["profile"] is None:
        return model, terms
    own = read_values(options["profile"], model)
    of_requests = (each.name for each in model.attributes[model.persons :])
    return model, replace(terms, available=frozenset([*own, *of_requests]))


def _asked(context: click.Context, options: DecideOptions, *, average: bool) -> tuple[Model, Terms]:
    policy, recipient = options["policy"], options["recipient"]
    if policy is None and recipient is not None:
        raise UsageError("--recipient needs --policy", "only the rules of a policy depend on it")
    if policy is None:
        terms = terms_of(options)
        return read(options["model"] or shipped_model()), terms
    alone(context, frozenset({"standing"} if average else ()))
    if recipient is None and not average:
        hint = "say with --recipient who receives the request, as in books.example"
        raise UsageError("a policy depends on the recipient", hint)
    host = ANYBODY if recipient is None else recipient
    model, terms = ruled(policy, host, options["query"], options["model"], today())
    return model, replace(terms, mode="standing") if options["standing"] else terms


def own_asked(options: DecideOptions, terms: Terms, model: Model) -> Mapping[str, int] | None:
    """Return the user's own codes where the terms protect the user; nobody else needs them."""
    profile = options["profile"]
    if terms.limits.protect == "everyone":
        return None
    if profile is None:
        hint = "name a file of your values with --profile, or protect everyone"
        raise UsageError("the policy protects you, whose values are not known here", hint)
    return read_values(profile, model)
