"""What exact search would choose in place of local search."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.lab.attack.searched import Searcher, cut
from agent.lab.attack.streams import Person, drawn
from agent.lab.attack.walk import Scene
from agent.lab.attack.ways import LEDGER, SINGLE, Way
from agent.lab.attack.workers import Run, comparisons
from agent.tradeoff.search import EPSILON
from tests.lab.attack.made import PEOPLE, model, others, still, walker

EVERYBODY = drawn(others(), PEOPLE, 6, seed=5)
WAYS = (SINGLE, *LEDGER)
streams = st.sampled_from(cut(EVERYBODY, 60, 1))


@given(streams, st.sampled_from(WAYS))
def test_no_set_is_better_than_the_exact_one(person: Person, way: Way) -> None:
    """Nor is local search far from it: what is enumerated is the best there is."""
    found = Searcher(way, model(), Scene(), still).compared(person)
    assert found.proven
    assert found.gained >= -EPSILON
    if found.same:
        assert found.gained == pytest.approx(0)


@given(streams, st.sampled_from(WAYS))
def test_the_exact_search_beside_itself_is_the_same(person: Person, way: Way) -> None:
    """In the state that the stream came to."""
    exact = replace(way, algorithm="exact")
    assert Searcher(exact, model(), Scene(), still).compared(person)[:3] == (True, 0, True)


@pytest.mark.parametrize("processes", [1, 2])
def test_by_several_processes_the_same(processes: int) -> None:
    """But for seconds."""
    people, quiet = cut(EVERYBODY, 8, 2), Run(processes, lambda _what, _share: None)
    found = comparisons(model(), Scene(), LEDGER[0], people, quiet)
    alone = [Searcher(LEDGER[0], model(), Scene(), still).compared(each) for each in people]
    assert [each[:3] for each in found] == [each[:3] for each in alone]


@given(st.integers(1, 30), st.integers(0, 99))
def test_streams_are_cut_somewhere(count: int, seed: int) -> None:
    """After one request at least, of somebody; a stream that is cut begins as the whole one."""
    for number, each in enumerate(cut(EVERYBODY[:4], count, seed)):
        whole = EVERYBODY[number % 4]
        assert 1 <= len(each.requests) <= len(whole.requests)
        assert whole.requests[: len(each.requests)] == each.requests
        trace = walker(LEDGER[0]).walk(each)
        assert walker(LEDGER[0]).walk(whole).sent[: len(trace.sent)] == trace.sent
