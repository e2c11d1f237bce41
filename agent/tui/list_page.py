"""Screens that show a list: what fits a search, in an order, and one of its items in detail."""

import re
from abc import abstractmethod
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial, wraps
from typing import Any, ClassVar, Concatenate, Generic, ParamSpec, TypeVar

from textual.app import ComposeResult
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, Static

from agent.errors import UsageError
from agent.tui.page import Page, background
from agent.tui.plain import plain
from agent.tui.virtual_list import Listing, Look
from agent.words.figures import counted
from agent.words.record import spreadsheet
from agent.words.titles import NONE, Titles

P = ParamSpec("P")
T = TypeVar("T")
ListScreen = TypeVar("ListScreen", bound="ListPage[Any]")
PAUSE = 0.08  # seconds that the cursor rests before the detail follows it
TYPED = 0.2  # seconds without a letter before the list follows what is typed
LONGEST = 200  # letters of a search
COPIED = 200  # columns in which what is copied is drawn


class ListPage(Page, Generic[T]):
    """A list with a sentence above it, a field that filters it, and one of its items in detail.

    The detail stands beside the list where there is room. Elsewhere it stands below, or, where it
    ``opens``, in place of the list. ``sought``: what the field asks for, empty for no field;
    ``orders``: in which the list may stand, the first to begin with; ``tooltip_list``,
    ``tooltip_detail``: what the two show; ``none_yet``: why there is nothing. All but the orders
    stands in screens.toml.
    """

    opens: ClassVar[bool] = False
    sought: ClassVar[str] = ""
    orders: ClassVar[tuple[str, ...]] = ("",)
    tooltip_list: ClassVar[str] = ""
    tooltip_detail: ClassVar[str] = ""
    none_yet: ClassVar[str] = ""
    no_match: ClassVar[str] = "No matches. Escape shows all again."

    def __init__(self) -> None:
        super().__init__()
        self._following: Timer | None = None
        self._typing: Timer | None = None
        self._drawn = ""  # the words of the filter that is drawn
        self._all: Sequence[T] = ()  # whatever is sought
        self._titles: Titles = NONE
        self.order = self.orders[0]

    def body(self) -> ComposeResult:
        """Lay the sentence on top, then the list beside or above the detail."""
        yield Static(id="headline")
        with Container(id="both", classes="opens" if self.opens else ""):
            with Vertical(id="side"):
                if self.sought:
                    find = Input(placeholder=self.sought, id="find", compact=True)
                    find.max_length = LONGEST
                    find.tooltip = f"Show only what contains these words: {self.sought}."
                    find.display = False
                    yield find
                yield Static(id="heads")
                yield Static(id="none")
                yield Listing[T](self.item_look(), id="first", tooltip=self.tooltip_list)
            yield self.beside()

    @abstractmethod
    def item_look(self) -> Look[T]:
        """Say how items are shown."""

    def beside(self) -> Widget:
        """Make the widget that shows an item in detail: sentences."""
        detail = VerticalScroll(Static(id="sentences"), id="detail")
        detail.tooltip = self.tooltip_detail
        return detail

    def items(self) -> Sequence[T]:
        """List the items that pass the filter."""
        return self._all

    @abstractmethod
    def follow(self) -> None:
        """Show what is under the cursor in detail."""

    @property
    def listing(self) -> Listing[T]:
        """The list."""
        return self.query_one("#first", Listing)

    def chosen_item(self) -> T | None:
        """Find the item that keys apply to; UsageError where it is out of view."""
        return self.listing.under

    @property
    def text(self) -> str:
        """What the field seeks."""
        return self.query_one("#find", Input).value if self.sought else ""

    def draw(self) -> None:
        """Show the items that fit; the cursor goes to the first where others are sought."""
        items, words = self.items(), self.text.strip()
        self.listing.show(items)
        if words != self._drawn and (words or self.listing.under is None):
            self.listing.action_edge(1)
        self._drawn = words
        none = self.no_match if words else self.none_yet
        self.put_text("#none", "" if items else none)

    def clear(self) -> None:
        """Show nothing, keep nothing, and seek nothing."""
        self._all = ()
        self.put_text("#headline", "")
        if self.sought:
            self.query_one("#find", Input).value = ""
        self.draw()

    def on_listing_moved(self) -> None:
        """Let the detail follow, once the cursor rests."""
        if self._following is not None:
            self._following.stop()
        self._following = self.set_timer(PAUSE, self.follow)

    def on_input_changed(self) -> None:
        """Filter the list, once typing pauses."""
        if self._typing is not None:
            self._typing.stop()
        self._typing = self.set_timer(TYPED, self.draw)

    def on_input_submitted(self) -> None:
        """Go to the list that was found."""
        self.draw()
        self.listing.focus()

    def action_only_find(self) -> None:
        """Ask for the words."""
        self.remove_class("opened")
        field = self.query_one("#find", Input)
        field.display = True
        self.call_after_refresh(field.focus)

    def action_only_back(self) -> None:
        """Go back to the list; there, show all of it again."""
        if not self.has_class("opened"):
            field = self.query_one("#find", Input)
            field.value, field.display = "", False
            self.draw()
        self.close()

    def copied(self) -> str:
        """Write the item under the cursor as it is shown; a tab parts columns."""
        under = self.listing.under
        lines = () if under is None else self.item_look().lines(under, COPIED)
        rows = ("".join(part.text for part in line).strip() for line in lines)
        return "\n".join(re.sub(" {2,}", "\t", plain(each)) for each in rows)

    def record(self, item: T) -> Mapping[str, str]:  # noqa: ARG002  (a heading, say)
        """Name the cells of an item in a file, none where it is not saved."""
        return {}

    @background
    async def action_save(self) -> None:
        """Save what is shown as a table, where hidden values stay hidden."""
        rows = [record for each in self.listing.items if (record := self.record(each))]
        if not rows:
            raise UsageError("there is nothing to save", "show something first")
        name = f"reticent-{self.where}-{self.review.environment.clock():%Y-%m-%d-%H%M%S}.csv"
        table = [[*rows[0]], *([*map(plain, row.values())] for row in rows)]
        place = self.review.environment.save(name, spreadsheet(table))
        self.review.tell(f"Saved {counted(len(rows), 'row')}, for you alone to read: {place}")

    def action_only_sort(self) -> None:
        """Put the list into its next order."""
        at = self.orders.index(self.order) + 1
        self.order = self.orders[at % len(self.orders)]
        self.draw()
        self.listing.action_edge(1)

    def close(self) -> None:
        """Go back to the list."""
        self.remove_class("opened")
        self.call_after_refresh(self.listing.focus)


class SentencesPage(ListPage[T]):
    """A list whose items are explained in sentences, without another call."""

    @abstractmethod
    def explain(self, item: T) -> Content:
        """Explain an item."""

    def draw(self) -> None:
        """Show the items that fit, and the sentences about the one under the cursor."""
        super().draw()
        self.follow()

    def follow(self) -> None:
        """Explain what is under the cursor."""
        item, sentences = self.listing.under, self.query_one("#sentences", Static)
        text = Content("") if item is None else self.explain(item)
        if text != sentences.content:
            sentences.update(text)
            self.query_one("#detail").scroll_home(animate=False)

    def on_listing_moved(self) -> None:
        """Explain it at once."""
        self.follow()


def for_item(
    method: Callable[Concatenate[ListScreen, T, P], Coroutine[Any, Any, None]],
) -> Callable[Concatenate[ListScreen, P], None]:
    """Make a screen's method run for the item that keys apply to, and refresh the screen after it.

    An error is shown with its hint; without an item nothing happens.
    """

    async def done(page: ListScreen, item: T, *args: P.args, **options: P.kwargs) -> None:
        await method(page, item, *args, **options)
        page.soon()

    @wraps(method)
    def started(page: ListScreen, /, *args: P.args, **options: P.kwargs) -> None:
        try:
            item = page.chosen_item()
        except UsageError as error:
            page.review.say(error)
        else:
            if item is not None:
                page.do(partial(done, page, item, *args, **options))

    return started
