"""What an action is, and the keys that a screen has for its own."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from textual.binding import Binding

Where = Literal[
    "everywhere",
    "requests",
    "recipients",
    "tradeoff",
    "profile",
    "calibrate",
    "policy",
    "health",
]


@dataclass(frozen=True, slots=True)
class Action:
    """Something that a person can do.

    ``name``: of the method ``action_`` of the program or of the screen, with arguments if it has
    any; ``key``: several are divided by commas, empty for none; ``label``: in a word or two, for
    the footer; ``help``: a sentence; ``command``: which does the same on the command line, as
    typed after `reticent`, empty for what only moves about; ``footer``: whether it stands there;
    ``roomy``: or where there is room alone.
    """

    name: str
    where: Where
    key: str
    label: str
    help: str
    command: str = ""
    footer: bool = True
    roomy: bool = False


def keys(actions: Iterable[Action]) -> list[Binding]:
    """Return the keys of these actions."""
    return [
        Binding(
            each.key,
            each.name,
            each.label,
            show=each.footer or each.roomy,
            tooltip=each.help,
            priority=each.key.startswith("ctrl+"),  # works while something is typed, too
        )
        for each in actions
        if each.key
    ]
