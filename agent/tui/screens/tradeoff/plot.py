"""The curve as a part of the screen."""

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from agent.tui.screens.tradeoff.drawing import MARGIN, Spot, area_of, drawn
from agent.tui.screens.tradeoff.words import cost, digits_of
from agent.wire.what_if import TradeOffs

SELECTED, NOW, KNEE, SET, BEATEN = "●", "N", "K", "○", "·"
STYLES = {
    SELECTED: "$text-accent bold",
    NOW: "$text-warning bold",
    KNEE: "$text-success bold",
    SET: "bold",
}
LEGEND = (
    f"{SELECTED} selected ← →  {NOW} now  {KNEE} knee  {SET} set  {BEATEN} beaten\n"
    "upwards: more help, in bits; → easier to find you"
)


class Plot(Widget, can_focus=True):
    """What helps upwards, what tells to the right; one point is selected."""

    class Pointed(Message):
        """A point was clicked."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self, *, id: str) -> None:  # noqa: A002  (Textual's word)
        super().__init__(id=id)
        self.tooltip = (
            "The curve: bits of help upwards, cost to the right. Left tells less (a greater "
            "lambda), right tells more. N is what would leave now. Beyond the knee, K, telling "
            "more costs much and helps little. A set is beaten where another helps as much and "
            "costs less."
        )
        self._found: TradeOffs | None = None
        self._at = 0
        self._words = ""

    def show(self, found: TradeOffs, index: int) -> None:
        """Draw a curve, with the point that is selected."""
        self._found, self._at = found, index
        self.refresh()

    def say(self, words: str) -> None:
        """Show words in place of a curve."""
        self._found, self._words = None, words
        self.refresh()

    def render(self) -> Content:
        """Draw it as large as there is room."""
        if self._found is None:
            return Content(self._words)
        metric = self._found.metric
        spots = spots_of(self._found, self._at)
        width, height = self.content_size
        digits = digits_of(max(each.x for each in spots))
        lines = drawn(spots, width, height, lambda value: cost(value, metric, digits))
        return Content("\n").join([_styled(each) for each in lines])

    def on_click(self, event: events.Click) -> None:
        """Select the point next to it."""
        if self._found is None:
            return
        spots = [_spot(self._found, at, self._at) for at in range(len(self._found.points))]
        area = area_of(spots, *self.content_size)
        column, line = event.x - MARGIN, event.y
        away = [abs(area.column(each.x) - column) + abs(area.line(each.y) - line) for each in spots]
        self.post_message(self.Pointed(away.index(min(away))))


def spots_of(found: TradeOffs, selected: int) -> list[Spot]:
    """Return all points, those that are beaten first, the selected one last."""
    points = [_spot(found, index, selected) for index in range(len(found.points))]
    return sorted(points, key=lambda each: (each.sign == SELECTED, each.joined))


def _spot(found: TradeOffs, index: int, selected: int) -> Spot:
    point = found.points[index]
    sign = SELECTED if index == selected else BEATEN if point.beaten else SET
    letters = (NOW if index == found.present else "") + (KNEE if index == found.knee else "")
    return Spot(
        point.identifiability_cost, point.utility_bits, sign, letters, joined=not point.beaten
    )


def _styled(line: str) -> Content:
    """Return a line in which the signs stand out."""
    found = Content(line)
    for place, sign in enumerate(line):
        if sign in STYLES and place >= MARGIN:
            found = found.stylize(STYLES[sign], place, place + 1)
    return found
