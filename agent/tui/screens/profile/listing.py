"""The list of attributes."""

from collections.abc import Sequence
from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.widgets import DataTable

from agent.tui.listing import MARK
from agent.tui.plain import plain
from agent.tui.screens.profile.rows import Column, Row, cells, columns
from agent.tui.screens.profile.slider import STEPS
from agent.tui.screens.profile.words import HELP

SLIDER = 3  # its column


class Attributes(DataTable[Text]):
    """A row for each attribute; arrows to the sides are the screen's, for its sliders."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "screen.less", show=False),
        Binding("right", "screen.more", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(id="first", cursor_type="row")
        self.tooltip = HELP
        self._given: Sequence[Row] = ()
        self._laid: tuple[Column, ...] = ()

    @property
    def under(self) -> str | None:
        """The name of the attribute under the cursor."""
        at = self.cursor_row
        return self._given[at].attribute.name if 0 <= at < len(self._given) else None

    def give(self, rows: Sequence[Row]) -> None:
        """Show these rows; the cursor stays on the attribute that it is on."""
        same = [each.attribute.name for each in rows] == self._names()
        under, self._given = self.under, rows
        if same and rows and self._laid == columns(self.size.width):
            self.mark()
        else:
            self._lay(under)

    def on_resize(self) -> None:
        """Show the columns that there is room for."""
        if self._laid != columns(self.size.width):
            self._lay(self.under)

    def _names(self) -> list[str]:
        return [each.attribute.name for each in self._given]

    def mark(self) -> None:
        """Show what has changed, and which row is under the cursor."""
        for each in self._given:
            for column, text in zip(self._laid, self._cells(each), strict=True):
                if self.get_cell(each.attribute.name, column.title) != text:
                    self.update_cell(each.attribute.name, column.title, text)

    def _lay(self, under: str | None) -> None:
        """Show everything anew; the cursor goes to a name."""
        names = self._names()
        self._laid = columns(self.size.width)
        with self.prevent(DataTable.RowHighlighted):
            self.clear(columns=True)
            for column in self._laid:
                self.add_column(Text(column.title), width=column.width, key=column.title)
            for each in self._given:
                self.add_row(*self._cells(each), key=each.attribute.name)
            if under in names:
                self.move_cursor(row=names.index(under))
            self.mark()

    def _cells(self, row: Row) -> list[Text]:
        mark = MARK if row.attribute.name == self.under else " "
        title, *rest = cells(row, self.size.width)
        found = [
            Text(plain(text), no_wrap=True, overflow="ellipsis")
            for text in (f"{mark} {title}", *rest)
        ]
        if found[SLIDER].cell_len > len(STEPS):
            for place in range(len(STEPS)):
                jump = Style(meta={"@click": f"screen.slide({place})"})
                found[SLIDER].stylize(jump, place, place + 1)
        return found
