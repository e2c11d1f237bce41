"""The line on top of every screen, and the one below it that says what is wrong."""

from textual.app import ComposeResult
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from agent.tui.actions.action import Where
from agent.tui.actions.everywhere import TITLES
from agent.tui.state import State

SHORT: dict[Where, str] = {
    "requests": "Req",
    "recipients": "Recip",
    "tradeoff": "Trade",
    "profile": "Prof",
    "calibrate": "Calib",
    "policy": "Policy",
    "health": "Health",
}
NAMES: tuple[tuple[dict[Where, str], dict[Where, str]], ...] = (  # of the one shown, of the others
    (TITLES, TITLES),
    (TITLES, SHORT),
    (SHORT, SHORT),
    (TITLES, {}),
    (SHORT, {}),
    ({}, {}),
)


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
        left, right = fitting(self._where, self._state, self.size.width)
        gap = max(1, self.size.width - left.cell_length - right.cell_length)
        self.update(Content.assemble(left, " " * gap, right))


def fitting(where: Where, state: State | None, width: int) -> tuple[Content, Content]:
    """Return the names of the screens and the state, as long as there is room for both."""
    said = [""] if state is None else [state.said(), state.said(short=True)]
    every = [(tabs(where, *names), Content(each)) for names in NAMES for each in said]
    fit = (each for each in every if each[0].cell_length + each[1].cell_length < width)
    return next(fit, every[-1])


def tabs(where: Where, own: dict[Where, str], others: dict[Where, str]) -> Content:
    """Return the numbers of the screens, each a click away, with these names."""
    every = []
    for number, each in enumerate(TITLES, 1):
        title = f"{number} {(own if each == where else others).get(each, '')}".strip()
        style = "reverse bold " if each == where else ""
        text = f" {title} " if each == where else title
        every.append(f"[{style}@click=app.show('{each}')]{text}[/]")
    return Content.from_markup(" ".join(every))


class Banner(Static):
    """A line or a few in words where not all is as it should be; nothing otherwise."""

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
        missing = Static("", id="missing")
        missing.display = False
        yield missing

    def missing(self, sentence: str) -> None:
        """Say why there is nothing below yet; an empty sentence where there is."""
        line = self.query_one("#missing", Static)
        line.display = bool(sentence)
        line.update(Content(sentence))

    def tell(self, state: State) -> None:
        """Show how the daemon is."""
        self.query_one(TopBar).tell(state)
        self.query_one(Banner).tell(state)
