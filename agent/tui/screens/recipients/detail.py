"""All that there is to say of one recipient, as a part of the screen."""

from collections.abc import Iterator, Mapping
from datetime import tzinfo
from typing import NamedTuple

from msgspec.structs import replace
from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from agent.tui.plain import plain
from agent.tui.screens.recipients.words import (
    additions,
    beside,
    chart,
    headline,
    inferences,
    known,
    remarks,
)
from agent.wire.records import Held, Recipient
from agent.wire.what_if import Weighed

TOOLTIP = (
    "What this recipient knows about you, and how many people look like that to it. Helps: bits "
    "that one more attribute would add, on average over all queries; costs: the bits that your "
    "rules ask for it; people left: how many would look like you to it then. m shows the values."
)
AFTER = "What would one more attribute do?"


class Told(NamedTuple):
    """What the daemon says of a recipient; ``weighed``: a sentence where it cannot say."""

    recipient: Recipient
    held: Held
    weighed: Weighed | str
    titles: Mapping[str, str]

    def __repr__(self) -> str:
        return f"Told({self.recipient.pool!r})"


class Detail(VerticalScroll):
    """One recipient, whole."""

    def __init__(self) -> None:
        super().__init__(id="recipient")
        self.tooltip = TOOLTIP
        self._told: Told | None = None

    @property
    def pool(self) -> str | None:
        """Of whom this is."""
        return None if self._told is None else self._told.recipient.pool

    def compose(self) -> ComposeResult:
        """Lay out what is known, and what more would do."""
        yield Static(id="known")
        yield Static(id="more")

    def show(self, told: Told | None, zone: tzinfo | None, *, masked: bool) -> None:
        """Show a recipient, or none; values are kept only while they are seen."""
        if told is not None and told.recipient.pool != self.pool:
            self.scroll_home(animate=False)
        self._told = _without_values(told) if told is not None and masked else told
        above, below = self.query_one("#known", Static), self.query_one("#more", Static)
        if self._told is None:
            above.update("")
            below.update("")
            return
        above.update(Group(*_known(self._told, zone, masked=masked)))
        below.update(_more(self._told))

    def mask(self, zone: tzinfo | None) -> None:
        """Drop the values."""
        self.show(self._told, zone, masked=True)

    def to_more(self) -> None:
        """Show what one more attribute would do."""
        self.scroll_to_widget(self.query_one("#more"), animate=False, top=True)


def _without_values(told: Told) -> Told:
    values = dict.fromkeys(told.held.values, "")
    return told._replace(held=replace(told.held, values=values))


def _known(told: Told, zone: tzinfo | None, *, masked: bool) -> Iterator[RenderableType]:
    yield Text(plain(headline(told.recipient)), "bold")
    for each in remarks(told.recipient):
        yield Text(plain(each))
    yield Text("")
    drawn = chart(told.recipient, zone)
    yield from (Text(line, no_wrap=len(drawn) > 1) for line in drawn)
    yield Text("")
    facts = known(told.held, told.titles, zone, masked=masked)
    if facts:
        table = _table(Column("what it knows", ratio=1), Column("value"), Column("since"))
        for fact in facts:
            table.add_row(*(Text(plain(each)) for each in fact))
        yield table
        yield Text("")
    for sentence in inferences(told.held):
        yield Text(plain(sentence))
    yield Text("")


def _more(told: Told) -> RenderableType:
    """Return what each attribute would do, or why that cannot be said."""
    weighed = told.weighed
    if isinstance(weighed, str):
        return Text(plain(weighed))
    if not weighed.rows:
        return Text(plain(weighed.headline))
    table = _table(
        Column("attribute", ratio=1),
        *(Column(name, justify="right") for name in ("helps", "costs", "worth", "people left")),
    )
    for each in additions(weighed):
        remark = f" ({each.remark})" if each.remark else ""
        name = Text.assemble(plain(each.title), (remark, "dim"))
        table.add_row(name, *map(Text, (each.helps, each.costs, each.worth, each.left)))
    return Group(Text(AFTER, "bold"), Text(plain(beside(weighed))), table)


def _table(*columns: Column) -> Table:
    return Table(
        *columns, box=None, expand=True, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim"
    )
