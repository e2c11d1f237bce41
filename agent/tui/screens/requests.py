"""What left, why, and what waits for the user's word."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.widgets import DataTable

from agent.tui.actions.action import Where
from agent.tui.page import Page
from agent.wire.state import EventKind


class Requests(Page):
    """The list of requests."""

    where: ClassVar[Where] = "requests"
    concerns: ClassVar[frozenset[EventKind]] = frozenset(
        {"answer", "nothing", "review", "offer", "forget"}
    )

    def body(self) -> ComposeResult:
        """Lay out the list."""
        table: DataTable[str] = DataTable(id="first", cursor_type="row")
        table.add_columns("when", "recipient", "query", "disclosed", "bits", "people left")
        yield table

    def clear(self) -> None:
        """Show no request."""
        self.query_one(DataTable).clear()

    async def renew(self) -> None:
        """Show the latest requests."""
        found = await self.review.link.call("requests", limit=1000)
        table = self.query_one(DataTable)
        table.clear()
        for each in reversed(found):
            table.add_row(str(each.at), each.recipient, each.query, ", ".join(each.disclosed))
