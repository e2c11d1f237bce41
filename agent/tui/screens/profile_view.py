"""The attributes as rows, and what the screen says about one. Pure."""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from agent.tui.plain import fitted
from agent.tui.virtual_list import Line, Part
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
PENDING = "not saved yet: Enter saves it, Escape puts it back"
BITS = "With 1 bit, the right result is twice as easy to find."
GAP = 2  # columns between two


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
    """An attribute; ``depth``: how many coarser ones stand above it; ``holders``: who know it.

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

    @property
    def shown_value(self) -> str:
        """The value, hidden if it is; or why there is none."""
        if not self.own:
            return EACH_REQUEST
        if not self.is_set:
            return NOT_SET
        return HIDDEN if self.value is None else value_title(self.value, self.attribute.title)

    @property
    def rule(self) -> str:
        """The rule that decides, with its line where it has one."""
        found = self.attribute
        return found.rule if found.line is None else f"{found.rule}, line {found.line}"


def families(attributes: Sequence[AttributeStatus]) -> list[tuple[AttributeStatus, int]]:
    """Return all attributes with their depths: each coarse one, then what refines it."""
    names = {each.name for each in attributes}
    finer: dict[str, list[AttributeStatus]] = {}
    for each in attributes:
        if each.refines in names:
            finer.setdefault(str(each.refines), []).append(each)

    def below(top: AttributeStatus, depth: int) -> Iterator[tuple[AttributeStatus, int]]:
        yield top, depth
        for each in finer.get(top.name, ()):
            yield from below(each, depth + 1)

    tops = (each for each in attributes if each.refines not in names)
    found = [pair for each in tops for pair in below(each, 0)]
    reached = {each.name for each, _ in found}
    return found + [(each, 0) for each in attributes if each.name not in reached]


def made(
    attributes: Sequence[AttributeStatus],
    own: Mapping[str, Mapping[str, str]],
    held: Mapping[str, Collection[str]],
    *,
    masked: bool,
) -> list[Row]:
    """Return the rows; ``own``: values by model, ``held``: attributes by who knows them."""
    found = []
    for each, depth in families(attributes):
        values = own.get(each.model, {})
        value = None if masked else values.get(each.name)
        holders = tuple(pool for pool, names in held.items() if each.name in names)
        found.append(Row(each, depth, each.name in values, value, holders=holders))
    return found


def matching(rows: Iterable[Row], text: str) -> list[Row]:
    """Return those whose title or name contains a text, in any case."""
    wanted = text.strip().casefold()
    names = ((each, f"{each.attribute.title.casefold()}\n{each.attribute.name}") for each in rows)
    return [each for each, name in names if wanted in name]


def columns(width: int) -> dict[str, int]:
    """Return the columns that a list of this width has room for, with their own widths."""
    bits = {"must help, in bits": 19} if width >= ROOMY else {"bits": 6}
    rules = {"by the rule": width - 80} if width >= SPACIOUS else {}
    fixed = {"value": 13, "may be sent": 13, **bits, **rules}
    rest = width - GAP * len(fixed) - sum(fixed.values())
    return {"attribute": max(8, rest), **fixed}


def heads(width: int) -> str:
    """Return the titles of the columns."""
    return (" " * GAP).join(fitted(title, room) for title, room in columns(width).items())


def cells(row: Row, width: int) -> tuple[str, ...]:
    """Return what stands in the columns of a row."""
    fact = row.attribute
    indent = "  " * (row.depth - 1) + "└ " if row.depth else ""
    bits = f"{row.bits:.4g}{'*' if row.slid is not None else ''}"
    drawn = bits if width < ROOMY else f"{slider(row.bits)} {bits}"
    rule = row.rule if row.slid is None else UNWRITTEN
    found = (indent + fact.title, row.shown_value, RULINGS[fact.disclose].short, drawn, rule)
    return found[: len(columns(width))]


def line(row: Row, width: int) -> Line:
    """Return a row as a line; a click on a step of the slider puts it there."""
    parts = []
    for text, room in zip(cells(row, width), columns(width).values(), strict=True):
        rest = text
        if text.startswith(slider(row.bits)):
            parts += [Part(text[at], click=f"screen.slide({at})") for at in range(len(STEPS))]
            rest = text[len(STEPS) :]
        parts.append(Part(fitted(rest, room - len(text) + len(rest)) + " " * GAP))
    return (*parts,)


def detail(row: Row, rows: Iterable[Row], pending: Sequence[str] = ()) -> Iterator[tuple[str, str]]:
    """Yield all that there is to say about an attribute, each sentence with its label.

    ``pending``: titles of those whose sliders are not written yet.
    """
    fact = row.attribute
    others = [each for each in pending if each != fact.title]
    if others:
        yield "Not saved yet (*)", f"{listed(others)}: Enter on the row saves it."
    value = row.shown_value
    if row.own and row.is_set and row.value is None:
        value += " (m shows it)"
    yield (
        fact.title,
        {EACH_REQUEST: "set for each request", NOT_SET: "not set, so never sent"}.get(value, value),
    )
    yield "May it be sent", f"it {RULINGS[fact.disclose].sentence} (by {row.rule})"
    price = f"must help by {row.bits:.4g} bits more than it costs"
    price = price if row.bits else "need not help more than it costs"
    yield "Its price", f"it {price}{'' if row.slid is None else f' ({PENDING})'}. {BITS}"
    if row.own:
        yield "Known to", listed(row.holders, "no recipient", most=MOST_NAMED)
    else:
        yield "Known to", "nobody: no recipient keeps what is set for each request"
    family = family_of(row, rows)
    if len(family) > 1:
        steps = (f"{each.attribute.title} ({len(each.attribute.values) - 1})" for each in family)
        yield "From coarse to fine, with the number of values", " › ".join(steps)
    yield "Its values", values_of(in_order(fact.values[1:]), fact.title)
    yield "In the policy", fact.name


def family_of(row: Row, rows: Iterable[Row]) -> list[Row]:
    """Return an attribute with all that refine it, or that it refines, from coarse to fine."""
    found: list[Row] = []
    for each in rows:
        if each.depth == 0 and row in found:
            break
        found = [each] if each.depth == 0 else [*found, each]
    return found if row in found else [row]
