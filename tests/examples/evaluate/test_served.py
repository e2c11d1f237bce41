"""How the service ranks what requests carry, and who is left."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from agent.lab.attack.heldout import Person, drawn
from agent.lab.attack.strategies import Strategy
from examples.search_service.ranking import Ranker
from examples.search_service.replay.lines import BEST, NOTHING, PLAIN, SHIPPED, Line
from examples.search_service.replay.plain import PlainRanker
from examples.search_service.replay.served import Served, Service
from tests.lab.attack.made import PEOPLE, model, others, walker

FREE = Line("free", Strategy(name="free", trade_off=0.0, answered=True))
LINES = (NOTHING, *SHIPPED, BEST, PLAIN, FREE)
EVERYBODY = drawn(others(), PEOPLE, 8, seed=3)

somebody = st.sampled_from(EVERYBODY)
lines = st.sampled_from(LINES)


def served(line: Line, person: Person) -> Served:
    """Return what comes of a person's requests."""
    trace = walker(line.strategy)(person)
    return Service.of(model(), others().codes).served(line, person, trace)


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


@given(somebody)
def test_who_tells_nothing_stays_one_of_all(person: Person) -> None:
    """And tells nothing."""
    found = served(NOTHING, person)
    assert not found.told.any()
    assert (found.left == PEOPLE).all()


@given(somebody, lines)
def test_people_left_are_never_more_and_the_person_is_one(person: Person, line: Line) -> None:
    """Of the model's people, and of the others."""
    found = served(line, person)
    assert found.left.shape == (len(person.requests), 2)
    assert (np.diff(found.left, axis=0) <= 0).all()
    assert (found.left[:, 1] >= 1).all()
