"""Reticent, a person's own agent: it decides which few private facts a request may carry.

The face for programs, without daemon, vault or files of its own; nothing deeper needs importing:

    engine = agent.open()                          # the shipped models; or a name, or a path
    decision = engine.decide("dinner ideas", to="search.example", knows={"diet": "vegetarian"})
    decision.share                                 # names, never values
    facts = agent.Facts.of(["I'm vegetarian", "two kids aged 5 and 9"])
    agent.relevance(["dinner ideas"], facts)       # how likely each helps, and decisively

`examples/python/README.md` has more. For utilities and costs of your own: `agent.tradeoff`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from agent.decision.engine import Engine
    from agent.decision.values import Decision, Fact
    from agent.errors import ReticentError
    from agent.facts import Facts, relevance
    from agent.model.model import Model
    from policy.rules import Policy

__version__ = "0.2.0"
__all__ = ["Decision", "Engine", "Fact", "Facts", "Model", "Policy", "ReticentError"]
__all__ += ["decide", "open", "relevance"]


def open(*models: str | Path, country: str = "") -> Engine:  # noqa: A001  (as a program reads it: agent.open)
    """Return an engine for models by name or path; without any, for the shipped ones.

    ``country``: where the user lives, ISO 3166-1 in lower case, by default where the people live
    whom the models count.
    UsageError where there is no such file; DamagedModelError or VersionError where it must not be
    used.
    """
    from agent.decision.engine import Engine, load_model
    from agent.model.file import SHIPPED

    return Engine([load_model(each) for each in models or SHIPPED], country)


def decide(query: str, to: str = "", **named: Any) -> Decision:  # noqa: ANN401  (of the engine's)
    """Return one decision by the shipped models, opened for it; as `Engine.decide`."""
    return open().decide(query, to, **named)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Import a public name when it is first asked for: the version needs no mathematics."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from agent import errors, facts
        from agent.decision import engine, values

        rooms = map(vars, (engine, values, errors, facts))  # the engine imports the others
        return next(room[name] for room in rooms if name in room)
