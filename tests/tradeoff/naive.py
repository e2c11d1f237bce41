"""The definitions of DESIGN.md 2, term by term in plain Python: slow, and nothing else."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import combinations, pairwise, product
from math import exp, inf, log, log1p, log2, prod
from typing import NamedTuple

import numpy as np
from scipy.integrate import quad

from agent.tradeoff.measures import Alike, Measure, risk
from agent.tradeoff.shares import Shares
from agent.tradeoff.tables import Population, QueryRows, members
from tests.tradeoff.naive_shares import drawn, draws, one_of_poisson, value_shares

Known = tuple[tuple[int, int], ...]
Answer = tuple[int, ...]
Events = Mapping[int, frozenset[int]]
ALPHA = 1.0  # of the prior
DISCOUNT = 0.5  # of a row, taken off the people who have two values
CLOSE = 3  # pairs for each attribute that bound how many are expected


def group(rows: QueryRows, row: int, mask: int) -> Answer:
    """The values of a row on a set of attributes."""
    person, request = rows.person[rows.user[row]], rows.request[row]
    return tuple(
        int(person[i]) if i < rows.persons else int(request[i - rows.persons])
        for i in members(mask)
    )


def louo(rows: QueryRows, mask: int, beta: float) -> float:
    """The leave-one-user-out utility (DESIGN.md 2.1)."""
    return sum(louo_scores(rows, mask, beta)) / len(rows.user) if mask else 0.0


def louo_scores(rows: QueryRows, mask: int, beta: float) -> list[float]:
    """The scores of which it is the mean, row by row."""
    everyone = range(len(rows.user))
    scores = []
    for r in everyone:
        others = [s for s in everyone if rows.user[s] != rows.user[r]]
        alike = [s for s in others if group(rows, s, mask) == group(rows, r, mask)]
        same = sum(rows.intent[s] == rows.intent[r] for s in others)
        prior = (same + 0.5) / (len(others) + rows.intents / 2)
        hits = sum(rows.intent[s] == rows.intent[r] for s in alike)
        scores.append(log2((hits + beta * prior) / (len(alike) + beta)) - log2(prior))
    return scores


def plugin(rows: QueryRows, mask: int, beta: float) -> float:
    """The plug-in utility, group by group (DESIGN.md 2.1)."""
    if not mask:
        return 0.0
    everyone = range(len(rows.user))
    groups = defaultdict(list)
    for r in everyone:
        groups[group(rows, r, mask)].append(r)
    known = sum(len(g) * _entropy(rows, g, beta) for g in groups.values()) / len(rows.user)
    return _entropy(rows, everyone, beta) - known


def _entropy(rows: QueryRows, some: Sequence[int], beta: float) -> float:
    """H(P(.|g)) of some rows in bits."""
    everyone = range(len(rows.user))
    whole, bits = len(everyone) + rows.intents / 2, 0.0
    for x in range(rows.intents):
        prior = (sum(rows.intent[r] == x for r in everyone) + 0.5) / whole
        share = (sum(rows.intent[r] == x for r in some) + beta * prior) / (len(some) + beta)
        bits -= share * log2(share) if share > 0 else 0.0
    return bits


def events(population: Population, known: Known) -> dict[int, frozenset[int]]:
    """Return which codes of which attributes are still possible.

    Silence about what hangs on another attribute tells of that one, where everybody specifies it.
    """
    codes: dict[int, frozenset[int]] = {}
    for attribute, code in (each for each in known if each[0] < population.tabled):
        place, some = attribute, frozenset([code])
        if not code and attribute in population.hanging and population.codes[:, attribute].all():
            place, some = population.hanging[attribute]
        codes[place] = some & codes.get(place, some)
    return codes


def agreeing(population: Population, known: Known) -> list[int]:
    possible = events(population, known)
    return [
        y
        for y in range(population.rows)
        if all(int(population.codes[y, attribute]) in some for attribute, some in possible.items())
        and facts_of(population, known, y)
    ]


def joint(population: Population, mask: int, known: Known) -> dict[Answer, dict[int, float]]:
    """P(a, y|d) by answer a and person y: DESIGN.md 2.2, 2.8."""
    people, weights = agreeing(population, known), _weights(population)
    weights = [weight * facts_of(population, known, y) for y, weight in enumerate(weights)]
    whole = sum(weights[y] for y in people)
    persons = [i for i in members(mask) if i < population.tabled]
    requests = [i - population.persons for i in members(mask) if i >= population.persons]
    table: dict[Answer, dict[int, float]] = defaultdict(dict)
    for y in people:
        shares = [_request_share(population, j, y) for j in requests]
        for values in product(*(range(len(share)) for share in shares)):
            chance = weights[y] / whole
            for share, value in zip(shares, values, strict=True):
                chance *= share[value]
            answer = (*(int(population.codes[y, i]) for i in persons), *values)
            table[answer][y] = chance
    return table


def by_row(population: Population, known: Known) -> dict[int, int]:
    """Return the known facts by shares that depend on a column which is not known, with that."""
    columns, possible = dict[int, int](), events(population, known)
    shares = population.shares or Shares((), ())
    for attribute, kind in enumerate(map(shares.kinds.__getitem__, shares.attributes)):
        column = kind.column if kind.given is not None else None
        if column is not None and len(possible.get(column, ())) != 1:
            columns[attribute + population.tabled] = column
    return {place: columns[place] for place, _ in known if place in columns}


def facts_of(population: Population, known: Known, y: int) -> float:
    """L_y: how probably a person agrees in these facts."""
    likely, depends = 1.0, by_row(population, known)
    for place, code in known:
        if place in depends and population.shares is not None:
            kind = population.shares.kinds[population.shares.attributes[place - population.tabled]]
            own = {depends[place]: {int(population.codes[y, depends[place]]): 1.0}}
            row = value_shares(population.shares, kind, {}, own)
            likely *= drawn(kind, row, code)[1]
    return likely


def _request_share(population: Population, request: int, y: int) -> list[float]:
    """P_j(.|y): a person's own rows, and five rows' worth of everybody's."""
    kinds = population.requests[request]
    table = kinds.counts[kinds.of_row].astype(float)
    overall = table.sum(axis=0) / table.sum()
    return [float(value) for value in (table[y] + 5 * overall) / (table[y].sum() + 5)]


def one_in(
    rows: float, people: float, expected: float, share: float = 1.0, *, outside: bool = False
) -> float:
    """Return E[1/F] by quadrature, over the logarithm of 1 - t: DESIGN.md 2.7 and 2.8.

    ``rows``: f, ``people``: W, of no row those that a row stands for, ``expected``: mu, ``share``:
    rho; ``outside``: for somebody who is not among the rows.
    """
    drawn = min(1.0, max(rows, 1) / people)
    s = (drawn + ALPHA / expected) / (1 + ALPHA / expected)
    power = rows - 1 + outside

    def integrand(v: float) -> float:
        u = exp(v)  # 1 - t
        left = power * log1p(-u) if u < 1 else (0.0 if not power else -inf)
        return u * exp(left + (rows + ALPHA) * (log(s) - log(s + (1 - s) * u)))

    end, turn = log(share), log(s / max(rows, 1))
    cuts = (turn - 12, turn - 4, turn, turn + 3, log(s), log(s) + 3, -3.0, -1.0, -0.1)
    edges = [-60.0, *sorted(cut for cut in {*cuts} if -60 < cut < end), end]
    parts = (quad(integrand, *edge, epsabs=0, epsrel=1e-9, limit=200) for edge in pairwise(edges))
    return float(sum(part[0] for part in parts)) / share


@lru_cache(maxsize=100)
def pair_shares(population: Population, one: int, other: int) -> dict[tuple[int, int], float]:
    """Return the share of the people with each two values of two attributes that somebody has."""
    weights = _weights(population)
    shares: dict[tuple[int, int], float] = defaultdict(float)
    for weight, codes in zip(weights, population.codes, strict=True):
        shares[int(codes[one]), int(codes[other])] += weight / sum(weights)
    return shares


@lru_cache(maxsize=100)
def information(population: Population, one: int, other: int) -> int:
    """Return the mutual information of two attributes, in units of 2^-30 bits."""
    pairs = pair_shares(population, one, other)
    bits = sum(
        share * log2(share / (_share(population, one, {i}) * _share(population, other, {j})))
        for (i, j), share in pairs.items()
    )
    return round(bits * 2**30)


def tree(population: Population, attributes: Sequence[int]) -> set[tuple[int, int]]:
    """Return the tree of largest information: the best pairs that close no circle (Kruskal)."""
    part = {each: {each} for each in attributes}
    chosen = set()
    for _, one, other in sorted(
        (-information(population, *pair), *pair) for pair in combinations(sorted(attributes), 2)
    ):
        if other not in part[one]:
            chosen.add((one, other))
            joined = part[one] | part[other]
            part |= dict.fromkeys(joined, joined)
    return chosen


def together(population: Population, pair: tuple[int, int], codes: Events) -> float:
    """Return the share of the people with these codes of two attributes.

    Half of a row is taken off each two values that somebody has, and given to all as if
    the attributes were independent.
    """
    one, other = pair
    pairs, row = pair_shares(population, one, other), _row(population)
    spared = sum(min(share, DISCOUNT * row) for share in pairs.values())
    total = 0.0
    for i, j in product(codes[one], codes[other]):
        shares = _share(population, one, {i}), _share(population, other, {j})
        lowered = max(pairs.get((i, j), 0.0) - DISCOUNT * row, 0.0)
        total += min(lowered + spared * shares[0] * shares[1], *shares)
    return total


def expected_people(population: Population, codes: Events) -> float:
    """Return how many people are expected to have one of these codes of each attribute: mu."""
    shares = {each: _share(population, each, some) for each, some in codes.items()}
    everybody = sum(_weights(population))
    people = everybody * prod(shares.values())
    if not people:
        return 0.0
    for one, other in tree(population, [*codes]):
        people *= together(population, (one, other), codes) / (shares[one] * shares[other])
    close = sorted(
        (-information(population, *pair), *pair)
        for pair in combinations(range(population.tabled), 2)
    )[: CLOSE * population.tabled]
    pairs = [(one, other) for _, one, other in close if {one, other} <= codes.keys()]
    few = [*shares.values(), *(together(population, pair, codes) for pair in pairs)]
    return min([people, *(everybody * share for share in few)])


def _weights(population: Population) -> list[float]:
    if population.weights is None:
        return [1.0] * population.rows
    return [float(each) for each in population.weights]


def _share(population: Population, attribute: int, codes: AbstractSet[int]) -> float:
    weights, column = _weights(population), population.codes[:, attribute]
    agreeing = sum(w for w, code in zip(weights, column, strict=True) if int(code) in codes)
    return agreeing / sum(weights)


def _row(population: Population) -> float:
    """Return the share of the people that the usual respondent stands for."""
    weights, who = _weights(population), population.respondents
    by_person: dict[int, float] = defaultdict(float)
    for place, weight in enumerate(weights):
        by_person[place if who is None else int(who[place])] += weight
    return sum(each**2 for each in by_person.values()) / sum(weights) ** 2


class Group(NamedTuple):
    """Rows that look alike: P(a|d), f, W, mu and rho by row of DESIGN.md 2.7 and 2.8."""

    mass: float
    rows: float
    people: float
    expected: float
    share: float = 1.0
    codes: Known = ()  # by which it is told apart


@lru_cache(maxsize=100)
def groups(population: Population, mask: int, known: Known) -> list[Group]:
    """Return the rows that look alike after each answer, row by row."""
    weights, possible = _weights(population), events(population, known)
    whole = sum(weights[y] * facts_of(population, known, y) for y in agreeing(population, known))
    told = {attribute for attribute, _ in known}
    persons = {i for i in members(mask) if i < population.tabled and i not in told}
    found = []
    for part in joint(population, mask, known).values():
        likely = {y: chance / weights[y] * whole for y, chance in part.items()}
        peak = max(likely.values())
        if not peak:  # an answer that never occurs
            continue
        someone = next(iter(part))
        own = {i: frozenset([int(population.codes[someone, i])]) for i in persons}
        mu = (
            1.0
            if population.weights is None
            else min(expected_people(population, each) for each in (possible, {**possible, **own}))
        )
        rows = min(
            sum(
                max(likely[y] for y in likely if who[y] == each)
                for each in {who[y] for y in likely}
            )
            for who in _behind(population, persons | possible.keys())
        )
        people = sum(weights[y] * each for y, each in likely.items()) / peak
        share = max(facts_of(population, known, y) for y in part)
        codes = tuple((i, min(some)) for i, some in own.items())
        found.append(Group(sum(part.values()), rows / peak, people, mu, share, codes))
    return found


def outcomes(
    population: Population, mask: int, known: Known, share: float = 1.0
) -> list[tuple[float, float]]:
    """Return P(a|d) and the success of a guess, by answers about facts of whatever kind."""
    found = groups(population, mask, known)
    if population.shares is None:
        return [(each.mass, success(each, population, share)) for each in found]
    shares, first = population.shares, population.tabled
    facts = {place - first: code for place, code in known if place >= first}
    new = [each - first for each in members(mask) if first <= each < population.persons]
    among: dict[int, dict[int, float]] = {i: defaultdict(float) for i in range(first)}
    for y, part in joint(population, 0, known).get((), {}).items():
        for i, by_code in among.items():
            by_code[int(population.codes[y, i])] += part
    for place, codes in events(population, known).items():
        among[place] = {min(codes): 1.0} if len(codes) == 1 else among[place]
    unsure = {place - first for place in by_row(population, known)}
    result = []
    for group in found:
        people = {**among, **{i: {code: 1.0} for i, code in group.codes}}
        some = draws(shares, facts, [each for each in new if each not in facts], people, unsure)
        result += [(group.mass * e, success(group, population, share * rho)) for e, rho in some]
    return result


def _behind(population: Population, attributes: AbstractSet[int]) -> list[list[int]]:
    """Return who stands behind each row: respondents, and donors where attributes are theirs."""
    who = population.respondents
    numbers = [[*range(population.rows)] if who is None else who.tolist()]
    for block, donors in zip(
        population.blocks, () if population.donors is None else population.donors, strict=True
    ):
        if attributes & {*members(block)}:
            numbers.append(donors.tolist())
    return numbers


def success(group: Group, population: Population, share: float) -> float:
    """The success of a guess at one of these people, or of those of another country."""
    if population.residents is None:
        return chance(group, share)
    drawn = min(1.0, group.rows / group.people) + ALPHA / group.expected
    alike = population.residents / sum(_weights(population)) * group.share * share
    return one_of_poisson(alike * (group.rows + ALPHA) / drawn)


@lru_cache(maxsize=1_000)
def chance(group: Group, share: float = 1.0) -> float:
    """E[1/F] as the product has it; it is held against ``one_in`` elsewhere."""
    return float(risk(Alike(*(np.array([each]) for each in group[:-1])), share)[0])


def identifiability(
    population: Population, mask: int, known: Known, metric: Measure, k: int, share: float = 1.0
) -> float:
    """I(A|d), the loss expected over the answers: DESIGN.md 2.2, 2.7 and 2.8."""
    counted = population.weights is None and share == 1 and population.shares is None
    if metric == "entropy" and counted:
        table = joint(population, mask, known)
        before = _bits([*joint(population, 0, known)[()].values()])
        after = _bits([p for part in table.values() for p in part.values()])
        answers = _bits([sum(part.values()) for part in table.values()])
        return before - (after - answers)
    counted_people = population.rows if population.weights is None else sum(population.weights)
    everybody, total = float(population.residents or counted_people), 0.0
    if counted:
        found = [(group.mass, 1 / group.rows) for group in groups(population, mask, known)]
    else:
        found = outcomes(population, mask, known, share)
    for mass, success in found:
        if metric == "entropy":
            loss = log2(success / outcomes(population, 0, known, share)[0][1])
        else:
            loss = _loss(metric, success, everybody, k)
        total += mass * loss
    return max(total, 0.0)


def _loss(metric: Measure, peak: float, people: float, k: int) -> float:
    if metric == "maxprob":
        return peak
    if metric == "k-anonymity":
        return float(peak > 1 / k * (1 + 1e-9))  # a peak of 1/k itself is no violation
    return -log(1 - min(peak, people / (people + 1)))


def _bits(probabilities: Sequence[float]) -> float:
    return -sum(p * log2(p) for p in probabilities if p > 0)


def people_left(population: Population, mask: int, known: Known, share: float = 1.0) -> float:
    """The sum of P(a|d) n(a), or P(a|d) / r(a), over answers about person attributes."""
    persons = mask & ((1 << population.persons) - 1)
    if population.weights is None and share == 1 and population.shares is None:
        return sum(group.mass * group.rows for group in groups(population, persons, known))
    return sum(mass / success for mass, success in outcomes(population, persons, known, share))


def guard_tables(
    population: Population, mask: int, known: Known, guarded: int
) -> list[dict[int, float]]:
    """P(a, v|d) for each answer a, over the people who specify the guarded attribute."""
    specified = [y for y in agreeing(population, known) if population.codes[y, guarded]]
    whole = sum(p for y, p in joint(population, 0, known).get((), {}).items() if y in specified)
    tables = []
    for part in joint(population, mask, known).values():
        cells: dict[int, float] = defaultdict(float)
        for y in set(specified) & set(part):
            cells[int(population.codes[y, guarded])] += part[y] / whole
        tables.append(cells)
    return tables


def guard_bits(population: Population, mask: int, known: Known, guarded: int) -> float:
    """H(V_v|d) - H(V_v|A,d) in bits, 0 for fewer than 30 people."""
    specified = [y for y in agreeing(population, known) if population.codes[y, guarded]]
    if len(specified) < 30:
        return 0.0
    both = (guard_tables(population, each, known, guarded) for each in (0, mask))
    before, after = (
        sum(_bits([*cells.values()]) - _bits([sum(cells.values())]) for cells in tables)
        for tables in both
    )
    return before - after


def best_guess(population: Population, mask: int, known: Known, guarded: int) -> float:
    """The expected success of the best guess about the guarded attribute."""
    tables = guard_tables(population, mask, known, guarded)
    return sum(max(cells.values(), default=0.0) for cells in tables)
