"""The line on top of every screen, and the one below it that says what is wrong."""

from textual.app import ComposeResult
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from agent.tui.actions.action import Where
from agent.tui.actions.everywhere import TITLES
from agent.tui.state import State

NARROW = 100  # columns, below which only the screen that is shown has its name


class TopBar(Static):
    """The names of the screens, each a click away, and how the daemon is, in words."""

    def __init__(self, where: Where) -> None:
        super().__init__(id="top")
        self._where = where
        self._state: State | None = None

    def tell(self, state: State) -> None:
        """Show how the daemon is."""
        self._state = state
        self._draw()

    def on_resize(self) -> None:
        """Show what there is room for."""
        self._draw()

    def _draw(self) -> None:
        names = [self._tab(number, where) for number, where in enumerate(TITLES, 1)]
        left = Content.from_markup(" ".join(names))
        right = Content("" if self._state is None else self._state.said())
        gap = max(1, self.size.width - left.cell_length - right.cell_length)
        self.update(Content.assemble(left, " " * gap, right))

    def _tab(self, number: int, where: Where) -> str:
        shown = where == self._where
        title = TITLES[where] if shown or self.size.width >= NARROW else ""
        text = f" {number} {title} " if title else f" {number} "
        style = "reverse bold" if shown else ""
        return f"[{style} @click=app.show('{where}')]{text}[/]"


class Banner(Static):
    """One line in words where what is shown may not be so any more; nothing otherwise."""

    def __init__(self) -> None:
        super().__init__(id="banner")
        self.display = False

    def tell(self, state: State) -> None:
        """Show what is wrong, if anything is."""
        self.display = bool(state.trouble)
        self.update(Content(state.trouble))


class Bars(Widget):
    """Both lines."""

    def __init__(self, where: Where) -> None:
        super().__init__(id="bars")
        self._where: Where = where

    def compose(self) -> ComposeResult:
        """Lay one below the other."""
        yield TopBar(self._where)
        yield Banner()

    def tell(self, state: State) -> None:
        """Show how the daemon is."""
        self.query_one(TopBar).tell(state)
        self.query_one(Banner).tell(state)
