"""Questions that stand in front of a screen until they are answered, or left with Escape."""

from collections.abc import Sequence
from typing import ClassVar, Generic, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static

from agent.tui.plain import plain, plain_lines

T = TypeVar("T")
QUIT = Binding("ctrl+q", "app.quit", "Quit", show=False)  # a question stands before the program's
HIGH = 16  # lines, below which the answers have all the room there is


class Choice(ModalScreen[T | None], Generic[T]):
    """A question with answers to choose from; None where it is left without one."""

    AUTO_FOCUS = "*"
    VERTICAL_BREAKPOINTS = [(0, "-low"), (HIGH, "-high")]  # noqa: RUF012  (no class variable to Textual)
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Back"), QUIT]

    def __init__(
        self, question: str, answers: Sequence[tuple[str, T]], begins: int | None = 0
    ) -> None:
        """Take the question, and the answers, each with what stands for it.

        ``begins``: the answer that the cursor is on at first, one that changes nothing; None for
        none.
        """
        super().__init__()
        self._question = question
        self._answers = answers
        self._begins = begins

    def compose(self) -> ComposeResult:
        """Ask."""
        with Vertical(classes="dialog"):
            yield Static(Content(plain_lines(self._question)))
            yield OptionList(*(Content(plain(text)) for text, _ in self._answers))

    def on_mount(self) -> None:
        """Begin at an answer."""
        self.query_one(OptionList).highlighted = self._begins

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Answer."""
        event.stop()
        self.dismiss(self._answers[event.option_index][1])

    def action_leave(self) -> None:
        """Answer nothing."""
        self.dismiss(None)


class Confirm(Choice[bool]):
    """A question that is answered with yes or no; no is the usual answer."""

    def __init__(self, question: str, yes: str) -> None:
        """Take the question, and what yes would do."""
        super().__init__(question, [("No, leave it as it is", False), (f"Yes: {yes}", True)])


class Asked(ModalScreen[str | None]):
    """A question that is answered by typing; None where it is left."""

    AUTO_FOCUS = "*"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Back"), QUIT]

    def __init__(self, question: str, given: str = "") -> None:
        """Take the question, and what stands there already."""
        super().__init__()
        self._question = question
        self._given = given

    def compose(self) -> ComposeResult:
        """Ask."""
        with Vertical(classes="dialog"):
            yield Static(Content(plain_lines(self._question)))
            yield Input(self._given)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Answer."""
        event.stop()
        self.dismiss(event.value)

    def action_leave(self) -> None:
        """Answer nothing."""
        self.dismiss(None)
