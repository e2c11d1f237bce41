"""The screen: walking along a curve, asking for another, and applying a lambda."""

from functools import partial
from typing import ClassVar

from textual.binding import BindingType

from agent.tui.actions import tradeoff
from agent.tui.actions.action import keys
from agent.tui.asked import Asked, Choice
from agent.tui.screens.tradeoff.board import Board
from agent.tui.screens.tradeoff.words import number, selected, written
from agent.wire.policy import Edited, PolicyEdit
from agent.wire.what_if import CurveAsk


class TradeOff(Board):
    """What more or less privacy would bring."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys(tradeoff.ACTIONS)]

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
            self.review.tell("That is what leaves now: there is nothing to apply. ← → select.")
            return
        value, whom = selected(self._found, self._at), self._recipient
        everyone = ("For everyone, where no other rule says otherwise", "everyone")
        leave = ("Leave the policy as it is", "")
        one = [] if whom is None else [(f"For {whom}", "recipient")]
        question = f"Write lambda {number(value)} into the policy, from the next request on?"
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
