"""Reticent, a person's own agent: it decides which few private facts a request may carry.

The face for programs, without daemon, vault or files of its own; nothing deeper needs importing:

    model = load_model("so2017")                           # a shipped model, or a path
    request = Request("version control", "forge.example")
    decision = decide(request, Terms(trade_off=20.0), Knowledge(), model)
    decision.disclosed                                     # names, never values

`examples/python/README.md` has more. For utilities and costs of your own: `agent.tradeoff`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date
    from pathlib import Path

    from agent.decision.decide import decide
    from agent.decision.request import Knowledge
    from agent.decision.terms import Limits, Terms
    from agent.decision.values import Decision, Request
    from agent.model.attributes import Attribute
    from agent.model.model import Model, Query
    from policy.rules import Policy

__version__ = "0.1.0"
__all__ = [
    "Attribute",
    "Decision",
    "Knowledge",
    "Limits",
    "Model",
    "Policy",
    "Query",
    "Request",
    "Terms",
    "decide",
    "load_model",
    "load_policy",
    "terms_for",
]


def load_model(path: str | Path | None = None) -> Model:
    """Return the model in a file, its arrays read-only; ``path``: or the name of a shipped model.

    Without either it is the first of those shipped.
    UsageError if there is no such file; DamagedModelError or VersionError if it must not be used.
    """
    from pathlib import Path

    from agent.model.file import SHIPPED, read, shipped_model

    named = SHIPPED[0] if path is None else str(path)
    return read(shipped_model(named) if named in SHIPPED else Path(named))


def load_policy(path: str | Path) -> Policy:
    """Return the policy in a file; UsageError if it cannot be read, PolicyError if it is wrong."""
    from pathlib import Path

    from policy.read import load

    return load(Path(path))


def terms_for(
    request: Request,
    policy: Policy,
    model: Model,
    today: date,
    models: Iterable[Model] | None = None,
) -> Terms:
    """Return the terms that a policy sets for a request; ``ruling`` names the rule behind each.

    ``today``: for rules that expire; ``models``: whose names of facts the policy may use, too; by
    default those that come with reticent. UsageError where the recipient is not a host.
    """
    from agent.decision.terms import rulebook, terms_under
    from agent.model.file import read, shipped_models

    others = map(read, shipped_models()) if models is None else models
    book = rulebook(policy, model, others)
    return terms_under(book.match(request.recipient, request.query, today), model)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Import a public name when it is first asked for: the version needs no mathematics."""
        if name not in __all__:
            message = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(message)
        from agent.decision import decide, request, terms, values
        from agent.model import attributes, model
        from policy import rules

        modules = (values, decide, request, terms, attributes, model, rules)
        return next(vars(each)[name] for each in modules if name in vars(each))
