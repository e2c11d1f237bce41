"""The five answers to a question."""

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import OptionList

from agent.tui.screens.calibrate.questions import LEVELS

HELP = (
    "1 to 5 answer and go on; so do the arrows with Enter, and the mouse. Answer for the "
    "attribute, never because of your own value of it: a price made for a value tells the value. "
    "Answers are kept in memory only, until you write what they come to, lock, or leave."
)
LEAVE: tuple[BindingType, ...] = (
    Binding("q,escape", "screen.end", "Leave"),
    Binding("ctrl+q", "screen.leave", "Quit", show=False),
)


class Scale(OptionList):
    """Answers by number; the numbers are its own while it has the focus."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(str(each), f"screen.answer({each})", show=False) for each in LEVELS),
        *LEAVE,
    ]

    def __init__(self) -> None:
        super().__init__(id="first")
        self.tooltip = HELP

    def give(self, answers: Sequence[str], chosen: int | None) -> None:
        """Show the answers, the cursor on the one that was given, if one was."""
        self.set_options(Content(f"{at}  {each}") for at, each in enumerate(answers, 1))
        self.highlighted = None if chosen is None else chosen - 1
