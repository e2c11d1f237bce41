"""Many people under many strategies, in one process or several."""

import pytest

from agent.lab.attack.heldout import drawn
from agent.lab.attack.simulation import Scene
from agent.lab.attack.strategies import ANSWERED, EVERYTHING, NOTHING, OWN, RANDOM, SHIPPED
from agent.lab.attack.study import AT_ONCE, Run, Work, traces, worked
from tests.lab.attack.made import model, others, same, walker

STRATEGIES = (NOTHING, SHIPPED[1], OWN[0], RANDOM[0], EVERYTHING)
SENDERS = drawn(others(), AT_ONCE + 3, 4, seed=1)
FEW, CODES = SENDERS[:5], others().codes


@pytest.mark.parametrize("processes", [1, 2])
def test_traces_are_those_of_each_person_alone(processes: int) -> None:
    """In the order of the people, whoever walked before; and progress ends where all is done."""
    told: list[float] = []
    run = Run(processes, lambda _what, share: told.append(share))
    found = traces(model(), Scene(), (*STRATEGIES, SHIPPED[1]), SENDERS, run)
    assert found.keys() == set(STRATEGIES)
    for strategy in STRATEGIES:
        alone = [walker(strategy)(person) for person in SENDERS]
        assert len(found[strategy]) == len(SENDERS)
        assert all(map(same, found[strategy], alone))
    assert told == sorted(told)
    assert told[-1] == 1.0


def test_what_is_watched_is_as_by_itself() -> None:
    """Traces as traces, and who is left as whoever reasons alone finds it."""
    quiet = Run(1, lambda _what, _share: None)
    people = dict.fromkeys((OWN[0], ANSWERED[1]), FEW)
    both = worked(model(), Work("send and reason", Scene(), CODES), people, quiet)
    sent = traces(model(), Scene(), [*people], FEW, quiet)
    left = worked(model(), Work("reason", Scene(), CODES), people, quiet)
    assert both.keys() == people.keys()
    for strategy, found in both.items():
        assert all(map(same, (trace for trace, _ in found), sent[strategy]))
        for (_, one), other in zip(found, left[strategy], strict=True):
            assert one.agreeing.tolist() == other.agreeing.tolist()
            assert one.producing.tolist() == other.producing.tolist()
