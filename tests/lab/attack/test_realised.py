"""What people got: by the service's word, request by request."""

import numpy as np
import pytest

from agent.lab.attack.heldout import drawn
from agent.lab.attack.outcome import realised
from agent.lab.attack.services import Recipe, Service, heard
from agent.lab.attack.simulation import Trace
from agent.lab.attack.ways import EVERYTHING, NOTHING, RANDOM, Way
from tests.lab.attack.made import model, others, walker

PEOPLE = drawn(others(), 12, 9, 1)
SERVICE = Service(model(), Recipe("factored, tempered", 0.5), 1)


def test_nothing_told_brings_nothing() -> None:
    """Not a bit, and results in the order that everybody gets."""
    found = realised(SERVICE, PEOPLE, [walker(NOTHING)(each) for each in PEOPLE])
    assert (found.bits == 0).all()
    assert (found.told == 0).all()
    assert found.bits.shape == found.reciprocal.shape == (12, 9)
    best = [int(np.argmax(SERVICE.chances(query))) for query in range(len(model().queries))]
    for one, person in enumerate(PEOPLE):
        for number, asked in enumerate(person.requests):
            first = asked.intent == best[asked.query]
            assert (found.reciprocal[one, number] == 1) == first


@pytest.mark.parametrize("way", [EVERYTHING, *RANDOM[:2]], ids=lambda way: way.name)
def test_each_request_is_scored_by_what_it_carries(way: Way) -> None:
    """As if it were the only one."""
    traces = [walker(way)(each) for each in PEOPLE]
    found = realised(SERVICE, PEOPLE, traces)
    for one, (person, trace) in enumerate(zip(PEOPLE, traces, strict=True)):
        for number, (asked, mask) in enumerate(zip(person.requests, trace.sent, strict=True)):
            codes = np.array([(*person.codes, *asked.request)], np.uint8)
            scores = SERVICE.scores(asked.query, heard(codes, [mask]))[0]
            assert found.bits[one, number] == pytest.approx(scores[asked.intent])
            chances = 2**scores * SERVICE.chances(asked.query)
            rank = 1 / found.reciprocal[one, number]
            assert (chances > chances[asked.intent]).sum() < rank
            assert rank <= (chances >= chances[asked.intent] - 1e-12).sum()
            assert found.told[one, number] == mask.bit_count()


def test_what_was_told_earlier_is_not_remembered() -> None:
    """The service sees the request alone."""
    person = PEOPLE[0]
    whole = walker(EVERYTHING)(person).sent
    last = Trace((*(0,) * 8, whole[-1]), (0,) * 9, np.zeros(9))
    first = realised(SERVICE, [person], [Trace(whole, (0,) * 9, np.zeros(9))])
    second = realised(SERVICE, [person], [last])
    assert first.bits[0, -1] == second.bits[0, -1]
    assert (second.bits[0, :-1] == 0).all()
