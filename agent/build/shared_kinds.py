"""Kinds of facts that no column holds: the shares of their values, and on what these depend."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Annotated, NamedTuple

import numpy as np
from msgspec import Meta, Struct

from agent.build.kinds import Crossing, InKinds, lines_of, read_file
from agent.build.matching import Coded, unqualified
from agent.build.options import KindsNote
from agent.errors import UsageError
from agent.model.attributes import SharedKind
from agent.tradeoff.tables import Floats

MOST = 1.25  # times the shares overall that their average under a parent's values may be, or 1/MOST
DECIMALS = 6  # of shares in a model


class ParentLine(Struct, frozen=True):
    """On what a kind depends, `column:NAME` or a kind, and by its value the shares that differ."""

    kind: str
    parent: str
    rows: dict[str, dict[str, Annotated[float, Meta(ge=0, le=1)]]]


class Parent(NamedTuple):
    """An attribute or kind on which another depends.

    ``values``: of it; ``texts``: the values that rows are about; ``joint``: float64, shape (values,
    texts), how many people have both; ``several``: whether people may hold several values.
    """

    name: str
    values: tuple[str, ...]
    texts: tuple[str, ...]
    joint: Floats
    several: bool = False


def shared_kinds(people: Coded, note: KindsNote, in_columns: InKinds) -> Iterator[SharedKind]:
    """Yield the kinds that no column holds.

    ``people``: by columns. UsageError for parents that do not fit, and for shares under a parent's
    values that are not about those overall on average.
    """
    lines = read_file(note.parents, partial(lines_of, kind=ParentLine))
    parents = {each.kind: each for each in lines}
    for kind in sorted(parents.keys() - in_columns.kinds.keys()):
        raise UsageError.unknown("kind", kind, in_columns.kinds)
    for kind, (line, each) in in_columns.kinds.items():
        if each.how == "column":
            continue
        parent = _parent(parents[kind], people, in_columns) if kind in parents else None
        shares = each.shares or each.prevalence
        yield SharedKind(
            name=kind,
            title=line.title,
            source=each.source,
            sensitivity=line.sensitivity,
            several=each.how == "multi",
            values=tuple(shares),
            shares=tuple(shares.values()),
            parent=parent and parent.name,
            given={} if parent is None else _given(parents[kind], parent, each),
            excludes=each.excludes,
        )


def _parent(line: ParentLine, people: Coded, in_columns: InKinds) -> Parent | None:
    """What a kind depends on; None for a column that no attribute holds."""
    (name,) = unqualified([line.parent.removeprefix("column:")])
    if name != line.parent:
        if not (holders := in_columns.holding(name)):
            return None
        (place,), values = people.places([name]), in_columns.values[holders[0]]
        texts = people.attributes[place].values
        joint = np.zeros((len(values) + 1, len(texts)))
        np.add.at(joint, (in_columns.codes[holders[0]], people.codes[:, place]), in_columns.people)
        return Parent(holders[0], values, texts[1:], joint[1:, 1:])
    others = {kind: each for kind, (_, each) in in_columns.kinds.items() if each.how != "column"}
    if name not in others:
        raise UsageError.unknown("kind", name, others)
    shares = others[name].shares or others[name].prevalence
    several = others[name].how == "multi"
    return Parent(name, (*shares,), (*shares,), np.diag([*shares.values()]), several)


def _given(line: ParentLine, parent: Parent, crossing: Crossing) -> dict[str, tuple[float, ...]]:
    """The shares of a kind under the values of its parent, where they differ from those overall.

    None is 0: what a table calls impossible is rare, as there are always people who are both.
    """
    shares = crossing.shares or crossing.prevalence
    for text in sorted(line.rows.keys() - {*parent.texts}):
        raise UsageError.unknown(f"value of {line.parent}", text, parent.texts)
    whole = crossing.how == "share"
    rows = np.array([_row(line.rows.get(each, {}), shares, whole=whole) for each in parent.texts])
    average = parent.joint.sum(axis=0) @ rows / parent.joint.sum() / [*shares.values()]
    if not parent.several and ((average > MOST) | (average < 1 / MOST)).any():
        what = f"the shares of {line.kind} under {line.parent} are not those overall on average"
        raise UsageError(what, "the average has to come within a fifth of them")
    return {
        value: tuple((people @ rows / people.sum()).round(DECIMALS).clip(0.1**DECIMALS).tolist())
        for value, people in zip(parent.values, parent.joint, strict=True)
        if people.sum() and (parent.name != line.parent or value in line.rows)
    }


def _row(row: Mapping[str, float], shares: Mapping[str, float], *, whole: bool) -> Floats:
    """The share of each value: as a row has it, others as overall, of what is left if ``whole``."""
    for value in sorted(row.keys() - shares.keys()):
        raise UsageError.unknown("value", value, shares)
    others = sum(share for value, share in shares.items() if value not in row)
    factor = max(1 - sum(row.values()), 0.0) / others if whole and others else 1.0
    every: Floats = np.array([row.get(value, share * factor) for value, share in shares.items()])
    return every / every.sum() if whole else every
