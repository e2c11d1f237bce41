"""A screen of a list and of what is under its cursor, in detail."""

from abc import abstractmethod
from collections.abc import Callable, Coroutine, Sequence
from functools import partial, wraps
from typing import Any, ClassVar, Concatenate, Generic, ParamSpec, TypeVar

from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, Static

from agent.errors import UsageError
from agent.tui.page import Page
from agent.tui.virtual_list import Listing, Look, Sentences

P = ParamSpec("P")
T = TypeVar("T")
Screen = TypeVar("Screen", bound="ListPage[Any]")
PAUSE = 0.08  # seconds that the cursor rests before the detail follows it
TYPED = 0.2  # seconds without a letter before the list follows what is typed
LONGEST = 200  # letters that are sought


class ListPage(Page, Generic[T]):
    """A list with a sentence above it, a field that filters it, and one of its items in detail.

    The detail stands beside the list where there is room. Elsewhere it stands below, or, where it
    ``opens``, in place of the list. ``sought``: what the field asks for, empty for no field;
    ``tooltip_list``: what the list shows; ``none_yet``: why there is nothing.
    """

    opens: ClassVar[bool] = False
    sought: ClassVar[str] = ""
    tooltip_list: ClassVar[str] = ""
    none_yet: ClassVar[str] = ""
    no_match: ClassVar[str] = "No matches. Escape shows all again."

    def __init__(self) -> None:
        super().__init__()
        self._following: Timer | None = None
        self._typing: Timer | None = None

    def body(self) -> ComposeResult:
        """Lay the sentence on top, then the list beside or above the detail."""
        yield Static(id="headline")
        with Container(id="both", classes="opens" if self.opens else ""):
            with Vertical(id="side"):
                if self.sought:
                    find = Input(placeholder=self.sought, id="find", max_length=LONGEST)
                    find.tooltip = f"Show only what contains these words: {self.sought}."
                    find.display = False
                    yield find
                yield Static(id="heads")
                yield Listing[T](self.item_look(), id="first", tooltip=self.tooltip_list)
                yield Static(id="none")
            yield self.beside()

    @abstractmethod
    def item_look(self) -> Look[T]:
        """Return how items are shown."""

    @abstractmethod
    def beside(self) -> Widget:
        """Return what shows an item in detail."""

    @abstractmethod
    def items(self) -> Sequence[T]:
        """Return the items to show, of those that are there."""

    @abstractmethod
    def follow(self) -> None:
        """Show what is under the cursor in detail."""

    @property
    def listing(self) -> Listing[T]:
        """The list."""
        return self.query_one("#first", Listing)

    def meant(self) -> T | None:
        """Return the item that the keys are meant for; UsageError where it is not to be seen."""
        return self.listing.under

    @property
    def text(self) -> str:
        """What the field seeks."""
        return self.query_one("#find", Input).value if self.sought else ""

    def draw(self) -> None:
        """Show the items that fit."""
        items = self.items()
        self.listing.show(items)
        none = self.no_match if self.text.strip() else self.none_yet
        self.put_text("#none", "" if items else none)

    def on_listing_moved(self) -> None:
        """Let the detail follow, once the cursor rests."""
        if self._following is not None:
            self._following.stop()
        self._following = self.set_timer(PAUSE, self.follow)

    def on_input_changed(self) -> None:
        """Show only what has these words, once no more are typed."""
        if self._typing is not None:
            self._typing.stop()
        self._typing = self.set_timer(TYPED, self.draw)

    def on_input_submitted(self) -> None:
        """Go on in what was found."""
        self.draw()
        if self.listing.under is None:
            self.listing.action_edge(1)
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
            self.show_all()
        self.close()

    def show_all(self) -> None:
        """Seek nothing any more."""
        field = self.query_one("#find", Input)
        field.value, field.display = "", False
        self.draw()

    def close(self) -> None:
        """Go back to the list."""
        self.remove_class("opened")
        self.call_after_refresh(self.listing.focus)


class SentencesPage(ListPage[T]):
    """A list whose items are explained in sentences; ``tooltip_detail``: what these are about."""

    tooltip_detail: ClassVar[str] = ""

    def beside(self) -> Widget:
        """Return what shows the sentences."""
        return Sentences(tooltip=self.tooltip_detail)

    @abstractmethod
    def explain(self, item: T) -> Content:
        """Return all that there is to say about an item."""

    def draw(self) -> None:
        """Show the items that fit, and the sentences about the one under the cursor."""
        super().draw()
        self.follow()

    def follow(self) -> None:
        """Explain what is under the cursor."""
        item = self.listing.under
        self.query_one(Sentences).show(Content("") if item is None else self.explain(item))

    def on_listing_moved(self) -> None:
        """Explain it at once."""
        self.follow()


def for_item(
    method: Callable[Concatenate[Screen, T, P], Coroutine[Any, Any, None]],
) -> Callable[Concatenate[Screen, P], None]:
    """Make a method of a screen run for the item that the keys are meant for, and renew it after.

    What goes wrong is said, with the way out; nothing is done where there is no item.
    """

    async def done(page: Screen, item: T, *args: P.args, **options: P.kwargs) -> None:
        await method(page, item, *args, **options)
        page.soon()

    @wraps(method)
    def started(page: Screen, /, *args: P.args, **options: P.kwargs) -> None:
        try:
            item = page.meant()
        except UsageError as error:
            page.review.say(error)
        else:
            if item is not None:
                page.do(partial(done, page, item, *args, **options))

    return started
