"""What is sent in each strategy, and what its recipients then hold."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.build.build import model_of
from agent.build.observe import HALF_KEY, in_half_a, observe
from agent.lab.attack.material import held_out
from agent.lab.attack.outcome import Reasoner
from agent.lab.attack.simulation import Person, Reticent, people_of
from agent.lab.attack.strategies import (
    ANSWERED,
    EVERYTHING,
    FORGETFUL,
    LEDGER,
    NOTHING,
    OWN,
    PLANNED,
    SHIPPED,
    STANDING,
    Strategy,
)
from agent.lab.attack.study import AT_ONCE, Run, worked
from tests.build.worlds import QUIET, World, options, source
from tests.lab.worlds import PEOPLE, model, names, others, quiet, walker

pytestmark = QUIET

PERSONS = (1 << model().persons) - 1
ALL = (1 << len(names())) - 1
FREE = Strategy(name="free", answered=True, trade_off=0.0)
DECIDED = (*SHIPPED, *ANSWERED, FORGETFUL[0], STANDING[0], LEDGER[0], PLANNED[0], FREE)
CHOSEN = (NOTHING, *DECIDED, *OWN)
EVERYBODY = people_of(others(), PEOPLE, 8, seed=3)

somebody = st.sampled_from(EVERYBODY)
requests = st.none() | st.frozensets(st.sampled_from(names()))


@given(somebody, st.sampled_from((*CHOSEN, EVERYTHING)), requests)
def test_a_recipient_holds_what_it_was_sent(
    person: Person, strategy: Strategy, requested: frozenset[str] | None
) -> None:
    """Of the person alone; and only everything is sent unasked."""
    trace, held = walker(strategy, requested)(person), 0
    for step, sent in enumerate(trace.sent):
        held |= sent & PERSONS
        assert trace.disclosed[step] == held
    assert len(trace.disclosed) == len(person.requests)
    asked = ALL if requested is None else sum(1 << names().index(each) for each in requested)
    if strategy is EVERYTHING:
        assert {*trace.sent} == {ALL}
    else:
        assert not any(sent & ~asked for sent in trace.sent)


STRATEGIES = (NOTHING, SHIPPED[1], OWN[0], FORGETFUL[0], PLANNED[0], EVERYTHING)
SENDERS = people_of(others(), AT_ONCE + 3, 4, seed=1)
FEW, CODES = SENDERS[:5], others().codes


@pytest.mark.parametrize("processes", [1, 2])
def test_traces_are_those_of_each_person_alone(processes: int) -> None:
    """In the order of the people, whoever walked before; and progress ends where all is done."""
    done: list[float] = []
    run = Run(processes, lambda _what, share: done.append(share))
    found = worked(model(), dict.fromkeys(STRATEGIES, SENDERS), run)
    for strategy in STRATEGIES:
        assert found[strategy] == [walker(strategy)(person) for person in SENDERS]
    assert done == sorted(done)
    assert done[-1] == 1.0


def test_who_reasons_traces_as_well() -> None:
    """The same traces, and who is left as whoever reasons alone finds it."""
    for strategy, both in worked(
        model(), dict.fromkeys((OWN[0], ANSWERED[1]), FEW), Run(1, quiet), CODES
    ).items():
        assert [trace for trace, _ in both] == [*map(walker(strategy), FEW)]
        reason = Reasoner(Reticent(strategy, model()), model(), CODES)
        for (_, found), person in zip(both, FEW, strict=True):
            expected = reason.inferred(person)
            assert found.agreeing.tolist() == expected.agreeing.tolist()
            assert found.producing.tolist() == expected.producing.tolist()


USERS = [f"user {number}" for number in range(40)]
SEEN = dict(zip(USERS, in_half_a(USERS, HALF_KEY).tolist(), strict=True))
STRANGE = next(user for user in USERS if not SEEN[user])
SEEDS = st.integers(0, 2**32)


def world() -> World:
    """Return two tables; one of the other half asks and wants what nobody of the first does."""
    users = [(user, "ab"[number % 2], "xyz"[number % 3]) for number, user in enumerate(USERS)]
    events = [
        (user, query, "st"[(number + shift) % 2], "uv"[shift])
        for number, user in enumerate(USERS)
        for shift, query in enumerate(("editor", "shell"))
        if number % 5
    ]
    strange = [(STRANGE, "editor", "unheard", "u"), (STRANGE, "nowhere", "s", "")]
    return World(
        (("user", "p0", "p1"), *users), (("user", "query", "intent", "r0"), *events, *strange)
    )


def test_the_others_are_the_people_whom_the_model_has_not_seen() -> None:
    """Every event of theirs that the model has a result for, with the values it came with."""
    tables = source(world())
    model = model_of(tables, options(half="A"), quiet)
    held = held_out(observe(tables, options(half="B")), model)
    values = {user: rest for user, *rest in world().users[1:]}
    expected = Counter(
        (*values[user], query, intent, request)
        for user, query, intent, request in world().events[1:]
        if not SEEN[user] and query != "nowhere" and intent != "unheard"
    )
    found: Counter[tuple[str, ...]] = Counter()
    for person, codes in enumerate(held.codes):
        these = slice(*held.starts[person : person + 2])
        for query, intent, request in zip(
            held.query[these], held.intent[these], held.request[these], strict=True
        ):
            asked = model.queries[query]
            told = zip(model.attributes, (*codes, *request), strict=True)
            *own, hour = (attribute.values[code] for attribute, code in told)
            found[*own, asked.text, asked.intents[intent], hour] += 1
    assert found == expected
    assert held.unranked == 2
    asking = {user for user, *_ in world().events[1:] if not SEEN[user]}  # one in five does not
    assert len(held.askers) == len(asking)
    assert len(held.codes) == sum(not seen for seen in SEEN.values())
    assert model.population.rows == sum(SEEN.values())


@given(SEEDS, st.integers(1, PEOPLE), st.integers(1, 20))
def test_fewer_are_a_beginning_of_more(seed: int, people: int, requests: int) -> None:
    """So that a longer run continues a shorter one."""
    every = people_of(others(), 10 * PEOPLE, 20, seed)
    assert len(every) == len(others().askers) == PEOPLE
    some = people_of(others(), people, requests, seed)
    assert some == tuple(
        each._replace(requests=each.requests[:requests]) for each in every[:people]
    )


@given(SEEDS)
def test_everybody_is_drawn_once_and_asks_what_they_asked(seed: int) -> None:
    """Each person's codes and requests are of one and the same held-out person; seeds differ."""
    held, people = others(), people_of(others(), PEOPLE, 6, seed)
    assert people[:5] != people_of(held, 5, 6, seed + 1)
    assert sorted(person.place for person in people) == [*range(PEOPLE)]
    for person in people:
        assert person.codes == tuple(held.codes[person.place].tolist())
        these = slice(*held.starts[person.place : person.place + 2])
        rows = held.query[these], held.intent[these], map(tuple, held.request[these].tolist())
        assert {(*each, "") for each in zip(*rows, strict=True)}.issuperset(person.requests)
