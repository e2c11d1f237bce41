"""The screen of the policy."""

from typing import ClassVar

from textual.app import ComposeResult, SuspendNotSupported
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import Static

from agent.errors import UsageError
from agent.tui.actions import policy
from agent.tui.actions.action import Where, keys
from agent.tui.listing import Line, Listing, Look
from agent.tui.page import Page
from agent.tui.screens.policy.items import Item, items_of
from agent.wire.policing import RulesStatus
from agent.wire.state import EventKind

TOOLTIP = "The rules in use. Enter opens the file in your editor, at the line of what is marked."
FIT = 1  # lines of an item


def _lines(item: Item, _width: int) -> tuple[Line, ...]:
    return (item.parts,)


LOOK: Look[Item] = Look(
    key=lambda item: item.key,
    lines=_lines,
    height=lambda _item, _width: FIT,
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
        """Lay the list above what is said of the item under the cursor."""
        yield Listing(LOOK, id="first", tooltip=TOOLTIP)
        yield Static(id="policy-said")

    async def renew(self) -> None:
        """Show the rules, and what is wrong with them."""
        self._rules = await self.review.link.call("rules")
        self._listing().show(items_of(self._rules, self.review.outside.clock()))
        self._say()

    def clear(self) -> None:
        """Show no rule: they name recipients, and words of queries."""
        self._rules = None
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
            with self.app.suspend():
                self.review.outside.edit(self._rules.path, None if item is None else item.line)
        except SuspendNotSupported:
            hint = "use another terminal, or `reticent policy set`"
            self.review.say(UsageError("no editor can be shown in this terminal", hint))
        except UsageError as error:
            self.review.say(error)
        else:
            self.action_reload()

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
        self.query_one("#policy-said", Static).update(Content("" if item is None else item.said))
