"""Help: what the focused part is for, and what can be done on the screen."""

from collections.abc import Iterable
from typing import ClassVar

from rich.table import Column, Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.keys import format_key
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

from agent.tui.actions.action import Action, Where
from agent.tui.actions.all import actions_of
from agent.tui.actions.everywhere import TITLES
from agent.tui.asked import QUIT

PALETTE = "ctrl+p"
RETICENT = "reticent"
WAY_OUT = "Escape goes back"


class Help(ModalScreen[None]):
    """A list of the actions, each with its keys and the command that does the same."""

    AUTO_FOCUS = "*"  # so that the keys scroll it
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,f1", "dismiss", "Back"),
        QUIT,
    ]

    def __init__(self, where: Where, focused: Widget | None) -> None:
        super().__init__()
        self._where: Where = where
        self._focused = focused

    def compose(self) -> ComposeResult:
        """Say first what is focused, then what can be done; on the border, how to leave."""
        with VerticalScroll(id="help", classes="dialog") as dialog:
            dialog.border_title = TITLES[self._where]
            dialog.border_subtitle = WAY_OUT
            tooltip = self._focused.tooltip if self._focused else None
            if tooltip:
                yield Static(Content(str(tooltip)), classes="lead")
            yield Static(listed(actions_of(self._where)))


def listed(actions: Iterable[Action]) -> Table:
    """Return the actions, each with its keys, what it does, and the command that does it."""
    table = Table.grid(Column(justify="right", no_wrap=True), Column(), padding=(0, 2, 0, 0))
    for each in actions:
        does = f"{each.label}: {each.help}"
        table.add_row(
            Text(typed(each)), Text(f"{does} ({RETICENT} {each.command})" if each.command else does)
        )
    return table


def typed(action: Action) -> str:
    """Return the keys of an action as the footer has them; those of the palette for none."""
    keys = action.key.split(",") if action.key else [PALETTE]
    return ", ".join(map(format_key, keys))
