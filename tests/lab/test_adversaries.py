"""Who is left, and what absence tells."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from agent.decision.cache import Cache
from agent.decision.context import Context, Limits, Terms, terms_under
from agent.decision.decide import decide
from agent.decision.knowledge import Knowledge
from agent.decision.values import Decision, Request
from agent.lab.attack.outcome import Reasoner, Remaining, people_left
from agent.lab.attack.simulation import FIRST, PAUSE, Person, Reticent, Trace, people_of
from agent.lab.attack.strategies import ANSWERED, UNSET, Strategy
from agent.model.model import Model
from policy.match import Rulebook, known
from policy.read import preset, read
from tests.decision.made import PERSONS, made_model
from tests.decision.transcripts import Told, knowledge_of
from tests.lab.worlds import model, names, others

Codes = NDArray[np.uint8]
WIDTH = 4
REQUESTS = 5
TARGETS = people_of(others(), 4, REQUESTS, seed=7)
CODES = others().codes
# One person is enough, a second one is for the soak.
SOUGHT = (
    pytest.param(TARGETS[0], id="0"),
    pytest.param(TARGETS[1], id="1", marks=pytest.mark.soak),
)
# Limits of presets are for more people than are made, and leave little that can be told.
FREE = tuple(
    Strategy(name=mode, preset="generous", answered=True, limits=False, trade_off=1.0, mode=mode)
    for mode in ("dynamic", "standing", "planned")
)
MINE = Strategy(name="me", preset="generous", answered=True, trade_off=0.0, protect="me")

lists = arrays(np.uint8, st.tuples(st.integers(1, 30), st.just(WIDTH)), elements=st.integers(0, 2))


@given(lists, st.lists(st.integers(0, 2**WIDTH - 1), min_size=1, max_size=6))
def test_left_are_those_who_agree(people: Codes, sets: list[int]) -> None:
    """Counted anew for each request, in whatever order sets grow."""
    own = people[0].tolist()
    trace, person = Trace(tuple(sets), tuple(sets)), Person(0, tuple(own), ())
    for mask, found in zip(sets, people_left(trace, person, people).tolist(), strict=True):
        told = [each for each in range(WIDTH) if mask >> each & 1]
        agreeing = [row for row in people.tolist() if all(row[each] == own[each] for each in told)]
        assert found == len(agreeing) >= 1


class Sent(NamedTuple):
    """What one request carried: the attributes in their order, and the values."""

    order: tuple[str, ...]
    values: tuple[int, ...]


def agent_of(codes: tuple[int, ...], target: Person, strategy: Strategy) -> list[Sent]:
    """What a person's own agent would have sent in the stream of another: the long strategy.

    With a cache of its own, so that nothing is remembered of anybody else.
    """
    own, sent, told = dict(zip(names()[:PERSONS], codes, strict=True)), [], list[Told]()
    stopped = False
    rules = read(f'preset = "{strategy.preset}"', str(strategy.preset), preset)
    cache, book = Cache(), Rulebook(rules, known(*names()))
    for number, asked in enumerate(target.requests):
        at = FIRST + number * PAUSE
        text, host = model().queries[asked.query].text, "recipient1.example"
        ruling = book.match(host, text, at.date())
        terms: Terms = strategy.changed(terms_under(ruling, model()))
        held = knowledge_of(told, host, str, at)
        context = Context(Request(text, host), terms, held, model(), stopped, cache=cache)
        decision = decide(context)
        if terms.limits.protect == "me" and would_stand_out(own, held, decision, terms.limits):
            stopped = True
            decision = decide(replace(context, stopped=True))
        lasting = {name: own[name] for name in decision.disclosed if name in own}
        told.append(Told(at, host, tuple(sorted(lasting.items())), asked.query))
        sent.append(Sent(decision.disclosed, tuple(lasting.values())))
    return sent


def would_stand_out(
    own: dict[str, int], held: Knowledge, decision: Decision, limits: Limits
) -> bool:
    """Say whether anything new is told, and too few of the model are like the person then."""
    told = {name for name in decision.disclosed if name in own}
    if told <= held.names:
        return False
    after = {**dict(held.codes), **{name: own[name] for name in told}}
    columns = [names().index(name) for name in after]
    alike = (model().population.codes[:, columns] == [*after.values()]).all(axis=1).sum()
    return bool(alike < (limits.k or 1) or alike * (limits.risk or 1) < 1)


def reasoner(strategy: Strategy, of: Model, codes: NDArray[np.unsignedinteger]) -> Reasoner:
    """Who reasons about a list."""
    return Reasoner(Reticent(strategy, of), of, codes)


def inferred(strategy: Strategy, target: Person) -> Remaining:
    """Who is left of the list, by groups."""
    return reasoner(strategy, model(), CODES).inferred(target)


def test_absence_says_nothing_where_everyone_is_protected() -> None:
    """Of people who tell something: else it would hold of any agent."""
    for strategy in FREE:
        found = [inferred(strategy, target) for target in TARGETS]
        assert all(each.same.all() and not each.bits.any() for each in found)
        assert min(each.producing[-1] for each in found) < len(CODES) / 2
    assert all(inferred(ANSWERED[0], target).same.all() for target in TARGETS)


@pytest.mark.parametrize("target", SOUGHT)
@pytest.mark.parametrize("strategy", [MINE, ANSWERED[1]], ids=lambda strategy: strategy.name)
def test_groups_are_as_everybody_alone(strategy: Strategy, target: Person) -> None:
    """For whomever limits are kept: by groups the same as person by person."""
    found, people = inferred(strategy, target), [tuple(row) for row in CODES.tolist()]
    sent = {each: agent_of(each, target, strategy) for each in {*people, target.codes}}
    mine = sent[target.codes]
    for step in range(REQUESTS):
        producing = sum(sent[each][: step + 1] == mine[: step + 1] for each in people)
        assert found.producing[step] == producing
        assert 1 <= producing <= found.agreeing[step]


def test_withholding_says_something_where_only_the_user_is_protected() -> None:
    """Who has a rare value would have kept it back: that is what the option costs."""
    rare = made_model(1, 120, rare=0.1)
    codes = rare.population.codes
    people = [Person(row, tuple(codes[row].tolist()), TARGETS[0].requests) for row in range(40)]
    mine = reasoner(MINE, rare, codes)
    found = [mine.inferred(person) for person in people]
    for each in found:
        assert (np.diff(each.producing) <= 0).all()
        assert (each.bits >= 0).all()
    assert any(each.bits[-1] > 0 for each in found)
    everyones = reasoner(replace(MINE, protect="everyone"), rare, codes)
    assert not any(everyones.inferred(person).bits.any() for person in people)


def test_what_is_unset_says_nothing_beyond_that_it_is() -> None:
    """Of those who have set the same, whose agent would produce it are those who agree."""
    free, bits = replace(UNSET[1], limits=False, trade_off=0.05), 0.0
    for target in TARGETS:
        whole = inferred(free, target)
        like = (CODES > 0) == (np.array(target.codes) > 0)
        same = reasoner(free, model(), CODES[like.all(axis=1)]).inferred(target)
        assert same.same.all()
        assert (same.producing <= whole.producing).all()
        assert (whole.producing <= whole.agreeing).all()
        bits += whole.bits[-1]
    assert bits > 0  # the law is not about people who all have set the same
