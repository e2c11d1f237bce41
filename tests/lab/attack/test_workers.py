"""Many people in many ways, by one process or several."""

import pytest

from agent.lab.attack.heldout import drawn
from agent.lab.attack.simulation import Scene
from agent.lab.attack.ways import ANSWERED, EVERYTHING, NOTHING, OWN, RANDOM, SHIPPED
from agent.lab.attack.workers import AT_ONCE, Run, inferences, traces, watched
from tests.lab.attack.made import model, others, same, walker

WAYS = (NOTHING, SHIPPED[1], OWN[0], RANDOM[0], EVERYTHING)
PEOPLE = drawn(others(), AT_ONCE + 3, 4, seed=1)
FEW, CODES = PEOPLE[:5], others().codes


@pytest.mark.parametrize("processes", [1, 2])
def test_traces_are_those_of_each_person_alone(processes: int) -> None:
    """In the order of the people, whoever walked before; and progress ends where all is done."""
    told: list[float] = []
    run = Run(processes, lambda _what, share: told.append(share))
    found = traces(model(), Scene(), (*WAYS, SHIPPED[1]), PEOPLE, run)
    assert found.keys() == set(WAYS)
    for way in WAYS:
        alone = [walker(way)(person) for person in PEOPLE]
        assert len(found[way]) == len(PEOPLE)
        assert all(map(same, found[way], alone))
    assert told == sorted(told)
    assert told[-1] == 1.0


@pytest.mark.parametrize("processes", [1, 2])
def test_what_is_watched_is_as_by_itself(processes: int) -> None:
    """Traces as traces, and who is left as whoever reasons alone finds it."""
    quiet = Run(processes, lambda _what, _share: None)
    ways = dict.fromkeys((OWN[0], ANSWERED[1]), FEW)
    both = watched(model(), Scene(), ways, CODES, quiet)
    sent = traces(model(), Scene(), [*ways], FEW, quiet)
    left = inferences(model(), Scene(), ways, CODES, quiet)
    assert both.keys() == ways.keys()
    for way, found in both.items():
        assert all(map(same, (trace for trace, _ in found), sent[way]))
        for (_, one), other in zip(found, left[way], strict=True):
            assert one.agreeing.tolist() == other.agreeing.tolist()
            assert one.producing.tolist() == other.producing.tolist()
