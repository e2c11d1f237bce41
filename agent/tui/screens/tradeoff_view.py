"""A curve on the screen, and the text about one of its points."""

from collections.abc import Mapping, Sequence
from math import sqrt

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from agent.tui.charts import MARGIN, Spot, area_of, curve
from agent.tui.numbers import bits, more, people
from agent.wire.policy import Edited, Win
from agent.wire.what_if import CurveAsk, Point, TradeOffs

PROVEN = {
    "enumerated": "No better set exists.",
    "if-submodular": (
        "A good set. A better one is not ruled out; if every further fact helps less than the one "
        "before, there is a bound on how much better."
    ),
    "none": "A good set. A better one is not ruled out.",
}
MEASURED = {
    "maxprob": "chance that one guess finds you",
    "k-anonymity": "share of people among fewer than k",
    "entropy": "bits of who you are",
    "log-maxprob": "how well you are told apart",
}
SHARES = ("maxprob", "k-anonymity")  # metrics that are chances
DIGITS = 3
SEEN = 5e-4  # bits: less is shown as none
Titles = Mapping[str, str]
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


def lambda_of(point: Point) -> float:
    """Return the lambda that stands for a point, which is one from ``least`` to ``most``.

    It is their geometric middle with three digits, where ``least`` is 0 ``most``; where three
    digits leave the range, ``least`` as it is.
    """
    if point.least <= 0.0:
        return point.most
    middle = float(f"{sqrt(point.least * point.most):.{DIGITS}g}")
    return middle if point.least <= middle <= point.most else point.least


def selected(found: TradeOffs, index: int) -> float:
    """Return the lambda that is selected with a point: the present one, where it is chosen now."""
    return found.trade_off if index == found.present else lambda_of(found.points[index])


def number(trade_off: float) -> str:
    """Return a lambda with three digits, or as a whole number."""
    whole = trade_off >= 10**DIGITS
    return f"{trade_off:,.0f}" if whole else f"{trade_off:.{DIGITS}g}"


def digits_of(most: float) -> int:
    """Return how many decimals in per cent tell an axis's ends, up to a share, and middle apart."""
    return next((digits for digits in (2, 3) if 100 * most >= 10**-digits * 2), 4)


def cost(value: float, metric: str, digits: int = 2) -> str:
    """Return a cost in the unit of its metric, shares in per cent with so many decimals."""
    if metric in SHARES:
        return f"{100 * value:.{digits}f} %"
    return f"{value:.3g}"


def about(ask: CurveAsk | None, found: TradeOffs | None) -> str:
    """Return what a curve is of, and at which lambda things are now."""
    if ask is None:
        return ""
    meant = found.matched_query if found and found.matched_query else ask.query
    what = "All queries, on average" if ask.query is None else f"“{meant}”"
    whom = "anybody" if ask.recipient is None else ask.recipient
    now = "" if found is None else f" · lambda now {number(found.trade_off)}"
    return f"{what}, asked of {whom}{now}"


def named(names: Sequence[str], titles: Titles) -> str:
    """Return what attributes are, by their titles where they are known."""
    return ", ".join(titles.get(each, each) for each in names)


def facts(found: TradeOffs, index: int, titles: Titles) -> list[tuple[str, str]]:
    """Return labels, and what is said of one point beside that of the present lambda."""
    point, now = found.points[index], found.points[found.present]
    leaves = named(point.disclosed, titles) or "nothing"
    return [
        ("lambda", _range(found, index)),
        ("leaves", leaves),
        ("helps", f"{bits(point.utility_bits)} bits"),
        ("costs", _costs(found, index)),
        ("people left", f"{people(point.people_left)} look like you to it then"),
        *_against(point, now, found.metric, titles),
        ("proof", PROVEN[point.proof]),
        ("that lambda", _means(selected(found, index), found.metric)),
        *([("beaten", "Another set helps as much and costs less.")] if point.beaten else []),
    ]


def _means(trade_off: float, metric: str) -> str:
    """Return what a lambda demands."""
    if metric in SHARES:
        share, each = number(trade_off / 100), f"1 % more {MEASURED[metric]}"
    else:
        share, each = number(trade_off), f"1 more of the cost ({MEASURED[metric]})"
    return f"{each} must bring {share} bits of help or more"


def _costs(found: TradeOffs, index: int) -> str:
    """Return a cost in its unit, and in bits at the lambda of now and at the selected one."""
    point = found.points[index]
    said = f"{cost(point.identifiability_cost, found.metric)} more {MEASURED[found.metric]}"
    lambdas = dict.fromkeys((found.trade_off, selected(found, index)))
    in_bits = ", ".join(
        f"{bits(_cost_at(point, each))} at lambda {number(each)}" for each in lambdas
    )
    other = _other(point)
    beside = f", {bits(other)} of them for what is guarded or sensitive" if other else ""
    return f"{said}; in bits {in_bits}{beside}"


def _cost_at(point: Point, trade_off: float) -> float:
    """Return a cost in bits at another lambda than the least: only what identifies has a price."""
    return point.cost_bits + (trade_off - point.least) * point.identifiability_cost


def _other(point: Point) -> float:
    """Return what a set costs at any lambda, in bits: what is guarded, and sensitivities."""
    other = point.cost_bits - point.least * point.identifiability_cost
    return other if abs(other) >= SEEN else 0.0


def _range(found: TradeOffs, index: int) -> str:
    point = found.points[index]
    now = ", as it is now" if index == found.present else ""
    knee = ", the knee" if index == found.knee else ""
    same = f"{number(point.least)} to {number(point.most)}"
    lasts = f" (the same from {same})" if point.least < point.most else ""
    return f"{number(selected(found, index))}{now}{knee}{lasts}"


def _against(point: Point, now: Point, metric: str, titles: Titles) -> list[tuple[str, str]]:
    """Return what a point changes about the present one."""
    if point.disclosed == now.disclosed:
        return [("against now", "nothing changes")]
    new = [each for each in point.disclosed if each not in now.disclosed]
    gone = [each for each in now.disclosed if each not in point.disclosed]
    dearer = point.identifiability_cost - now.identifiability_cost
    sign = "+" if dearer >= 0 else "-"
    left = f"{people(now.people_left)} → {people(point.people_left)} people left"
    brings = more(point.utility_bits - now.utility_bits)
    other = _other(point) - _other(now)
    beside = f", {more(other)} bits for what is guarded or sensitive" if abs(other) >= SEEN else ""
    figures = f"{brings} bits, {sign}{cost(abs(dearer), metric)} of cost{beside}, {left}"
    return [
        ("against now", figures),
        *([("adds", named(new, titles))] if new else []),
        *([("drops", named(gone, titles))] if gone else []),
    ]


def written(trade_off: float, recipient: str | None, edited: Edited) -> str:
    """Return what became of a lambda that was written into the policy."""
    whom = "everyone" if recipient is None else recipient
    done = f"The policy says lambda {number(trade_off)} for {whom} from the next request on."
    if not edited.changed:
        done = f"The policy said lambda {number(trade_off)} for {whom} already."
    return " ".join([done, *(_wins(each) for each in edited.wins)])


def _wins(win: Win) -> str:
    line = "" if win.line is None else f", line {win.line}"
    return f"Elsewhere {win.rule}{line} still wins, with {win.value}."


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
        lines = curve(spots, width, height, lambda value: cost(value, metric, digits))
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
