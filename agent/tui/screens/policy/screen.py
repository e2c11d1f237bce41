"""The screen of the policy."""

from typing import ClassVar

from rich.cells import cell_len
from textual.app import ComposeResult, SuspendNotSupported
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.widgets import Static

from agent.errors import UsageError
from agent.tui.actions import policy
from agent.tui.actions.action import Where, keys
from agent.tui.listing import Line, Listing, Look, Part
from agent.tui.page import Page
from agent.tui.plain import fitted, plain
from agent.tui.said import Said
from agent.tui.screens.policy.items import LEGEND, Item, headline, items_of
from agent.wire.policy import RulesStatus
from agent.wire.state import EventKind

TOOLTIP = (
    "What is wrong with your policy, then its rules with the time when each last decided something "
    "about a request, then what holds for everything else. Enter opens the file in your editor, at "
    "the line of what is under the cursor."
)
BELOW = "All that is to be said of what is under the cursor of the list. Up and down scroll it."
NAME = 45  # of a hundred columns, for what stands before the last part of a line


def drawn(item: Item, width: int) -> Line:
    """Return an item as a line of so many columns; what has no room is cut, with a sign."""
    *before, last = item.cells
    cells, room = [], width
    for place, each in enumerate(before):
        columns = cell_len(each.text) if place == 0 else room * NAME // 100
        cells.append(Part(f"{fitted(each.text, columns)} ", each.kind))
        room -= columns + 1
    return (*cells, Part(fitted(last.text, room), last.kind))


LOOK: Look[Item] = Look(
    key=lambda item: item.key,
    lines=lambda item, width: (drawn(item, width),),
    height=lambda _item, _width: 1,
    rests=lambda item: not item.title,
)


class PolicyScreen(Page):
    """What is wrong with the file, its rules, and what holds for all else."""

    where: ClassVar[Where] = "policy"
    concerns: ClassVar[frozenset[EventKind]] = frozenset({"policy", "answer", "nothing"})
    BINDINGS: ClassVar[list[BindingType]] = [*keys(policy.ACTIONS)]

    def __init__(self) -> None:
        super().__init__()
        self._rules: RulesStatus | None = None

    def body(self) -> ComposeResult:
        """Lay what decided last on top, then the list, and what is said of one item of it."""
        yield Static(id="headline")
        yield Static(LEGEND, id="legend")
        with Container(classes="told"):
            yield Listing(LOOK, id="first", tooltip=TOOLTIP)
            yield Said(tooltip=BELOW)

    async def renew(self) -> None:
        """Show the rules, and what is wrong with them."""
        rules: RulesStatus = await self.review.link.call("rules")
        if not self.review.reachable:
            return  # locked meanwhile
        self._rules = rules
        now = self.review.outside.clock()
        self.query_one("#headline", Static).update(Content(plain(headline(rules, now))))
        self._listing().show(items_of(rules, now))
        self._say()

    def clear(self) -> None:
        """Show no rule: they name recipients, and words of queries."""
        self._rules = None
        self.query_one("#headline", Static).update("")
        self._listing().show([])
        self._say()

    def on_listing_moved(self) -> None:
        """Say more of what is under the cursor."""
        self._say()

    def on_listing_chosen(self) -> None:
        """Say more of what was clicked."""
        self._say()

    def action_edit(self) -> None:
        """Have the user change the file, and read it then."""
        if self._rules is None:
            return
        item = self._listing().under
        try:
            with self.app.suspend():  # an error must not leave it: it would never resume
                failed = self._edited(self._rules.path, None if item is None else item.line)
        except SuspendNotSupported:
            hint = "use another terminal, or `reticent policy set`"
            failed = UsageError("no editor can be shown in this terminal", hint)
        if failed is None:
            self.action_reload()
        else:
            self.review.say(failed)

    def _edited(self, path: str, line: int | None) -> UsageError | None:
        """Have the user change a file; return why that cannot be."""
        try:
            self.review.outside.edit(path, line)
        except UsageError as error:
            return error
        return None

    def action_reload(self) -> None:
        """Have the daemon read the file."""
        self.do(self._reload)

    def action_blocks(self) -> None:
        """Go to the first item of the next part, after the last to that of the first."""
        listing = self._listing()
        items, under = listing.items, listing.under
        at = -1 if under is None else items.index(under)
        firsts = [place + 1 for place, each in enumerate(items[:-1]) if each.title]
        if firsts:
            listing.put(items[next((each for each in firsts if each > at), firsts[0])].key)

    async def _reload(self) -> None:
        await self.review.link.call("reload", attended=True)
        await self.renew()
        count = 0 if self._rules is None else len(self._rules.problems)
        self.review.tell("Read." if not count else f"Read: {count} to mend; the old rules hold.")

    def _listing(self) -> Listing[Item]:
        return self.query_one("#first", Listing)

    def _say(self) -> None:
        item = self._listing().under
        self.query_one(Said).say("" if item is None else item.said)
