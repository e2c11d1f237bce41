"""Answers to attributes of the request: what each leaves of the people who look alike.

A person's values of these differ from request to request, so that an answer is a combination of
values, more or less likely for each person (DESIGN.md 2.2). People whom nothing at hand tells apart
are counted once, and so are their likelihoods.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np

from agent.tradeoff.grouping import SPARSE, Grouping, mass_of, number
from agent.tradeoff.tables import Codes, Floats, Indexes

BLOCK = 1 << 12  # items whose likelihoods are computed at once: what a cache holds
KEYS = 1 << 62  # combined numbers stay below this


class Items(NamedTuple):
    """Rows of the population that nothing at hand tells apart, in order of their class.

    Of each item ``label``: intp, its class; ``kinds``: intp, one array per request attribute, of
    which kind its rows are; ``rows``: float64, how many there are; ``people``: float64, for how
    many they stand, None where each stands for one.
    """

    label: Indexes
    kinds: Sequence[Indexes]
    rows: Floats
    people: Floats | None


class Answered(NamedTuple):
    """What the answers leave of some classes, each an array of float64, shape (answers, classes).

    With L the likelihood of an answer by row, ``peak``: the largest L; ``rows``: the sum of L;
    ``people``: the sum of L times weight, None without weights. ``label``: intp, (classes,).
    """

    label: Indexes
    peak: Floats
    rows: Floats
    people: Floats | None

    def some(self, which: slice) -> "Answered":
        """Return the same of some of the classes."""
        people = None if self.people is None else self.people[:, which]
        return Answered(self.label[which], self.peak[:, which], self.rows[:, which], people)


def in_order(grouping: Grouping, sample: Indexes) -> Grouping:
    """Return groups in the order of ``sample``, one row of each, on whatever path they came."""
    place = np.empty(grouping.size, dtype=np.intp)
    place[np.argsort(sample)] = np.arange(grouping.size)
    return Grouping(place[grouping.labels], grouping.size)


def items_of(
    grouping: Grouping, kinds: Sequence[Codes], sizes: Sequence[int], weights: Floats | None
) -> Items:
    """Return the items of rows, by their groups and by their kinds, of which there are ``sizes``.

    ``weights``: float64, one per row, as numbers whose sums are exact; None: each is one person.
    """
    key, size = grouping.labels, grouping.size
    steps = list[int | Indexes]()
    for kind, count in zip(kinds, sizes, strict=True):
        if size * count > KEYS:
            key, used = number(key, size)
            size = len(used)
            steps.append(used)
        key, size = key * count + kind, size * count
        steps.append(count)
    people: Floats | None = None
    if weights is None and size > SPARSE * len(key) + SPARSE:
        key = np.sort(key)
        first = np.flatnonzero(np.diff(key, prepend=-1))
        used, rows = key[first], np.diff(first, append=len(key))
    else:
        numbers, used = number(key, size)
        rows = np.bincount(numbers)
        people = None if weights is None else mass_of(numbers, weights, 0)
    found = list[Indexes]()
    for step in reversed(steps):
        if isinstance(step, int):
            used, last = np.divmod(used, step)
            found.append(last)
        else:
            used = step[used]
    return Items(used, found[::-1], rows.astype(np.float64), people)


def answered(items: Items, likely: Sequence[Floats], *, peaks: bool = False) -> Iterator[Answered]:
    """Yield what every answer leaves of each class, some classes at a time, in their order.

    ``likely``: for each request attribute P(v|kind), float64, shape (values, kinds);
    ``peaks``: whether nothing but ``peak`` is asked for.
    """
    before: Answered | None = None
    for first in range(0, len(items.label), BLOCK):
        part = slice(first, first + BLOCK)
        found = _of_block(items, part, likely, peaks=peaks)
        if before is not None:  # the last class of the block before goes on in this one
            np.maximum(found.peak[:, 0], before.peak[:, 0], out=found.peak[:, 0])
            found.rows[:, 0] += before.rows[:, 0]
            if found.people is not None and before.people is not None:
                found.people[:, 0] += before.people[:, 0]
        edge = items.label[part.stop - 1 : part.stop + 1].tolist()
        goes_on = len(edge) > 1 and edge[0] == edge[1]
        before = found.some(slice(-1, None)) if goes_on else None
        yield found.some(slice(-1)) if goes_on else found


def _of_block(items: Items, part: slice, likely: Sequence[Floats], *, peaks: bool) -> Answered:
    """Return what every answer leaves of the classes of some items."""
    label = items.label[part]
    starts = np.flatnonzero(np.diff(label, prepend=-1))
    *earlier, last = (
        each.take(kind[part], axis=1) for each, kind in zip(likely, items.kinds, strict=True)
    )
    shape = prod(map(len, likely)), len(starts)
    peak, rows = np.empty(shape), np.zeros(shape)
    weights = None if items.people is None else items.people[part]
    people = None if weights is None else np.empty(shape)
    found, counted = np.empty_like(last), np.empty_like(last)
    for place, combination in enumerate(product(*(range(len(each)) for each in earlier))):
        first = [each[value] for each, value in zip(earlier, combination, strict=True)]
        np.multiply(last, prod(first[1:], start=first[0]) if first else 1.0, out=found)
        these = slice(place * len(last), (place + 1) * len(last))
        np.maximum.reduceat(found, starts, axis=1, out=peak[these])
        if not peaks:
            np.multiply(found, items.rows[part], out=counted)
            np.add.reduceat(counted, starts, axis=1, out=rows[these])
        if weights is not None and people is not None:
            np.multiply(found, weights, out=counted)
            np.add.reduceat(counted, starts, axis=1, out=people[these])
    return Answered(label[starts], peak, rows, people)
