"""What is sent in each strategy, and what its recipients then hold."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.build.build import model_of
from agent.build.observe import HALF_KEY, in_half_a, observe
from agent.errors import UsageError
from agent.lab.attack.material import held_out
from agent.lab.attack.outcome import Reasoner
from agent.lab.attack.simulation import Person, Reticent, Scene, people_of
from agent.lab.attack.strategies import (
    ANSWERED,
    DEMOGRAPHICS,
    EVERYTHING,
    FORGETFUL,
    LEDGER,
    NOTHING,
    OWN,
    PLANNED,
    RANDOM,
    SHIPPED,
    STANDING,
    TOPICS,
    Strategy,
)
from agent.lab.attack.study import AT_ONCE, Run, Work, traces, worked
from tests.build.worlds import QUIET, World, options, source
from tests.lab.worlds import PEOPLE, model, names, others, quiet, walker

pytestmark = QUIET

PERSONS = (1 << model().persons) - 1
ALL = (1 << len(names())) - 1
FREE = Strategy(name="free", answered=True, trade_off=0.0)
DECIDED = (*SHIPPED, *ANSWERED, FORGETFUL[0], STANDING[0], LEDGER[0], PLANNED[0], FREE)
CHOSEN = (NOTHING, DEMOGRAPHICS, *RANDOM, *DECIDED, *OWN)
EVERYBODY = people_of(others(), PEOPLE, 8, seed=3)

somebody = st.sampled_from(EVERYBODY)
decided = st.sampled_from(DECIDED)
scenes = st.builds(
    Scene,
    requested=st.none() | st.frozensets(st.sampled_from(names())),
    recipients=st.integers(1, 3),
    grouped=st.booleans(),
)


@given(somebody, st.sampled_from((*CHOSEN, EVERYTHING)), scenes)
def test_a_recipient_holds_what_it_was_sent(
    person: Person, strategy: Strategy, scene: Scene
) -> None:
    """Each its own, pooling or not, of the person alone; and only everything is sent unasked."""
    trace, held = walker(strategy, scene)(person), [0] * scene.recipients
    for step, sent in enumerate(trace.sent):
        held[step % scene.recipients] |= sent & PERSONS
        assert trace.disclosed[step] == held[step % scene.recipients]
    assert len(trace.disclosed) == len(person.requests)
    asked = (
        ALL
        if scene.requested is None
        else sum(1 << names().index(each) for each in scene.requested)
    )
    if strategy is EVERYTHING:
        assert {*trace.sent} == {ALL}
    else:
        assert not any(sent & ~asked for sent in trace.sent)


@settings(max_examples=15)
@given(st.lists(somebody, min_size=1, max_size=5), st.sampled_from((*DECIDED, *OWN)), scenes)
def test_who_walked_before_changes_nothing(
    people: list[Person], strategy: Strategy, scene: Scene
) -> None:
    """What is decided once serves all, and is what would be decided for each alone."""
    shared = walker(strategy, scene)
    for person in people:
        assert shared(person) == walker(strategy, scene)(person)


@settings(max_examples=15)
@given(somebody)
def test_what_does_not_look_back_repeats_itself(person: Person) -> None:
    """At random: the same of a person every time; forgetful: by the query; standing: one set."""
    trace = walker(RANDOM[0])(person)
    assert {*trace.sent} == {trace.disclosed[0]}
    assert trace.disclosed[0].bit_count() == RANDOM[0].count
    seeds = {walker(RANDOM[0], Scene(seed=seed))(person).disclosed[0] for seed in range(20)}
    assert len(seeds) > 1
    by_query: dict[int, set[int]] = {}
    for asked, sent in zip(person.requests, walker(FORGETFUL[0])(person).sent, strict=True):
        by_query.setdefault(asked.query, set()).add(sent)
    assert all(len(sets) == 1 for sets in by_query.values())
    # Of what is left of the standing set where it would leave nobody else, it is a part.
    first, *rest = walker(STANDING[0])(person).sent
    assert all(each & ~first == 0 for each in rest)


@pytest.mark.parametrize("trade_off", [0.0, 1e9])
def test_lambda_and_limits_are_what_a_way_says(trade_off: float) -> None:
    """Free, what helps leaves; at a price that nothing is worth, nothing does."""
    with pytest.raises(UsageError, match="no topics"):
        walker(TOPICS)
    strategy = replace(LEDGER[0], trade_off=trade_off)
    told = [any(walker(strategy)(each).sent) for each in EVERYBODY[:5]]
    assert any(told) is (trade_off == 0.0)
    held = [walker(replace(strategy, limits=True))(each).disclosed[-1] for each in EVERYBODY[:5]]
    free = [walker(strategy)(each).disclosed[-1] for each in EVERYBODY[:5]]
    assert all(some.bit_count() <= most.bit_count() for some, most in zip(held, free, strict=True))


STRATEGIES = (NOTHING, SHIPPED[1], OWN[0], RANDOM[0], EVERYTHING)
SENDERS = people_of(others(), AT_ONCE + 3, 4, seed=1)
FEW, CODES = SENDERS[:5], others().codes


@pytest.mark.parametrize("processes", [1, 2])
def test_traces_are_those_of_each_person_alone(processes: int) -> None:
    """In the order of the people, whoever walked before; and progress ends where all is done."""
    done: list[float] = []
    run = Run(processes, lambda _what, share: done.append(share))
    found = traces(model(), Scene(), (*STRATEGIES, SHIPPED[1]), SENDERS, run)
    assert found.keys() == set(STRATEGIES)
    for strategy in STRATEGIES:
        assert found[strategy] == [walker(strategy)(person) for person in SENDERS]
    assert done == sorted(done)
    assert done[-1] == 1.0


def test_who_reasons_traces_as_well() -> None:
    """The same traces, and who is left as whoever reasons alone finds it."""
    alone, strategies = Run(1, quiet), (OWN[0], ANSWERED[1])
    both = worked(model(), Work(Scene(), CODES), dict.fromkeys(strategies, FEW), alone)
    sent = traces(model(), Scene(), strategies, FEW, alone)
    for strategy in strategies:
        assert [trace for trace, _ in both[strategy]] == sent[strategy]
        reason = Reasoner(Reticent(strategy, model(), Scene()), model(), Scene(), CODES)
        for (_, found), person in zip(both[strategy], FEW, strict=True):
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
        assert {*zip(*rows, strict=True)}.issuperset(person.requests)
