"""The rows of the profile: which attribute stands below which, and what is said of each."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from agent.tui.screens.profile.slider import drawn
from agent.wire.policy import AttributeStatus

HIDDEN = "•••"
NOT_SET = "not set"
EACH_REQUEST = "each request"
RULED = {
    "never": "never",
    "ask": "asks first",
    "auto": "when worth it",
    "always": "always",
    "guarded": "guarded",
}
UNWRITTEN = "not written yet: Enter"
ROOMY, SPACIOUS = 70, 100  # columns, from which on sliders, and rules, have room


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
    return HIDDEN if row.value is None else row.value


def columns(width: int) -> tuple[Column, ...]:
    """Return the columns that a list of so many columns of a terminal has room for."""
    narrow, roomy = Column("bits", 6), Column("must bring, in bits", 19)
    last = [roomy if width >= ROOMY else narrow]
    last += [Column("by the rule", width - 80)] if width >= SPACIOUS else []
    fixed = (Column("value", 13), Column("may leave", 13), *last)
    rest = width - 2 - 2 * (len(fixed) + 1) - sum(each.width for each in fixed)
    return (Column("attribute", max(8, rest)), *fixed)


def cells(row: Row, width: int) -> tuple[str, ...]:
    """Return what stands in the columns of a row."""
    said = row.attribute
    bits = f"{row.bits:.4g}{'*' if row.slid is not None else ''}"
    indent = "  " * (row.depth - 1) + "└ " if row.depth else ""
    slider = bits if width < ROOMY else f"{drawn(row.bits)} {bits}"
    found = (indent + said.title, value_said(row), RULED.get(said.disclose, said.disclose), slider)
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
