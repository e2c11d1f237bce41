"""The trade-off: walking along a curve, the text about one of its points, applying a price."""

import asyncio
from collections.abc import Hashable, Mapping
from functools import partial
from math import sqrt
from typing import ClassVar

from msgspec.structs import replace
from rich.table import Column, Table
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from agent.decision.values import CROWD, Curve, CurvePoint
from agent.errors import LockedError, ReticentError
from agent.tui.charts import MARGIN, Spot, picture_of
from agent.tui.dialogs import Choice, TextQuestion
from agent.tui.page import Page, background
from agent.tui.plain import plain
from agent.wire.decide import CurveAsk
from agent.wire.policy import Edited, PolicyEdit
from agent.wire.state import EventKind, Status
from agent.words.decisions import difference
from agent.words.figures import (
    HELPS,
    added_risk,
    alike,
    bits,
    demand,
    listed,
    measured,
    number,
    price,
)
from agent.words.notices import edited
from agent.words.titles import PROOFS, Titles, titled

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
LABELS = 11  # columns of the names before what is said
COMPUTING = "computing …"
WAYS = "e types another query, o shows the average of all, r another recipient."
MORE = ("more", "v shows the figures: bits, prices and how good it is")
LOOKED_BACK = 50  # requests, among which one is looked for to begin with


def price_of(point: CurvePoint) -> float:
    """Choose the price of anonymity that stands for a point, in bits.

    It is the geometric middle of its prices with three digits, where they begin at 0 the highest;
    where three digits leave the range, the lowest as it is.
    """
    least, most = point.least / CROWD, point.most / CROWD
    if least <= 0.0:
        return most
    middle = float(f"{sqrt(least * most):.3g}")
    return middle if least <= middle <= most else least


def selected(curve: Curve, index: int) -> float:
    """Find the price of a selected point, in bits: at the present point the one in force."""
    return curve.trade_off / CROWD if index == curve.present else price_of(curve.points[index])


def about(ask: CurveAsk | None, curve: Curve | None) -> str:
    """Say what a curve is about."""
    if ask is None:
        return ""
    read_as = curve.read_as if curve else None
    query = read_as.query.replace("_", " ") if read_as else ask.query
    what = "All queries, on average" if ask.query is None else f"“{query}”"
    return f"{what}, asked of {'anybody' if ask.recipient is None else ask.recipient}"


def facts(curve: Curve, index: int, titles: Titles) -> list[tuple[str, str]]:
    """Describe one point in labelled sentences without figures, the verdict first."""
    point, now = curve.points[index], curve.points[curve.present]
    here = " This is what your policy does now." if index == curve.present else ""
    knee = " Beyond it, sharing more costs much and helps little." if index == curve.knee else ""

    shared = listed(titled(point.figures.names, titles), "nothing")
    change = difference(now.figures, point.figures, titles, informed=True)
    lines = [
        ("shares", f"{shared}.{here}{knee}"),
        ("people", f"To the recipient, {alike(point.figures.people_left)}."),
        ("change", change),
        ("beaten", "Another set helps as much and costs less." if point.beaten else ""),
    ]
    return [(label, text) for label, text in lines if text]


def figures_of(curve: Curve, index: int) -> list[tuple[str, str]]:
    """Label the figures of one point, each with its unit, and what is proven of it."""
    point, metric, trade_off = curve.points[index], curve.metric, CROWD * selected(curve, index)
    figures = point.figures
    whole = figures.utility - figures.objective
    other = whole - point.least * figures.identifiability_cost  # at any price
    cost = bits(other + trade_off * figures.identifiability_cost)
    guarded = f", {bits(other)} of them for what is secret or sensitive" if other >= SEEN else ""
    lever = f"{price(trade_off)} bits"
    if point.least < point.most:
        lever += f" (the same set from {price(point.least)} to {price(point.most)})"
    risk = added_risk(figures.identifiability_cost, metric)
    return [
        ("helps", f"{bits(figures.utility)} {HELPS}"),
        ("costs", f"{risk}; in bits {cost}{guarded}"),
        ("price", f"{lever}: {demand(trade_off)}"),
        ("proof", PROOFS[point.proof]),
    ]


def written(value: float, recipient: str | None, edit: Edited) -> str:
    """Say what became of a price when it was written into the policy."""
    whom = "everyone" if recipient is None else recipient
    done = f"Price of anonymity: {number(value)} bits for {whom}, from the next request on"
    return edited(done, edit)


class Plot(Widget, can_focus=True):
    """Help upwards, cost to the right; one point is selected."""

    def __init__(self, *, id: str) -> None:  # noqa: A002  (Textual's word)
        super().__init__(id=id)
        self.tooltip = (
            "The curve: bits of help upwards, cost to the right. The left arrow shares less (at a "
            "higher price of anonymity), the right arrow more. N is what your policy sends now. "
            "Beyond the knee, K, sharing more costs much and helps little. A set is beaten where "
            "another helps as much and costs less."
        )
        self._curve: Curve | None = None
        self._at = 0
        self._words = ""

    def show(self, curve: Curve | None, index: int, words: str) -> None:
        """Draw a curve, with the point that is selected; without a curve, words."""
        self._curve, self._at, self._words = curve, index, words
        self.refresh()

    def render(self) -> Content:
        """Draw it as large as there is room."""
        if self._curve is None:
            return Content(self._words)
        metric = self._curve.metric
        spots = spots_of(self._curve, self._at)
        width, height = self.content_size
        most = max(each.x for each in spots)
        lines = picture_of(spots, width, height, lambda value: measured(value, metric, most))
        picture = Content("\n".join(lines))
        for place, sign in enumerate(picture.plain):
            if sign in STYLES and place % (width + 1) >= MARGIN:
                picture = picture.stylize(STYLES[sign], place, place + 1)
        return picture


def spots_of(curve: Curve, selected: int) -> list[Spot]:
    """Place all points: those that are beaten first, the selected one last."""

    def spot(index: int) -> Spot:
        point = curve.points[index]
        sign = SELECTED if index == selected else BEATEN if point.beaten else SET
        letters = (NOW if index == curve.present else "") + (KNEE if index == curve.knee else "")
        figures = point.figures
        cost, help_ = figures.identifiability_cost, figures.utility
        return Spot(cost, help_, sign, letters)

    points = map(spot, range(len(curve.points)))
    return sorted(points, key=lambda each: (BEATEN, SET, SELECTED).index(each.sign))


def nearest(curve: Curve, trade_off: float) -> int:
    """Find the index of the point whose λ contain one, or are nearest."""
    away = [max(each.least - trade_off, trade_off - each.most, 0.0) for each in curve.points]
    return away.index(min(away))


def _basis(status: Status, ask: CurveAsk) -> Hashable:
    """Collect what a curve depends on now; the ledger only for one recipient's."""
    models = tuple(each.digest for each in status.models if each.problem is None)
    return status.policy.loaded_at, models, status.entries if ask.recipient else None


class TradeoffScreen(Page, where="tradeoff"):
    """The curve of a query or of all, asked of a recipient or of anybody."""

    concerns: ClassVar[frozenset[EventKind]] = frozenset({"policy", "models", "answer", "forget"})

    def __init__(self) -> None:
        super().__init__()
        self._request: CurveAsk | None = None
        self._one_curve = asyncio.Lock()  # is computed at a time: each takes long
        self._curve: Curve | None = None
        self._basis: Hashable = None
        self._titles: Mapping[str, str] = {}
        self._at = 0
        self._figures = False

    def body(self) -> ComposeResult:
        """Lay out the curve and the set."""
        yield Static(id="about")
        with Container(id="tradeoff"):
            yield Plot(id="first")
            with VerticalScroll(id="set") as panel:
                panel.tooltip = (
                    "What is sent at the selected point. The price of anonymity is the help, in "
                    "bits, that you demand for being one of only 1,000 people like you: the "
                    "higher, the less is shared. v shows the figures."
                )
                yield Static(id="facts")
        yield Static(Content(LEGEND), id="legend")

    def clear(self) -> None:
        """Forget the question and the answer."""
        self._request = self._curve = self._basis = None
        self._titles, self._at = {}, 0
        self._show("")

    # daemon calls

    async def renew(self) -> None:
        """Begin with the latest request, later compute again what may be old."""
        call = self.review.link.call
        if self._request is None:
            latest = await call("requests", limit=LOOKED_BACK)
            queries = [each.query for each in latest if each.kind == "disclosed"]
            if self._request is None:
                self._compute(CurveAsk(query=queries[-1] if queries else None), attended=False)
        elif self._curve is None or _basis(await call("status"), self._request) != self._basis:
            self._compute(self._request, attended=False)

    def _compute(self, ask: CurveAsk, *, attended: bool = True) -> None:
        """Compute a curve, after the one that is computed just now, of which nothing is shown."""
        if ask != self._request:
            self._curve = None
        self._request = ask = replace(ask)  # what waits already is another, and not computed
        self._show(COMPUTING)
        self.do(partial(self._computed, ask, attended=attended), "curve")

    async def _computed(self, ask: CurveAsk, *, attended: bool) -> None:
        call = self.review.link.call
        async with self._one_curve:
            if ask is not self._request:
                return
            try:
                basis = _basis(await call("status"), ask)
                curve: Curve = await call("curve", ask, attended=attended)
                titles = await self.review.titles()
            except LockedError:
                raise
            except ReticentError as error:
                if ask is self._request:
                    self._curve = None
                    self._show(f"✗ {plain(str(error))}\n  {plain(error.hint)}\n\n{WAYS}")
                return
        if ask is self._request:
            chosen = selected(self._curve, self._at) if self._curve else None
            self._curve, self._basis, self._titles = curve, basis, titles
            self._at = curve.present if chosen is None else nearest(curve, CROWD * chosen)
            self._show("")

    # rendering

    def _show(self, words: str) -> None:
        """Show the curve and the set, or words in their place."""
        head = plain(about(self._request, self._curve))
        table = Table.grid(Column(width=LABELS), Column(), padding=(0, 1))
        self.query_one(Plot).show(self._curve, self._at, words)
        if self._curve is not None:
            head += f" · {words}" if words else ""
            for label, text in (
                *facts(self._curve, self._at, self._titles),
                *(figures_of(self._curve, self._at) if self._figures else [MORE]),
            ):
                table.add_row(Text(label, "bold"), Text(plain(text)))
        self.query_one("#about", Static).update(Content(head))
        self.query_one("#facts", Static).update(table)

    def _select(self, index: int) -> None:
        if self._curve is not None and 0 <= index < len(self._curve.points):
            self._at = index
            self._show(COMPUTING if self._one_curve.locked() else "")

    def action_less(self) -> None:
        """Select the next set that shares less."""
        self._select(self._at + 1)

    def action_more(self) -> None:
        """Select the next set that shares more."""
        self._select(self._at - 1)

    def action_only_figures(self) -> None:
        """Show the figures of the selected set, or hide them."""
        self._figures = not self._figures
        self._select(self._at)

    # questions to the user

    @property
    def _recipient(self) -> str | None:
        return self._request.recipient if self._request else None

    @background
    async def action_query(self) -> None:
        """Ask for a query."""
        given = (self._request.query if self._request else None) or ""
        question = TextQuestion("Which query? Type it as you would search for it.", given)
        text = await self.review.push_screen_wait(question)
        if text is not None and text.strip():
            self._compute(CurveAsk(query=text.strip(), recipient=self._recipient))

    def action_all(self) -> None:
        """Look at all queries."""
        self._compute(CurveAsk(recipient=self._recipient))

    @background
    async def action_recipient(self) -> None:
        """Ask for a recipient."""
        question = "Asked of whom? Type a host, or nothing for anybody who knows nothing yet."
        text = await self.review.push_screen_wait(TextQuestion(question, self._recipient or ""))
        if text is not None:
            query = self._request.query if self._request else None
            self._compute(CurveAsk(query=query, recipient=text.strip() or None))

    @background
    async def action_apply(self) -> None:
        """Write the selected price, after asking for whom it is to hold."""
        if self._curve is None:
            return
        if self._at == self._curve.present:
            self.review.tell("Your policy does this already. ← → select another set.")
            return
        value, recipient = selected(self._curve, self._at), self._recipient
        question = f"From the next request on, {demand(CROWD * value)}. Write this into the policy?"
        one = [] if recipient is None else [(f"For {recipient}", "recipient")]
        everyone = ("For everyone, where no other rule says otherwise", "everyone")
        answers = [("Leave the policy as it is", ""), *one, everyone]
        chosen = await self.review.push_screen_wait(Choice(question, answers))
        if chosen:
            whom = recipient if chosen == "recipient" else None
            edit = PolicyEdit(recipient=whom, set={"anonymity_price": value})
            edited: Edited = await self.ask("edit_policy", edit)
            self.review.tell(written(value, whom, edited))
