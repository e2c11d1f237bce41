"""Statistical matching: columns of other surveys, drawn onto the people of a model (DESIGN.md 2.8).

Each row gets a donor who agrees with it in the keys, and from this donor all columns of that
survey. So these hang together as they do there, and with the rest as far as the keys carry it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

import ibis
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from agent.build.canonical import Codes, mixed
from agent.build.engines import connected, header_of, reading, scanned
from agent.build.options import DonorsNote
from agent.build.tables import number_of, tidy
from agent.errors import BuildError, UsageError
from agent.model.attributes import UNSPECIFIED, Attribute
from agent.model.file import MAX_WEIGHT, MIN_PEOPLE
from agent.tradeoff.tables import Floats, Indexes, Numbers

FEWEST = 10  # donors to draw from: where fewer agree, the last of the keys is given up
_PEOPLE = "people a donor stands for"  # a column, beside those of the table
_RANGE = re.compile(r"(\d+)\.\.(\d+)")

Bools = NDArray[np.bool_]
Hashes = NDArray[np.uint64]
Where = Mapping[str, Sequence[str]]  # by column the values that count


class Sample(NamedTuple):
    """People of one survey, as far as another survey has the same columns.

    ``keys``: integers, shape (N, K), their codes, the most important key first; ``people``:
    float64, shape (N,), above 0, for how many people each stands.
    """

    keys: Numbers
    people: Floats


def matched(rows: Sample, hashes: Hashes, donors: Sample, agrees: Sequence[Bools]) -> Indexes:
    """Draw a donor for each row: intp, shape (N,), positions of donors.

    A donor agrees with the row in every key; where fewer than FEWEST do, the last keys are given
    up, one after the other. Rows that have the same donors to draw from share them in proportion to
    the donors' people, to within one row (systematic sampling, Madow 1949).
    ``hashes``: uint64, shape (N,), the order of drawing; ``agrees``: for each key bool, shape
    (codes of rows, codes of donors).
    """
    chosen = np.empty(len(rows.keys), dtype=np.intp)
    classes, keys = list[Bools](), np.empty(rows.keys.shape, dtype=np.intp)
    for key, table in enumerate(agrees):  # codes with which the same donors agree are one class
        kinds, of_code = np.unique(table, axis=0, return_inverse=True)
        keys[:, key] = of_code.ravel()[rows.keys[:, key]]
        classes.append(kinds)
    shuffled = np.argsort(mixed(np.arange(len(donors.keys), dtype=np.uint64)), kind="stable")
    for cell, some in _cells(keys, donors.keys, classes, np.arange(len(chosen)), shuffled):
        own = cell[np.argsort(hashes[cell], kind="stable")]
        people, start = rows.people[own], float(mixed(hashes[own[:1]])[0]) / 2**64
        at = ((np.cumsum(people) - people / 2) / people.sum() + start) % 1
        ends = np.cumsum(donors.people[some])
        place = np.searchsorted(ends, at * ends[-1], side="right")
        chosen[own] = some[place.clip(max=len(some) - 1)]
    return chosen


def _cells(
    rows: Numbers, donors: Numbers, agrees: Sequence[Bools], alike: Indexes, some: Indexes
) -> Iterator[tuple[Indexes, Indexes]]:
    """Yield which rows draw from which donors, of those who agree in the keys before."""
    if not agrees:
        yield alike, some
        return
    key, rest = rows.shape[1] - len(agrees), []
    codes = rows[alike, key]
    for code in np.unique(codes):
        inside, fitting = alike[codes == code], some[agrees[0][code, donors[some, key]]]
        if len(fitting) < FEWEST:
            rest.append(inside)
        else:
            yield from _cells(rows, donors, agrees[1:], inside, fitting)
    if rest:
        yield np.concatenate(rest), some


def unqualified(columns: Iterable[str]) -> tuple[str, ...]:
    """Columns without the name of their survey, which may stand before a dot."""
    return tuple(each.rpartition(".")[2] for each in columns)


class Coded(NamedTuple):
    """People by attributes.

    ``attributes``: P or more; ``codes``: uint8, shape (N, P), of the first of them; ``people``:
    float64, shape (N,), for how many people each stands; ``hashes``: uint64, shape (N,), the order
    of drawing.
    """

    attributes: Sequence[Attribute]
    codes: Codes
    people: Floats
    hashes: Hashes

    def places(self, columns: Iterable[str]) -> list[int]:
        """The places of columns; UsageError for one that does not exist."""
        names = [each.name for each in self.attributes[: self.codes.shape[1]]]
        wanted = unqualified(columns)
        for each in wanted:
            if each not in names:
                raise UsageError.unknown("column", each, names)
        return [names.index(each) for each in wanted]

    def where(self, conditions: Where) -> Bools:
        """Who has in each of these columns one of its values, bool, shape (N,)."""
        inside = np.ones(len(self.codes), dtype=np.bool_)
        for place, values in zip(self.places(conditions), conditions.values(), strict=True):
            listed = [self.attributes[place].code(each) for each in values]
            inside &= np.isin(self.codes[:, place], listed)
        return inside

    def chances(self, name: str) -> Hashes:
        """Other hashes, by chance, for each name: uint64, shape (N,)."""
        salt = int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little")
        return mixed(self.hashes ^ np.uint64(salt))

    def filled(self, codes: Numbers, keys: Sequence[str], name: str) -> Numbers:
        """The codes of a kind with those that are 0 drawn from people alike in the keys."""
        unknown, places = codes == 0, self.places(keys)
        if not unknown.any():
            return codes
        if unknown.all():
            raise BuildError(f"nobody has a value of kind {name!r}", "check its columns")
        alike = [np.eye(len(self.attributes[each].values), dtype=np.bool_) for each in places]
        own = self.codes[:, places]
        rows, donors = (Sample(own[some], self.people[some]) for some in (unknown, ~unknown))
        filled = codes.copy()
        filled[unknown] = codes[~unknown][matched(rows, self.chances(name)[unknown], donors, alike)]
        return filled

    def split(
        self, rows: Bools, shares: Mapping[str, float], among: Mapping[str, Where]
    ) -> Indexes:
        """Draw one of the finer values for some people: its place among them, shape (N,).

        Each for its share of their weight, to within one of them, among those who may have it; the
        value that most may have takes the rest.
        """
        drawn = np.zeros(len(rows), dtype=np.intp)
        able = {value: self.where(among.get(value, {})) for value in shares}
        rest, whole = rows.copy(), self.people[rows].sum()
        for value in sorted(shares, key=lambda each: int((able[each] & rows).sum())):
            drawn[rest] = [*shares].index(value)
            some = np.flatnonzero(rest & able[value])
            some = some[np.argsort(self.chances(value)[some], kind="stable")]
            before = np.cumsum(self.people[some]) - self.people[some] / 2
            rest[some[before <= shares[value] * whole]] = False
        return drawn


class Survey(NamedTuple):
    """A table of donors.

    ``texts``: by column its values, "" first, which stands for what is not known; ``codes``: by
    column the code of each donor, shape (D,); ``people``: float64, shape (D,), for how many people
    each stands.
    """

    note: DonorsNote
    texts: Mapping[str, tuple[str, ...]]
    codes: Mapping[str, Numbers]
    people: Floats

    def agrees(self, attribute: Attribute) -> Bools:
        """Which donors agree with which values of a key, as `matched` takes it."""
        key = self.note.keys[attribute.name]
        texts = self.texts[key.column]
        agrees = np.zeros((len(attribute.values), len(texts)), dtype=np.bool_)
        for value, listed in key.values.items():
            code = attribute.code(value)
            for each in listed:
                fits = [_fits(text, each) for text in texts]
                if not any(fits):
                    raise UsageError.unknown(f"value of {key.column}", each, texts[1:])
                agrees[code] |= fits
        agrees[~agrees.any(axis=1)] = True  # what is not known is matched by the other keys
        return agrees


def _fits(text: str, listed: str) -> bool:
    ends = _RANGE.fullmatch(listed)
    if ends is None or not text.isdecimal():
        return text == listed
    return int(ends[1]) <= int(text) <= int(ends[2])


def read_survey(note: DonorsNote) -> Survey:
    """Read a table of donors, in an order of its contents.

    Raises UsageError if there is no such file or column; BuildError if it is not a table, is empty,
    or has a number of people that cannot be.
    """
    path, engine, number = note.file, connected(), note.weights or note.counts
    header = header_of(engine, path)
    columns = [*dict.fromkeys((*(each.column for each in note.keys.values()), *note.columns))]
    for each in (*columns, *([number] if number else ())):
        if each not in header:
            raise UsageError.unknown("column", each, header)
    with reading(engine, path):
        table = tidy(scanned(engine, path, header))
        people = number_of(table[number]) if number else ibis.literal(1.0)
        rows = table.select(*columns, **{_PEOPLE: people}).order_by(*columns, _PEOPLE).to_pyarrow()
    stand = rows[_PEOPLE].to_numpy()
    whole = stand == np.rint(stand) if note.counts else True
    if not len(stand) or not (whole & (stand >= MIN_PEOPLE) & (stand <= MAX_WEIGHT)).all():
        what = f"column {number!r} has no {'count' if note.counts else 'weight'} in some row"
        hint = f"it says how many people a row stands for, from 1 to {MAX_WEIGHT:g}"
        raise BuildError(what if len(stand) else "the table has no rows", hint, str(path))
    row_of = np.repeat(np.arange(len(stand)), stand.astype(np.intp) if note.counts else 1)
    texts, codes = {}, {}
    for each in columns:
        texts[each] = ("", *sorted({*rows[each].unique().to_pylist()} - {None, UNSPECIFIED}))
        places = pc.index_in(rows[each], pa.array(texts[each])).fill_null(0).to_numpy()
        codes[each] = places.astype(np.min_scalar_type(len(texts[each])))[row_of]
    return Survey(note, texts, codes, np.ones(len(row_of)) if note.counts else stand)


def with_drawn(people: Coded, surveys: Mapping[str, Survey]) -> tuple[Codes, Numbers]:
    """Draw from surveys: all codes, uint8, shape (N, P), and the donors, shape (surveys, N).

    ``people``: with the attributes that are drawn, but not their codes. UsageError for a key that
    people do not have, or a value that it does not have.
    """
    by_name, columns, donors = {each.name: each for each in people.attributes}, [people.codes], []
    for name, (note, texts, codes, stand_for) in surveys.items():
        rows = Sample(people.codes[:, people.places(note.keys)], people.people)
        agrees = [surveys[name].agrees(by_name[key]) for key in note.keys]
        keys = np.stack([codes[each.column] for each in note.keys.values()], axis=1)
        chosen = matched(rows, people.chances(name), Sample(keys, stand_for), agrees)
        donors.append(chosen)
        for each in note.columns:
            values = (UNSPECIFIED, *texts[each][1:])
            code = np.array([by_name[each].code(value) for value in values], dtype=np.uint8)
            columns.append(code[codes[each][chosen], None])
    return np.hstack(columns), np.array(donors)
