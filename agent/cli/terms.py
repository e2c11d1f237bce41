"""From the options of the command line to terms and knowledge."""

from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict, TypeVar

from agent.cli.parameters import flat, once
from agent.decision.request import Knowledge
from agent.decision.terms import Limits, Terms
from agent.errors import UsageError
from agent.model.model import Model
from agent.tradeoff.anonymity_set import Metric
from agent.tradeoff.search import Algorithm

Checked = TypeVar("Checked", Limits, Terms)

METRIC_K = 100  # the k of the metric k-anonymity where --k does not say another


class DecideOptions(TypedDict):
    """The options of `reticent decide`, as click hands them over."""

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
    """Return what the recipient holds; UsageError where the model has no such value."""
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
