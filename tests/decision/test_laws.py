"""What more caution does to a decision: it never adds, and never pays.

The laws of optima are of those to which nothing is forced: what is forced is chosen before
anything else, and with another lambda or limit another of it, which may cost more or less.
"""

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agent.decision.decide import Decision
from tests.decision.drawn import World, worlds
from tests.decision.made import NAMES

ROUNDING = 1e-9
MANY = settings(max_examples=2 * settings().max_examples)
ANY_NAME = st.sampled_from(NAMES)


def open_names(decision: Decision) -> set[str]:
    """Return the attributes that were candidates."""
    return {each.name for each in decision.candidates if each.gain_bits is not None}


def waiting(decision: Decision) -> set[str]:
    """Return the attributes that wait for the user."""
    return set(decision.pending.names) if decision.pending else set()


@MANY
@given(worlds(), ANY_NAME)
def test_never_is_never(world: World, name: str) -> None:
    """It takes one candidate away and adds none; neither an answer nor a question names it."""
    before, after = world.decided(), world.under(excluded=world.terms.excluded | {name}).decided()
    assert open_names(after) == open_names(before) - {name}
    assert name not in {*after.disclosed, *waiting(after)}
    guarded = name in dict(world.terms.guards)
    (reason,) = (each.reason for each in after.candidates if each.name == name)
    assert reason == ("guarded" if guarded else "never")


@MANY
@given(worlds(forced=False, exact=True), st.floats(0.01, 20))
def test_a_larger_lambda_never_buys_more_identifiability(world: World, more: float) -> None:
    """Of optima, also within limits. It may well pay more in sensitivity or guards instead.

    F1(A1) >= F1(A2) and F2(A2) >= F2(A1) together: (l2 - l1) (I(A1) - I(A2)) >= 0.
    """
    before, after = world.decided(), world.under(trade_off=world.terms.trade_off + more).decided()
    paid, pays = before.figures.identifiability_cost, after.figures.identifiability_cost
    assert pays <= paid + ROUNDING / more
    assert after.figures.objective <= before.figures.objective - more * pays + ROUNDING


@MANY
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


@MANY
@given(worlds(forced=False, exact=True), st.data())
def test_no_demand_raises_the_objective(world: World, data: st.DataObject) -> None:
    """Of optima, whatever is demanded."""
    stricter = data.draw(st.sampled_from(_stricter(world)))
    before, after = world.decided(), stricter.decided()
    assert after.figures.objective <= before.figures.objective + ROUNDING


def _stricter(world: World) -> list[World]:
    """Return the same world with one demand more."""
    limits, terms = world.terms.limits, world.terms
    k, risk = limits.k or 1, limits.max_risk or 1.0
    most, week = limits.per_request, limits.new_per_week
    return [
        *(world.under(excluded=terms.excluded | {name}) for name in NAMES),
        *(world.under(ask=terms.ask | {name}) for name in NAMES),
        *(world.under(guards=((name, 1.0),)) for name in NAMES[:4] if not terms.guards),
        *(world.within(k=k + more) for more in (0, 1, 5)),
        *(world.within(max_risk=risk * share) for share in (1.0, 0.9, 0.3)),
        *(world.within(max_violations=limits.max_violations / by) for by in (2, 1e9)),
        world.within(per_request=5 if most is None else max(0, most - 1)),
        world.within(new_per_week=5 if week is None else max(0, week - 1)),
        world.within(protect="me"),
        world.under(nothing=True),
    ]


@MANY
@given(worlds(exact=True))
def test_the_best_set_is_found(world: World) -> None:
    """Of all sets with what is forced and without what waits, that keep every limit."""
    decision, objective, case = world.decided(), world.objective(), world.prepared()
    assume(decision.status == "decided")
    forced = world.mask(tuple(n for n in decision.disclosed if n in world.terms.always))
    sets = [forced | mask for mask in range(1 << len(NAMES)) if not mask & ~case.free]
    best = max(objective.value(mask) for mask in sets if objective.feasible(mask))
    assert abs(decision.figures.objective - best) <= ROUNDING
