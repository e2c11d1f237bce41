"""Dividing items into groups by their attribute codes, and counting the groups."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from math import prod
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from agent.tradeoff.tables import Codes, Floats, Indexes, QueryRows, members, stable_order

SPARSE = 12  # beyond this many times their number, keys are quicker to sort
_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd, so that no bit of a key is lost
KEYS = 1 << 48  # combined codes stay below this
SMALL = 1 << 16  # keys below this are made in 16 bits, four times as many at once
BITS = 8  # of a byte
BYTES = 8  # of a word
KEPT = 24  # partitions remembered, 8 bytes an item each


def number(keys: Indexes, size: int) -> tuple[Indexes, Indexes]:
    """Number keys, intp, shape (items,), all from 0 to below ``size``, in ascending order.

    The number of each item's key, and the keys in use.
    """
    if size > SPARSE * len(keys) + SPARSE:
        order, numbers = stable_order(keys), np.empty(len(keys), dtype=np.intp)
        ordered = keys[order]
        first = np.diff(ordered, prepend=-1) != 0
        numbers[order] = np.cumsum(first) - 1
        return numbers, ordered[first]
    present = np.zeros(size, dtype=bool)
    present[keys] = True
    used, numbers = np.flatnonzero(present), np.empty(size, dtype=np.intp)
    numbers[used] = np.arange(len(used))
    return numbers[keys], used


def multiplicity(keys: Indexes, size: int) -> Indexes:
    """For each item, how many items have its key; arguments as for `number`."""
    numbers, _ = number(keys, size)
    return np.bincount(numbers)[numbers]


def ordered_sum(terms: Floats) -> float:
    """Add up float64 terms, smallest first: groups may come in any order."""
    return float(np.sort(terms).sum())


def plogp(probabilities: Floats) -> Floats:
    """P log2 p for each p >= 0, in bits, with 0 for p = 0."""
    logs = np.log2(probabilities, out=np.zeros_like(probabilities), where=probabilities > 0)
    return probabilities * logs


def mass_of(labels: Indexes, masses: Floats, groups: int) -> Floats:
    """The mass of each group, float64, shape (groups,), added in the order of items."""
    return np.bincount(labels, weights=masses, minlength=groups).astype(np.float64, copy=False)


def last_of_each(labels: Indexes, groups: int) -> Indexes:
    """The last item of each group, intp, shape (groups,); 0 for a group without any."""
    last = np.zeros(groups, dtype=np.intp)
    last[labels] = np.arange(len(labels))
    return last


class CodeColumn(NamedTuple):
    """One attribute: its codes, shape (items,), whole numbers from 0 to below ``card``."""

    codes: Codes | Indexes
    card: int


class Grouping(NamedTuple):
    """Which group each item is in: ``labels`` (intp, shape (items,)) lie in 0..size-1."""

    labels: Indexes
    size: int = 1


def refine(groups: Grouping, columns: Iterable[CodeColumn]) -> Grouping:
    """Divide groups by attributes, in ascending order; many labels may be out of use."""
    labels, size = groups
    for codes, card in columns:
        if size * card > KEYS:
            labels, used = number(labels, size)
            size = len(used)
        labels = labels * card
        labels += codes
        size *= card
    return Grouping(labels, size)


def divide(groups: Grouping | int, columns: Iterable[CodeColumn]) -> Grouping:
    """Divide groups, or a number of items, by attributes; every label is in use, in their order."""
    whole = groups if isinstance(groups, Grouping) else Grouping(np.zeros(groups, np.intp))
    labels, used = number(*refine(whole, columns))
    return Grouping(labels, len(used))


def tally(labels: Indexes, size: int, columns: Sequence[CodeColumn]) -> list[NDArray[np.intp]]:
    """Count items by value and group: for each attribute a table, intp, of shape (values, size).

    ``labels``: intp, shape (items,), the group of each item, below ``size``.
    """
    tables, short = list[NDArray[np.intp]](), labels.astype(np.uint16)  # of use where they fit
    for codes, card in columns:
        groups = short if size * card < SMALL else labels
        items = np.multiply(codes, size, dtype=groups.dtype)
        items += groups
        tables.append(np.bincount(items, minlength=card * size).reshape(card, size))
    return tables


def peaks(
    labels: NDArray[Any], numbers: NDArray[Any], order: Indexes, some: Indexes
) -> Callable[[Floats], Floats]:
    """A function of float64 by item: the largest of each number, summed up by group.

    ``labels``, ``numbers``: integers, shape (items,), the group of each item, and of whom it is;
    ``order``: of the items by their number, stable; ``some``: the groups that are wanted, by their
    places in the order of labels.
    """
    order = order[stable_order(labels[order])]
    labels, numbers = labels[order], numbers[order]
    new = np.ones((2, len(order)), dtype=bool)  # groups, and numbers
    new[:, 1:] = labels[1:] != labels[:-1], numbers[1:] != numbers[:-1]
    starts = np.flatnonzero(new.any(axis=0))
    groups = np.flatnonzero(new[0, starts])

    def summed(chances: Floats) -> Floats:
        largest: Floats = np.maximum.reduceat(chances[order], starts)
        return np.add.reduceat(largest, groups)[some]

    return summed


class Presence:
    """For each item one bit per value of each attribute, set where the item has that value.

    The bits of a group's items, or-ed together, count the values that occur in it: all
    attributes in one pass over the items, where counting the items takes a pass for a few.
    """

    def __init__(self, columns: Sequence[CodeColumn]) -> None:
        """Take the attributes of the items; each gets whole bytes."""
        planes, first = list[NDArray[np.uint8]](), list[int]()
        for codes, card in columns:
            first.append(len(planes))
            for least in range(0, card, BITS):
                # A code below or above these eight values becomes a shift that leaves nothing.
                shift = np.minimum(codes - codes.dtype.type(least), BITS).astype(np.uint8)
                planes.append(np.left_shift(np.uint8(1), shift))
        bits = np.zeros((len(planes) + -len(planes) % BYTES, len(planes[0])), dtype=np.uint8)
        bits[: len(planes)] = planes
        self._words = np.ascontiguousarray(np.ascontiguousarray(bits.T).view(np.uint64).T)
        self._first_bits = BITS * np.array(first)

    def classes(self, grouping: Grouping) -> list[int]:
        """How many classes each attribute divides the groups into.

        Every label of ``grouping`` must be in use.
        """
        order = stable_order(grouping.labels)
        sizes = np.bincount(grouping.labels, minlength=grouping.size)
        first = np.cumsum(sizes) - sizes
        groups = [np.bitwise_or.reduceat(word.take(order), first) for word in self._words]
        present = np.unpackbits(np.stack(groups, axis=1).view(np.uint8), axis=1, bitorder="little")
        by_value = present.sum(axis=0, dtype=np.intp)
        classes: list[int] = np.add.reduceat(by_value, self._first_bits).tolist()
        return classes


Division = TypeVar("Division")


class Divisions(Generic[Division]):
    """Divisions by sets of attributes, each made from one that is remembered and near.

    Which of them are remembered decides how fast an answer comes, never what it is.
    """

    def __init__(
        self,
        start: Division,
        divide: Callable[[Division, int], Division],
        limit: int,
        merge: Callable[[Division, int], Division] | None = None,
    ) -> None:
        """Begin with the undivided table; ``divide`` refines by a set of more attributes.

        ``merge``: makes the division by a set from one that is finer; it is preferred to dividing.
        """
        self._start, self._divide, self._limit, self._merge = start, divide, limit, merge
        self._recent: OrderedDict[int, Division] = OrderedDict()

    def __getitem__(self, mask: int) -> Division:
        """The division by ``mask``."""
        if mask in self._recent:
            self._recent.move_to_end(mask)
        elif mask:
            if self._merge and (finer := self.finer(mask)):
                self._recent[mask] = self._merge(finer, mask)
            else:
                self._recent[mask] = self._divide(*self.nearest(mask))
            if len(self._recent) > self._limit:
                self._recent.popitem(last=False)
        return self._recent[mask] if mask else self._start

    def finer(self, mask: int) -> Division | None:
        """A division remembered by a set of one more attribute, if any is."""
        sets = (
            each for each in self._recent if not mask & ~each and (each ^ mask).bit_count() == 1
        )
        if near := next(sets, 0):
            self._recent.move_to_end(near)
        return self._recent.get(near)

    def nearest(self, mask: int) -> tuple[Division, int]:
        """The finest division remembered by a subset of ``mask``, and the rest of the mask."""
        coarser = (each for each in self._recent if not each & ~mask)
        base = max(coarser, key=int.bit_count, default=0)
        return self._recent.get(base, self._start), mask & ~base


class Columns:
    """Codes by attribute and item, and the partitions of the items by sets of attributes.

    Labels depend on the path by which a partition came about; whatever is computed from them
    must not (counts are integers, and floats are added in the order of the items or sorted).
    """

    def __init__(
        self,
        codes: Codes,
        cards: Sequence[int],
        items: Indexes | None = None,
        more: Mapping[int, CodeColumn] | None = None,
    ) -> None:
        """Take the codes, one contiguous row per attribute, shape (attributes, items).

        ``items``: intp, those that count, of which codes are taken as they are needed; None: all;
        ``more``: further attributes.
        """
        self.codes, self.cards = codes, tuple(cards)
        self.items = codes.shape[1] if items is None else len(items)
        """How many items there are."""
        every = {at: CodeColumn(*pair) for at, pair in enumerate(zip(codes, cards, strict=False))}
        every |= more or {}
        self.column: Callable[[int], CodeColumn] = cache(
            lambda at: every[at] if items is None else CodeColumn(every[at][0][items], every[at][1])
        )
        """One attribute."""
        whole = Grouping(np.zeros(self.items, np.intp))
        self.dense = Divisions(whole, lambda groups, mask: divide(groups, self.of(mask)), KEPT)
        """The partition by each set, every label in use."""
        self.presence = cache(lambda: Presence([*map(self.column, range(len(codes)))]))
        """The values of every item, to count classes by."""

    def of(self, mask: int, items: Indexes | None = None) -> list[CodeColumn]:
        """The attributes of a set; ``items``: intp, of these alone."""
        some = [self.column(each) for each in members(mask)]
        return some if items is None else [CodeColumn(codes[items], n) for codes, n in some]

    def classes(self, mask: int, items: Indexes | None = None) -> tuple[NDArray[Any], int]:
        """The class of each item, unsigned or intp, and how many classes there may be.

        A few attributes of few values tell apart in 16 bits, a quarter of the memory to go through.
        ``items``: intp, these alone.
        """
        columns, count = self.of(mask, items), self.items if items is None else len(items)
        size = prod(each.card for each in columns)
        if size >= min(SMALL, SPARSE * count):
            if items is not None:
                return divide(count, columns)
            coarser, rest = self.dense.nearest(mask)
            finer = refine(coarser, self.of(rest))
            return finer if finer.size <= SPARSE * len(finer.labels) else self.dense[mask]
        keys = np.zeros(count, np.uint16)
        for codes, card in columns:
            keys *= np.uint16(card)
            keys += codes
        return keys, size


def row_columns(rows: QueryRows, cards: Sequence[int]) -> Columns:
    """Lay the users' person attributes out by row, next to the request attributes."""
    person = np.ascontiguousarray(rows.person.T).take(rows.user, axis=1)
    return Columns(np.concatenate([person, rows.request.T]) if rows.request.size else person, cards)


def keys_of(codes: NDArray[np.unsignedinteger]) -> NDArray[np.uint64]:
    """A hash of each row of codes: uint64, shape (N,)."""
    keys = np.zeros(len(codes), dtype=np.uint64)
    for column in codes.T:
        keys = keys * _FACTOR + column
    return keys
