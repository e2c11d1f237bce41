"""Many people in many ways, by one process or several."""

import numpy as np
import pytest

from examples.search_service.replay.strategies import BEST, NOTHING, SHIPPED, Way
from examples.search_service.replay.streams import drawn
from examples.search_service.replay.walk import Trace, Walker
from examples.search_service.replay.workers import Run, traces
from tests.examples.evaluate.made import model, others, scene

WAYS = (NOTHING, SHIPPED[1], BEST)
PEOPLE = drawn(others(), 23, 4, seed=1)


def same(one: Trace, other: Trace) -> bool:
    """Say whether two traces are."""
    return all(np.array_equal(*each) for each in zip(one, other, strict=True))


@pytest.mark.parametrize("processes", [1, 2])
def test_traces_are_those_of_each_person_alone(processes: int) -> None:
    """In the order of the people, whoever walked before; and progress ends where all is done."""
    told: list[float] = []
    run = Run(processes, lambda _what, share: told.append(share))
    found = traces(model(), scene(), WAYS, PEOPLE, run)
    assert found.keys() == set(WAYS)
    for way in WAYS:
        alone = [walked(way, place) for place in range(len(PEOPLE))]
        assert all(map(same, found[way], alone))
        assert len(found[way]) == len(PEOPLE)
    assert told == sorted(told)
    assert told[-1] == 1.0


def walked(way: Way, place: int) -> Trace:
    """Return one person's trace, walked by nobody who walked before."""
    return Walker(way, scene().world(model())).walk(PEOPLE[place])
