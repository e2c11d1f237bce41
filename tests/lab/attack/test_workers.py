"""Many people in many ways, by one process or several; exact search beside local search."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.decision import choice
from agent.lab.attack import study as module
from agent.lab.attack import ways
from agent.lab.attack.heldout import Person, drawn
from agent.lab.attack.outcome import Crowd
from agent.lab.attack.services import chosen
from agent.lab.attack.simulation import Scene
from agent.lab.attack.ways import (
    ANSWERED,
    EVERYTHING,
    EXACT,
    LEDGER,
    NOTHING,
    OWN,
    RANDOM,
    SHIPPED,
    Way,
)
from agent.lab.attack.workers import (
    AT_ONCE,
    Run,
    Searched,
    Searcher,
    Work,
    traces,
    worked,
)
from agent.model.model import Model
from agent.tradeoff.local_search import ROUNDING, SetFunction
from agent.tradeoff.search import Algorithm, Result, maximise
from tests.decision.made import made_model
from tests.lab.attack.made import PEOPLE, model, others, same, still, walker

WAYS = (NOTHING, SHIPPED[1], OWN[0], RANDOM[0], EVERYTHING)
SENDERS = drawn(others(), AT_ONCE + 3, 4, seed=1)
FEW, CODES = SENDERS[:5], others().codes
EVERYBODY = drawn(others(), PEOPLE, 6, seed=5)
EXACTLY = (EXACT, *(replace(way, algorithm="exact") for way in LEDGER))
TELLING = replace(EXACTLY[1], trade_off=0.01)


@pytest.mark.parametrize("processes", [1, 2])
def test_traces_are_those_of_each_person_alone(processes: int) -> None:
    """In the order of the people, whoever walked before; and progress ends where all is done."""
    told: list[float] = []
    run = Run(processes, lambda _what, share: told.append(share))
    found = traces(model(), Scene(), (*WAYS, SHIPPED[1]), SENDERS, run)
    assert found.keys() == set(WAYS)
    for way in WAYS:
        alone = [walker(way)(person) for person in SENDERS]
        assert len(found[way]) == len(SENDERS)
        assert all(map(same, found[way], alone))
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
    for way, found in both.items():
        assert all(map(same, (trace for trace, _ in found), sent[way]))
        for (_, one), other in zip(found, left[way], strict=True):
            assert one.agreeing.tolist() == other.agreeing.tolist()
            assert one.producing.tolist() == other.producing.tolist()


somebody = st.sampled_from(EVERYBODY)


def anew() -> Model:
    """Return a model like `model` that remembers no decision of the true search."""
    return made_model(1, PEOPLE)


def stopped(
    function: SetFunction, algorithm: Algorithm, epsilon: float, *, patient: bool
) -> Result:
    """Search; local search stops after its first move."""
    large = 1e9 if algorithm == "lls" else epsilon
    return maximise(function, algorithm, large, restarts=0, patient=patient)


def searched(way: Way, person: Person) -> Searched:
    """Return what comes of a person's requests, by one who has searched for nobody yet."""
    return Searcher(way, model(), Scene(), still).searched(person)


@given(somebody, st.sampled_from(EXACTLY))
def test_no_set_is_better_than_the_exact_one(person: Person, way: Way) -> None:
    """Of so few attributes all are ruled out but the best set, whatever F looks like."""
    for each in searched(way, person).compared:
        assert each.proven
        assert each.gained >= -ROUNDING
        if each.same:
            assert each.gained == pytest.approx(0)


@given(somebody, st.sampled_from(EXACTLY))
def test_what_is_sent_is_as_the_way_has_it(person: Person, way: Way) -> None:
    """Each request is compared, and as long as all were the same both ways have sent the same."""
    found, local = searched(way, person), replace(way, algorithm="lls")
    assert same(found.trace, walker(way)(person))
    assert len(found.compared) == len(person.requests)
    alike = int(np.cumprod([each.same for each in found.compared]).sum())
    assert walker(local)(person).sent[:alike] == found.trace.sent[:alike]


def test_each_of_the_two_ways_has_what_it_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """One attribute by a local search that stops after its first move, and more by exact search."""
    monkeypatch.setattr(choice, "maximise", stopped)
    single = replace(TELLING, algorithm="lls")
    monkeypatch.setattr(ways, "SINGLE", single)
    monkeypatch.setattr(ways, "EXACT", TELLING)
    crowd = Crowd(EVERYBODY[:4], others().codes, (), (1, 6))
    service, _ = chosen(model(), 1, lambda *_: None)
    found = module.exactly(anew(), crowd, service, Run(1, lambda *_: None), 1)
    local, exact = (found.outcomes[each] for each in (single, TELLING))
    assert (local.carried[:, 0] == 1).all()
    assert (exact.carried[:, 0] > 1).all()
    missed = [each for each in found.compared if not each.same]
    assert len(missed) >= 4
    assert all(each.gained > 0 for each in missed)


def test_many_searches_are_those_of_each_person_alone() -> None:
    """But for seconds, and whoever was searched for before."""
    people, quiet = EVERYBODY[:8], Run(1, lambda _what, _share: None)
    search = Work("search", Scene())
    found = worked(model(), search, {EXACTLY[1]: people}, quiet)[EXACTLY[1]]
    for each, person in zip(found, people, strict=True):
        alone = searched(EXACTLY[1], person)
        assert each.compared == alone.compared
        assert same(each.trace, alone.trace)
