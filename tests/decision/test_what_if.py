"""What another set or lambda would bring: laws that tie it to the decision, and to itself."""

from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from agent.decision import what_if
from agent.decision.cache import Cache
from agent.decision.context import Context, Limits, Own, Terms
from agent.decision.knowledge import Knowledge
from agent.decision.values import Curve, Request, SetComparison
from agent.decision.what_if import curve_of
from agent.errors import UsageError
from agent.model.model import Model
from tests.decision.made import NAMES, QUERIES, World, decide, model_of, worlds

ROUNDING = 1e-9
SOME = settings(max_examples=settings().max_examples // 2)
CHANGED = st.fixed_dictionaries({name: st.sampled_from(["", "", "add", "drop"]) for name in NAMES})
ONE = st.sampled_from(NAMES)


class SetChange(NamedTuple):
    """What to add to a set and to drop from it; ``base``: the set, None for what is decided."""

    add: frozenset[str] = frozenset()
    drop: frozenset[str] = frozenset()
    base: frozenset[str] | None = None


def weigh(
    request: Request,
    terms: Terms,
    known: Knowledge,
    model: Model,
    change: SetChange,
    own: Own | None = None,
) -> SetComparison:
    """Decide, and weigh a change of that."""
    decision = decide(request, terms, known, model, own)
    return what_if.weigh(
        decision,
        Context(request, terms, known, model, own),
        add=change.add,
        drop=change.drop,
        base=change.base,
    )


def changes() -> st.SearchStrategy[SetChange]:
    """Draw what to add and what to drop, of what is decided or of another set."""
    base = st.none() | st.frozensets(ONE)
    return st.builds(_change, CHANGED, base)


def _change(how: dict[str, str], start: frozenset[str] | None) -> SetChange:
    named = {
        what: frozenset(name for name in NAMES if how[name] == what) for what in ("add", "drop")
    }
    return SetChange(named["add"], named["drop"], start)


def weighed(world: World, change: SetChange) -> SetComparison:
    """Weigh a change of what is decided in a world."""
    return weigh(world.request, world.terms, world.known, world.model, change, world.own)


@SOME
@given(worlds(), st.sampled_from(["", "unknown", "blocked"]))
def test_no_change_is_the_decision(world: World, why: str) -> None:
    """With its figures, also where it discloses nothing; and its bits are those of its reasons."""
    if why == "unknown":
        world = world._replace(request=Request("zebra crossing", asked=world.request.asked))
    world = world.under(nothing=why == "blocked")
    decision, weighing = world.decided(), weighed(world, SetChange())
    assert weighing.chosen == weighing.changed
    assert structs.replace(weighing.changed, names=decision.disclosed) == decision.figures
    assert set(weighing.changed.names) == set(decision.disclosed)
    assert weighing.changed.breaks is None
    for said, addition in zip(decision.outcomes, weighing.outcomes, strict=False):
        assert (said.name, said.disclosed) == (addition.name, addition.disclosed)
        if said.gain_bits is not None:
            assert (said.gain_bits, said.cost_bits) == (addition.gain_bits, addition.cost_bits)


@SOME
@given(worlds(), changes(), ONE)
def test_an_attribute_brings_what_it_adds(world: World, change: SetChange, name: str) -> None:
    """Its gain less its cost is what the objective changes by when it alone is toggled."""
    weighing = weighed(world, change)
    start = frozenset(weighing.changed.names)
    with_it = weighed(world, SetChange(base=start | {name})).changed
    without = weighed(world, SetChange(base=start - {name})).changed
    [addition] = [each for each in weighing.outcomes if each.name == name]
    assert addition.disclosed == (name in start)
    assert addition.gain_bits == with_it.utility - without.utility
    assert addition.cost_bits is not None
    net = addition.gain_bits - addition.cost_bits
    assert net == pytest.approx(with_it.objective - without.objective, abs=ROUNDING)
    assert addition.people_left == with_it.people_left


@SOME
@given(worlds(), changes())
def test_each_attribute_is_there_once(world: World, change: SetChange) -> None:
    """In the order of the model, inside if it is in the set, held if the recipient holds it."""
    weighing = weighed(world, change)
    start = set(weighing.chosen.names)
    assert start == set(world.decided().disclosed if change.base is None else change.base)
    inside = [name for name in NAMES if name in (start | change.add) - change.drop]
    assert list(weighing.changed.names) == inside
    assert [each.name for each in weighing.outcomes] == list(NAMES)
    assert [each.name for each in weighing.outcomes if each.disclosed] == inside
    assert {each.name for each in weighing.outcomes if each.held} == held(world)


def held(world: World) -> set[str]:
    """Return what the recipient holds and remembers."""
    return set(world.known.names) if world.terms.memory == "remembers" else set()


@SOME
@given(worlds(), changes())
def test_a_set_that_breaks_no_limit_may_be_chosen(world: World, change: SetChange) -> None:
    """Where anything new may be told at all; and what may be chosen breaks none."""
    weighing, objective, case = weighed(world, change), world.objective(), world.prepared()
    if case.code in ("recognised", "outside the model"):
        return
    for each in (weighing.chosen, weighing.changed):
        assert (each.breaks is None) == objective.feasible(world.mask(each.names))


@SOME
@given(worlds(), changes())
def test_nobodys_values_are_looked_at(world: World, change: SetChange) -> None:
    """Unless the terms protect this user."""
    world = world.within(protect="everyone")
    other = {name: 1 - (code > 0) for name, code in world.own.items()}
    assert weighed(world._replace(own=other), change) == weighed(world, change)


def test_the_limit_that_a_set_breaks_is_named() -> None:
    """By its key in a policy."""
    for limits, add, broken in (
        (Limits(k=10), ("age", "region"), "k"),
        (Limits(risk=0.1), ("age", "region"), "risk"),
        (Limits(attributes_per_request=1), ("age", "region"), "attributes_per_request"),
        (Limits(new_facts_per_week=1), ("age", "region"), "new_facts_per_week"),
        (Limits(), ("age", "region"), None),
        (Limits(k=40), (), None),
    ):
        terms = Terms(limits=limits, excluded=frozenset(NAMES))
        found = weighed_there(model_of(3), terms, SetChange(add=frozenset(add))).changed
        assert found.breaks == broken


def weighed_there(model: Model, terms: Terms, change: SetChange) -> SetComparison:
    """Weigh a change of what leaves to a recipient that holds nothing."""
    return weigh(Request(QUERIES[0]), terms, Knowledge(), model, change)


def test_what_never_leaves_is_weighed_too() -> None:
    """So that it can be seen what a rule keeps back."""
    model = model_of(3)
    free = weighed_there(model, Terms(), SetChange(base=frozenset()))
    barred = weighed_there(model, Terms(excluded=frozenset(NAMES)), SetChange(base=frozenset()))
    said = [structs.replace(each, reason="never", disclose="never") for each in free.outcomes]
    assert [structs.replace(each, limit=None) for each in barred.outcomes] == said
    assert any(each.gain_bits for each in barred.outcomes)


def test_of_an_unknown_query_nothing_says_what_helps() -> None:
    """What it costs is known all the same; by the terms it may count as the average one."""
    model, request = model_of(3), Request("zebra crossing")
    change = SetChange(add=frozenset({"age"}))

    def found(terms: Terms) -> SetComparison:
        return weigh(request, terms, Knowledge(), model, change)

    unknown, average = found(Terms()), found(Terms(unknown_queries="standing"))
    assert {each.gain_bits for each in unknown.outcomes} == {None}
    assert unknown.changed.utility == 0
    assert unknown.changed.objective < 0
    assert None not in {each.gain_bits for each in average.outcomes}
    assert average.changed.utility == Cache().mean_utility(model).value(
        sum(1 << NAMES.index(name) for name in average.changed.names)
    )


def test_a_name_that_is_none_is_refused() -> None:
    """The nearest is named; and what is added is not dropped."""
    model = model_of(3)
    for change in (SetChange(add=frozenset({"regoin"})), SetChange(drop=frozenset({"regoin"}))):
        with pytest.raises(UsageError, match="unknown attribute 'regoin'") as error:
            weighed_there(model, Terms(), change)
        assert error.value.hint == "did you mean 'region'?"
    with pytest.raises(UsageError, match="both added and dropped"):
        weighed_there(model, Terms(), SetChange(frozenset({"age"}), frozenset({"age"})))


def test_too_many_combinations_cannot_be_weighed() -> None:
    """As a set; beside another the attribute says what little can be said."""
    with pytest.MonkeyPatch.context() as few:
        few.setattr("agent.decision.what_if.COMBINATIONS", 1)
        some = weighed_there(model_of(3), Terms(), SetChange(base=frozenset({"age"})))
        last = some.outcomes[-1]
        assert (last.name, last.gain_bits, last.cost_bits) == ("hours", None, None)
        assert last.people_left == some.changed.people_left
        with pytest.raises(UsageError, match="too many attributes"):
            weighed_there(model_of(3), Terms(), SetChange(add=frozenset({"hours"})))


def curve_in(world: World) -> Curve:
    """Return the curve of a drawn request."""
    return curve_of(world.context())


@given(worlds())
def test_the_curve_is_what_decide_discloses(world: World) -> None:
    """At both ends of every step, with its figures at the lower one; the present one included."""
    curve = curve_in(world)
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
    model, known, unknown = model_of(3), Knowledge(), Request("knee pain")
    standing = Terms(mode="standing")
    nameless = curve_of(Context(Request(""), standing, known, model))
    assert nameless.read_as is None
    assert nameless.points == curve_of(Context(Request(QUERIES[0]), standing, known, model)).points
    with pytest.raises(UsageError, match="does not know this query"):
        curve_of(Context(unknown, Terms(), known, model))
    with pytest.raises(UsageError, match="lets nothing leave"):
        curve_of(Context(Request(QUERIES[0]), Terms(nothing=True), known, model))
    averaged = curve_of(Context(unknown, Terms(unknown_queries="standing"), known, model))
    assert averaged.read_as is None
