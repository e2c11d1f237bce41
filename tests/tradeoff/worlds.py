"""Small worlds to draw: attributes, the rows of a query, a population, and what one demands."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.coverage import Coverage
from agent.tradeoff.local_search import SetFunction
from agent.tradeoff.measures import METRICS
from agent.tradeoff.objective import DisclosureObjective, Settings
from agent.tradeoff.shares import KindShares, Shares
from agent.tradeoff.study import Pair
from agent.tradeoff.tables import Floats, Indexes, Kinds, Population, QueryRows, members, subsets
from agent.tradeoff.utility import Estimator, Utility, query_utility
from tests.strategies import codes

Cards = tuple[int, ...]
Known = tuple[tuple[int, int], ...]
NOBODY = np.zeros(0, np.intp)
NO_ROWS = QueryRows(NOBODY, NOBODY, np.zeros((0, 0), np.uint8), np.zeros((0, 0), np.uint8), 0)
ESTIMATORS: tuple[Estimator, ...] = ("louo", "plugin")
SHRINKAGES = st.sampled_from([1.0, 5.0, 7.3, 20.0, 200.0])
ESTIMATES = st.tuples(st.sampled_from(ESTIMATORS), SHRINKAGES)


@dataclass(frozen=True, eq=False)
class World:
    """The values per attribute, the first ``persons`` of them a person's; rows; people."""

    cards: Cards
    persons: int
    rows: QueryRows
    population: Population

    @property
    def everything(self) -> int:
        return (1 << len(self.cards)) - 1

    def utility(self, estimator: Estimator = "louo", shrinkage: float = 5.0) -> Utility:
        return query_utility(self.rows, self.cards, estimator, shrinkage)

    def anonymity_set(self, known: Known = ()) -> AnonymitySet:
        """The people who agree with what is known."""
        return AnonymitySet(self.population, self.cards, known)


def stored_of(
    figure: Callable[[int], float], count: int, near: Iterable[int] = ()
) -> dict[int, Floats]:
    """A figure of all sets of one and two attributes, and of these with each one added."""
    sets = [1 << each for each in range(count)]
    return {mask: np.array([figure(mask | each) for each in sets]) for mask in (0, *sets, *near)}


@st.composite
def worlds(draw: st.DrawFn, *, max_rows: int = 14, max_people: int = 8) -> World:
    """Draw a world value by value: what fails shrinks to something readable."""
    person = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    request = draw(st.lists(st.integers(1, 3), max_size=2))
    return World(
        cards=(*person, *request),
        persons=len(person),
        rows=draw(query_rows(person, request, max_rows)),
        population=draw(populations(person, request, max_people)),
    )


@st.composite
def query_rows(
    draw: st.DrawFn, person: Sequence[int], request: Sequence[int], max_rows: int
) -> QueryRows:
    """Draw rows in any order; a user may have several, also several for one intent."""
    size = draw(st.integers(1, max_rows))
    user = _numbered(draw(arrays(np.intp, size, elements=st.integers(0, 4))))
    intent = _numbered(draw(arrays(np.intp, size, elements=st.integers(0, 3))))
    return QueryRows(
        user=user,
        intent=intent,
        person=draw(codes(int(user.max()) + 1, person)),
        request=draw(codes(size, request)),
        intents=int(intent.max()) + 1,
    )


@st.composite
def populations(
    draw: st.DrawFn, person: Sequence[int], request: Sequence[int], max_people: int
) -> Population:
    """Draw people, equally likely or not, and how often they had each request value."""
    people = draw(st.integers(1, max_people))
    weights = arrays(np.float64, people, elements=st.integers(1, 4).map(float))
    counts = [arrays(np.uint16, (people, card), elements=st.integers(0, 9)) for card in request]
    return Population(
        codes=draw(codes(people, person)),
        weights=draw(st.none() | weights),
        requests=tuple(Kinds.of(draw(table.filter(np.any))) for table in counts),
    )


@st.composite
def known(draw: st.DrawFn, world: World) -> Known:
    """Draw what a recipient may know: values that at least one person has."""
    someone = draw(st.integers(0, world.population.rows - 1))
    attributes = draw(st.sets(st.integers(0, world.persons - 1)))
    return tuple((i, int(world.population.codes[someone, i])) for i in sorted(attributes))


@st.composite
def crossed(draw: st.DrawFn) -> tuple[Population, Cards, Known]:
    """Draw people of whom those with a known value have each combination of the others.

    The others have them by chance. The first attribute is the known one.
    """
    cards = (2, *draw(st.lists(st.integers(1, 3), min_size=1, max_size=3)))
    times = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    agree = [*product([1], *map(range, cards[1:]))]
    agree += [agree[each % len(agree)] for each in times]
    others = draw(codes(draw(st.integers(0, 4)), cards[1:]))
    rest = np.pad(others, ((0, 0), (1, 0)))
    return Population(np.concatenate([np.array(agree, np.uint8), rest])), cards, ((0, 1),)


@st.composite
def rich_worlds(draw: st.DrawFn, *, requests: int = 2, people: int = 60) -> World:
    """Draw the shape of a world and a seed; attributes and intents depend on each other."""
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    persons, request = draw(st.integers(2, 4)), draw(st.integers(0, requests))
    cards = tuple(generator.integers(2, 5, persons + request).tolist())
    crowd = _correlated(generator, draw(st.integers(6, people)), cards[:persons])
    users = draw(st.integers(4, 40))
    user = _numbered(generator.integers(0, users, draw(st.integers(1, 3)) * users))
    person = _correlated(generator, int(user.max()) + 1, cards[:persons])
    codes = _correlated(generator, len(user), cards[persons:])
    signal = person[user].sum(axis=1, dtype=np.intp) + codes.sum(axis=1, dtype=np.intp)
    luck = generator.random(len(user)) < draw(st.sampled_from([0.1, 0.5, 1.0, 0.0]))
    intent = _numbered(np.where(luck, generator.integers(0, 6, len(user)), signal))
    counts = [generator.integers(0, 9, (len(crowd), card)) + 1 for card in cards[persons:]]
    weights = generator.integers(1, 5, len(crowd)).astype(np.float64)
    return World(
        cards,
        persons,
        QueryRows(user, intent, person, codes, int(intent.max()) + 1),
        Population(
            crowd,
            draw(st.sampled_from([None, weights])),
            tuple(Kinds.of(each.astype(np.uint16)) for each in counts),
        ),
    )


@st.composite
def forests(draw: st.DrawFn, columns: Sequence[int] = (), *, kinds: int = 4) -> Shares:
    """Draw kinds that depend on each other, or on columns with these numbers of codes.

    Without columns, each holds one value, and the shares under a parent's are those overall on
    average: of a population that there may be.
    """
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    found, slots = list[KindShares](), list[int]()
    for place in range(draw(st.integers(1, kinds))):
        parent = draw(st.sampled_from([None, *range(-len(columns), place)]))
        several, values = bool(columns) and draw(st.booleans()), int(generator.integers(2, 5))
        shares = _shares(generator, values, several=several)
        sizes = [*(len(each.shares) + 1 for each in found), *columns]
        cards = 0 if parent is None else sizes[parent]
        given = [shares, *(_shares(generator, values, several=several) for _ in range(1, cards))]
        if not columns and parent is not None:
            shares = given[0] = found[parent].shares @ np.array(given[1:])
        kind = KindShares(
            shares,
            several,
            parent if parent is not None and parent >= 0 else None,
            parent + len(columns) if parent is not None and parent < 0 else None,
            None if parent is None else np.array(given),
            draw(st.sampled_from([None, *range(place)])) if columns and parent is None else None,
            generator.random(values) < (0.2 if columns else 0.0),
        )
        found.append(kind)
        slots += [place] * draw(st.integers(1, 1 + several))
    return Shares(tuple(found), tuple(slots))


def _shares(generator: np.random.Generator, values: int, *, several: bool) -> Floats:
    """Shares that sum to 1, some next to nothing; or prevalences, some none at all."""
    sizes = generator.exponential(size=values) ** 3
    sizes *= generator.random(values) < 0.9
    sizes[0] += 1e-3
    return np.minimum(sizes, 1.0) if several else sizes / sizes.sum()


@st.composite
def settings_for(draw: st.DrawFn, world: World, *, limits: bool = True) -> Settings:
    """Draw demands on a disclosure; the guarded attribute is no candidate."""
    guarded = draw(st.none() | st.integers(0, world.persons - 1))
    one = st.integers(0, len(world.cards) - 1).map(lambda each: 1 << each)
    sets, bits = st.tuples(one, one).map(lambda both: both[0] | both[1]), [0.05, 0.6, 2.0]
    prices = st.lists(st.tuples(sets, st.sampled_from(bits)), min_size=1, max_size=6)
    return Settings(
        candidates=world.everything & ~(0 if guarded is None else 1 << guarded),
        sensitivity=tuple(draw(st.sampled_from([0.0, 0.0, 0.05, 0.4])) for _ in world.cards),
        trade_off=draw(st.sampled_from([0.0, 0.3, 1.0, 5.12])),
        metric=draw(st.sampled_from(METRICS)),
        metric_k=draw(st.integers(2, 5)),
        guards=() if guarded is None else ((guarded, draw(st.sampled_from([0.1, 1.0]))),),
        together=tuple(draw(st.just([]) | prices)),
        k=draw(st.none() | st.integers(1, 5)) if limits else None,
        max_violations=draw(st.sampled_from([0.0, 0.1, 0.4])),
        max_risk=draw(st.sampled_from([None, 0.15, 0.3, 0.6])) if limits else None,
        most=draw(st.sampled_from([None, None, None, 0, 1, 2, 3])) if limits else None,
        most_new=draw(st.sampled_from([None, None, None, 0, 1, 2])) if limits else None,
    )


@st.composite
def objectives(draw: st.DrawFn, *, limits: bool = True) -> DisclosureObjective:
    """Draw an objective in a rich world, with all that a person and a recipient may bring."""
    world = draw(rich_worlds())
    utility = world.utility(*draw(st.just(("plugin", 0.0)) | ESTIMATES))
    crowd = world.anonymity_set(draw(known(world)))
    return DisclosureObjective(utility, crowd, draw(settings_for(world, limits=limits)))


@st.composite
def judged_objectives(draw: st.DrawFn) -> DisclosureObjective:
    """Draw a judged utility, and people who have each combination of values, or who do not."""
    population, cards, what = draw(crossed())
    if draw(st.booleans()):
        population = replace(population, codes=draw(codes(population.rows, cards)))
        what = ()
    world = World(cards, len(cards), NO_ROWS, population)
    parts = draw(arrays(np.float64, (2, len(cards)), elements=st.floats(0, 1)))
    demands = replace(draw(settings_for(world)), metric="maxprob")
    return DisclosureObjective(
        Coverage(np.array([0.5, 2.0]), parts), world.anonymity_set(what), demands
    )


def _numbered(values: NDArray[np.intp]) -> NDArray[np.intp]:
    return np.unique(values, return_inverse=True)[1].astype(np.intp)


def _correlated(
    generator: np.random.Generator, items: int, cards: Sequence[int]
) -> NDArray[np.uint8]:
    """Codes, shape (items, attributes); an item's codes lean the same way."""
    lean = generator.random(items)
    columns = [
        np.minimum(card - 1, card * (lean + generator.random(items)) / 2).astype(np.uint8)
        for card in cards
    ]
    return np.stack(columns, axis=1) if columns else np.zeros((items, 0), np.uint8)


def all_pairs(candidates: int) -> list[Pair]:
    """Every pair of sets A in B within a mask, with every attribute outside of B."""
    return [
        Pair(smaller, larger, attribute)
        for larger in subsets(candidates)
        for smaller in subsets(larger)
        if smaller != larger
        for attribute in members(candidates & ~larger)
    ]


Table = tuple[float, ...]


@dataclass(unsafe_hash=True)
class Tabulated(SetFunction):
    """F = utility - cost, looked up by mask; ``allowed`` says which sets may be chosen."""

    utilities: Table
    costs: Table
    allowed: tuple[bool, ...]
    claims_submodularity: bool = True
    candidates: int = field(init=False)

    def __post_init__(self) -> None:
        self.candidates = self.everything

    @property
    def everything(self) -> int:
        """The set of all attributes, which are the candidates."""
        return len(self.utilities) - 1

    def value(self, mask: int) -> float:
        return self.utilities[mask] - self.costs[mask]

    def utility(self, mask: int) -> float:
        return self.utilities[mask]

    def cost(self, mask: int) -> float:
        return self.costs[mask]

    def feasible(self, mask: int, *, larger: bool = False) -> bool:
        """Whether the set, or a set that contains it, may be chosen."""
        more = subsets(self.everything & ~mask) if larger else [0]
        return any(self.allowed[mask | each] for each in more)

    def bounds(self, mask: int, attributes: Sequence[int]) -> list[float]:
        """The largest utility of all less the smallest cost of a superset."""
        return [max(self.utilities) - self._floor(mask | 1 << each) for each in attributes]

    def helps(self, mask: int, attributes: Indexes, *, count: bool = True) -> Floats | None:
        """The utilities; of some sets they are to be counted, or not sooner known than F."""
        levels = np.array([self.utilities[mask | 1 << each] for each in attributes.tolist()])
        return levels if [True, count, False][(self.candidates & ~mask).bit_count() % 3] else None

    def costs_beside(self, mask: int, attributes: Indexes) -> Floats:
        """A bound that is more or less close."""
        costs = [self.costs[mask | 1 << each] - (each % 2) / 4 for each in attributes.tolist()]
        return np.array(costs, dtype=np.float64)

    def _floor(self, mask: int) -> float:
        return min(self.costs[mask | each] for each in subsets(self.everything & ~mask))

    @property
    def optimum(self) -> float:
        """The largest F of an allowed set."""
        return max(self.value(mask) for mask in range(len(self.allowed)) if self.allowed[mask])

    def relabelled(self, names: Sequence[int]) -> "Tabulated":
        """The function whose attribute ``names[i]`` is our attribute i."""
        old = sorted(range(len(self.utilities)), key=lambda mask: renamed(mask, names))
        tables = (self.utilities, self.costs)
        utilities, costs = (tuple(table[mask] for mask in old) for table in tables)
        allowed = tuple(self.allowed[mask] for mask in old)
        return replace(self, utilities=utilities, costs=costs, allowed=allowed)


def renamed(mask: int, names: Sequence[int]) -> int:
    """The set of the new names of a set's attributes."""
    return sum(1 << names[each] for each in members(mask))


def tabulate(
    attributes: int, utility: Callable[[int], float], cost: Callable[[int], float] = lambda _: 0.0
) -> Tabulated:
    """The table of two functions of masks; every set is allowed."""
    masks = range(1 << attributes)
    return Tabulated(
        tuple(float(utility(mask)) for mask in masks),
        tuple(float(cost(mask)) for mask in masks),
        (True,) * (1 << attributes),
    )


@st.composite
def submodular(draw: st.DrawFn, *, most: int = 7, ties: bool = True) -> Tabulated:
    """Draw a submodular F: coverage less a supermodular cost, or what a directed cut separates.

    Without ``ties`` no two sets have the same F: each attribute costs its own power of two.
    """
    attributes = draw(st.integers(1, most))
    kind = draw(st.sampled_from([coverage_less_cost, directed_cut]))
    drawn, scale = draw(kind(attributes)), 1 << attributes
    utilities = tuple(scale * value for value in drawn.utilities)
    costs = tuple(scale * cost + mask for mask, cost in enumerate(drawn.costs))
    return drawn if ties else replace(drawn, utilities=utilities, costs=costs)


@st.composite
def coverage_less_cost(draw: st.DrawFn, attributes: int) -> Tabulated:
    """Draw the weight of what is covered, less a cost per attribute and per pair."""
    weights = draw(st.lists(st.integers(1, 9), min_size=1, max_size=8))
    covers = [draw(st.integers(0, (1 << len(weights)) - 1)) for _ in range(attributes)]
    single = [draw(st.integers(0, 9)) for _ in range(attributes)]
    pair = draw(st.lists(st.integers(0, 3), min_size=attributes**2, max_size=attributes**2))

    def covered(mask: int) -> float:
        items = {item for each in members(mask) for item in members(covers[each])}
        return sum(weights[item] for item in items)

    def cost(mask: int) -> float:
        here = list(members(mask))
        return sum(single[i] for i in here) + sum(
            pair[i * attributes + j] for i in here for j in here if i < j
        )

    return tabulate(attributes, covered, cost)


@st.composite
def directed_cut(draw: st.DrawFn, attributes: int) -> Tabulated:
    """Draw arcs with weights; F is what leaves the set: not monotone, 0 for none and for all."""
    arcs = draw(st.lists(st.integers(0, 5), min_size=attributes**2, max_size=attributes**2))

    def leaving(mask: int) -> float:
        return sum(
            arcs[i * attributes + j]
            for i in members(mask)
            for j in range(attributes)
            if not mask >> j & 1
        )

    return tabulate(attributes, leaving)


@st.composite
def arbitrary(draw: st.DrawFn, *, most: int = 5) -> Tabulated:
    """Draw any table with F(0) = 0: nothing is submodular, and any set may be forbidden."""
    size = 1 << draw(st.integers(0, most))
    quarters = st.integers(-16, 16).map(lambda number: number / 4)
    values = st.lists(quarters, min_size=size - 1, max_size=size - 1)
    costs = draw(st.just([0.0] * (size - 1)) | values)
    free = st.just([True] * (size - 1))
    allowed = draw(free | st.lists(st.booleans(), min_size=size - 1, max_size=size - 1))
    return Tabulated((0.0, *draw(values)), (0.0, *costs), (True, *allowed), draw(st.booleans()))
