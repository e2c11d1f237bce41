"""What the answers come to, on the screen."""

from collections.abc import Mapping
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from agent.tui.screens.calibrate.fitted import headline, next_step, picture, prices, remarks
from agent.tui.screens.calibrate.questions import LEVELS
from agent.tui.screens.calibrate.scale import LEAVE
from agent.wire.what_if import Calibrated

WIDEST = 100  # columns of the picture
HELP = (
    "λ says how many bits a search must improve before you let yourself be recognised. Dots are "
    "what you wanted, bars lie on the line that fits them best. Nothing is written until you "
    "press w."
)
NOTHING = "Nothing to show: without an answer there is no price. b goes back to the questions."


class Outcome(VerticalScroll):
    """λ in words, the fit, the prices."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(str(each), "screen.no_answer", show=False) for each in LEVELS),
        *LEAVE,
    ]

    def __init__(self) -> None:
        super().__init__(id="calibrate-outcome")
        self.tooltip = HELP
        self._told: Calibrated | None = None
        self._titles: Mapping[str, str] = {}

    def compose(self) -> ComposeResult:
        """Lay out one text."""
        yield Static()

    def tell(self, found: Calibrated | None, titles: Mapping[str, str]) -> None:
        """Show what was found, None for nothing."""
        self._told, self._titles = found, titles
        self._draw()

    def on_resize(self) -> None:
        """Draw it for the room there is."""
        self._draw()

    def _draw(self) -> None:
        found = self._told
        if found is None:
            self.query_one(Static).update(Content(NOTHING))
            return
        width = min(WIDEST, self.scrollable_content_region.width)
        parts = [Content(headline(found)).stylize("bold"), Content(next_step(found))]
        parts += map(Content, remarks(found))
        parts.append(Content("\n".join(picture(found, self._titles, width))))
        if found.sensitivity:
            head = Content("What an attribute must bring before it may leave").stylize("bold")
            text = "\n".join(prices(found, self._titles, width))
            parts.append(Content.assemble(head, "\n", text))
        self.query_one(Static).update(Content("\n\n").join(parts))
