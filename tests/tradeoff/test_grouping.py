"""Sets of attributes, and the classes that they divide rows into."""

import sqlite3
from contextlib import closing
from itertools import product
from math import log, log2, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.grouping import CodeColumn, Grouping, Presence, tally
from agent.tradeoff.measures import METRICS, Metric
from agent.tradeoff.tables import Population, members, singleton, subsets, union
from tests.tradeoff.worlds import Known, World, known, rich_worlds

SIZES = [1, 3, 256, 21_845, 21_846, 65_536, 65_537]  # about where 16 bits end, for 3 values or 1
KS = st.integers(1, 6)
CLASSES = """
SELECT COUNT(*) FROM (
    SELECT SUM(IIF(attribute IN (SELECT attribute FROM asked), code << 8 * attribute, 0)) AS answer
    FROM cell
    GROUP BY person
    HAVING NOT SUM(EXISTS (
        SELECT 1 FROM known WHERE known.attribute = cell.attribute AND known.code <> cell.code
    ))
)
GROUP BY answer
"""


@pytest.mark.parametrize("size", SIZES)
@given(
    st.lists(st.sampled_from([1, 2, 3, 9, 300]), min_size=1, max_size=6),
    st.integers(1, 60),
    st.integers(0, 2**32 - 1),
)
def test_every_table_is_the_count_of_its_attribute(
    size: int, cards: list[int], items: int, seed: int
) -> None:
    """The last group and the last value, where an overflow would show, occur."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, size, items)
    labels[0] = size - 1
    columns = []
    for card in cards:
        codes = random.integers(0, card, items).astype(np.min_scalar_type(card - 1))
        codes[0] = card - 1
        columns.append(CodeColumn(codes, card))
    for column, table in zip(columns, tally(labels, size, columns)[0], strict=True):
        expected = np.zeros((column.card, size), dtype=np.intp)
        np.add.at(expected, (column.codes, labels), 1)
        assert np.array_equal(table.reshape(column.card, size), expected)


@given(st.data(), st.integers(1, 40), st.integers(1, 6))
def test_classes_are_the_pairs_of_group_and_value_that_occur(
    data: st.DataObject, items: int, groups: int
) -> None:
    """Whatever the attributes: with more values than a byte has bits, or than a byte has values."""
    cards = data.draw(st.lists(st.sampled_from([1, 2, 7, 8, 9, 17, 300]), min_size=1, max_size=12))
    columns = [
        CodeColumn(
            np.array(
                data.draw(st.lists(st.integers(0, card - 1), min_size=items, max_size=items)),
                dtype=np.min_scalar_type(card - 1),
            ),
            card,
        )
        for card in cards
    ]
    drawn = data.draw(st.lists(st.integers(0, groups - 1), min_size=items, max_size=items))
    used, labels = np.unique(drawn, return_inverse=True)
    expected = [len(set(zip(drawn, each.codes.tolist(), strict=True))) for each in columns]
    assert Presence(columns).classes(Grouping(labels, len(used))) == expected


def grouped(population: Population, mask: int, what: Known) -> list[int]:
    """Return the sizes of the classes of people who look alike, as SQLite counts them."""
    cells = ((*place, code) for place, code in np.ndenumerate(population.codes.astype(object)))
    with closing(sqlite3.connect(":memory:")) as tables:
        tables.execute("CREATE TABLE cell (person INT, attribute INT, code INT)")
        tables.execute("CREATE TABLE known (attribute INT, code INT)")
        tables.execute("CREATE TABLE asked (attribute INT)")
        tables.executemany("INSERT INTO cell VALUES (?, ?, ?)", cells)
        tables.executemany("INSERT INTO known VALUES (?, ?)", what)
        tables.executemany("INSERT INTO asked VALUES (?)", ((each,) for each in members(mask)))
        return [count for (count,) in tables.execute(CLASSES)]


@given(rich_worlds(requests=0), st.data(), KS)
def test_the_closed_forms_on_classes_counted_by_sql(
    world: World, data: st.DataObject, k: int
) -> None:
    """With equal weights and person attributes only: the right column of DESIGN.md 2.2."""
    population = Population(world.population.codes)
    what = data.draw(known(world))
    crowd, total = AnonymitySet(population, world.cards, what), population.rows
    if crowd.people < 2:
        return
    for mask in subsets(world.everything):
        sizes = grouped(population, mask, what)
        m = sum(sizes)
        assert m == crowd.people
        certain, small = log(total + 1), sum(c for c in sizes if c < k)
        peaks = [certain if c == 1 else -log(1 - 1 / c) for c in sizes]
        expected: dict[Metric, float] = {
            "maxprob": len(sizes) / m,
            "log-maxprob": sum(c / m * peak for c, peak in zip(sizes, peaks, strict=True)),
            "k-anonymity": small / m,
            "entropy": sum(c / m * log2(m / c) for c in sizes),
        }
        found = {metric: crowd.identifiability(mask, metric, k) for metric in METRICS}
        assert found == pytest.approx(expected)
        assert crowd.people_left(mask) == pytest.approx(sum(c * c for c in sizes) / m)


@given(st.lists(st.integers(1, 4), min_size=2, max_size=4))
def test_the_closed_form_of_theorem_3_2(cards: list[int]) -> None:
    """I_m(A) is the product, over i outside A, of the largest chance of a value of i.

    Of everybody there can be, each as likely as the others.
    """
    codes = np.array([*product(*map(range, cards))], np.uint8)
    crowd, everything = AnonymitySet(Population(codes), cards), (1 << len(cards)) - 1
    for mask in subsets(everything):
        expected = prod(1 / cards[i] for i in members(everything & ~mask))
        assert crowd.identifiability(mask, "maxprob", 1) == pytest.approx(expected)


def test_entropy_is_the_wrong_way_round() -> None:
    """The baseline that the paper rejects costs less the more is known: it is submodular."""
    codes = np.array([[0, 0], [0, 0], [1, 1], [1, 0]], np.uint8)
    crowd = AnonymitySet(Population(codes), (2, 2))
    costs = [crowd.identifiability(mask, "entropy", 1) for mask in range(4)]
    assert costs[3] - costs[1] < costs[2] - costs[0]


ATTRIBUTES = st.sets(st.integers(0, 70))


@given(ATTRIBUTES)
def test_a_set_is_its_members(attributes: set[int]) -> None:
    """In ascending order, however it was put together; more than 64 are no trouble."""
    mask = union(attributes)
    assert list(members(mask)) == sorted(attributes)
    assert mask == sum(map(singleton, attributes)) == union(sorted(attributes, reverse=True))


@given(st.sets(st.integers(0, 70), max_size=8))
def test_subsets_are_all_of_them(attributes: set[int]) -> None:
    """Each once, the empty one first, in ascending order."""
    mask = union(attributes)
    found = list(subsets(mask))
    assert found == sorted(set(found))
    assert len(found) == 2 ** len(attributes)
    assert found[0] == 0
    assert all(subset & ~mask == 0 for subset in found)
