"""What holds for every decision, and what more caution does to it: it never adds or pays."""

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec import structs

from agent.decision.cache import Cache
from agent.decision.context import Limits, Terms
from agent.decision.decide import decide as decide_context
from agent.decision.knowledge import Knowledge
from agent.decision.values import Decision, Request
from agent.errors import UsageError
from agent.tradeoff.search import EPSILON
from tests.decision.made import CARDS, NAMES, PERSONS, World, decide, made_model, worlds


@given(worlds())
def test_a_decision_keeps_its_terms(world: World) -> None:
    """Only what is allowed and asked for leaves, and nothing new that breaks a limit."""
    terms, known, decision = world.terms, world.known, world.decided()
    barred = terms.excluded | dict(terms.guards).keys()
    unasked = (
        set[str]() if world.request.asked is None else {*NAMES}.difference(world.request.asked)
    )
    assert not (barred | unasked) & {*decision.disclosed}
    reasons = {each.name: each.reason for each in decision.outcomes}
    assert all(reasons[name] == "not asked for" for name in unasked - barred)
    remembered = known if terms.memory == "remembers" else Knowledge()
    if not set(decision.disclosed) - remembered.names:
        return
    assert decision.code == "answered"
    pairs = ((world.model.index(name), code) for name, code in remembered.codes)
    people, limits = Cache().anonymity_set(world.model, pairs), terms.limits
    mask = world.mask(decision.disclosed)
    if limits.k is not None:
        assert people.identifiability(mask, "k-anonymity", limits.k) <= limits.violations + 1e-9
    if limits.risk is not None:
        assert people.identifiability(mask, "maxprob", 1) <= limits.risk + 1e-9


@given(worlds())
def test_the_figures_add_up(world: World) -> None:
    """F is utility less all costs, the candidates tell the same story as the set."""
    decision = world.decided()
    figures = decision.figures
    cost = world.terms.trade_off * figures.identifiability_cost
    cost += figures.guard + figures.sensitivity
    assert figures.objective == pytest.approx(figures.utility - cost, abs=1e-9)
    assert {each.name for each in decision.outcomes if each.disclosed} == set(decision.disclosed)
    assert figures.people_left <= figures.people + 1e-9
    assert (decision.bound is None) == (decision.proof == "none")
    assert decision.bound is None or figures.objective <= decision.bound + 1e-9


@given(worlds(forced=False))
def test_no_single_permitted_move_is_better(world: World) -> None:
    """What costs more than it helps would lower F, and what is in raises it."""
    decision, terms = world.decided(), world.terms
    if decision.mode != "dynamic":
        return
    assert decision.figures.objective >= 0
    slack = EPSILON * abs(decision.figures.objective) + 1e-9
    for each in decision.outcomes:
        if each.gain_bits is None or each.cost_bits is None:
            continue
        net = each.gain_bits - each.cost_bits
        if each.reason == "costs more than it helps":
            assert net <= slack
        if each.disclosed and terms.algorithm != "greedy" and terms.limits == Limits():
            assert net >= -slack


@given(worlds(), worlds())
def test_memory_changes_nothing(world: World, other: World) -> None:
    """A model that decided the same for another request, recipient or person decides as a new."""
    used, fresh = (world._replace(model=replace(world.model)) for _ in range(2))
    for each in ("request", "known", "own"):
        used._replace(**{each: getattr(other, each)}).decided()
    assert used.decided() == fresh.decided()


@given(worlds(), st.permutations([True, False]))
def test_a_brief_decision_is_the_same(world: World, both: list[bool]) -> None:
    """It says nothing of what stays, unless all does; whichever is made first on a model."""
    used, fresh = replace(world.model), replace(world.model)
    context = world.context()
    found = {each: decide_context(replace(context, model=used), brief=each) for each in both}
    whole = decide_context(replace(context, model=fresh))
    named = {*whole.disclosed, *whole.waiting} if whole.disclosed else {*NAMES}
    some = tuple(each for each in whole.outcomes if each.name in named)
    assert found[False] == whole
    assert found[True] == structs.replace(whole, outcomes=some)


@pytest.mark.parametrize(
    ("given", "known", "said"),
    [
        (Terms(excluded=frozenset({"x"})), Knowledge(), "unknown attribute 'x'"),
        (Terms(guards=(("hours", 1.0),)), Knowledge(), "'hours' changes with every request"),
        (Terms(), Knowledge((("hours", 1),)), "'hours' changes with every request"),
        (Terms(), Knowledge((("age", 9),)), "'age' has no value with code 9"),
        (Terms(sensitivity=(("aeg", 1.0),)), Knowledge(), "unknown attribute 'aeg'"),
    ],
)
def test_what_the_model_lacks_is_named(given: Terms, known: Knowledge, said: str) -> None:
    """A name or code that the model does not have is a mistake, not an empty answer."""
    with pytest.raises(UsageError, match=said):
        decide(Request("python today"), given, known, made_model(0))


@pytest.mark.parametrize(
    "given",
    [
        {"trade_off": float("nan")},
        {"trade_off": -1.0},
        {"metric": "maxprop"},
        {"algorithm": "magic"},
        {"metric_k": 0},
        {"sensitivity": (("age", -0.1),)},
        {"guards": (("age", float("inf")),)},
        {"guards": (("age", 1.0), ("age", 2.0))},
        {"sensitivity": (("age", 1.0), ("age", 0.0))},
    ],
)
def test_impossible_terms_do_not_exist(given: dict[str, object]) -> None:
    """A term outside its range is refused when it is written down."""
    with pytest.raises(UsageError):
        Terms(**given)  # type: ignore[arg-type]  # wrong values are the point


def test_a_limit_that_does_not_hold_is_said() -> None:
    """What the recipient holds already may break a limit: then nothing new leaves, and it shows."""
    model = made_model(1)
    known = Knowledge().with_facts({"age": 1})
    people = Cache().anonymity_set(model, [(0, 1)]).people
    for limits in (Limits(k=int(people) + 1), Limits(risk=0.5 / people)):
        decision = decide(Request("python today"), Terms(limits=limits), known, model)
        assert decision.code == "past a limit already"
        assert set(decision.disclosed) <= known.names
    kept = decide(Request("python today"), Terms(limits=Limits(k=int(people))), known, model)
    assert kept.code == "answered"


def test_too_many_combinations_are_not_summed(monkeypatch: pytest.MonkeyPatch) -> None:
    """An attribute that makes too many combinations of request values stays out, unpriced."""
    for room in ("agent.decision.decide", "agent.tradeoff.objective"):
        monkeypatch.setattr(f"{room}.COMBINATIONS", 1)
    terms = Terms(trade_off=0.0)
    decision = decide(Request("python today"), terms, Knowledge(), made_model(0))
    (hours,) = (each for each in decision.outcomes if each.name == "hours")
    assert (hours.disclosed, hours.reason, hours.gain_bits) == (
        False,
        "too many combinations",
        None,
    )


def test_one_person_left_is_recognised_and_nobody_is_outside() -> None:
    """At one person left and at none, nothing new leaves, and the decision says which it was."""
    model = made_model(3, people=12)
    codes = model.population.codes
    statuses = set()
    for person in codes.tolist():
        known = Knowledge().with_facts(dict(zip(NAMES, person, strict=False)))
        decision: Decision = decide(Request("python today"), Terms(trade_off=0), known, model)
        statuses.add((decision.figures.people, decision.code))
        if decision.code == "recognised":
            assert set(decision.disclosed) <= known.names
            reasons = {each.reason for each in decision.outcomes if not each.disclosed}
            assert "recognised" in reasons
    assert (1, "recognised") in statuses
    combinations = set(product(*map(range, CARDS[:PERSONS])))
    nobody = min(combinations - set(map(tuple, codes.tolist())))
    stranger = Knowledge().with_facts(dict(zip(NAMES, nobody, strict=False)))
    decision = decide(Request("python today"), Terms(), stranger, model)
    assert (decision.figures.people, decision.code) == (0, "outside the model")
    assert set(decision.disclosed) <= stranger.names


ROUNDING = 1e-9
ANY_NAME = st.sampled_from(NAMES)


def open_names(decision: Decision) -> set[str]:
    """Return the attributes that were candidates."""
    return {each.name for each in decision.outcomes if each.gain_bits is not None}


def waiting(decision: Decision) -> set[str]:
    """Return the attributes that wait for the user."""
    return {*decision.waiting}


@given(worlds(), ANY_NAME)
def test_never_is_never(world: World, name: str) -> None:
    """It takes one candidate away and adds none; neither an answer nor a question names it."""
    before, after = world.decided(), world.under(excluded=world.terms.excluded | {name}).decided()
    assert open_names(after) == open_names(before) - {name}
    assert name not in {*after.disclosed, *waiting(after)}
    guarded = name in dict(world.terms.guards)
    (reason,) = (each.reason for each in after.outcomes if each.name == name)
    assert reason == ("guarded" if guarded else "never")


@given(worlds(forced=False, exact=True), st.floats(0.01, 20))
def test_a_larger_lambda_never_buys_more_identifiability(world: World, more: float) -> None:
    """Of optima, also within limits. It may well pay more in sensitivity or guards instead.

    F1(A1) >= F1(A2) and F2(A2) >= F2(A1) together: (l2 - l1) (I(A1) - I(A2)) >= 0.
    """
    before, after = world.decided(), world.under(trade_off=world.terms.trade_off + more).decided()
    paid, pays = before.figures.identifiability_cost, after.figures.identifiability_cost
    assert pays <= paid + ROUNDING / more
    assert after.figures.objective <= before.figures.objective - more * pays + ROUNDING


@given(worlds(forced=False, exact=True), ANY_NAME, st.floats(0.001, 5))
def test_a_larger_sensitivity_never_adds_its_attribute(
    world: World, name: str, more: float
) -> None:
    """And never helps; one that the recipient holds changes nothing."""
    bits = dict(world.terms.sensitivity)
    bits[name] = bits.get(name, 0.0) + more
    before, after = world.decided(), world.under(sensitivity=tuple(bits.items())).decided()
    assert name in before.disclosed or name not in after.disclosed
    assert after.figures.objective <= before.figures.objective + ROUNDING
    if name in world.known.names and world.terms.memory == "remembers":
        assert after.figures == before.figures


@given(worlds(forced=False, exact=True), st.data())
def test_no_demand_raises_the_objective(world: World, data: st.DataObject) -> None:
    """Of optima, whatever is demanded."""
    stricter = data.draw(st.sampled_from(_stricter(world)))
    before, after = world.decided(), stricter.decided()
    assert after.figures.objective <= before.figures.objective + ROUNDING


def _stricter(world: World) -> list[World]:
    """Return the same world with one demand more."""
    limits, terms = world.terms.limits, world.terms
    k, risk = limits.k or 1, limits.risk or 1.0
    most, week = limits.attributes_per_request, limits.new_facts_per_week
    return [
        *(world.under(excluded=terms.excluded | {name}) for name in NAMES),
        *(world.under(ask=terms.ask | {name}) for name in NAMES),
        *(world.under(guards=((name, 1.0),)) for name in NAMES[:4] if not terms.guards),
        *(world.within(k=k + more) for more in (0, 1, 5)),
        *(world.within(risk=risk * share) for share in (1.0, 0.9, 0.3)),
        *(world.within(violations=limits.violations / by) for by in (2, 1e9)),
        world.within(attributes_per_request=5 if most is None else max(0, most - 1)),
        world.within(new_facts_per_week=5 if week is None else max(0, week - 1)),
        world.within(protect="me"),
        world.under(nothing=True),
    ]


@given(worlds(exact=True))
def test_the_best_set_is_found(world: World) -> None:
    """Of all sets with what is forced and without what waits, that keep every limit."""
    decision, objective, case = world.decided(), world.objective(), world.prepared()
    assume(decision.code == "answered")
    forced = world.mask(tuple(n for n in decision.disclosed if n in world.terms.always))
    sets = [forced | mask for mask in range(1 << len(NAMES)) if not mask & ~case.free]
    best = max(objective.value(mask) for mask in sets if objective.feasible(mask))
    assert abs(decision.figures.objective - best) <= ROUNDING
