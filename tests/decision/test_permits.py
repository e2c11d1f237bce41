"""What always leaves, what waits, what is capped: what a policy permits is what happens."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from agent.decision.context import Limits, Terms
from agent.decision.knowledge import Knowledge
from agent.decision.values import Decision, Request
from tests.decision.made import NAMES, PERSONS, World, codes, decide, model_of, worlds

ROUNDING = 1e-9
UNKNOWN = "zebra crossing"


def remembered(world: World) -> frozenset[str]:
    """Return what the recipient holds and keeps."""
    return world.known.names if world.terms.memory == "remembers" else frozenset()


def open_to(world: World) -> set[str]:
    """Return what may leave at all: not never, not guarded, and asked for."""
    terms, asked = world.terms, world.request.asked
    barred = terms.excluded | dict(terms.guards).keys()
    return {name for name in NAMES if name not in barred and (asked is None or name in asked)}


def waits(world: World) -> frozenset[str]:
    """Return what may leave only with a word of the user."""
    return (world.terms.ask & open_to(world)) - remembered(world)


@given(worlds())
def test_always_is_always_unless_a_limit_forbids(world: World) -> None:
    """The one that is worth most alone first, each unless a limit forbids it beside those before.

    Also beside a standing set, and where the rest of that would break a limit today.
    """
    decision, objective = world.decided(), world.objective()
    always = [name for name in NAMES if name in world.terms.always & open_to(world)]
    taken: tuple[str, ...] = ()
    for name in sorted(always, key=lambda name: -objective.value(world.mask((name,)))):
        allowed = objective.feasible(world.mask((*taken, name)))
        assert (name in decision.disclosed) == allowed
        taken += (name,) if allowed else ()
    inside = {each.name for each in decision.outcomes if each.disclosed}
    assert inside == {*decision.disclosed}
    assert objective.feasible(world.mask(decision.disclosed))


def test_what_always_leaves_is_sent_again() -> None:
    """Also where a standing set has it not, since no stranger may be told it."""
    terms = Terms(mode="standing", always=frozenset({"age"}), limits=Limits(new_facts_per_week=0))
    for known in (Knowledge(), Knowledge((("age", 1),))):
        decision = decide(Request("python today"), terms, known, model_of(0))
        assert ("age" in decision.disclosed) == ("age" in known.names)
        assert {*decision.disclosed} == {e.name for e in decision.outcomes if e.disclosed}


@given(worlds())
def test_what_waits_does_not_leave(world: World) -> None:
    """It is named where it would be worth it together, beside what leaves, within all limits."""
    decision, objective = world.decided(), world.objective()
    assert not waits(world) & {*decision.disclosed}
    if decision.pending is None:
        return
    names, figures = decision.waiting, decision.pending
    assert set(names) <= waits(world)
    assert len(set(names)) == len(names) > 0
    assert objective.feasible(world.mask((*decision.disclosed, *names)))
    if decision.mode == "planned":  # it pays with what is still to come, and helps already
        assert figures.utility > decision.figures.utility
    else:
        assert figures.objective > decision.figures.objective
    assert figures.people_left <= decision.figures.people_left + ROUNDING
    reasons = {each.name: each.reason for each in decision.outcomes}
    assert {reasons[name] for name in names} == {"waits for you"}


@given(worlds())
def test_nobody_is_kept_waiting(world: World) -> None:
    """The answer without asking is the answer where what waits may never leave."""
    never = world.under(excluded=world.terms.excluded | waits(world))
    waiting, without = world.decided(), never.decided()
    assert waiting.disclosed == without.disclosed
    assert waiting.figures == without.figures
    assert waiting.code == without.code
    assert without.pending is None


@given(worlds())
def test_caps_are_kept(world: World) -> None:
    """With what waits as without it, so that saying yes breaks none."""
    limits, decision = world.terms.limits, world.decided()
    both = decision.disclosed + decision.waiting
    if limits.attributes_per_request is not None:
        assert len(both) <= limits.attributes_per_request
    if limits.new_facts_per_week is not None:
        new = [name for name in both if name in NAMES[:PERSONS] and name not in remembered(world)]
        assert len(new) <= max(0, limits.new_facts_per_week - world.known.recent)


@given(worlds(), st.sampled_from(["python today", UNKNOWN]))
def test_nothing_is_nothing(world: World, query: str) -> None:
    """Whatever else is ruled, also of what always leaves; and nobody is asked."""
    blocked = world.under(nothing=True)._replace(
        request=structs.replace(world.request, query=query)
    )
    decision = blocked.decided()
    assert (decision.code, decision.disclosed, decision.pending) == ("blocked", (), None)


@given(worlds())
def test_who_forgets_is_told_as_a_stranger(world: World) -> None:
    """It decides as for a recipient that holds nothing; what it was told this week still counts."""
    mode = "dynamic" if world.terms.mode == "planned" else world.terms.mode  # nothing lasts
    stranger = world.under(memory="remembers", mode=mode)._replace(
        known=Knowledge(recent=world.known.recent)
    )
    assert _alike(world.under(memory="forgets").decided(), stranger.decided())


@given(worlds())
def test_an_unknown_query_may_get_the_standing_set(world: World) -> None:
    """The one that a known query gets where everything is decided beforehand."""
    unknown = world.under(unknown_queries="standing", mode="dynamic")
    unknown = unknown._replace(request=structs.replace(world.request, query=UNKNOWN))
    one, other = unknown.decided(), world.under(mode="standing").decided()
    assert _alike(one, other)
    assert (one.mode, one.read_as) == ("standing", None)
    silent = unknown.under(unknown_queries="nothing").decided()
    assert (silent.code, silent.read_as) == ("unknown query", None)
    assert (silent.disclosed, silent.pending) == ((), None)


def _alike(one: Decision, other: Decision) -> bool:
    """Say whether two decisions are the same in all but the request and the terms."""
    reading = {"read_as": one.read_as, "readings": one.readings}
    return one == structs.replace(other, request=one.request, **reading)


@given(worlds(), st.sampled_from(NAMES[:PERSONS]), st.integers(0, 1))
def test_protecting_me_keeps_my_own_class(world: World, name: str, more: int) -> None:
    """With anything new, k people are left who are like the user, and none stands out of them.

    Also where that limit is lax for everybody, and as many or one too few are like the user.
    """
    k = max(1, _like_the_user(world, (name,)) + more)
    mine = world.within(protect="me", k=k, violations=0.99)
    decision, limits = mine.decided(), mine.terms.limits
    both = decision.disclosed + decision.waiting
    for names in (decision.disclosed, both):
        if set(names) - remembered(mine):
            left = _like_the_user(mine, names)
            assert left >= (limits.k or 0)
            assert limits.risk is None or 1 / left <= limits.risk


def _like_the_user(world: World, names: tuple[str, ...]) -> int:
    """Return how many agree with what is held and with the user in what is told."""
    table = world.model.population.codes
    alike = np.ones(len(table), bool)
    for name, code in world.known.codes if world.terms.memory == "remembers" else ():
        alike &= table[:, NAMES.index(name)] == code
    for name in set(names) & {*NAMES[:PERSONS]}:
        alike &= table[:, NAMES.index(name)] == world.own.get(name, 0)
    return int(alike.sum())


@given(worlds(), codes())
def test_protecting_everyone_looks_at_nobody(world: World, other: dict[str, int]) -> None:
    """The user's codes do not matter; protecting the user changes nothing where nothing is kept."""
    everyone = world.within(protect="everyone")
    assert everyone.decided() == everyone._replace(own=other).decided()
    free = world.within(k=None, risk=None, protect="everyone")
    assert _alike(free.decided(), free.within(protect="me").decided())
