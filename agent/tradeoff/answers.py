"""Answers to attributes of the request: what each leaves of the people who look alike.

A person's values of these differ from request to request, so that an answer is a combination of
values, more or less likely for each person (DESIGN.md 2.2). People whom nothing at hand tells apart
are counted once, and so are their likelihoods.
"""

from collections.abc import Iterator, Sequence
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
    """Return what every answer leaves of the classes of some items.

    An answer's likelihood is a product, and items are in the order of their kinds: so one attribute
    after the other is summed up, from the last on, over items that agree in those before it.
    """
    label, kinds = items.label[part], [kind[part] for kind in items.kinds]
    begins = [np.diff(label, prepend=-1) != 0]
    for kind in kinds[:-1]:
        begins.append(begins[-1] | (np.diff(kind, prepend=-1) != 0))
    peak, left = np.ones((1, len(label))), np.arange(len(label))
    rows = np.zeros((1, len(label))) if peaks else items.rows[part][None]
    people = None if items.people is None else items.people[part][None]
    for values, kind, begin in zip(likely[::-1], kinds[::-1], begins[::-1], strict=True):
        chances, starts = values.take(kind[left], axis=1), np.flatnonzero(begin[left])
        peak = _folded(np.maximum, peak, chances, starts)
        rows = np.zeros_like(peak) if peaks else _folded(np.add, rows, chances, starts)
        people = None if people is None else _folded(np.add, people, chances, starts)
        left = left[starts]
    return Answered(label[left], peak, rows, people)


def _folded(how: np.ufunc, found: Floats, chances: Floats, starts: Indexes) -> Floats:
    """Return figures by answer and item with one more attribute answered, over runs of items.

    ``chances``: of each of its values, by item; ``starts``: where a run begins; ``how``: what a
    run comes to.
    """
    folded, shares = np.empty((len(chances), len(found), len(starts))), np.empty_like(found)
    for chance, summed in zip(chances, folded, strict=True):
        how.reduceat(np.multiply(found, chance, out=shares), starts, axis=1, out=summed)
    return folded.reshape(-1, len(starts))
