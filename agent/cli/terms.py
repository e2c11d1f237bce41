"""The options that say on which terms a request is decided, and what comes of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from agent.cli.options import PATH, OneOf, flat, names, once, option, pair, today, weighted
from agent.cli.policy import MODEL_FILE, noted, read_model, read_policy, with_shipped
from agent.decision.context import Context
from agent.decision.locale import LOCALE
from agent.decision.request import Knowledge, Request
from agent.decision.terms import Limits, Terms, rulebook, terms_under
from agent.errors import UsageError
from agent.files import read_bytes
from agent.model.file import SHIPPED, read, shipped_model, shipped_models
from agent.model.model import Model, person_codes
from agent.tradeoff.measures import METRICS
from agent.tradeoff.search import ALGORITHMS
from policy.hosts import ANYBODY
from policy.match import Rulebook
from policy.precedence import Verdicts

METRIC_K = 100  # the k of the metric k-anonymity where --k does not say another
BESIDE = frozenset(  # what goes with --policy
    {"query", "explain", "model", "know", "policy", "recipient", "profile", "as_json"}
)
F = TypeVar("F", bound=Callable[..., Any])
Checked = TypeVar("Checked", Limits, Terms)
DEFAULTS = Terms()
LAMBDA = "Bits of utility demanded per unit of identifiability."
K = f"At least K people must look alike. Also the k of k-anonymity, else {METRIC_K}."
VIOLATIONS = "Share of people who may be among fewer than K; needs --k.  [default: 0]"
MODEL = "The model. By default the shipped one that is surest what is asked."
KNOW = (
    "What the recipient knows, as an example: other users of this machine can read what you type "
    "here. `reticent ask HOST - --dry-run` uses what it really knows."
)
GUARD = "Is never sent, and less of what others could guess it from. May be repeated."
PROFILE = 'Your facts, attribute = "value". Facts that are not in it are never sent.'


def _once(
    _context: click.Context, option: click.Parameter, pairs: Sequence[tuple[str, Any]]
) -> dict[str, Any]:
    return once(option.opts[0], pairs)


def _pairs(name: str, kind: Any, metavar: str, text: str) -> Callable[[F], F]:  # noqa: ANN401  (of click)
    return option(name, kind, metavar, text, multiple=True, callback=_once)


_OPTIONS = (
    option("--model", MODEL_FILE, "M|NAME", MODEL),
    option("--lambda", float, "BITS", LAMBDA, default=DEFAULTS.trade_off),
    option(
        "--cost", OneOf(METRICS), None, "How to measure identifiability.", default=DEFAULTS.metric
    ),
    option("--k", int, "K", K),
    option("--max-violations", float, "SHARE", VIOLATIONS),
    option("--max-risk", float, "B", "Highest chance that one guess finds you."),
    _pairs("--know", pair, "ATTR=VALUE", KNOW),
    option("--only", names, "A,B", "Only these may be sent.", multiple=True),
    option("--exclude", names, "A,B", "These may not be sent.", multiple=True),
    _pairs("--sensitivity", weighted, "ATTR=BITS", "Bits that ATTR must bring. May be repeated."),
    _pairs("--guard", weighted, "ATTR=WEIGHT", GUARD),
    option("--algorithm", OneOf(ALGORITHMS), None, "How to search.", default=DEFAULTS.algorithm),
    option("--policy", PATH, "FILE", "A policy that sets the terms, in place of the options."),
    option("--recipient", str, "HOST", "Who receives it; a policy's rules need it."),
    option("--profile", PATH, "P.toml", PROFILE),
)


def term_options(command: F) -> F:
    """Give a command the options that say on which terms a request is decided."""
    return reduce(lambda made, option: option(made), reversed(_OPTIONS), command)


def context_asked(command: click.Context, *, average: bool = False) -> Context:
    """Return the request of a command with those options, and all that decides about it.

    The terms are those of a policy where one is given. Where a profile is given only what it sets
    is a candidate, and all else that is set anew for every request. ``average``: a policy may be
    asked for what it rules for everybody, and for all queries.
    """
    options = command.params
    recipient, profile = options["recipient"], options["profile"]
    if options["policy"] is not None:
        model, terms = _ruled(command, average=average)
    elif recipient is not None:
        raise UsageError("--recipient needs --policy", "only the rules of a policy depend on it")
    else:
        terms = _terms(options)
        model = read_model(options["model"], options["query"] or "")
    own = None if profile is None else read_values(profile, model)
    protected = terms.limits.protect != "everyone"
    if own is not None:
        of_requests = (each.name for each in model.attributes[model.persons :])
        terms = replace(terms, available=frozenset([*own, *of_requests]))
    elif protected:
        hint = "name a file of your values with --profile, or protect everyone"
        raise UsageError("the policy protects you, and your values are unknown here", hint)
    attributes = {name: model.attributes[model.index(name)] for name in sorted(options["know"])}
    codes = tuple((name, each.code(options["know"][name])) for name, each in attributes.items())
    request = Request(options["query"] or "", recipient or "")
    return Context(request, terms, Knowledge(codes), model, own if protected else None)


def read_values(path: Path, model: Model) -> dict[str, int]:
    """Return codes by attribute; UsageError where the model lacks what the file names."""
    from agent.vault.profile import LARGEST, read_profile, values_in  # and with it the whole vault

    codes = person_codes(model)
    shipped = (each for each in map(read, shipped_models()) if each.id != model.id)
    try:
        found = read_profile(read_bytes(path, LARGEST), [model, *shipped, LOCALE])
    except UsageError as error:
        raise UsageError(error.what, error.hint, str(path)) from None
    return {name: codes[name][value] for name, value in values_in(found, model).items()}


def model_under(settings: Verdicts, query: str) -> Model:
    """Return the shipped model that a policy asks for, or else the one that is surest of a query.

    UsageError where it asks for another.
    """
    expect_model(settings, SHIPPED)
    verdict = settings.get("model")
    return read_model(None if verdict is None else shipped_model(str(verdict.value)), query)


def expect_model(settings: Verdicts, names: Sequence[str]) -> None:
    """Refuse a request for which the policy asks for a model of another name."""
    verdict = settings.get("model")
    if verdict is not None and verdict.value not in names:
        what = f"{verdict.rule.name!r} asks for the model {verdict.value!r}"
        raise UsageError(what, "name its file with --model")


def _terms(options: Mapping[str, Any]) -> Terms:
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
    terms = _with(terms, "--lambda", trade_off=options["lambda"])
    terms = _with(terms, "--sensitivity", sensitivity=tuple(options["sensitivity"].items()))
    return _with(terms, "--guard", guards=tuple(options["guard"].items()))


def _with(checked: Checked, option: str, **changes: Any) -> Checked:  # noqa: ANN401  (of any field)
    """Return terms or limits with one option applied; a UsageError names the option."""
    try:
        return replace(checked, **changes)
    except UsageError as error:
        raise UsageError(error.what, error.hint, option) from None


def _ruled(command: click.Context, *, average: bool) -> tuple[Model, Terms]:
    """Return the model and the terms that a policy has for a request.

    UsageError where an option says what a policy says, or a file or a recipient cannot be;
    PolicyError for a policy that is wrong, SignatureError for a model whose maker it does not
    trust.
    """
    options = command.params
    beside = BESIDE | {"standing"} if average else BESIDE
    for parameter in command.command.params:
        name = parameter.name or ""
        given = command.get_parameter_source(name) is not ParameterSource.DEFAULT
        if given and name not in beside:
            hint = "write it into the policy, or leave --policy out"
            raise UsageError(f"{parameter.opts[0]} does not go with --policy", hint)
    if options["recipient"] is None and not average:
        hint = "name the recipient with --recipient, as in books.example"
        raise UsageError("a policy depends on the recipient", hint)
    host = ANYBODY if options["recipient"] is None else options["recipient"]
    request = (host, options["query"] or "", today())
    rules = read_policy(options["policy"])
    if options["model"] is None:
        model = model_under(Rulebook(rules, {}).match(*request).settings, request[1])
    else:
        model = read_model(options["model"], keys=rules.trusted_keys)
    noted(rules, models := with_shipped(model))
    terms = terms_under(rulebook(rules, model, models).match(*request), model)
    return model, replace(terms, mode="standing") if options["standing"] else terms
