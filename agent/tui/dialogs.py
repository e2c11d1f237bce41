"""Dialogs in front of a screen: questions, and the help."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import ClassVar, Generic, TypeVar

from rich.table import Column, Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.keys import format_key
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static

from agent.tui.actions import TITLES, Action, Where, actions_of
from agent.tui.plain import plain, plain_lines

T = TypeVar("T")
QUIT = Binding("ctrl+q", "app.quit", "Quit", show=False)  # a question stands before the program's
HIGH = 16  # lines, below which the answers have all the room there is
MANY = 12  # answers, over which they can be filtered
RETICENT = "reticent"
WAY_OUT = "Escape goes back"


class Question(ModalScreen[T | None], Generic[T]):
    """A question in front of a screen; None where it is left without an answer."""

    AUTO_FOCUS = "*"
    VERTICAL_BREAKPOINTS = [(0, "-low"), (HIGH, "-high")]  # noqa: RUF012  (no class variable to Textual)
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Back"), QUIT]

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        """Ask, with what takes the answer below."""
        with Vertical(classes="dialog"):
            yield Static(Content(plain_lines(self._question)))
            yield from self.answers()

    @abstractmethod
    def answers(self) -> ComposeResult:
        """Lay out what takes the answer."""


class TextQuestion(Question[str]):
    """A question that is answered by typing."""

    def answers(self) -> ComposeResult:
        """Lay out a field."""
        yield Input()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Answer."""
        event.stop()
        self.dismiss(event.value)


class Choice(Question[T]):
    """A question with answers to choose from.

    ``answers``: each with what stands for it; ``begins``: the answer that the cursor is on at
    first, one that changes nothing; None for none; ``find``: whether a field filters many answers.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("down", "app.focus_next", "List", show=False)]

    def __init__(
        self,
        question: str,
        answers: Sequence[tuple[str, T]],
        begins: int | None = 0,
        *,
        find: bool = False,
    ) -> None:
        super().__init__(question)
        self._find = find and len(answers) > MANY
        self._answers = self._left = [(plain(text), answer) for text, answer in answers]
        self._begins = begins

    def answers(self) -> ComposeResult:
        """Lay out the list, below its field if it has one."""
        if self._find:
            yield Input(placeholder="type a part of it")
        yield OptionList(*(Content(text) for text, _ in self._left))

    def on_mount(self) -> None:
        """Begin at an answer."""
        self.query_one(OptionList).highlighted = self._begins

    def on_input_changed(self, event: Input.Changed) -> None:
        """Leave only the answers that contain what is typed."""
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
        self.dismiss(self._left[event.option_index][1])


def confirm(question: str, yes: str) -> Choice[bool]:
    """Ask for yes or no; no is the usual answer. ``yes``: what it would do."""
    return Choice(question, [("No, leave it as it is", False), (f"Yes: {yes}", True)])


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
            dialog.border_title, dialog.border_subtitle = TITLES[self._where], WAY_OUT
            tooltip = self._focused.tooltip if self._focused else None
            if tooltip:
                yield Static(Content(str(tooltip)), classes="lead")
            yield Static(listed(actions_of(self._where)))


def listed(actions: Iterable[Action]) -> Table:
    """Tabulate actions, each with its keys, its help, and the command that does the same."""
    table = Table.grid(Column(justify="right", no_wrap=True), Column(), padding=(0, 2, 0, 0))
    for each in actions:
        does = f"{each.label}: {each.help}"
        table.add_row(
            Text(typed(each)), Text(f"{does} ({RETICENT} {each.command})" if each.command else does)
        )
    return table


def typed(action: Action) -> str:
    """Name the keys of an action as the footer does."""
    return ", ".join(map(format_key, action.key.split(",")))
