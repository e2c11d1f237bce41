"""What many traces say together."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from agent.lab.attack.simulation import Person, people_of
from agent.lab.attack.strategies import Strategy
from examples.search_service.evaluate import main
from examples.search_service.ranking import Ranker
from examples.search_service.replay import figures as replayed
from examples.search_service.replay.figures import BEST, NOTHING, PLAIN, SHIPPED, Compared, Line
from examples.search_service.replay.served import PlainRanker, Served, Service
from tests.build.worlds import QUIET
from tests.house.tree import ROOT
from tests.lab.worlds import PEOPLE, model, others, walker

pytestmark = QUIET

BY = Compared(NOTHING, BEST, seed=5)
OURS = SHIPPED[0]
counts = st.integers(0, 200)


def trace(ranks: list[int], left: tuple[int, int] = (60, 60)) -> Served:
    """Return a trace with two attributes a request, and these people left after the last."""
    steps = len(ranks)
    told = np.full(steps, 2, dtype=np.int32)
    people = np.array([(999, 999)] * (steps - 1) + [left])
    return Served(np.array(ranks, dtype=np.int32), told, people)


@st.composite
def results(draw: st.DrawFn) -> dict[Line, list[Served]]:
    """Draw the traces of some people in three ways: the best ranking is never worse."""
    people = draw(st.integers(1, 30))
    worse = draw(arrays(np.int32, (people, 2), elements=st.integers(2, 9)))
    ours = draw(arrays(np.int32, (people, 2), elements=st.integers(1, 9)))
    left = draw(st.lists(st.tuples(counts, counts), min_size=people, max_size=people))
    return {
        NOTHING: [trace(each.tolist()) for each in worse],
        BEST: [trace((each - 1).tolist()) for each in worse],
        OURS: [trace(each.tolist(), some) for each, some in zip(ours, left, strict=True)],
    }


@given(results())
def test_the_best_keeps_all_and_nothing_none(traces: dict[Line, list[Served]]) -> None:
    """In every resample: that is what paired means."""
    found = replayed.figures(traces, BY)
    for line, share in ((NOTHING, 0.0), (BEST, 1.0)):
        assert found[line].kept == pytest.approx((share,) * 3)
    kept, ranks = found[OURS].kept, {line: found[line].rank.mean for line in found}
    assert kept is not None
    gain = (ranks[OURS] - ranks[NOTHING]) / (ranks[BEST] - ranks[NOTHING])
    assert kept.mean == pytest.approx(gain)


FREE = Line("free", Strategy(name="free", trade_off=0.0, answered=True))
LINES = (NOTHING, *SHIPPED, BEST, PLAIN, FREE)
EVERYBODY = people_of(others(), PEOPLE, 8, seed=3)

somebody = st.sampled_from(EVERYBODY)
lines = st.sampled_from(LINES)


def served(line: Line, person: Person) -> Served:
    """Return what comes of a person's requests."""
    return Service.of(model(), others().codes).served(line, person, walker(line.strategy)(person))


@given(somebody, lines)
def test_requests_are_ranked_by_what_they_carry(person: Person, line: Line) -> None:
    """As the service ranks; what is not specified travels only where everything is told."""
    found, trace = served(line, person), walker(line.strategy)(person)
    ranker = {"best": Ranker, "plain": PlainRanker}[line.ranking](model())
    names, ranks = [each.name for each in model().attributes], []
    for asked, sent in zip(person.requests, trace.sent, strict=True):
        own = zip(names, (*person.codes, *asked.request), strict=True)
        pairs = {name: code for place, (name, code) in enumerate(own) if sent >> place & 1}
        if line not in (BEST, PLAIN):
            pairs = {name: code for name, code in pairs.items() if code}
        ranking = ranker.rank(asked.query, pairs)
        ranks.append(ranking.rank(asked.intent))
        assert line != PLAIN or {*ranking.used} == {*names}
    assert found.ranks.tolist() == ranks
    assert found.told.tolist() == [sent.bit_count() for sent in trace.sent]


TABLES = ROOT / "examples" / "own_tables"
SMALL = ["--data", str(TABLES), "--people", "4", "--requests", "2"]


def printed(capsys: pytest.CaptureFixture[str], *more: str) -> str:
    assert main([*SMALL, *more]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def test_the_same_seed_prints_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    """By one process or two, and another seed something else; the tables say it in 80 columns."""
    one = printed(capsys, "--processes", "1", "--json")
    assert printed(capsys, "--processes", "1", "--json", "--seed", "2") != one
    text, found = printed(capsys, "--processes", "2"), json.loads(one)
    assert max(map(len, text.splitlines())) <= 80
    assert found["setting"]["people"] == 4
    assert len(found["frontier"]) == 20
    for way in found["lines"]:
        assert way["name"] in text
        assert f"{way['reciprocal_rank']['mean']:.3f}" in text
    by_name = {way["name"]: way for way in found["lines"]}
    assert by_name["nothing"]["left_in_model"]["1%"] == found["setting"]["model"]
    assert by_name["all, best ranking"]["attributes"] == found["setting"]["attributes"]


def test_what_cannot_be_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    """And a way out, on standard error."""
    for options, says in (
        (["--people", "0"], "--people cannot be 0"),
        (["--seed", "-1"], "--seed cannot be -1"),
        (["--data", "nowhere"], "there is no table users"),
    ):
        assert main([*SMALL, *options]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        first, second = err.splitlines()
        assert first.startswith("evaluate: error: ")
        assert says in first
        assert second.startswith("evaluate: hint: ")
