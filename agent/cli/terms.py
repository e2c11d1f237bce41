"""The options that say on which terms a request is decided, and what comes of them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from functools import reduce
from pathlib import Path
from typing import Any, TypedDict, TypeVar

import click
from click.core import ParameterSource

from agent.cli.options import PATH, OneOf, flat, names, once, pair, today, weighted
from agent.cli.policy import noted, read_policy
from agent.decision.request import Knowledge
from agent.decision.terms import Limits, Terms, terms_under
from agent.errors import UsageError
from agent.files import read_bytes
from agent.model.file import read, shipped_model
from agent.model.model import Model, person_codes
from agent.model.signature import trusted
from agent.tradeoff.anonymity_set import METRICS, Metric
from agent.tradeoff.search import ALGORITHMS, Algorithm
from agent.vault import profile as toml
from policy.hosts import ANYBODY
from policy.match import Rulebook
from policy.precedence import Verdicts
from policy.rules import Policy

METRIC_K = 100  # the k of the metric k-anonymity where --k does not say another
BESIDE = frozenset(
    {"query", "explain", "model", "know", "policy", "recipient", "profile", "as_json"}
)
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


def read_values(path: Path, model: Model) -> dict[str, int]:
    """Return codes by attribute; UsageError where the file names what the model has not."""
    codes = person_codes(model)
    try:
        values = toml.read_values(read_bytes(path, toml.LARGEST), model)
    except UsageError as error:
        raise UsageError(error.what, error.hint, str(path)) from None
    return {name: codes[name][value] for name, value in values.items()}


Checked = TypeVar("Checked", Limits, Terms)


class DecideOptions(TypedDict):
    """The options of `reticent model decide`, as click hands them over."""

    query: str
    model: Path | None
    trade_off: float
    cost: Metric
    k: int | None
    max_violations: float | None
    max_risk: float | None
    know: tuple[tuple[str, str], ...]
    only: tuple[tuple[str, ...], ...]
    exclude: tuple[tuple[str, ...], ...]
    sensitivity: tuple[tuple[str, float], ...]
    guard: tuple[tuple[str, float], ...]
    algorithm: Algorithm
    standing: bool
    policy: Path | None
    recipient: str | None
    profile: Path | None
    as_json: bool


def terms_of(options: DecideOptions) -> Terms:
    """Return the terms; UsageError where options do not go together or are out of range."""
    k, violations = options["k"], options["max_violations"]
    if k is None and violations is not None:
        hint = "say with --k how many people must look alike"
        raise UsageError("--max-violations needs --k", hint)
    limits = _with(Limits(), "--k", k=k)
    limits = _with(limits, "--max-violations", max_violations=violations or 0.0)
    limits = _with(limits, "--max-risk", max_risk=options["max_risk"])
    terms = Terms(
        allowed=flat(options["only"]) if options["only"] else None,
        excluded=flat(options["exclude"]),
        metric=options["cost"],
        metric_k=METRIC_K if k is None else k,
        limits=limits,
        mode="standing" if options["standing"] else "dynamic",
        algorithm=options["algorithm"],
    )
    terms = _with(terms, "--lambda", trade_off=options["trade_off"])
    sensitivity = once("--sensitivity", options["sensitivity"])
    terms = _with(terms, "--sensitivity", sensitivity=tuple(sensitivity.items()))
    return _with(terms, "--guard", guards=tuple(once("--guard", options["guard"]).items()))


def knowledge_of(pairs: tuple[tuple[str, str], ...], model: Model) -> Knowledge:
    """Return what the recipient holds; UsageError where the model lacks such value."""
    values = once("--know", pairs)
    return Knowledge(tuple((name, _code(name, values[name], model)) for name in sorted(values)))


def _with(checked: Checked, option: str, **changes: Any) -> Checked:  # noqa: ANN401  (of any field)
    """Return terms or limits with one option taken up; a UsageError names the option."""
    try:
        return replace(checked, **changes)
    except UsageError as error:
        raise UsageError(error.what, error.hint, option) from None


def _code(name: str, value: str, model: Model) -> int:
    return model.attributes[model.index(name)].code(value)


def ruled(
    policy: Path, recipient: str, query: str, named: Path | None, today: date
) -> tuple[Model, Terms]:
    """Return the model and the terms for a request; ``named``: a model the policy does not choose.

    UsageError where a file or a recipient cannot be, PolicyError for a policy that is wrong,
    SignatureError for a model whose maker the policy does not trust.
    """
    rules = read_policy(policy)
    model = _model(rules, recipient, query, named, today)
    names = [attribute.name for attribute in model.attributes]
    rulebook = Rulebook(noted(rules, names), names)
    return model, terms_under(rulebook.match(recipient, query, today), model)


def alone(context: click.Context, beside: frozenset[str]) -> None:
    """Refuse options that say what a policy says, but these; UsageError names the first."""
    for parameter in context.command.params:
        name = parameter.name or ""
        given = context.get_parameter_source(name) is not ParameterSource.DEFAULT
        if given and name not in BESIDE | beside:
            hint = "write it into the policy, or leave --policy out"
            raise UsageError(f"{parameter.opts[0]} does not go with --policy", hint)


def expect_shipped(settings: Verdicts) -> None:
    """Refuse a request for which the policy asks for another model than the shipped one."""
    verdict = settings.get("model")
    if verdict is not None and verdict.value != shipped_model().stem:
        what = f"{verdict.rule.name!r} asks for the model {verdict.value!r}"
        raise UsageError(what, "say with --model where its file is")


def _model(rules: Policy, recipient: str, query: str, named: Path | None, today: date) -> Model:
    if named is not None:
        return trusted(named, rules.trusted_keys)
    expect_shipped(Rulebook(rules, ()).match(recipient, query, today).settings)
    return read(shipped_model())


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
        hint = "name the recipient with --recipient, as in books.example"
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
        raise UsageError("the policy protects you, and your values are unknown here", hint)
    return read_values(profile, model)
