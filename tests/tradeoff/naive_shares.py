"""Facts by shares, value by value in plain Python (DESIGN.md 2.8): slow, and nothing else."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import product
from math import sqrt

import numpy as np
from scipy.stats import poisson

from agent.tradeoff.shares import OWN_SHARES, KindShares, Shares

People = Mapping[int, float]  # by code


def value_shares(
    shares: Shares, kind: KindShares, codes: Mapping[int, int], people: Mapping[int, People]
) -> list[float]:
    """The shares of a kind's values, by what it depends on.

    ``codes``: by slot, disclosed ones first; ``people``: by column, how many have each code.
    """
    if kind.given is not None and kind.parent is not None:
        parents = [code for slot, code in codes.items() if shares.attributes[slot] == kind.parent]
        return [float(each) for each in (kind.given[parents[0]] if parents else kind.shares)]
    if kind.given is not None and kind.column is not None:
        among = people[kind.column]
        mean = sum(weight * kind.given[code] for code, weight in among.items())
        return [float(each) / sum(among.values()) for each in mean]
    return [float(each) for each in kind.shares]


def draws(
    shares: Shares,
    disclosed: Mapping[int, int],
    new: Sequence[int],
    people: Mapping[int, People],
    by_row: AbstractSet[int] = frozenset(),
) -> list[tuple[float, float]]:
    """How probable each combination of the values of new slots is, and its rho: DESIGN.md 2.8.

    ``by_row``: disclosed slots of which rho is not counted here.
    """
    kinds = {slot: shares.kinds[shares.attributes[slot]] for slot in (*disclosed, *new)}
    combinations = list[tuple[float, float]]()
    for values in product(*(range(1, len(kinds[slot].shares) + 1) for slot in new)):
        codes = {**disclosed, **dict(zip(new, values, strict=True))}
        chance = rho = 1.0
        for slot, code in ((slot, code) for slot, code in codes.items() if slot not in by_row):
            row = value_shares(shares, kinds[slot], codes, people)
            if code > len(row):  # in own words, which say nothing of the kind's values
                rho *= OWN_SHARES[code - len(row) - 1]
                continue
            own, alike = drawn(kinds[slot], row, code)
            chance *= own / sum(row) if own else 0.0
            rho *= alike
        held = {shares.attributes[slot] for slot in codes}
        asked = {kind.holders for kind in kinds.values() if kind.holders is not None}
        for place in asked - held:
            kind, every = shares.kinds[place], shares.kinds[place].shares.tolist()
            rho *= max(drawn(kind, every, code)[1] for code in range(1, len(every) + 1))
        combinations.append((chance, rho))
    whole = sum(chance for chance, _ in combinations)
    possible = [(chance / whole, rho) for chance, rho in combinations if chance]
    return possible if any(rho for _, rho in possible) else [(1.0, 0.0)]


def drawn(kind: KindShares, row: Sequence[float], code: int) -> tuple[float, float]:
    """The share of a code in a row, and rho, from one in ten thousand on.

    Code 0 is the rarest; a vague value counts as rare as the rarest.
    """
    some, shares = (at for at, each in enumerate(row) if each), kind.shares.tolist()
    at = code - 1 if code else min(some, key=row.__getitem__, default=0)
    vague = np.broadcast_to(kind.vague, len(row))[at] and shares[at]
    likeness = min(filter(None, shares)) / shares[at] if vague else 1.0
    return row[at], max(row[at] * likeness, 1e-4) if row[at] else 0.0


def one_of_poisson(others: float) -> float:
    """E[1/F] for one person and a Poisson number of others, summed up: DESIGN.md 2.8."""
    far = 40 * sqrt(others)
    numbers = np.arange(max(0, int(others - far)), int(others + far + 40), 1 + int(far / 9_999))
    return float((numbers[1] - numbers[0]) * (poisson.pmf(numbers, others) / (1 + numbers)).sum())
