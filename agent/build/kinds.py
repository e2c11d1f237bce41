"""People by the kinds of facts that they have, where a crosswalk says which columns hold a kind.

A kind that columns hold is one of several values. What no column says is drawn: a value that is not
known from somebody alike in other columns, a finer value by its share. The people are weighted
anew, so that every value is as common as the crosswalk says. Other kinds are counted by shares.
"""

import gzip
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, TypeVar

import msgspec
import numpy as np
from msgspec import Meta, Struct, structs

from agent.build.attributes import TableColumn, attributes_of
from agent.build.matching import Coded, Hashes, unqualified
from agent.build.options import AttributeNote, BuildOptions, KindsNote
from agent.errors import BuildError, UsageError, misfit
from agent.files import read_bytes
from agent.model.attributes import NAME, PRICES, Block, SharedKind
from agent.model.file import MIN_PEOPLE
from agent.tradeoff.tables import Floats, Numbers

MAX_BYTES = 2**24
SWEEPS = 100
CLOSE = 1e-6  # to 1, of shares
T = TypeVar("T")
Conditions = dict[str, tuple[str, ...]]  # by column the values that count
Share = Annotated[float, Meta(gt=0, le=1)]


class Crossing(Struct, frozen=True, forbid_unknown_fields=True):
    """Where a kind is held, as FORMAT_DESCRIPTION.md has it.

    Raises ValueError for shares that do not sum to 1, or of values that are not those of the kind.
    """

    how: Literal["column", "share", "multi"]
    source: str
    columns: tuple[str, ...] = ()
    values: dict[str, Conditions] = {}
    split: dict[str, dict[str, Share]] = {}
    shares: dict[str, Share] = {}
    prevalence: dict[str, Share] = {}
    mean_count: float = 0.0
    among: dict[str, Conditions] = {}
    excludes: dict[str, tuple[str, ...]] = {}

    def __post_init__(self) -> None:
        finer = chain.from_iterable(self.split.values())
        values = {*self.values, *self.shares, *self.prevalence, *finer}
        excluded = chain.from_iterable(self.excludes.values())
        named = {*self.split, *self.among, *self.excludes, *excluded}
        for value in sorted(named - values - {"*"}):
            raise ValueError(f"value {value!r} is not one of its kind")
        of_columns, shared = {*self.values}, {*self.shares}
        wanted = {"share": shared, "multi": {*self.prevalence}, "column": of_columns}[self.how]
        scaled = self.how == "column" and shared and shared != of_columns
        if not wanted or scaled or of_columns - wanted:
            raise ValueError(f"a kind held by {self.how!r} has shares or columns of other values")
        for shares in (*self.split.values(), self.shares or {"": 1.0}):
            if abs(sum(shares.values()) - 1) > CLOSE:
                raise ValueError(f"the shares of {', '.join(shares)} do not sum to 1")


class KindLine(Struct, frozen=True):
    """A kind as people know it: title, and sensitivity 1 (would tell anybody) to 5 (nobody)."""

    id: str
    title: str
    sensitivity: Annotated[int, Meta(ge=1, le=len(PRICES))]


def raked(people: Floats, margins: Sequence[tuple[Numbers, Floats]]) -> Floats:
    """Weights under which each code has its share; in all as many people, float64, shape (N,).

    ``margins``: codes, integers, shape (N,), and the share of each code, above 0. Iterative
    proportional fitting (Deming and Stephan 1940), SWEEPS times; with margins that contradict each
    other the last ones hold. No row stands for fewer than MIN_PEOPLE.
    """
    whole = people.sum()
    for codes, shares in (each for _ in range(SWEEPS) for each in margins):
        current = np.bincount(codes, people, len(shares))
        factors = np.divide(shares * whole, current, out=np.ones(len(shares)), where=current > 0)
        people = people * factors[codes]
    return np.asarray(np.maximum(people * (whole / people.sum()), MIN_PEOPLE))


def read_file(path: Path, decode: Callable[[bytes], T]) -> T:
    """Decode a file of kinds; UsageError if it does not fit."""
    try:
        return decode(read_bytes(path, MAX_BYTES))
    except (msgspec.MsgspecError, UnicodeDecodeError, EOFError, OSError, zlib.error) as error:
        what = misfit(error) if isinstance(error, msgspec.ValidationError) else "it is damaged"
        hint = "agent/build/FORMAT_DESCRIPTION.md has every key"
        raise UsageError(f"the kinds do not fit: {what}", hint, str(path)) from error


def lines_of(data: bytes, kind: type[T]) -> list[T]:
    """Decode JSON lines, compressed by gzip."""
    return [msgspec.json.decode(each, type=kind) for each in gzip.decompress(data).splitlines()]


def read_kinds(note: KindsNote) -> dict[str, tuple[KindLine, Crossing]]:
    """Read the kinds, and where each is held, by id; UsageError for files that do not fit."""
    decode = partial(msgspec.toml.decode, type=dict[str, Crossing])
    crossings: dict[str, Crossing] = read_file(note.crosswalk, decode)
    lines = read_file(note.file, partial(lines_of, kind=KindLine))
    titles = {each.id: each for each in lines if NAME.fullmatch(each.id)}
    for kind in sorted(crossings.keys() ^ titles.keys()):
        raise UsageError.unknown("kind", kind, crossings.keys() & titles.keys())
    return {kind: (titles[kind], each) for kind, each in crossings.items()}


class InKinds(NamedTuple):
    """What columns hold of the kinds, by attribute.

    ``kinds``: as they were read; ``values``: of those that columns hold, and ``codes``: integers,
    shape (N,), from 1 on; ``people``: float64, shape (N,), for how many people each row stands by
    now; ``marks``: which attributes were drawn, and when.
    """

    kinds: dict[str, tuple[KindLine, Crossing]]
    values: dict[str, tuple[str, ...]]
    codes: dict[str, Numbers]
    people: Floats
    marks: dict[str, str]

    def holding(self, column: str) -> list[str]:
        """The attributes that a column holds, first that of which it is the main one."""
        columns = {name: unqualified(self.kinds[name][1].columns) for name in self.values}
        names = (name for name, some in columns.items() if column in some)
        return sorted(names, key=lambda name: columns[name][0] != column)


def in_kinds(people: Coded, note: KindsNote) -> InKinds:
    """Put the columns of people into kinds.

    UsageError for files that do not fit the columns; BuildError for values of a kind that overlap.
    """
    kinds, margins = read_kinds(note), list[tuple[Numbers, Floats]]()
    by_columns = {kind: each for kind, (_, each) in kinds.items() if each.how == "column"}
    by_kind, unknown = dict[str, Numbers](), list[str]()
    for kind, each in by_columns.items():
        codes: Numbers = np.zeros(len(people.codes), dtype=np.intp)
        for number, (value, conditions) in enumerate(each.values.items(), 1):
            inside = people.where(conditions)
            if codes[inside].any():
                what = f"kind {kind!r}: somebody has {value!r} and another value"
                raise BuildError(what, "make the conditions of its values exclude each other")
            codes[inside] = number
        unknown += [kind] if not codes.all() else []
        by_kind[kind] = people.filled(codes, note.fill, kind)
        if each.shares:
            shares = [0.0, *(each.shares[value] for value in each.values)]
            margins.append((by_kind[kind], np.array(shares)))
    people = people._replace(people=raked(people.people, margins))
    values = dict[str, tuple[str, ...]]()
    for kind, each in by_columns.items():
        by_kind[kind], values[kind] = _finer(people, by_kind[kind], each)
    split = [kind for kind, each in by_columns.items() if each.split]
    marks = {"drawn_where_unknown": ", ".join(unknown), "drawn_by_share": ", ".join(split)}
    return InKinds(kinds, values, by_kind, people.people, marks)


def _finer(people: Coded, coarse: Numbers, crossing: Crossing) -> tuple[Numbers, tuple[str, ...]]:
    """The codes of a kind with its finer values, and these."""
    parts = [crossing.split.get(each, {each: 1.0}) for each in crossing.values]
    values = [*dict.fromkeys(chain.from_iterable(parts))]
    codes = np.zeros(len(coarse), dtype=np.intp)
    for number, shares in enumerate(parts, 1):
        rows = coarse == number
        place = np.array([values.index(each) + 1 for each in shares])
        codes[rows] = place[people.split(rows, shares, crossing.among)[rows]]
    return codes, tuple(values)


def by_kinds(
    in_columns: InKinds,
    shared: Sequence[SharedKind],
    hashes: Hashes,
    blocks: Sequence[Block],
    options: BuildOptions,
) -> tuple[Coded, tuple[Block, ...]]:
    """The people by kinds in place of columns, and the blocks of drawn columns likewise.

    ``shared``: the other kinds, whose attributes follow those of columns; ``hashes``: of the
    people, as they were. Errors as `attributes_of`.
    """
    notes, columns = dict[str, AttributeNote](), dict[str, TableColumn]()
    slots = [(kind, kind, "", values) for kind, values in in_columns.values.items()]
    for each in shared:
        named = zip(each.slots, ("", " (second)", " (third)"), strict=False)
        slots += [(name, each.name, which, each.values) for name, which in named]
    for name, kind, which, values in slots:
        line, counted = in_columns.kinds[kind][0], "" if kind in in_columns.values else kind
        price = PRICES[line.sensitivity - 1]
        notes[name] = AttributeNote(title=line.title + which, sensitivity=price, values=values)
        columns[name] = TableColumn("person", 0, (), counted)
    for name, note in options.description.attributes.items():  # what it says comes first
        given = {key: value for key, value in structs.asdict(note).items() if value}
        notes[name] = structs.replace(notes.get(name, note), **given)
    attributes = attributes_of(columns, options.described(attributes=notes), {})
    codes = np.stack([*in_columns.codes.values()], 1).astype(np.uint8)
    coded = Coded(attributes, codes, in_columns.people, hashes)
    of_kinds = list[Block]()
    for block in blocks:
        drawn = dict.fromkeys(chain(*map(in_columns.holding, block.attributes)))
        keys = (name for key in block.keys for name in in_columns.holding(key)[:1])
        of_kinds.append(replace(block, attributes=tuple(drawn), keys=tuple(keys)))
    return coded, tuple(of_kinds)
