"""Help: what the focused part is for, and what can be done on the screen."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

from agent.tui.actions.action import Action, Where
from agent.tui.actions.all import actions_of
from agent.tui.actions.everywhere import TITLES

KEYS = 12  # columns


class Help(ModalScreen[None]):
    """A list of the actions, each with its key and the command that does the same."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,f1", "dismiss", "Back"),
    ]

    def __init__(self, where: Where, focused: Widget | None) -> None:
        super().__init__()
        self._where: Where = where
        self._focused = focused

    def compose(self) -> ComposeResult:
        """Say first what is focused, then what can be done, then how to leave."""
        with VerticalScroll(id="help", classes="dialog"):
            tooltip = self._focused.tooltip if self._focused else None
            if tooltip:
                yield Static(Content(str(tooltip)), classes="lead")
            yield Static(Content.from_markup(f"[bold]{TITLES[self._where]}[/bold]"))
            for each in actions_of(self._where):
                yield Static(said(each))
            yield Static(Content("\nEscape goes back."))


def said(action: Action) -> Content:
    """Return an action with its key, what it does, and the command that does it."""
    key = action.key.split(",")[0].replace("question_mark", "?") or "ctrl+p"
    command = f" (reticent {action.command})" if action.command else ""
    return Content(f"{key:>{KEYS}}  {action.label}: {action.help}{command}")
