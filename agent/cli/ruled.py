"""Deciding under a policy file: the model that it names, and the terms that it sets."""

from datetime import date
from pathlib import Path

import click
from click.core import ParameterSource

from agent.cli.policy_options import noted, read_policy
from agent.decision.terms import Terms
from agent.decision.under import terms_under
from agent.errors import UsageError
from agent.model.file import read
from agent.model.model import Model
from agent.model.shipped import shipped_model
from agent.model.signature import trusted
from policy.match import Rulebook, Verdicts
from policy.rules import Policy

BESIDE = frozenset({"query", "model", "know", "policy", "recipient", "profile", "as_json"})


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
