"""What facts cost by shares is what their values cost one by one (DESIGN.md 2.8)."""

from collections import defaultdict
from dataclasses import replace
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.tradeoff.agreement import Agreement, Spread
from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.measures import BATCH, METRICS, Measure
from agent.tradeoff.shares import OWN_SHARES, KindShares, Shares
from agent.tradeoff.tables import Floats, Population, members
from tests.tradeoff import naive
from tests.tradeoff.naive_shares import draws
from tests.tradeoff.test_anonymity_set import check_curvature
from tests.tradeoff.test_reidentification import copies, drawn_from_others
from tests.tradeoff.worlds import Known, World, forests, known, rich_worlds

Chances = list[tuple[float, float]]  # of each rho
CODES = np.array([[0, 1, 2, 0, 1, 2], [0, 0, 0, 1, 1, 1]], np.uint8).T
CARDS = (3, 2)
PEOPLE = ({0: 1.0, 1: 2.0, 2: 4.0}, {0: 1.0, 1: 5.0})  # by code, for each column
ROWS = np.array([1.0, 1.0, 37.0, 4_000.0])
RATES = np.array([1.0, 1e-3, 1e-3, 7e-4])


def agreement_of(
    shares: Shares, facts: dict[int, int], fixed: dict[int, int] | None = None, columns: int = 2
) -> Agreement:
    """Whether others agree, of people with these columns and, behind them, shares."""
    return Agreement(
        Population(CODES[:, :columns], shares=shares),
        [(each + columns, code) for each, code in facts.items()],
        {at: frozenset([code]) for at, code in (fixed or {}).items()},
        lambda column: np.array([*PEOPLE[column].values()]),
    )


def success(chances: Chances) -> Floats:
    """The mean success of a guess in some groups, by chance and rho; alpha = 1 (DESIGN.md 2.7)."""
    chance, rho = np.array(chances).T[..., None]
    rho = np.maximum(rho, 1e-30)
    agree = np.minimum(rho / (rho + (1 - rho) * RATES), 1 - 1e-16)
    of_each: Floats = RATES / ROWS * -np.expm1(ROWS * np.log1p(-agree)) / rho
    return np.asarray((chance * of_each).sum(axis=0))


def pairs(spread: Spread) -> Chances:
    return [*zip(spread.masses.tolist(), spread.shares.tolist(), strict=True)]


@st.composite
def disclosed(draw: st.DrawFn, shares: Shares, least: int = 0, own: int = 0) -> dict[int, int]:
    """Draw codes that a recipient has of some, from ``least`` on; 0 is "unspecified".

    ``own``: as many codes of facts in own words, too, of kinds on which no other depends.
    """
    some = draw(st.sets(st.integers(0, len(shares.attributes) - 1), max_size=3))
    values = {each: len(shares.kinds[shares.attributes[each]].shares) for each in sorted(some)}
    above = {parent for each in shares.kinds for parent in (each.parent, each.holders)}
    values = {e: n + own * (shares.attributes[e] not in above) for e, n in values.items()}
    return {each: draw(st.integers(least, most)) for each, most in values.items()}


@given(forests(CARDS), st.data())
def test_it_is_the_mean_over_values(shares: Shares, data: st.DataObject) -> None:
    """Of up to five facts of four kinds, whatever is known, of columns, too."""
    facts = data.draw(disclosed(shares, own=len(OWN_SHARES)))
    codes = st.dictionaries(st.integers(0, 1), st.integers(0, 1))
    fixed, later = data.draw(codes), data.draw(codes)
    agreement = agreement_of(shares, facts, fixed)
    for_set = {c: {code: 1.0} for c, code in {**later, **fixed}.items()}
    people = {**dict(enumerate(PEOPLE)), **for_set}
    by_row = {each for each in facts if column_of(shares, each) not in (None, *fixed)}
    for slots in range(1 << len(shares.attributes)):
        new = [each for each in members(slots) if each not in facts]
        spread = agreement.spreads(slots << 2, [tuple(sorted(later.items()))])[0]
        wanted = draws(shares, facts, new, people, by_row)
        assert spread.masses.sum() == pytest.approx(1)
        if wanted == [(1.0, 0.0)]:
            assert not spread.share
            continue
        inverse = sum(chance / rho for chance, rho in wanted)
        assert spread.masses @ (1 / spread.shares) == pytest.approx(inverse, rel=1e-6)
        assert success(pairs(spread)) == pytest.approx(success(wanted), rel=0.005)


def column_of(shares: Shares, slot: int) -> int | None:
    kind = shares.kinds[shares.attributes[slot]]
    return None if kind.given is None else kind.column


@given(forests(), st.data())
def test_more_facts_never_cost_less(shares: Shares, data: st.DataObject) -> None:
    """Of people that there may be, within what the bins are off.

    But where one shows that two others depend on each other, which had been taken not to.
    """
    facts = data.draw(disclosed(shares, 1))
    agreement, parents = (agreement_of(shares, facts), [each.parent for each in shares.kinds])
    for slots in range(1 << len(shares.kinds)):
        less = success(pairs(agreement.spreads(slots << 2, [()])[0]))
        for new in {*range(len(shares.kinds))} - {*members(slots), *facts}:
            near = [e for e in {*members(slots), *facts} if parents[e] == new or e == parents[new]]
            more = success(pairs(agreement.spreads((slots | 1 << new) << 2, [()])[0]))
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
    before, after = (agreement_of(each, facts) for each in (shares, replace(shares, kinds=kinds)))
    for slots in range(1 << len(shares.attributes)):
        some, other = (each.spreads(slots << 2, [()])[0] for each in (before, after))
        if some.share and other.share:
            assert (success(pairs(other)) >= success(pairs(some)) * (1 - 1e-12)).all()
        else:
            assert not other.share
    likely, fewer = (each.likely(CODES.T.__getitem__) for each in (before, after))
    assert bool(np.all(fewer <= likely))


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
        spread = agreement_of(Shares(kinds, (0, 1)), codes).spreads(0, [()])[0]
        assert (spread.masses.tolist(), spread.shares.tolist()) == ([1.0], [pytest.approx(rho)])
    # Who is known to be neither 1 nor silent in the second is known to be 1 in the first.
    spread = agreement_of(Shares(kinds, (0, 1)), {1: 2}).spreads(0b100, [()])[0]
    assert spread.masses @ (1 / spread.shares) == pytest.approx(1 / (0.2 * 1e-4))


@st.composite
def shared_worlds(draw: st.DrawFn) -> World:
    """Draw people who have facts by shares, too; some depend on each other, some on columns."""
    world = draw(rich_worlds(requests=1, people=25))
    shares = draw(forests(world.cards[: world.persons], kinds=3))
    values = [len(shares.kinds[kind].shares) + 1 for kind in shares.attributes]
    cards = *world.cards[: world.persons], *values, *world.cards[world.persons :]
    people = draw(drawn_from_others(replace(world.population, shares=shares)))
    return replace(world, cards=cards, persons=people.persons, population=people)


@st.composite
def knowledge(draw: st.DrawFn, world: World) -> Known:
    """Draw what a recipient has: columns that somebody has, and any facts by shares."""
    people = world.population
    columns = draw(known(replace(world, persons=people.tabled)))
    facts = {} if people.shares is None else draw(disclosed(people.shares))
    return *columns, *((people.tabled + each, code) for each, code in facts.items())


@given(shared_worlds(), st.data())
def test_a_set_of_any_facts_is_the_mean_over_its_answers(world: World, data: st.DataObject) -> None:
    """Every measure and people left, surveyed or not, whatever is known."""
    what = data.draw(knowledge(world))
    crowd = world.anonymity_set(what)
    if crowd.unseen:
        return
    if data.draw(st.booleans()):
        crowd.survey(data.draw(st.integers(0, crowd.persons)) & ~crowd.disclosed)
    assert crowd.people == pytest.approx(1 / naive.outcomes(world.population, 0, what)[0][1])
    # Bins change the success by up to half a percent; a threshold may fall within one.
    off = {"maxprob": (0.005, 0.0), "log-maxprob": (0.01, 0.0)}
    off |= {"entropy": (0.0, 0.008), "k-anonymity": (0.0, 1.0)}
    for mask in data.draw(st.lists(st.integers(0, world.everything), max_size=8)):
        exact = not (mask & ~crowd.disclosed & crowd.persons) >> world.population.tabled
        reached = mask | crowd.disclosed
        for measure in METRICS:
            wanted = naive.identifiability(world.population, reached, what, measure, 3)
            rel, abs_ = (1e-9, 1e-9) if exact else off[measure]
            level = crowd.identifiability(mask, measure, 3)
            assert level == pytest.approx(wanted, rel=rel, abs=abs_)
        left = naive.people_left(world.population, reached, what)
        assert crowd.people_left(mask) == pytest.approx(left, rel=1e-9 if exact else 0.01)


FORGOTTEN = {f"{each}.KEPT" for each in ("anonymity_set", "look_alikes")}
FORGOTTEN |= {"measures.BATCH", "measures.CURVES_KEPT", "tables.ROWS_KEPT"}
AHEAD = "measures.SPARE", "look_alikes.FEW"


@given(shared_worlds() | rich_worlds(), st.data(), st.sampled_from([*METRICS, "worst", "people"]))
def test_a_row_has_what_each_fact_adds(world: World, data: st.DataObject, measure: Measure) -> None:
    """The same number by every way to it, whatever was asked before; so have guards.

    However many losses are estimated at once or ahead, and classes and rows remembered.
    """
    what, most = data.draw(knowledge(world)), data.draw(st.sampled_from([1, 40, BATCH]))
    crowd, k = world.anonymity_set(what), data.draw(st.integers(1, 5))
    for mask in data.draw(st.lists(st.integers(0, world.everything), min_size=1, max_size=3)):
        sets = [mask | 1 << each for each in range(len(world.cards))]
        with pytest.MonkeyPatch.context() as patch:
            for name in FORGOTTEN:
                patch.setattr(f"agent.tradeoff.{name}", most)
            for name in AHEAD if mask & 1 else ():
                patch.setattr(f"agent.tradeoff.{name}", 1)
            row, plain = crowd.row(mask & crowd.persons, measure, k), world.anonymity_set(what)
            found = [crowd.identifiability(each, measure, k) for each in sets]
        assert [plain.identifiability(each, measure, k) for each in sets] == found
        assert np.isnan(row[world.persons :]).all()
        assert mask & ~crowd.persons or row[: world.persons].tolist() == found[: world.persons]
        assert crowd.guard_bits(0, mask) == plain.guard_bits(0, mask)
        assert crowd.guard(0).best_guess(mask) == plain.guard(0).best_guess(mask)
    if measure in METRICS:
        check_curvature(crowd, measure, 3, data.draw(st.integers(0, 15)) & crowd.persons)


@given(shared_worlds(), st.data(), st.integers(2, 4))
def test_a_copy_of_a_row_has_no_facts_of_its_own(
    world: World, data: st.DataObject, times: int
) -> None:
    """Rows copied, their weights divided among the copies, change no loss."""
    alone = np.arange(world.population.rows)
    people = replace(world.population, respondents=alone, donors=None, blocks=())
    both = copies(people, data.draw(st.integers(2, times)), times)
    what, mask = data.draw(knowledge(world)), data.draw(st.integers(0, world.everything))
    one, many = (AnonymitySet(each, world.cards, what) for each in both)
    for measure in METRICS:
        level = one.identifiability(mask, measure, 3)
        assert many.identifiability(mask, measure, 3) == pytest.approx(level, abs=1e-9)
    assert many.success == pytest.approx(one.success)


@pytest.mark.parametrize("people", [2_000, 100_000])
def test_people_left_by_eight_facts_are_as_many_as_there_are(people: int) -> None:
    """By every combination of values: of a chain, of a pair, and of two that a column decides."""
    generator = np.random.default_rng(people)
    parents = (None, 0, 1, None, 3, -1, -1, None)  # -1: the column
    rows = [generator.dirichlet([2.0, 1.0, 1.0], 3) for _ in parents]
    column, kinds = np.array([0.5, 0.3, 0.2]), list[KindShares]()
    for parent, under in zip(parents, rows, strict=True):
        if parent is None:
            kinds.append(KindShares(under[0]))
            continue
        overall = (column if parent < 0 else kinds[parent].shares) @ under
        given_codes = np.concatenate([overall[None], under])
        place, at = (None, 0) if parent < 0 else (parent, None)
        kinds.append(KindShares(overall, False, place, at, given_codes))
    values, alike = np.indices((3,) * 8).reshape(8, -1), np.zeros(3**8)
    for code, chance in enumerate(column):
        above = [0 if e is None else (code if e < 0 else values[e]) for e in parents]
        alike += chance * np.prod(
            [r[a, v] for r, a, v in zip(rows, above, values, strict=True)], axis=0
        )
    left = float((people * alike**2 / -np.expm1(people * np.log1p(-alike))).sum())
    codes = np.repeat([1, 2, 3], (people * column).astype(int))[:, None].astype(np.uint8)
    shares = Shares(tuple(kinds), (*range(8),))
    crowd = AnonymitySet(Population(codes, shares=shares), [4] * 9)
    assert left / 2 <= crowd.people_left(0b111111110) <= left * 2


@given(shared_worlds(), st.data())
def test_classes_of_everybody_serve_where_all_rows_agree(world: World, data: st.DataObject) -> None:
    """Whatever is disclosed, figures are the same to the last bit."""
    facts, crowd = data.draw(st.sets(st.integers(0, world.persons - 1))), world.population
    known, everybody = [(each, 1) for each in facts], AnonymitySet(crowd, world.cards)
    sets = [AnonymitySet(crowd, world.cards, known, everybody=e) for e in (None, everybody)]
    for mask in range(1 << world.persons):
        assert len({(e.people, e.identifiability(mask, "maxprob", 1)) for e in sets}) == 1


@given(shared_worlds(), st.data())
def test_a_guard_counts_what_a_fact_tells_of_its_column(world: World, data: st.DataObject) -> None:
    """Of one fact as if it were an answer of the people; of several never less than of one."""
    rows, shares = np.repeat(world.population.codes, 30, axis=0), world.population.shares
    assert shares is not None
    tabled = world.population.tabled
    columns, facts = (1 << tabled) - 1, range(tabled, world.persons)
    crowd = AnonymitySet(Population(rows, shares=shares), world.cards[: world.persons])
    guarded = data.draw(st.integers(0, tabled - 1))
    base = data.draw(st.integers(0, columns)) & ~(1 << guarded)
    before, people = crowd.guard_bits(guarded, base), rows[rows[:, guarded] > 0].tolist()
    found = [0.0]
    for place in facts:
        kind = shares.kinds[shares.attributes[place - facts.start]]
        found.append(crowd.guard_bits(guarded, base | 1 << place) - before)
        if kind.given is None or kind.column is None or not people:
            assert found[-1] == 0
            continue
        joint = defaultdict[tuple[Known, int, int], float](float)
        for row in people:
            for value, chance in enumerate(kind.under(row[kind.column]).chances.tolist()):
                joint[(*((e, row[e]) for e in members(base)),), row[guarded], value] += chance
        wanted = bits(joint, (0, 1)) - bits(joint, (0,))
        wanted += bits(joint, (0, 2)) - bits(joint, (0, 1, 2))
        assert found[-1] == pytest.approx(wanted, abs=1e-9)
    assert crowd.guard_bits(guarded, base | crowd.persons & ~columns) >= before + max(found) - 1e-9


def bits(masses: dict[tuple[Known, int, int], float], parts: tuple[int, ...]) -> float:
    """The entropy of some parts of what has these masses."""
    totals = defaultdict[tuple[object, ...], float](float)
    for key, mass in masses.items():
        totals[tuple(key[each] for each in parts)] += mass / sum(masses.values())
    return -sum(mass * log2(mass) for mass in totals.values() if mass)
