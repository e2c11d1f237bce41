"""A list of any length, of which only the visible lines are drawn."""

from bisect import bisect_right
from collections.abc import Callable, Hashable, Sequence
from itertools import accumulate
from typing import ClassVar, Generic, Literal, NamedTuple, TypeVar, get_args

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from agent.tui.plain import plain

T = TypeVar("T")
Kind = Literal["plain", "strong", "muted", "good", "bad", "accent"]
MARK = "›"  # before the item under the cursor, so that nobody needs colours


class Part(NamedTuple):
    """Some text of a line, and how it looks."""

    text: str
    kind: Kind = "plain"


Line = tuple[Part, ...]


class Look(NamedTuple, Generic[T]):
    """How items are shown.

    ``key``: identifies an item; ``lines``: draws one in so many columns; ``height``: their number;
    ``rests``: whether the cursor may rest on it.
    """

    key: Callable[[T], Hashable]
    lines: Callable[[T, int], tuple[Line, ...]]
    height: Callable[[T, int], int] = lambda _item, _width: 1
    rests: Callable[[T], bool] = lambda _item: True


class Listing(ScrollView, Generic[T], can_focus=True):
    """Items below one another, one of them under the cursor, or none."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup", "leap(-1)", "Page up", show=False),
        Binding("pagedown", "leap(1)", "Page down", show=False),
        Binding("home", "edge(1)", "First", show=False),
        Binding("end", "edge(-1)", "Last", show=False),
    ]
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"listing--{each}" for each in (*get_args(Kind), "cursor", "resting")
    }

    class Moved(Message):
        """Another item is under the cursor, or none."""

    class Chosen(Message):
        """The item under the cursor was clicked."""

    class Resized(Message):
        """There are more columns, or fewer."""

    def __init__(self, look: Look[T], *, id: str, tooltip: str) -> None:  # noqa: A002  (Textual's word)
        super().__init__(id=id)
        self.tooltip, self._draws = tooltip, look
        self._items: Sequence[T] = ()
        self._starts: list[int] = [0]  # the first line of each item, and the end
        self._at: int | None = None
        self._near = 0  # where the cursor last stood

    @property
    def under(self) -> T | None:
        """The item under the cursor."""
        return None if self._at is None else self._items[self._at]

    @property
    def items(self) -> Sequence[T]:
        """What is shown."""
        return self._items

    @property
    def seen(self) -> bool:
        """Whether the item under the cursor is in view."""
        if self._at is None:
            return False
        return 0 <= self._starts[self._at] - self.scroll_offset.y < max(1, self.size.height)

    def show(self, items: Sequence[T]) -> None:
        """Show items; the cursor stays on its item, and that on its line of the screen.

        At the top the top stays, so that new items push nothing out of view. Where the item is
        gone, the cursor is on none: a key meant for it must not reach another.
        """
        before, fresh = self.under, not self._items
        above = self._starts[self._near] - self.scroll_offset.y if self._items else 0
        self._items = items
        self._at = None if before is None else self._find(self._draws.key(before))
        self._measure()
        if fresh:
            self._at = self._next(-1, 1)
        self._near = min(self._near, max(0, len(items) - 1)) if self._at is None else self._at
        if self.scroll_offset.y and self._at is not None and not fresh:
            self.scroll_to(y=self._starts[self._at] - above, animate=False, immediate=True)
        elif fresh:
            self.bring_into_view()
        self.refresh()
        key, under = self._draws.key, self.under
        if (before is None) != (under is None) or (before and under and key(before) != key(under)):
            self.post_message(self.Moved())

    def put(self, key: Hashable) -> None:
        """Put the cursor on an item, if it is there."""
        self._go(self._find(key))

    # navigation

    def action_move(self, by: int) -> None:
        """Go to the next item, or the one before; where none is under it, to the nearest."""
        self._go(self._next(self._near - (by if self._at is None else 0), by))

    def action_leap(self, by: int) -> None:
        """Go a screenful on or back."""
        if self._items:
            line = self._starts[self._near] + by * max(1, self.size.height - 1)
            at = max(0, min(len(self._items) - 1, bisect_right(self._starts, line) - 1))
            place = self._next(at - by, by)
            self._go(self._next(at, -by) if place is None else place)

    def action_edge(self, by: int) -> None:
        """Go to the first item, or to the last."""
        self._go(self._next(-1 if by > 0 else len(self._items), by))

    def on_click(self, event: events.Click) -> None:
        """Put the cursor there; an item that it was on already is chosen."""
        at = bisect_right(self._starts, event.y + self.scroll_offset.y) - 1
        if at < len(self._items) and self._draws.rests(self._items[at]):
            if at == self._at:
                self.post_message(self.Chosen())
            self._go(at)

    def on_resize(self) -> None:
        """Draw it for the room there is."""
        self._measure()
        self.bring_into_view()
        self.post_message(self.Resized())

    # rendering

    def render_line(self, y: int) -> Strip:
        """Draw one visible line."""
        line, width = y + self.scroll_offset.y, self.scrollable_content_region.width
        at = bisect_right(self._starts, line) - 1
        if not 0 <= at < len(self._items):
            return Strip.blank(width, self._style("plain", here=False))
        parts = self._draws.lines(self._items[at], width - 1)
        inner, here = line - self._starts[at], at == self._at
        mark = Part(MARK if here and inner == 0 else " ")
        shown = (mark, *(parts[inner] if inner < len(parts) else ()))
        segments = [Segment(plain(each.text), self._style(each.kind, here=here)) for each in shown]
        return Strip(segments).adjust_cell_length(width, self._style("plain", here=here))

    def _style(self, kind: Kind, *, here: bool) -> Style:
        """Choose the style of a text; under the cursor all of it has the cursor's colours."""
        style = self.get_component_rich_style(f"listing--{kind}")
        if not here:
            return style
        if self.has_focus:
            return style + self.get_component_rich_style("listing--cursor")
        return style + Style(bgcolor=self.get_component_rich_style("listing--resting").bgcolor)

    def _find(self, key: Hashable) -> int | None:
        key_of = self._draws.key
        return next((at for at, each in enumerate(self._items) if key_of(each) == key), None)

    def following(self) -> T | None:
        """Find the item to go on with once the one under the cursor is settled."""
        if self._at is None:
            return None
        place = self._next(self._at, 1)
        place = self._next(self._at, -1) if place in (None, self._at) else place
        return None if place is None else self._items[place]

    def _next(self, at: int, by: int) -> int | None:
        """Find the nearest place after one where the cursor may rest, else that place itself."""
        place = at + by
        while 0 <= place < len(self._items):
            if self._draws.rests(self._items[place]):
                return place
            place += by
        return at if 0 <= at < len(self._items) and self._draws.rests(self._items[at]) else None

    def _go(self, at: int | None) -> None:
        """Put the cursor on a place, if there is one."""
        if at is None:
            return
        moved, self._at, self._near = at != self._at, at, at
        self.bring_into_view()
        self.refresh()
        if moved:
            self.post_message(self.Moved())

    def _measure(self) -> None:
        """Lay the items out for the width there is."""
        width = max(1, self.scrollable_content_region.width)
        heights = (self._draws.height(each, width - 1) for each in self._items)
        self._starts = [*accumulate(heights, initial=0)]
        self.virtual_size = Size(width, self._starts[-1])

    def bring_into_view(self) -> None:
        """Scroll to what is under the cursor, if anything is."""
        if self._at is None:
            return
        top, end = self._starts[self._at], self._starts[self._at + 1]
        if self._at == self._next(-1, 1):
            top = 0  # and the title above the first
        self.scroll_to_region(Region(0, top, 1, end - top), animate=False, immediate=True)
