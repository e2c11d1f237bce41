"""Why a request carried nothing, in a few words."""

from agent.cli.layout import counted
from agent.wire.overview import Handled
from agent.wire.words import WHY_NOTHING


def why_nothing(handled: Handled) -> str:
    """Return why a request carried nothing, and how much of it waits for the user."""
    waits = handled.waiting
    if waits and handled.code == "answered":
        verb = "waits" if waits == 1 else "wait"
        return f"{counted(waits, 'attribute')} {verb} for your word"
    return WHY_NOTHING[handled.code]
