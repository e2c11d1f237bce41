"""What holds for every decision, and what more caution does to it: it never adds or pays."""

from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec import structs

from agent.decision.cache import Cache
from agent.decision.context import Limits, Terms, stands_out
from agent.decision.decide import decide as decide_context
from agent.decision.knowledge import Knowledge
from agent.decision.values import Decision, Request
from agent.errors import UsageError
from agent.tradeoff.search import EPSILON
from agent.words.decisions import why_nothing
from tests.decision.made import (
    CACHE,
    CARDS,
    NAMES,
    PERSONS,
    World,
    decide,
    made_model,
    model_of,
    worlds,
)


@given(worlds())
def test_a_decision_keeps_its_terms(world: World) -> None:
    """Only what is allowed and asked for leaves, and nothing new that breaks a limit."""
    terms, decision = world.terms, world.decided()
    barred = terms.excluded | dict(terms.guards).keys()
    unasked = (
        set[str]() if world.request.asked is None else {*NAMES}.difference(world.request.asked)
    )
    assert not (barred | unasked) & {*decision.disclosed}
    reasons = {each.name: each.reason for each in decision.outcomes}
    assert all(reasons[name] == "not asked for" for name in unasked - barred)
    if not {*decision.disclosed} - world.remembered:
        return
    assert decision.code == "answered"
    codes = world.known.codes if world.remembered else ()
    pairs = ((world.model.index(name), code) for name, code in codes)
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


@given(worlds(), worlds(), st.permutations([True, False]))
def test_memory_changes_nothing(world: World, other: World, both: list[bool]) -> None:
    """A cache that served another request, recipient or person serves as a new one.

    A brief decision says nothing of what stays, unless all does; then it says as much of why.
    """
    context, used = world.context(), replace(world.context(), cache=Cache())
    decide_context(replace(used, request=other.request))
    decide_context(replace(used, knowledge=other.known))
    decide_context(replace(used, stopped=not used.stopped))
    found = {each: decide_context(used, brief=each) for each in both}
    whole = decide_context(replace(context, cache=Cache()))
    sent, brief = {*whole.disclosed, *whole.waiting}, found[True]
    some = {each.name for each in brief.outcomes}
    assert found[False] == whole
    kept = tuple(each for each in whole.outcomes if each.name in some)
    assert brief == structs.replace(whole, outcomes=kept)
    assert some == sent if whole.disclosed else sent <= some
    assert whole.disclosed or why_nothing(brief) == why_nothing(whole)


def test_what_the_model_lacks_is_named() -> None:
    """A name or code that the model does not have is a mistake, not an empty answer."""
    for terms, known, said in (
        (Terms(excluded=frozenset({"x"})), Knowledge(), "unknown fact 'x'"),
        (Terms(guards=(("hours", 1.0),)), Knowledge(), "'hours' changes with every request"),
        (Terms(), Knowledge((("hours", 1),)), "'hours' changes with every request"),
        (Terms(), Knowledge((("age", 9),)), "'age' has no value with code 9"),
        (Terms(sensitivity=(("aeg", 1.0),)), Knowledge(), "unknown fact 'aeg'"),
    ):
        with pytest.raises(UsageError, match=said):
            decide(Request("python today"), terms, known, made_model(0))


def test_impossible_terms_do_not_exist() -> None:
    """A term outside its range is refused when it is written down."""
    wrong: list[dict[str, Any]] = [
        *({"trade_off": float("nan")}, {"trade_off": -1.0}, {"metric_k": 0}),
        *({"metric": "maxprop"}, {"algorithm": "magic"}, {"sensitivity": (("age", -0.1),)}),
        {"guards": (("age", float("inf")),)},
        {"guards": (("age", 1.0), ("age", 2.0))},
        {"sensitivity": (("age", 1.0), ("age", 0.0))},
    ]
    for each in wrong:
        with pytest.raises(UsageError):
            Terms(**each)


def test_a_limit_that_does_not_hold_is_said() -> None:
    """What the recipient holds already may break a limit: then nothing new leaves, and it shows."""
    model, known = made_model(1), Knowledge().with_facts({"age": 1})
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
    hours = decision.outcomes[NAMES.index("hours")]
    assert (hours.disclosed, hours.gain_bits) == (False, None)
    assert hours.reason == "too many combinations"


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


@given(worlds(), ANY_NAME)
def test_never_is_never(world: World, name: str) -> None:
    """It takes one candidate away and adds none; neither an answer nor a question names it."""
    before, after = world.decided(), world.under(excluded=world.terms.excluded | {name}).decided()
    open_, rest = (
        {n.name for n in each.outcomes if n.gain_bits is not None} for each in (before, after)
    )
    assert rest == open_ - {name}
    assert name not in {*after.disclosed, *after.waiting}
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
    if name in world.remembered:
        assert after.figures == before.figures


@given(worlds(forced=False, exact=True), st.data())
def test_no_demand_raises_the_objective(world: World, data: st.DataObject) -> None:
    """Of optima, whatever is demanded."""
    limits, terms = world.terms.limits, world.terms
    k, risk = limits.k or 1, limits.risk or 1.0
    most, week = limits.attributes_per_request, limits.new_facts_per_week
    stricter = [
        *(world.under(excluded=terms.excluded | {name}) for name in NAMES),
        *(world.under(ask=terms.ask | {name}) for name in NAMES),
        *(world.under(guards=((name, 1.0),)) for name in NAMES[:4] if not terms.guards),
        *(world.within(k=k + more) for more in (0, 1, 5)),
        *(world.within(risk=risk * share) for share in (1.0, 0.9, 0.3)),
        *(world.within(violations=limits.violations / by) for by in (2, 1e9)),
        world.within(attributes_per_request=5 if most is None else max(0, most - 1)),
        world.within(new_facts_per_week=5 if week is None else max(0, week - 1)),
        world._replace(stopped=True),
        world.under(nothing=True),
    ]
    before, after = world.decided(), data.draw(st.sampled_from(stricter)).decided()
    assert after.figures.objective <= before.figures.objective + ROUNDING


@given(worlds(exact=True))
def test_the_best_set_is_found(world: World) -> None:
    """Of all sets with what is forced and without what waits, that keep every limit."""
    decision, objective, case = world.decided(), world.objective(), world.prepared()
    assume(decision.code == "answered")
    forced = world.mask(tuple(n for n in decision.disclosed if n in world.terms.always))
    sets = [forced | mask for mask in range(1 << len(NAMES)) if not mask & ~case.free]
    best = max(objective.value(mask) for mask in sets if objective.feasible(mask))
    assert abs(decision.figures.objective - best) <= ROUNDING


UNKNOWN = "zebra crossing"


def open_to(world: World) -> set[str]:
    """Return what may leave at all: not never, not guarded, and asked for."""
    terms, asked = world.terms, world.request.asked
    barred = terms.excluded | dict(terms.guards).keys()
    return {name for name in NAMES if name not in barred and (asked is None or name in asked)}


def waits(world: World) -> frozenset[str]:
    """Return what may leave only with a word of the user."""
    return (world.terms.ask & open_to(world)) - world.remembered


@given(worlds())
def test_always_is_always_unless_a_limit_forbids(world: World) -> None:
    """The one that is worth most alone first, each unless a limit forbids it beside those before.

    Also beside a standing set, and where the rest of that would break a limit today.
    """
    decision, objective = world._replace(stopped=False).decided(), world.objective()
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
        new = [name for name in both if name in NAMES[:PERSONS] and name not in world.remembered]
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


@given(worlds(), st.integers(0, 1), st.booleans())
def test_who_stands_out_is_one_of_too_few(world: World, more: int, exact: bool) -> None:
    """Of k, or of those whom a guess may be right about; and nobody does where no limit holds."""
    after = world.known.with_facts({name: world.own[name] for name in NAMES[:2]})
    codes = world.model.population.codes
    alike = sum(all(row[NAMES.index(name)] == code for name, code in after.codes) for row in codes)
    limits = Limits(k=max(1, alike + more)) if exact else Limits(risk=1 / max(1, alike + more))
    assert stands_out(after, limits, world.model, CACHE) == (alike == 0 or more > 0)
    assert not stands_out(after, Limits(), world.model, CACHE)


@given(worlds())
def test_a_stopped_recipient_learns_nothing_new(world: World) -> None:
    """What it holds is still sent; nothing waits, and no limit is looked at: what is new is out."""
    decision = world._replace(stopped=True).decided()
    assert world.remembered.issuperset(decision.disclosed)
    assert not decision.waiting
    assert decision.code != "answered" or world.terms.limits != Limits()
    for each in decision.outcomes:
        assert each.held or each.reason != "would break a limit"
    unknown = world._replace(stopped=True, known=Knowledge()).decided()
    assert not unknown.disclosed
    assert {each.reason for each in unknown.outcomes} <= {
        *("you would stand out", "never", "guarded", "not asked for")
    }


@given(worlds())
def test_protecting_the_user_changes_no_set(world: World) -> None:
    """Whether a recipient is stopped is decided afterwards."""
    one, other = (world.within(protect=whom).decided() for whom in ("everyone", "me"))
    assert one == other
