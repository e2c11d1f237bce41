"""The trade-off: the sets that more or less privacy would send, and a price for one of them."""

import asyncio
from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from math import sqrt
from typing import ClassVar

from msgspec.structs import replace
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from agent.decision.values import CROWD, Curve, CurvePoint
from agent.errors import LockedError, ReticentError
from agent.tui.dialogs import Choice, TextQuestion
from agent.tui.page import SentencesPage, background, for_item
from agent.tui.plain import fitted, plain, plain_lines
from agent.tui.virtual_list import Line, Look, Part
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
    number,
    people,
    price,
)
from agent.words.notices import edited
from agent.words.titles import NONE, PROOFS, Titles, titled

SEEN = 5e-4  # bits: less is shown as none
NOW, KNEE = "now", "knee"
SIGNS, HELP, PEOPLE = 9, 6, 17  # columns
LEGEND = "helps: bits more useful\nknee: beyond it, sharing more costs much and helps little"
ALONE = "At any other price the same is sent: your limits and rules allow nothing else that helps."
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


def selected(curve: Curve, point: CurvePoint) -> float:
    """Find the price of a selected point, in bits: at the present point the one in force."""
    now = curve.points[curve.present]
    return curve.trade_off / CROWD if point == now else price_of(point)


def choices(curve: Curve) -> list[CurvePoint]:
    """List the sets to choose from, those that share less first.

    A set that is beaten is left out, unless it is the present one: another helps as much and costs
    less.
    """
    now = curve.points[curve.present]
    return [each for each in reversed(curve.points) if each == now or not each.beaten]


def key_of(point: CurvePoint) -> Hashable:
    """Identify a set by its facts, at whatever price."""
    return frozenset(point.figures.names)


def about(ask: CurveAsk | None, curve: Curve | None) -> str:
    """Say what a curve is about."""
    if ask is None:
        return ""
    read_as = curve.read_as if curve else None
    query = read_as.query.replace("_", " ") if read_as else ask.query
    what = "All queries, on average" if ask.query is None else f"“{query}”"
    return f"{what}, asked of {'anybody' if ask.recipient is None else ask.recipient}"


def is_knee(point: CurvePoint, curve: Curve) -> bool:
    """Say whether a point is the knee of its curve."""
    return curve.knee is not None and point == curve.points[curve.knee]


def drawn(point: CurvePoint, curve: Curve, width: int, titles: Titles = NONE) -> Line:
    """Draw a set as a line of this width: how much it helps, who looks alike, what it shares."""
    now = point == curve.points[curve.present]
    signs = " ".join(sign for sign, here in ((NOW, now), (KNEE, is_knee(point, curve))) if here)
    figures = point.figures
    names = listed(titled(figures.names, titles), "nothing")
    return (
        Part(fitted(signs, SIGNS), "accent"),
        Part(fitted(bits(figures.utility), HELP, right=True), "good"),
        Part(fitted(people(figures.people_left), PEOPLE, right=True)),
        Part(fitted(f"  {names}", width - SIGNS - HELP - PEOPLE), "strong" if now else "plain"),
    )


def facts(curve: Curve, point: CurvePoint, titles: Titles) -> list[tuple[str, str]]:
    """Describe one point in labelled sentences without figures, the verdict first."""
    now = curve.points[curve.present]
    here = " This is what your policy does now." if point == now else ""
    knee = " Beyond it, sharing more costs much and helps little." if is_knee(point, curve) else ""
    shared = listed(titled(point.figures.names, titles), "nothing")
    change = difference(now.figures, point.figures, titles, informed=True)
    lines = [
        ("shares", f"{shared}.{here}{knee}"),
        ("people", f"To the recipient, {alike(point.figures.people_left)}."),
        ("change", change),
        ("beaten", "Another set helps as much and costs less." if point.beaten else ""),
    ]
    return [(label, text) for label, text in lines if text]


def figures_of(curve: Curve, point: CurvePoint) -> list[tuple[str, str]]:
    """Label the figures of one point, each with its unit, and what is proven of it."""
    metric, trade_off = curve.metric, CROWD * selected(curve, point)
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


def _basis(status: Status, ask: CurveAsk) -> Hashable:
    """Collect what a curve depends on now; the ledger only for one recipient's."""
    models = tuple(each.digest for each in status.models if each.problem is None)
    return status.policy.loaded_at, models, status.entries if ask.recipient else None


class TradeoffScreen(SentencesPage[CurvePoint], where="tradeoff"):
    """What would be sent at other prices, with a query or on average, to a recipient or anybody."""

    concerns: ClassVar[frozenset[EventKind]] = frozenset({"policy", "models", "answer", "forget"})
    tooltip_list = (
        "What would be sent at other prices of anonymity: further up less, further down more. The "
        "price is the help, in bits, that you demand for being one of only 1,000 people like you. "
        "a writes that of the set under the cursor into your policy."
    )
    tooltip_detail = "The set under the cursor. v shows the figures. Up and down scroll it."

    def __init__(self) -> None:
        super().__init__()
        self._request: CurveAsk | None = None
        self._one_curve = asyncio.Lock()  # is computed at a time: each takes long
        self._curve: Curve | None = None
        self._basis: Hashable = None
        self._titles: Mapping[str, str] = {}
        self._figures = False

    def body(self) -> ComposeResult:
        """Lay what the columns mean below the list."""
        yield from super().body()
        yield Static(LEGEND, id="legend")

    def item_look(self) -> Look[CurvePoint]:
        """Say how sets are shown."""
        return Look(
            key=key_of,
            lines=lambda point, width: (
                (drawn(point, self._curve, width, self._titles),) if self._curve else ()
            ),
        )

    def items(self) -> Sequence[CurvePoint]:
        """List the sets to choose from."""
        return choices(self._curve) if self._curve else ()

    def explain(self, item: CurvePoint) -> Content:
        """Explain a set, with its figures if they are wanted."""
        if self._curve is None:
            return Content("")
        figures = figures_of(self._curve, item) if self._figures else [MORE]
        labelled = (*facts(self._curve, item, self._titles), *figures)
        return Content(plain_lines("\n".join(f"{label}: {text}" for label, text in labelled)))

    def clear(self) -> None:
        """Forget the question and the answer."""
        self._request = self._curve = self._basis = None
        self._titles = {}
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
            is_new = self._curve is None
            self._curve, self._basis, self._titles = curve, basis, titles
            self._show("")
            if is_new or self.listing.under is None:
                self.listing.put(key_of(curve.points[curve.present]))

    # rendering

    def _show(self, words: str) -> None:
        """Show the sets, or words in their place."""
        self.draw()
        head = plain(about(self._request, self._curve))
        heads = f"{'helps':>{SIGNS + HELP}}{'people like you':>{PEOPLE}}  shares"
        if self._curve is None:
            self.put_text("#none", words)
        elif len(self.listing.items) == 1:
            self.put_text("#none", ALONE)
        self.put_text("#heads", f" {heads}" if self._curve else "")
        self.put_text("#headline", f"{head} · {words}" if words and self._curve else head)

    def action_only_figures(self) -> None:
        """Show the figures of the set under the cursor, or hide them."""
        self._figures = not self._figures
        self.follow()

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

    @for_item
    async def action_apply(self, point: CurvePoint) -> None:
        """Write the price of the set under the cursor, after asking for whom it is to hold."""
        if self._curve is None:
            return
        if point == self._curve.points[self._curve.present]:
            self.review.tell("Your policy does this already. Up and down select another set.")
            return
        value, recipient = selected(self._curve, point), self._recipient
        question = f"From the next request on, {demand(CROWD * value)}. Write this into the policy?"
        one = [] if recipient is None else [(f"For {recipient}", "recipient")]
        everyone = ("For everyone, where no other rule says otherwise", "everyone")
        answers = [("Leave the policy as it is", ""), *one, everyone]
        chosen = await self.review.push_screen_wait(Choice(question, answers))
        if chosen:
            whom = recipient if chosen == "recipient" else None
            edit = PolicyEdit(recipient=whom, set={"anonymity_price": value})
            edited: Edited = await self.ask("edit_policy", edit)
            self.review.tell(f"{written(value, whom, edited)} u reverts that.")
