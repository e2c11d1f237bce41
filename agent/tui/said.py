"""What there is to say of what is under a cursor, whole, below the list or beside it."""

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from agent.tui.plain import plain_lines


class Said(VerticalScroll):
    """Sentences, in as many lines as they need; longer ones are scrolled."""

    def __init__(self, *, tooltip: str) -> None:
        super().__init__(id="said")
        self.tooltip = tooltip
        self._text = ""

    def compose(self) -> ComposeResult:
        """Lay out the text."""
        yield Static()

    def say(self, text: str) -> None:
        """Say something else, from its beginning; the same is left as it was scrolled."""
        if text != self._text:
            self._text = text
            self.query_one(Static).update(Content(plain_lines(text)))
            self.scroll_home(animate=False)
