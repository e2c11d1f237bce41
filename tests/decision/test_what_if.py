"""What another set or lambda would bring: laws that tie it to the decision, and to itself."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from agent.decision.cache import Cache
from agent.decision.context import Limits, Terms
from agent.decision.knowledge import Knowledge
from agent.decision.values import Request, SetComparison
from agent.decision.what_if import curve_of, weigh
from agent.errors import UsageError
from tests.decision.made import NAMES, QUERIES, World, model_of, worlds

ROUNDING = 1e-9
SOME = settings(max_examples=settings().max_examples // 2)
CHANGED = st.fixed_dictionaries({name: st.sampled_from(["", "", "add", "drop"]) for name in NAMES})
ONE = st.sampled_from(NAMES)

Change = dict[str, frozenset[str] | None]


def _change(how: dict[str, str], base: frozenset[str] | None) -> Change:
    named = {
        what: frozenset(name for name in NAMES if how[name] == what) for what in ("add", "drop")
    }
    return {**named, "base": base}


# Of what is decided, or of a set.
CHANGES = st.builds(_change, CHANGED, st.none() | st.frozensets(ONE))
THERE = World(model_of(3), Request(QUERIES[0]), Terms(), Knowledge(), {})


def weighed(world: World, **change: Any) -> SetComparison:  # noqa: ANN401  # names
    return weigh(world.decided(), world.context(), **change)


@SOME
@given(worlds(), st.sampled_from(["", "unknown", "blocked"]))
def test_no_change_is_the_decision(world: World, why: str) -> None:
    """With its figures, also where it discloses nothing; and its bits are those of its reasons."""
    if why == "unknown":
        world = world._replace(request=Request("zebra crossing", asked=world.request.asked))
    world = world.under(nothing=why == "blocked")
    decision, weighing = world.decided(), weighed(world)
    assert weighing.chosen == weighing.changed
    assert structs.replace(weighing.changed, names=decision.disclosed) == decision.figures
    assert set(weighing.changed.names) == set(decision.disclosed)
    assert weighing.changed.breaks is None
    for said, addition in zip(decision.outcomes, weighing.outcomes, strict=False):
        assert (said.name, said.disclosed) == (addition.name, addition.disclosed)
        if said.gain_bits is not None:
            assert (said.gain_bits, said.cost_bits) == (addition.gain_bits, addition.cost_bits)


@SOME
@given(worlds(), CHANGES, ONE)
def test_an_attribute_brings_what_it_adds(world: World, change: Change, name: str) -> None:
    """Its gain less its cost is what the objective changes by when it alone is toggled."""
    weighing = weighed(world, **change)
    start = frozenset(weighing.changed.names)
    with_it = weighed(world, base=start | {name}).changed
    without = weighed(world, base=start - {name}).changed
    [addition] = [each for each in weighing.outcomes if each.name == name]
    assert addition.disclosed == (name in start)
    assert addition.gain_bits == with_it.utility - without.utility
    assert addition.cost_bits is not None
    net = addition.gain_bits - addition.cost_bits
    assert net == pytest.approx(with_it.objective - without.objective, abs=ROUNDING)
    assert addition.people_left == with_it.people_left


@SOME
@given(worlds(), CHANGES)
def test_each_attribute_is_there_once(world: World, change: Change) -> None:
    """In the order of the model, inside if it is in the set, held if the recipient holds it.

    And a set breaks no limit where it may be chosen, if anything new may be told at all.
    """
    weighing = weighed(world, **change)
    start, base = set(weighing.chosen.names), change["base"]
    assert start == set(world.decided().disclosed if base is None else base)
    wanted = (start | (change["add"] or set())) - (change["drop"] or set())
    inside = [name for name in NAMES if name in wanted]
    assert list(weighing.changed.names) == inside
    assert [each.name for each in weighing.outcomes] == list(NAMES)
    assert [each.name for each in weighing.outcomes if each.disclosed] == inside
    assert {each.name for each in weighing.outcomes if each.held} == world.remembered
    objective, case = world.objective(), world.prepared()
    for each in (weighing.chosen, weighing.changed):
        feasible = objective.feasible(world.mask(each.names))
        new = world.stopped and not world.remembered.issuperset(each.names)
        assert case.anonymity_set.closed or (each.breaks is None) == (feasible and not new)


@SOME
@given(worlds(), CHANGES)
def test_nobodys_values_are_looked_at(world: World, change: Change) -> None:
    """Not even where the limits are for this user."""
    other = {name: 1 - (code > 0) for name, code in world.own.items()}
    assert weighed(world._replace(own=other), **change) == weighed(world, **change)


def test_the_limit_that_a_set_breaks_is_named() -> None:
    """By its key in a policy."""
    for limits, add, broken in (
        (Limits(k=10, people=9), ("age", "region"), "k"),
        (Limits(k=10, people=10), ("age", "region"), "people"),
        (Limits(risk=0.1), ("age", "region"), "risk"),
        (Limits(attributes_per_request=1), ("age", "region"), "attributes_per_request"),
        (Limits(new_facts_per_week=1), ("age", "region"), "new_facts_per_week"),
        (Limits(), ("age", "region"), None),
        (Limits(k=40), (), None),
    ):
        world = THERE.under(limits=limits, excluded=frozenset(NAMES))
        assert weighed(world, add=add).changed.breaks == broken


def test_what_never_leaves_is_weighed_too() -> None:
    """So that it can be seen what a rule keeps back."""
    free = weighed(THERE, base=())
    barred = weighed(THERE.under(excluded=frozenset(NAMES)), base=())
    said = [structs.replace(each, reason="never", disclose="never") for each in free.outcomes]
    assert [structs.replace(each, limit=None) for each in barred.outcomes] == said
    assert any(each.gain_bits for each in barred.outcomes)


def test_of_an_unknown_query_nothing_says_what_helps() -> None:
    """What it costs is known all the same; by the terms it may count as the average one."""
    world = THERE._replace(request=Request("zebra crossing"))
    unknown, average = (
        weighed(each, add=["age"]) for each in (world, world.under(unknown_queries="standing"))
    )
    assert {each.gain_bits for each in unknown.outcomes} == {None}
    assert unknown.changed.utility == 0
    assert unknown.changed.objective < 0
    assert None not in {each.gain_bits for each in average.outcomes}
    mean = Cache().mean_utility(world.model)
    assert average.changed.utility == mean.value(world.mask(average.changed.names))


def test_too_many_combinations_cannot_be_weighed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a set; beside another the attribute says what little can be said."""
    monkeypatch.setattr("agent.decision.what_if.COMBINATIONS", 1)
    some = weighed(THERE, base=["age"])
    last = some.outcomes[-1]
    assert (last.name, last.gain_bits, last.cost_bits) == ("hours", None, None)
    assert last.people_left == some.changed.people_left
    with pytest.raises(UsageError, match="too many attributes"):
        weighed(THERE, add=["hours"])


@given(worlds())
def test_the_curve_is_what_decide_discloses(world: World) -> None:
    """At both ends of every step, with its figures at the lower one; the present one included."""
    curve = curve_of(world.context())
    for step in curve.points:
        for trade_off in (step.least, step.most):
            decision = world.under(trade_off=trade_off).decided()
            assert set(step.figures.names) == set(decision.disclosed)
            assert curve.code == decision.code
            if trade_off == step.least:
                figures = structs.replace(decision.figures, names=step.figures.names)
                assert step.figures == figures
    here = curve.points[curve.present]
    assert here.least <= world.terms.trade_off <= here.most
    assert curve.knee is None or not curve.points[curve.knee].beaten


def test_a_curve_of_all_queries_needs_none() -> None:
    """In standing mode the query changes nothing; else, where no set is looked for, none varies."""
    known, world = THERE.under(mode="standing"), THERE._replace(request=Request("knee pain"))
    nameless = curve_of(known._replace(request=Request("")).context())
    assert nameless.read_as is None
    assert nameless.points == curve_of(known.context()).points
    with pytest.raises(UsageError, match="does not know this query"):
        curve_of(world.context())
    with pytest.raises(UsageError, match="lets nothing leave"):
        curve_of(THERE.under(nothing=True).context())
    assert curve_of(world.under(unknown_queries="standing").context()).read_as is None
