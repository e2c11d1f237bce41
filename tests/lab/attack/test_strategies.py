"""The strategies that are compared."""

from hypothesis import given
from hypothesis import strategies as st

from agent.decision.terms import Limits, Terms
from agent.lab.attack.strategies import ANSWERED, CONSTANT, FAMILIES, OWN, PAPERS, SHIPPED, Strategy

EVERY = (*CONSTANT, *SHIPPED, *ANSWERED, *OWN, *(w for f in FAMILIES.values() for w in f))
names = st.frozensets(st.sampled_from(("gender", "race", "salary")))
terms = st.builds(
    Terms,
    ask=names,
    excluded=names,
    trade_off=st.floats(0, 100),
    limits=st.builds(Limits, k=st.integers(1, 50)),
)


def test_tables_tell_them_apart_by_name() -> None:
    """And a dictionary by value."""
    assert len({strategy.name for strategy in EVERY}) == len(set(EVERY)) == len(EVERY)


def test_a_family_differs_in_lambda_alone() -> None:
    """So that its points lie on one line: ascending, with no limits and the same candidates."""
    for family in FAMILIES.values():
        prices = [strategy.trade_off for strategy in family if strategy.trade_off is not None]
        assert prices == sorted(set(prices))
        assert len(prices) == len(family)
        for strategy in family:
            assert strategy.changed(Terms()).limits == Limits()
            assert strategy.changed(Terms(ask=frozenset({"gender"}))).excluded == frozenset()
    assert PAPERS.trade_off == 5.12


@given(terms)
def test_who_says_nothing_else_changes_nothing_else(terms: Terms) -> None:
    """But that nobody answers: what would wait for the user does not leave."""
    changed = Strategy(name="as it is").changed(terms)
    assert changed.ask == frozenset()
    assert changed.excluded == terms.excluded | terms.ask
    assert (changed.trade_off, changed.limits) == (terms.trade_off, terms.limits)
    answered = Strategy(name="yes", answered=True).changed(terms)
    assert answered.excluded == terms.excluded


@given(terms, st.floats(0, 100))
def test_what_a_way_names_is_what_it_changes(terms: Terms, trade_off: float) -> None:
    """The rest stays the preset's."""
    strategy = Strategy(
        name="other", trade_off=trade_off, protect="me", memory="forgets", mode="standing"
    )
    changed = strategy.changed(terms)
    assert (changed.trade_off, changed.memory, changed.mode) == (trade_off, "forgets", "standing")
    assert (changed.limits.protect, changed.limits.k) == ("me", terms.limits.k)
    assert changed.algorithm == terms.algorithm
