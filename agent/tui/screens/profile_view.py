"""The attributes as rows, and what the screen says about one."""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from rich.style import Style
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.widgets import DataTable

from agent.tui.plain import plain
from agent.tui.virtual_list import MARK
from agent.wire.policy import AttributeStatus
from agent.words.figures import listed
from agent.words.notices import MOST_NAMED, values_of
from agent.words.outcomes import RULINGS
from agent.words.titles import in_order, value_title

STEPS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)  # bits
HIDDEN = "•••"
NOT_SET = "not set"
EACH_REQUEST = "each request"
UNWRITTEN = "not saved yet: Enter"
ROOMY, SPACIOUS = 70, 100  # columns, from which on sliders, and rules, have room
HELP = (
    "Your attributes. Values stay hidden until you press m. The bits say how much better an answer "
    "must get before the attribute may be sent: with 1 bit, the right result is twice as easy to "
    "find. Decide for what an attribute is, never because of your own value: a rule made for a "
    "value gives the value away by what it leaves out."
)
PENDING = "not saved yet: Enter saves it, Escape puts it back"
BITS = "With 1 bit, the right result is twice as easy to find."
SLIDER = 3  # its column


def dearer(bits: float) -> float:
    """Return the next step to the right, or the same where there is none."""
    return next(iter(STEPS[bisect_right(STEPS, bits) :]), bits)


def cheaper(bits: float) -> float:
    """Return the next step to the left, or the same where there is none."""
    return STEPS[max(0, bisect_left(STEPS, bits) - 1)]


def slider(bits: float) -> str:
    """Return the slider, one sign a step, with its knob at the last step that is reached."""
    place = max(0, bisect_right(STEPS, bits) - 1)
    return "─" * place + "●" + "─" * (len(STEPS) - 1 - place)


@dataclass(frozen=True, slots=True)
class Row:
    """An attribute; ``depth``: how many coarser ones stand above it; ``holders``: who hold it.

    ``value``: None while values are hidden; ``slid``: bits that are not written yet, or None.
    """

    attribute: AttributeStatus
    depth: int = 0
    is_set: bool = False
    value: str | None = field(default=None, repr=False)
    slid: float | None = None
    holders: tuple[str, ...] = ()

    @property
    def bits(self) -> float:
        """Where the slider stands."""
        return self.attribute.sensitivity_bits if self.slid is None else self.slid

    @property
    def own(self) -> bool:
        """Whether it has a value of the user's own: what is set for each request has none."""
        return self.attribute.scope == "person"


class Column(NamedTuple):
    """A column: its title and its width."""

    title: str
    width: int


def families(attributes: Sequence[AttributeStatus]) -> list[tuple[AttributeStatus, int]]:
    """Return all attributes with their depths: each coarse one, then what refines it."""
    names = {each.name for each in attributes}
    finer: dict[str, list[AttributeStatus]] = {}
    for each in attributes:
        if each.refines in names:
            finer.setdefault(str(each.refines), []).append(each)
    found = [
        pair for each in attributes if each.refines not in names for pair in _below(each, finer)
    ]
    reached = {each.name for each, _ in found}
    return found + [(each, 0) for each in attributes if each.name not in reached]


def _below(
    top: AttributeStatus, finer: Mapping[str, Iterable[AttributeStatus]], depth: int = 0
) -> Iterator[tuple[AttributeStatus, int]]:
    yield top, depth
    for each in finer.get(top.name, ()):
        yield from _below(each, finer, depth + 1)


def matching(rows: Iterable[Row], text: str) -> list[Row]:
    """Return those whose title or name has a text in it, in any case."""
    wanted = text.strip().casefold()
    return [
        each
        for each in rows
        if wanted in each.attribute.title.casefold() or wanted in each.attribute.name
    ]


def value_said(row: Row) -> str:
    """Return the value, hidden if it is; or why there is none."""
    if not row.own:
        return EACH_REQUEST
    if not row.is_set:
        return NOT_SET
    return HIDDEN if row.value is None else value_title(row.value, row.attribute.title)


def columns(width: int) -> tuple[Column, ...]:
    """Return the columns that a list of so many columns of a terminal has room for."""
    narrow, roomy = Column("bits", 6), Column("must help, in bits", 19)
    last = [roomy if width >= ROOMY else narrow]
    last += [Column("by the rule", width - 80)] if width >= SPACIOUS else []
    fixed = (Column("value", 13), Column("may be sent", 13), *last)
    rest = width - 2 - 2 * (len(fixed) + 1) - sum(each.width for each in fixed)
    return (Column("attribute", max(8, rest)), *fixed)


def cells(row: Row, width: int) -> tuple[str, ...]:
    """Return what stands in the columns of a row."""
    said = row.attribute
    bits = f"{row.bits:.4g}{'*' if row.slid is not None else ''}"
    indent = "  " * (row.depth - 1) + "└ " if row.depth else ""
    drawn = bits if width < ROOMY else f"{slider(row.bits)} {bits}"
    found = (indent + said.title, value_said(row), RULINGS[said.disclose].short, drawn)
    if width < SPACIOUS:
        return found
    return (*found, rule_said(said) if row.slid is None else UNWRITTEN)


def rule_said(said: AttributeStatus) -> str:
    """Return the rule that decides, with its line where it has one."""
    return said.rule if said.line is None else f"{said.rule}, line {said.line}"


def made(
    attributes: Sequence[AttributeStatus],
    own: Mapping[str, Mapping[str, str]],
    held: Mapping[str, Collection[str]],
    *,
    masked: bool,
) -> list[Row]:
    """Return the rows; ``own``: values by model, ``held``: attributes by who holds them."""
    found = []
    for each, depth in families(attributes):
        values = own.get(each.model, {})
        value = None if masked else values.get(each.name)
        holders = tuple(pool for pool, names in held.items() if each.name in names)
        found.append(Row(each, depth, each.name in values, value, holders=holders))
    return found


def bits_said(row: Row) -> str:
    """Return what it must bring, and whether that is written."""
    demand = f"must help by {row.bits:.4g} bits more than it costs"
    demand = demand if row.bits else "need not help more than it costs"
    return demand if row.slid is None else f"{demand} ({PENDING})"


def held_said(row: Row) -> str:
    """Return who holds it."""
    if not row.own:
        return "Set for each request; nobody keeps it."
    if not row.holders:
        return "No recipient knows it."
    return f"Known to {listed(row.holders, most=MOST_NAMED)}."


def foot(row: Row, pending: Sequence[str] = ()) -> str:
    """Return what is said of an attribute in a line or two.

    ``pending``: titles of those whose sliders are not written yet.
    """
    said = row.attribute
    first = f"{said.title}: {RULINGS[said.disclose].sentence} (by {rule_said(said)})"
    others = [each for each in pending if each != said.title]
    wait = f"\nNot saved yet: {listed(others)} (*). " if others else ""
    return f"{first}; {bits_said(row)}. {held_said(row)}{wait}"


def detail(row: Row, rows: Iterable[Row], pending: Sequence[str] = ()) -> Iterator[tuple[str, str]]:
    """Yield what is said of an attribute at length, part by part, each with its heading.

    ``pending``: titles of those whose sliders are not written yet.
    """
    said = row.attribute
    others = [each for each in pending if each != said.title]
    if others:
        yield "Not saved yet (*)", f"{listed(others)}: Enter on the row saves it."
    yield said.title, "in the policy: " + said.name
    yield "Your value", _value(row)
    yield "May it be sent", f"It {RULINGS[said.disclose].sentence}, by {rule_said(said)}."
    yield "Its price", f"It {bits_said(row)}.\n{BITS}"
    yield "Who knows it", held_said(row)
    family = family_of(row, rows)
    if len(family) > 1:
        yield "From coarse to fine", "\n".join(_step(each, row) for each in family)
    yield "Its values", values_of(in_order(said.values[1:]), said.title)


def family_of(row: Row, rows: Iterable[Row]) -> list[Row]:
    """Return an attribute with all that refine it, or that it refines, from coarse to fine."""
    found: list[Row] = []
    for each in rows:
        if each.depth == 0 and row in found:
            break
        found = [each] if each.depth == 0 else [*found, each]
    return found if row in found else [row]


def _value(row: Row) -> str:
    said = value_said(row)
    if not row.own:
        return "None: it is set for each request, from the request itself."
    if said == NOT_SET:
        return "Not set, so never sent."
    return f"{said} (m shows it)" if row.value is None else said


def _step(each: Row, row: Row) -> str:
    sign = "▸" if each.attribute.name == row.attribute.name else " "
    indent = "  " * each.depth
    return f"{sign} {indent}{each.attribute.title}: {len(each.attribute.values) - 1} values"


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
