"""What the rest lets a recipient infer about a fact that is never disclosed (DESIGN.md 2.2)."""

from collections import defaultdict
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.tradeoff.anonymity_set import FEWEST, AnonymitySet
from agent.tradeoff.sets import members, singleton, subsets
from agent.tradeoff.tables import UNSPECIFIED, Population
from tests.tradeoff import naive
from tests.tradeoff.worlds import World, known, rich_worlds


@given(rich_worlds(requests=1, people=90), st.data())
def test_it_is_the_information_about_the_guarded_fact(world: World, data: st.DataObject) -> None:
    """H(V|d) - H(V|A,d) over people who specify V, and the success of the best guess."""
    what, guarded = data.draw(known(world)), data.draw(st.integers(0, world.persons - 1))
    what = tuple(pair for pair in what if pair[0] != guarded)
    crowd = world.crowd(what)
    for mask in subsets(world.everything & ~singleton(guarded)):
        reached = mask | crowd.known
        bits = naive.guard_bits(world.population, reached, what, guarded)
        guess = naive.best_guess(world.population, reached, what, guarded)
        assert crowd.guard_bits(guarded, mask) == pytest.approx(bits, abs=1e-9)
        assert crowd.best_guess(guarded, mask) == pytest.approx(guess, abs=1e-9)


@given(rich_worlds(people=90))
def test_it_is_never_negative_and_never_falls(world: World) -> None:
    """More answers never say less, not even those that differ from request to request."""
    crowd = world.crowd()
    for mask in subsets(world.everything & ~1):
        for each in members(mask):
            less = crowd.guard_bits(0, mask & ~singleton(each))
            assert crowd.guard_bits(0, mask) >= less - 1e-9
            assert crowd.guard_bits(0, mask) >= -1e-9


def telling(specified: int) -> AnonymitySet:
    """Return people of whom so many say yes or no by turns, and whose other answer tells which.

    Fifty more say nothing about the guarded fact, and would drown it if they counted.
    """
    fact = np.r_[1 + np.arange(specified) % 2, np.full(50, UNSPECIFIED)]
    codes = np.stack([fact, np.maximum(fact, 1)], axis=1).astype(np.uint8)
    return AnonymitySet(Population(codes), (3, 3))


@pytest.mark.parametrize("specified", [0, 2, FEWEST - 2, FEWEST, FEWEST + 2])
def test_a_few_people_say_nothing_about_a_fact(specified: int) -> None:
    """Under 30 people who specify it, it costs nothing; from 30 on, it costs the whole bit."""
    expected = 1.0 if specified >= 30 else 0.0
    assert telling(specified).guard_bits(0, 0b10) == pytest.approx(expected)


@pytest.mark.parametrize(("mask", "guess"), [(0b00, 0.5), (0b10, 1.0)])
def test_the_best_guess(mask: int, guess: float) -> None:
    """Heads or tails before the answer, certainty after it; nothing where nobody is known."""
    assert telling(40).best_guess(0, mask) == pytest.approx(guess)
    assert telling(0).best_guess(0, mask) == 0.0


def test_a_guess_is_blind_where_the_cost_is_not() -> None:
    """With a majority of nine in ten the best guess stays the same, though bits are told."""
    fact = np.r_[np.full(90, 1), np.full(10, 2)]
    hint = np.r_[np.full(90, 1), np.full(5, 1), np.full(5, 2)]
    lean = np.r_[np.arange(90) % 2, np.full(10, 1)]
    crowd = AnonymitySet(
        Population(np.stack([fact, lean, hint], axis=1).astype(np.uint8)), (3, 2, 3)
    )
    assert crowd.best_guess(0, 0b010) == crowd.best_guess(0, 0) == pytest.approx(0.9)
    assert crowd.guard_bits(0, 0b010) > 0.05
    assert crowd.best_guess(0, 0b100) == pytest.approx(0.95)


@given(rich_worlds(people=90), st.data())
def test_what_is_open_is_what_people_who_agree_say(world: World, data: st.DataObject) -> None:
    """Who of them specify V, H(V|d) of those, and the likeliest value, all of it summed by hand."""
    what, guarded = data.draw(known(world)), data.draw(st.integers(0, world.persons - 1))
    population = world.population
    told = [y for y in naive.agreeing(population, what) if population.codes[y, guarded]]
    shares: dict[int, float] = defaultdict(float)
    for y in told:
        weight = 1.0 if population.weights is None else float(population.weights[y])
        shares[int(population.codes[y, guarded])] += weight
    chances = [share / sum(shares.values()) for share in shares.values()]
    doubt = world.crowd(what).doubt(guarded)
    assert doubt.people == len(told)
    assert doubt.bits == pytest.approx(-sum(p * log2(p) for p in chances if p), abs=1e-9)
    assert doubt.best_guess == pytest.approx(max(chances, default=0.0))


@given(rich_worlds(people=90), st.data())
def test_the_cost_is_what_answers_take_off_doubt_on_average(
    world: World, data: st.DataObject
) -> None:
    """Over the people who specify V: what is held tells in expectation what was charged for it."""
    guarded, asked = data.draw(st.permutations(range(world.persons)).map(lambda p: (p[0], p[1:])))
    mask = sum(singleton(each) for each in asked)
    everyone, population = world.crowd(), world.population
    told = [y for y in range(population.people) if population.codes[y, guarded]]
    weights = {y: 1.0 if population.weights is None else population.weights[y] for y in told}
    if len(told) >= FEWEST:
        left = 0.0
        for y, weight in weights.items():
            held = tuple((each, int(population.codes[y, each])) for each in asked)
            left += float(weight) * world.crowd(held).doubt(guarded).bits
        expected = everyone.doubt(guarded).bits - left / float(sum(weights.values()))
        assert everyone.guard_bits(guarded, mask) == pytest.approx(expected, abs=1e-9)
