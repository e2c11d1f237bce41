"""A curve on the screen, and the text about one of its points."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from agent.tui.charts import MARGIN, Spot, area_of, curve
from agent.wire.policy import Edited
from agent.wire.what_if import CurveAsk, Point, TradeOffs
from agent.words.figures import (
    CHANCES,
    HELPS,
    MEASURED,
    added_risk,
    alike,
    bits,
    listed,
    measured,
    number,
    people,
)
from agent.words.notices import edited
from agent.words.outcomes import PROOFS
from agent.words.titles import Titles, titled

SEEN = 5e-4  # bits: less is shown as none
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
    middle = float(f"{sqrt(point.least * point.most):.3g}")
    return middle if point.least <= middle <= point.most else point.least


def selected(found: TradeOffs, index: int) -> float:
    """Return the lambda that is selected with a point: the present one, where it is chosen now."""
    return found.trade_off if index == found.present else lambda_of(found.points[index])


def digits_of(most: float) -> int:
    """Return how many decimals in per cent tell an axis's ends, up to a share, and middle apart."""
    return next((digits for digits in (2, 3) if 100 * most >= 10**-digits * 2), 4)


def about(ask: CurveAsk | None, found: TradeOffs | None) -> str:
    """Return what a curve is about."""
    if ask is None:
        return ""
    meant = found.matched_query if found and found.matched_query else ask.query
    what = "All queries, on average" if ask.query is None else f"“{meant}”"
    return f"{what}, asked of {'anybody' if ask.recipient is None else ask.recipient}"


def facts(found: TradeOffs, index: int, titles: Titles) -> list[tuple[str, str]]:
    """Return labels and sentences about one point, without figures: the verdict first."""
    point, now = found.points[index], found.points[found.present]
    here = " This is what your policy does now." if index == found.present else ""
    knee = " Beyond it, sharing more costs much and helps little." if index == found.knee else ""

    def named(names: Iterable[str]) -> str:
        return listed(titled(names, titles), "nothing")

    new = [each for each in point.disclosed if each not in now.disclosed]
    gone = [each for each in now.disclosed if each not in point.disclosed]
    lines = [
        ("shares", f"{named(point.disclosed)}.{here}{knee}"),
        ("people", f"To the recipient, {alike(point.people_left)}."),
        ("adds", named(new) if new else ""),
        ("drops", named(gone) if gone else ""),
        ("instead", f"{people(now.people_left)} people now" if new or gone else ""),
        ("beaten", "Another set helps as much and costs less." if point.beaten else ""),
    ]
    return [(label, text) for label, text in lines if text]


def figures_of(found: TradeOffs, index: int) -> list[tuple[str, str]]:
    """Return labels and figures about one point, each with its unit, then what is proven."""
    point, now, metric = found.points[index], found.points[found.present], found.metric
    trade_off = selected(found, index)
    other = _other(point)
    # only what identifies has a price that grows with λ
    lambdas = dict.fromkeys((found.trade_off, trade_off))
    costs = {
        at: point.cost_bits + (at - point.least) * point.identifiability_cost for at in lambdas
    }
    in_bits = ", ".join(f"{bits(cost)} at λ = {number(at)}" for at, cost in costs.items())
    guarded = f", {bits(other)} of them for what is guarded or sensitive" if other else ""
    same = f"{number(point.least)} to {number(point.most)}"
    lasts = f" (the same set from {same})" if point.least < point.most else ""
    share, each = trade_off, f"1 more of the cost ({MEASURED[metric]})"
    if metric in CHANCES:
        share, each = trade_off / 100, f"1 % more {MEASURED[metric]}"
    lines = [
        ("helps", f"{bits(point.utility_bits)} {HELPS}"),
        ("costs", f"{added_risk(point.identifiability_cost, metric)}; in bits {in_bits}{guarded}"),
        (
            "λ",
            f"{number(trade_off)}{lasts}: {each} must bring {number(share)} bits of help or more",
        ),
    ]
    if index != found.present:
        dearer = point.identifiability_cost - now.identifiability_cost
        gain = bits(point.utility_bits - now.utility_bits, signed=True)
        cost = f"{'+' if dearer >= 0 else '-'}{measured(abs(dearer), metric)} of cost"
        more = other - _other(now)
        rest = f", {bits(more, signed=True)} bits for what is guarded or sensitive"
        lines.append(("change", f"{gain} bits of help, {cost}{rest if abs(more) >= SEEN else ''}"))
    return [*lines, ("proof", PROOFS[point.proof])]


def _other(point: Point) -> float:
    """Return what a set costs at any λ, in bits: what is guarded, and sensitivities."""
    other = point.cost_bits - point.least * point.identifiability_cost
    return other if abs(other) >= SEEN else 0.0


def written(trade_off: float, recipient: str | None, edit: Edited) -> str:
    """Return what became of λ when it was written into the policy."""
    whom = "everyone" if recipient is None else recipient
    return edited(f"λ = {number(trade_off)} for {whom} from the next request on", edit)


class Plot(Widget, can_focus=True):
    """Help upwards, cost to the right; one point is selected."""

    @dataclass(eq=False)
    class Pointed(Message):
        """A point was clicked."""

        index: int

    def __init__(self, *, id: str) -> None:  # noqa: A002  (Textual's word)
        super().__init__(id=id)
        self.tooltip = (
            "The curve: bits of help upwards, cost to the right. The left arrow shares less (a "
            "greater λ), the right arrow more. N is what your policy sends now. Beyond the knee, "
            "K, sharing more costs much and helps little. A set is beaten where another helps as "
            "much and costs less."
        )
        self._found: TradeOffs | None = None
        self._at = 0
        self._words = ""

    def show(self, found: TradeOffs | None, index: int, words: str) -> None:
        """Draw a curve, with the point that is selected; without a curve, words."""
        self._found, self._at, self._words = found, index, words
        self.refresh()

    def render(self) -> Content:
        """Draw it as large as there is room."""
        if self._found is None:
            return Content(self._words)
        metric = self._found.metric
        spots = spots_of(self._found, self._at)
        width, height = self.content_size
        digits = digits_of(max(each.x for each in spots))
        lines = curve(spots, width, height, lambda value: measured(value, metric, digits))
        picture = Content("\n".join(lines))
        for place, sign in enumerate(picture.plain):
            if sign in STYLES and place % (width + 1) >= MARGIN:
                picture = picture.stylize(STYLES[sign], place, place + 1)
        return picture

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
