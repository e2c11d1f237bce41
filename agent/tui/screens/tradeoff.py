"""The screen of the trade-off: walking along a curve, asking for another, applying a lambda."""

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import ClassVar, NamedTuple

from rich.table import Column, Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from agent.errors import LockedError, ReticentError
from agent.tui.dialogs import Asked, Choice
from agent.tui.page import Page
from agent.tui.plain import plain
from agent.tui.screens.tradeoff_view import LEGEND, Plot, about, facts, selected, written
from agent.wire.policy import AttributeStatus, Edited, PolicyEdit
from agent.wire.state import EventKind, Status
from agent.wire.what_if import CurveAsk, TradeOffs
from agent.words.figures import number

LABELS = 11  # columns of the names before what is said
COMPUTING = "computing …"
WAYS = "e types another query, o shows all of them together, r another recipient."
LOOKED_BACK = 50  # requests, among which one is looked for to begin with


class Basis(NamedTuple):
    """What a curve depends on beside what was asked; another makes it old."""

    policy: datetime | None
    models: tuple[str, ...]
    entries: int | None


class Facts(VerticalScroll, inherit_bindings=False):
    """What is said of the set; left and right are the curve's."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "scroll_up", show=False),
        Binding("down", "scroll_down", show=False),
        Binding("pageup", "page_up", show=False),
        Binding("pagedown", "page_down", show=False),
    ]


def nearest(found: TradeOffs, trade_off: float) -> int:
    """Return the index of the point at whose lambdas one is, or is nearest."""
    away = [max(each.least - trade_off, trade_off - each.most, 0.0) for each in found.points]
    return away.index(min(away))


def _basis(status: Status, ask: CurveAsk | None) -> Basis:
    """Return what a curve depends on now; on the ledger only where it is one recipient's."""
    models = tuple(each.digest for each in status.models if each.problem is None)
    known = ask is not None and ask.recipient is not None
    return Basis(status.policy.loaded_at, models, status.entries if known else None)


class TradeoffScreen(Page, where="tradeoff"):
    """The curve of a query or of all, asked of a recipient or of anybody."""

    concerns: ClassVar[frozenset[EventKind]] = frozenset({"policy", "models", "answer", "forget"})

    def __init__(self) -> None:
        super().__init__()
        self._asked: CurveAsk | None = None
        self._next: tuple[CurveAsk, bool] | None = None
        self._busy = False
        self._found: TradeOffs | None = None
        self._basis: Basis | None = None
        self._titles: Mapping[str, str] = {}
        self._at = 0
        self._figures = False

    def body(self) -> ComposeResult:
        """Lay out the curve and the set."""
        yield Static(id="about")
        with Container(id="tradeoff"):
            yield Plot(id="first")
            with Facts(id="set") as panel:
                panel.tooltip = (
                    "What is sent at the selected point. λ is the help, in bits, that you demand "
                    "for being easier to find: a greater λ shares less. v shows the figures."
                )
                yield Static(id="said")
        yield Static(Content(LEGEND), id="legend")

    def clear(self) -> None:
        """Forget what was asked, and what was answered."""
        self._asked = self._next = self._found = self._basis = None
        self._titles = {}
        self._at = 0
        self._show("")

    # asking

    async def renew(self) -> None:
        """Begin with the latest request, later compute again what may be old."""
        basis = _basis(await self.review.link.call("status"), self._asked)
        if self._asked is None:
            await self._begin()
        elif self._found is None or basis != self._basis:
            self._ask(self._asked, attended=False)

    async def _begin(self) -> None:
        latest = await self.review.link.call("requests", limit=LOOKED_BACK)
        queries = [each.query for each in latest if each.kind == "disclosed"]
        if self._asked is None:
            self._ask(CurveAsk(query=queries[-1] if queries else None), attended=False)

    def _ask(self, ask: CurveAsk, *, attended: bool = True) -> None:
        """Compute a curve, after the one that is computed just now, of which nothing is shown."""
        if ask != self._asked:
            self._found = None
        self._asked, self._next = ask, (ask, attended)
        self._show(COMPUTING)
        if not self._busy:
            self._busy = True
            self.run_worker(self._compute(), group="curve")

    async def _compute(self) -> None:
        """Compute what is asked for until nothing new is: one curve at a time."""
        try:
            while self._next is not None:
                (ask, attended), self._next = self._next, None
                try:
                    await self._look_at(ask, attended=attended)
                except ReticentError as error:
                    self._failed(ask, error)
        finally:
            self._busy = False

    async def _look_at(self, ask: CurveAsk, *, attended: bool) -> None:
        call = self.review.link.call
        basis = _basis(await call("status"), ask)
        found: TradeOffs = await call("curve", ask, attended=attended)
        known: list[AttributeStatus] = await call("attributes", recipient=ask.recipient)
        if self._next is None and ask is self._asked:
            same = self._found is not None
            chosen = selected(self._found, self._at) if self._found else None
            self._found, self._basis = found, basis
            self._titles = {each.name: each.title for each in known}
            self._at = nearest(found, chosen) if same and chosen is not None else found.present
            self._show("")

    def _failed(self, ask: CurveAsk, error: ReticentError) -> None:
        """Say what went wrong, and the way out, where the curve would be."""
        if isinstance(error, LockedError):
            self.review.say(error)
        elif self._next is None and ask is self._asked:
            self._found = None
            self._show(f"✗ {plain(str(error))}\n  {plain(error.hint)}\n\n{WAYS}")

    # showing

    def _show(self, words: str) -> None:
        """Show the curve and the set, or words in their place."""
        plot = self.query_one(Plot)
        head = plain(about(self._asked, self._found))
        if self._found is None:
            plot.say(words)
        else:
            plot.show(self._found, self._at)
            head += f" · {words}" if words else ""
        self.query_one("#about", Static).update(Content(head))
        self.query_one("#said", Static).update(self._said())

    def _said(self) -> Content | Table:
        if self._found is None:
            return Content("")
        table = Table.grid(Column(width=LABELS), Column(), padding=(0, 1))
        for label, text in facts(self._found, self._at, self._titles, figures=self._figures):
            table.add_row(Text(label, "bold"), Text(plain(text)))
        return table

    def _select(self, index: int) -> None:
        if self._found is not None and 0 <= index < len(self._found.points):
            self._at = index
            self._show(COMPUTING if self._busy else "")

    def on_plot_pointed(self, event: Plot.Pointed) -> None:
        """Select the point that was clicked."""
        event.stop()
        self._select(event.index)

    def action_less(self) -> None:
        """Select the set that tells less."""
        self._select(self._at + 1)

    def action_more(self) -> None:
        """Select the set that tells more."""
        self._select(self._at - 1)

    def action_knee(self) -> None:
        """Select the knee."""
        if self._found is not None:
            if self._found.knee is None:
                self.review.tell("This curve has no knee.")
            else:
                self._select(self._found.knee)

    def action_now(self) -> None:
        """Select the present lambda."""
        if self._found is not None:
            self._select(self._found.present)

    def action_only_figures(self) -> None:
        """Show the figures of the selected set, or hide them."""
        self._figures = not self._figures
        self._select(self._at)

    def action_query(self) -> None:
        """Ask for a query."""
        given = (self._asked.query if self._asked else None) or ""
        asked = Asked("Which query? Type it as you would search for it.", given)
        self.app.push_screen(asked, self._take_query)

    def _take_query(self, text: str | None) -> None:
        if text is not None and text.strip():
            self._ask(CurveAsk(query=text.strip(), recipient=self._recipient))

    def action_all(self) -> None:
        """Look at all queries."""
        self._ask(CurveAsk(recipient=self._recipient))

    def action_recipient(self) -> None:
        """Ask for a recipient."""
        question = "Asked of whom? Type a host, or nothing for anybody who knows nothing yet."
        self.app.push_screen(Asked(question, self._recipient or ""), self._take_recipient)

    def _take_recipient(self, text: str | None) -> None:
        if text is not None:
            query = self._asked.query if self._asked else None
            self._ask(CurveAsk(query=query, recipient=text.strip() or None))

    @property
    def _recipient(self) -> str | None:
        return self._asked.recipient if self._asked else None

    def action_apply(self) -> None:
        """Ask for whom the lambda is to hold."""
        if self._found is None:
            return
        if self._at == self._found.present:
            self.review.tell("Your policy does this already. ← → select another set.")
            return
        value, whom = selected(self._found, self._at), self._recipient
        everyone = ("For everyone, where no other rule says otherwise", "everyone")
        leave = ("Leave the policy as it is", "")
        one = [] if whom is None else [(f"For {whom}", "recipient")]
        question = f"Write λ = {number(value)} into the policy, from the next request on?"
        self.app.push_screen(
            Choice(question, [leave, *one, everyone]), partial(self._take_whom, value, whom)
        )

    def _take_whom(self, value: float, recipient: str | None, chosen: str | None) -> None:
        if chosen:
            whom = recipient if chosen == "recipient" else None
            self.do(partial(self._apply, value, whom))

    async def _apply(self, value: float, recipient: str | None) -> None:
        edit = PolicyEdit(recipient=recipient, set={"lambda": value})
        edited: Edited = await self.review.link.call("edit_policy", edit, attended=True)
        self.review.tell(written(value, recipient, edited))
