"""What facts cost by shares is what their values cost one by one (DESIGN.md 2.8)."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.tradeoff.shares import Agreement, KindShares, Shares, Spread
from agent.tradeoff.tables import Floats, members
from tests.tradeoff import naive
from tests.tradeoff.worlds import forests

Chances = list[tuple[float, float]]  # of each rho
CARDS = (3, 2)
PEOPLE = ({0: 1.0, 1: 2.0, 2: 4.0}, {0: 1.0, 1: 5.0})  # by code, for each column
ROWS = np.array([1.0, 1.0, 37.0, 4_000.0])
RATES = np.array([1.0, 1e-3, 1e-3, 7e-4])


def among(column: int) -> Floats:
    return np.array([*PEOPLE[column].values()])


def success(chances: Chances) -> Floats:
    """The mean success of a guess in some groups, by chance and rho; alpha = 1 (DESIGN.md 2.7)."""
    chance, rho = np.array(chances).T[..., None]
    rho = np.maximum(rho, 1e-30)
    agree = np.minimum(rho / (rho + (1 - rho) * RATES), 1 - 1e-16)
    of_each: Floats = RATES / ROWS * -np.expm1(ROWS * np.log1p(-agree)) / rho
    return np.asarray((chance * of_each).sum(axis=0))


def pairs(spread: Spread) -> Chances:
    shares, mass = spread
    return [*zip(mass.tolist(), shares.tolist(), strict=True)]


@st.composite
def disclosed(draw: st.DrawFn, shares: Shares) -> dict[int, int]:
    """Draw codes that a recipient has of some slots, "unspecified" among them."""
    some = draw(st.sets(st.integers(0, len(shares.attributes) - 1), max_size=3))
    values = {each: len(shares.kinds[shares.attributes[each]].shares) for each in sorted(some)}
    return {each: draw(st.integers(0, most)) for each, most in values.items()}


@given(forests(CARDS), st.data())
def test_it_is_the_mean_over_values(shares: Shares, data: st.DataObject) -> None:
    """Of up to five facts of four kinds, whatever is known, of columns, too."""
    facts = data.draw(disclosed(shares))
    codes = st.dictionaries(st.integers(0, 1), st.integers(0, 1))
    fixed, later = data.draw(codes), data.draw(codes)
    agreement = Agreement(shares, facts, fixed, among)
    for_set = {c: {code: 1.0} for c, code in {**later, **fixed}.items()}
    people = {**dict(enumerate(PEOPLE)), **for_set}
    by_row = {each for each in facts if column_of(shares, each) not in (None, *fixed)}
    for slots in range(1 << len(shares.attributes)):
        new = [each for each in members(slots) if each not in facts]
        shares_of, mass = spread = agreement.spread([*members(slots)], later)
        wanted = naive.draws(shares, facts, new, people, by_row)
        assert mass.sum() == pytest.approx(1)
        if wanted == [(1.0, 0.0)]:
            assert not shares_of.any()
            continue
        inverse = sum(chance / rho for chance, rho in wanted)
        assert mass @ (1 / shares_of) == pytest.approx(inverse, rel=1e-6)
        assert success(pairs(spread)) == pytest.approx(success(wanted), rel=0.005)


def column_of(shares: Shares, slot: int) -> int | None:
    kind = shares.kinds[shares.attributes[slot]]
    return None if kind.given is None else kind.column


@given(forests(), st.data())
def test_more_facts_never_cost_less(shares: Shares, data: st.DataObject) -> None:
    """Of people that there may be, within what the bins are off.

    But where one shows that two others depend on each other, which had been taken not to.
    """
    facts = data.draw(disclosed(shares))
    agreement, parents = Agreement(shares, facts, {}, among), [each.parent for each in shares.kinds]
    for slots in range(1 << len(shares.kinds)):
        less = success(pairs(agreement.spread([*members(slots)], {})))
        for new in {*range(len(shares.kinds))} - {*members(slots), *facts}:
            near = [e for e in {*members(slots), *facts} if parents[e] == new or e == parents[new]]
            more = success(pairs(agreement.spread(sorted({*members(slots), new}), {})))
            assert len(near) > 1 or (more >= less * (1 - 0.002)).all()


@given(forests(CARDS), st.data(), st.floats(0.001, 0.999))
def test_it_never_falls_as_a_share_falls(
    shares: Shares, data: st.DataObject, factor: float
) -> None:
    """Of one kind, known or not, with any others, to the last bit."""
    facts, place = data.draw(disclosed(shares)), data.draw(st.integers(0, len(shares.kinds) - 1))
    kind = shares.kinds[place]
    given = None if kind.given is None else kind.given * factor
    rarer = replace(kind, shares=kind.shares * factor, given=given, several=True)
    kinds = *shares.kinds[:place], rarer, *shares.kinds[place + 1 :]
    before, after = (
        Agreement(each, facts, {}, among) for each in (shares, replace(shares, kinds=kinds))
    )
    for slots in range(1 << len(shares.attributes)):
        some, other = (each.spread([*members(slots)], {}) for each in (before, after))
        if some[0].all() and other[0].all():
            assert (success(pairs(other)) >= success(pairs(some)) * (1 - 1e-12)).all()
        else:
            assert not other[0].any()
    for column, likely in before.by_column.items():
        assert (after.by_column[column] <= likely).all()


def test_what_cannot_be_is_certainty_and_a_nurse_may_program() -> None:
    """A share of 0 forbids; of 0.000001 counts as one in ten thousand; silence as the rarest."""
    nurses, others = [0.2, 0.8], [0.999999, 0.000001]
    given = np.array([[0.5, 0.5], others, [1.0, 0.0]])
    kinds = KindShares(np.array(nurses)), KindShares(given[0], parent=0, given=given)
    for codes, rho in (
        ({0: 1}, 0.2),
        ({1: 2}, 0.5),
        ({0: 1, 1: 1}, 0.2 * 0.999999),
        ({0: 1, 1: 2}, 0.2 * 1e-4),
        ({0: 1, 1: 0}, 0.2 * 1e-4),
        ({0: 0, 1: 2}, 0.2 * 0.5),
        ({0: 2, 1: 2}, 0.0),
    ):
        shares, mass = Agreement(Shares(kinds, (0, 1)), codes, {}, among).spread([], {})
        assert (mass.tolist(), shares.tolist()) == ([1.0], [pytest.approx(rho)])
    # Who is known to be neither 1 nor silent in the second is known to be 1 in the first.
    shares, mass = Agreement(Shares(kinds, (0, 1)), {1: 2}, {}, among).spread([0], {})
    assert mass @ (1 / shares) == pytest.approx(1 / (0.2 * 1e-4))
