"""The definitions of DESIGN.md 2, term by term in plain Python: slow, and nothing else."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import product
from math import log, log2

from agent.tradeoff.anonymity_set import Metric
from agent.tradeoff.sets import members
from agent.tradeoff.tables import Population, QueryRows

Known = Sequence[tuple[int, int]]
Answer = tuple[int, ...]


def group(rows: QueryRows, row: int, mask: int) -> Answer:
    """Return the values of a row on a set of attributes."""
    person, request = rows.person[rows.user[row]], rows.request[row]
    return tuple(
        int(person[i]) if i < rows.persons else int(request[i - rows.persons])
        for i in members(mask)
    )


def louo(rows: QueryRows, mask: int, beta: float) -> float:
    """Return the leave-one-user-out utility, row by row (DESIGN.md 2.1)."""
    if not mask:
        return 0.0
    everyone = range(len(rows.user))
    total = 0.0
    for r in everyone:
        others = [s for s in everyone if rows.user[s] != rows.user[r]]
        alike = [s for s in others if group(rows, s, mask) == group(rows, r, mask)]
        same = sum(rows.intent[s] == rows.intent[r] for s in others)
        prior = (same + 0.5) / (len(others) + rows.intents / 2)
        hits = sum(rows.intent[s] == rows.intent[r] for s in alike)
        total += log2((hits + beta * prior) / (len(alike) + beta)) - log2(prior)
    return total / len(rows.user)


def plugin(rows: QueryRows, mask: int, beta: float) -> float:
    """Return the plug-in utility, group by group (DESIGN.md 2.1)."""
    if not mask:
        return 0.0
    everyone = range(len(rows.user))
    groups = defaultdict(list)
    for r in everyone:
        groups[group(rows, r, mask)].append(r)
    known = sum(len(g) * _entropy(rows, g, beta) for g in groups.values()) / len(rows.user)
    return _entropy(rows, everyone, beta) - known


def _entropy(rows: QueryRows, some: Sequence[int], beta: float) -> float:
    """Return H(P(.|g)) of some rows in bits."""
    everyone = range(len(rows.user))
    bits = 0.0
    for x in range(rows.intents):
        prior = (sum(rows.intent[r] == x for r in everyone) + 0.5) / (
            len(everyone) + rows.intents / 2
        )
        share = (sum(rows.intent[r] == x for r in some) + beta * prior) / (len(some) + beta)
        bits -= share * log2(share) if share > 0 else 0.0
    return bits


def agreeing(population: Population, known: Known) -> list[int]:
    """Return the people who agree with what is known."""
    return [
        y
        for y in range(population.people)
        if all(population.codes[y, attribute] == code for attribute, code in known)
    ]


def joint(population: Population, mask: int, known: Known) -> dict[Answer, dict[int, float]]:
    """Return P(a, y|d) by answer a and person y: DESIGN.md 2.2."""
    people = agreeing(population, known)
    weights = [1.0] * population.people if population.weights is None else population.weights
    whole = sum(float(weights[y]) for y in people)
    persons = [i for i in members(mask) if i < population.persons]
    requests = [i - population.persons for i in members(mask) if i >= population.persons]
    table: dict[Answer, dict[int, float]] = defaultdict(dict)
    for y in people:
        shares = [_request_share(population, j, y) for j in requests]
        for values in product(*(range(len(share)) for share in shares)):
            chance = float(weights[y]) / whole
            for share, value in zip(shares, values, strict=True):
                chance *= share[value]
            answer = (*(int(population.codes[y, i]) for i in persons), *values)
            table[answer][y] = chance
    return table


def _request_share(population: Population, request: int, y: int) -> list[float]:
    """Return P_j(.|y): a person's own rows, and five rows' worth of everybody's."""
    table = population.request_counts[request].astype(float)
    overall = table.sum(axis=0) / table.sum()
    return [float(value) for value in (table[y] + 5 * overall) / (table[y].sum() + 5)]


def identifiability(
    population: Population, mask: int, known: Known, metric: Metric, k: int
) -> float:
    """Return I(A|d), the loss expected over the answers: the table of DESIGN.md 2.2."""
    table = joint(population, mask, known)
    if metric == "entropy":
        before = _bits([*joint(population, 0, known)[()].values()])
        after = _bits([p for part in table.values() for p in part.values()])
        answers = _bits([sum(part.values()) for part in table.values()])
        return before - (after - answers)
    total = 0.0
    for part in table.values():
        mass = sum(part.values())
        if mass:  # an answer that never occurs
            total += mass * _loss(metric, max(part.values()) / mass, population.people, k)
    return total


def own_weights(population: Population, mask: int, known: Known, own: Known) -> list[float]:
    """Return the weights of the people who agree with d and, on A, with one person's codes."""
    mine = {i: dict(own).get(i, 0) for i in members(mask) if i < population.persons}
    alike = set(agreeing(population, known)) & set(agreeing(population, [*mine.items()]))
    weights = [1.0] * population.people if population.weights is None else population.weights
    return [float(weights[y]) for y in alike]


def _loss(metric: Metric, peak: float, people: int, k: int) -> float:
    if metric == "maxprob":
        return peak
    if metric == "k-anonymity":
        return float(peak > 1 / k * (1 + 1e-9))  # a peak of 1/k itself is no violation
    return -log(1 - min(peak, people / (people + 1)))


def _bits(probabilities: Sequence[float]) -> float:
    """Return the entropy in bits."""
    return -sum(p * log2(p) for p in probabilities if p > 0)


def people_left(population: Population, mask: int, known: Known) -> float:
    """Return the sum of P(a|d) n(a) over the answers about person attributes."""
    person_part = mask & ((1 << population.persons) - 1)
    table = joint(population, person_part, known)
    return sum(sum(part.values()) * len(part) for part in table.values())


def guard_tables(
    population: Population, mask: int, known: Known, guarded: int
) -> list[dict[int, float]]:
    """Return P(a, v|d) for each answer a, over the people who specify the guarded attribute."""
    told = [y for y in agreeing(population, known) if population.codes[y, guarded]]
    whole = sum(p for y, p in joint(population, 0, known).get((), {}).items() if y in told)
    tables = []
    for part in joint(population, mask, known).values():
        cells: dict[int, float] = defaultdict(float)
        for y in set(told) & set(part):
            cells[int(population.codes[y, guarded])] += part[y] / whole
        tables.append(cells)
    return tables


def guard_bits(population: Population, mask: int, known: Known, guarded: int) -> float:
    """Return H(V_v|d) - H(V_v|A,d) in bits, 0 for fewer than 30 people."""
    told = [y for y in agreeing(population, known) if population.codes[y, guarded]]
    if len(told) < 30:
        return 0.0
    before, after = (
        sum(_bits([*cells.values()]) - _bits([sum(cells.values())]) for cells in tables)
        for tables in (
            guard_tables(population, 0, known, guarded),
            guard_tables(population, mask, known, guarded),
        )
    )
    return before - after


def best_guess(population: Population, mask: int, known: Known, guarded: int) -> float:
    """Return the expected success of the best guess about the guarded attribute."""
    tables = guard_tables(population, mask, known, guarded)
    return sum(max(cells.values(), default=0.0) for cells in tables)
