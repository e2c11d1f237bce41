"""A choice among many: what is typed leaves only those that have it."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList, Static

from agent.tui.asked import Choice

MANY = 12  # answers, over which they can be filtered


class Filtered(Choice[str]):
    """A question with answers to choose from, and a field that filters them."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("down", "app.focus_next", "List", show=False)]

    def __init__(
        self, question: str, answers: Sequence[tuple[str, str]], begins: int | None = 0
    ) -> None:
        super().__init__(question, answers, begins)
        self._left = [*answers]

    def compose(self) -> ComposeResult:
        """Ask."""
        with Vertical(classes="dialog"):
            yield Static(Content(self._question))
            yield Input(placeholder="type a part of it")
            yield OptionList(*(Content(text) for text, _ in self._left))

    def on_input_changed(self, event: Input.Changed) -> None:
        """Leave only the answers that have what is typed."""
        wanted = event.value.strip().casefold()
        self._left = [each for each in self._answers if wanted in each[0].casefold()]
        below = self.query_one(OptionList)
        below.set_options(Content(text) for text, _ in self._left)
        below.highlighted = 0 if self._left else None

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Answer with the only one that is left; else go to the list."""
        event.stop()
        if len(self._left) == 1:
            self.dismiss(self._left[0][1])
        else:
            self.query_one(OptionList).focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Answer."""
        event.stop()
        event.prevent_default()  # the answers of `Choice` are not those that are left
        self.dismiss(self._left[event.option_index][1])


def picking(
    question: str, answers: Sequence[tuple[str, str]], begins: int | None = 0
) -> Choice[str]:
    """Return the question as it is best asked of so many answers, the cursor on one or on none."""
    return (Filtered if len(answers) > MANY else Choice)(question, answers, begins)
