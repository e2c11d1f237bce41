"""Why a request carried nothing, in a few words."""

from collections.abc import Mapping

from agent.cli.layout import counted
from agent.wire.asking import Code
from agent.wire.overview import Handled

WHY: Mapping[Code, str] = {
    "answered": "nothing may leave that helps more than it costs",
    "unknown query": "the model knows no query like it",
    "blocked": "a rule blocks it",
    "recognised": "only one person fits what is known",
    "outside the model": "nobody in the model fits what is known",
    "past a limit already": "what is known is past a limit",
    "locked": "the vault was locked",
    "no policy": "there was no policy",
    "no model": "the model could not be used",
    "unfit": "the model does not fit the policy, or what is known",
    "failed": "it could not be recorded",
}


def why_nothing(handled: Handled) -> str:
    """Return why a request carried nothing, and how much of it waits for the user."""
    waits = handled.waiting
    if waits and handled.code == "answered":
        verb = "waits" if waits == 1 else "wait"
        return f"{counted(waits, 'attribute')} {verb} for your word"
    return WHY[handled.code]
