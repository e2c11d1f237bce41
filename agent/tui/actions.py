"""The registry of actions, which feeds the keys, the footer and the help; and what screens say."""

from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Literal, TypeVar, get_args

import msgspec
from msgspec import Struct
from textual.binding import Binding

ScreenName = Literal["requests", "recipients", "tradeoff", "profile", "policy", "health"]
Where = Literal[ScreenName, "everywhere"]


class Action(Struct, frozen=True, forbid_unknown_fields=True):
    """Something that a person can do.

    ``name``: of the method ``action_`` of the program or of the screen, with arguments if it has
    any; ``key``: several are divided by commas; ``label``: in a word or two, for the footer;
    ``help``: a sentence; ``on``: which screens; ``command``: which does the same on the command
    line, as typed after `reticent`, empty for what only moves about; ``shown``: whether it stands
    in the footer.
    """

    name: str
    key: str
    label: str
    help: str
    on: tuple[Where, ...]
    command: str = ""
    shown: bool = True


def keys(actions: Iterable[Action]) -> list[Binding]:
    """Bind the keys of these actions."""
    return [
        Binding(
            each.key,
            each.name,
            each.label,
            show=each.shown,
            tooltip=each.help,
            priority=each.key.startswith("ctrl+"),  # works while something is typed, too
        )
        for each in actions
    ]


T = TypeVar("T")


def _read(name: str, kind: type[T]) -> T:
    return msgspec.toml.decode((files("agent.tui") / name).read_text("utf-8"), type=kind)


_TABLE = _read("actions.toml", dict[str, tuple[Action, ...]])
_LABELS = [each.label for each in _TABLE["screen"]]
TITLES: Mapping[Where, str] = dict(zip(get_args(ScreenName), _LABELS, strict=True))
ACTIONS: Mapping[Where, tuple[Action, ...]] = {
    where: tuple(each for some in _TABLE.values() for each in some if where in each.on)
    for where in get_args(Where)
}
TEXTS: Mapping[Where, Mapping[str, str]] = _read("screens.toml", dict[Where, dict[str, str]])
"""What each screen says of itself, by the attribute of its class."""


def actions_of(where: Where) -> tuple[Action, ...]:
    """List the actions of a screen, its own first."""
    return (*ACTIONS[where], *ACTIONS["everywhere"])
