"""The trade-off trades: from generous to strict, the price and the limits change what is sent."""

from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

from agent.decision.cache import Cache
from agent.decision.context import Context, Limits, Terms, rulebook, terms_under
from agent.decision.decide import decide
from agent.decision.engine import load_model
from agent.decision.knowledge import Knowledge
from agent.decision.values import Request
from policy.read import preset, read
from tests.policy.strategies import TODAY

MODEL, CACHE = load_model("everyday"), Cache()
TOPICS = [each.text for each in MODEL.queries if each.bits > 0][::12]
LEFT = (None, 1e6, 1e5, 1e4)  # people who agree with what the recipient holds; None for everybody
NEAR, PERSONS = 1.6, 2  # the factor by which these are met; people in each state


@cache
def recipients(people: float | None) -> tuple[Knowledge, ...]:
    """What recipients hold of real people, of whom so many are left."""
    if people is None:
        return (Knowledge(),)
    population, knowledge = MODEL.population, list[Knowledge]()
    rng = np.random.default_rng(1)
    while len(knowledge) < PERSONS:
        row, codes = population.codes[rng.integers(population.rows)], list[tuple[int, int]]()
        for column in rng.permutation(population.codes.shape[1]).tolist():
            if row[column]:
                codes.append((column, int(row[column])))
                count = CACHE.anonymity_set(MODEL, codes).people
                if count <= people * NEAR:
                    names = ((MODEL.attributes[at].name, code) for at, code in codes)
                    knowledge += [Knowledge(tuple(names))] if count >= people / NEAR else []
                    break
    return tuple(knowledge)


def preset_terms(name: str) -> Terms:
    """The price and the limits of a preset on who looks alike; every fact is set, and may leave."""
    rules = read(f'preset = "{name}"', name, preset)
    terms = terms_under(rulebook(rules, MODEL, ()).match("shop.example", "", TODAY), MODEL)
    limits = Limits(k=terms.limits.k, risk=terms.limits.risk)
    return Terms(trade_off=terms.trade_off, limits=limits)


@cache
def sent(price: str, limits: str, people: float | None) -> tuple[frozenset[str], ...]:
    """The new facts for each topic and state, at the price of one preset by another's limits."""
    terms = Terms(trade_off=preset_terms(price).trade_off, limits=preset_terms(limits).limits)

    def decided() -> Iterator[frozenset[str]]:
        for each in recipients(people):
            for text in TOPICS:
                context = Context(Request(text), terms, each, MODEL, cache=CACHE)
                yield frozenset(decide(context, brief=True).disclosed) - {*each.names}

    return tuple(decided())


def changed(one: tuple[str, str], other: tuple[str, str], people: float | None) -> list[bool]:
    """For each case, whether other facts are sent at other prices, or by other limits."""
    return [a != b for a, b in zip(sent(*one, people), sent(*other, people), strict=True)]


def test_from_generous_to_strict_other_facts_are_sent() -> None:
    """For four topics of ten or more, in the median of the states."""
    shares = [np.mean(changed(("generous",) * 2, ("strict",) * 2, each)) for each in LEFT]
    assert np.median(shares) >= 0.4


@pytest.mark.parametrize("decides", ["price", "limits"])
def test_the_price_and_the_limits_both_decide(decides: str) -> None:
    """Each in a tenth of all cases: it alone goes from generous to strict, else balanced."""
    ends: list[tuple[str, str]] = [
        (each, "balanced") if decides == "price" else ("balanced", each)
        for each in ("generous", "strict")
    ]
    cases = [each for people in LEFT for each in changed(ends[0], ends[1], people)]
    assert np.mean(cases) >= 0.1
