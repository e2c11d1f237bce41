"""Who is left, and what is learned of a guarded attribute."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from agent.lab.attack.adversaries import guarded, knowing, left, pooled
from agent.lab.attack.heldout import Person
from agent.lab.attack.simulation import Trace

Codes = NDArray[np.uint8]

WIDTH = 4
lists = arrays(np.uint8, st.tuples(st.integers(1, 30), st.just(WIDTH)), elements=st.integers(0, 2))
masks = st.integers(0, 2**WIDTH - 1)
held = st.lists(masks, min_size=1, max_size=6)


def traced(held: list[int]) -> Trace:
    """Return a trace after which these were held."""
    return Trace(tuple(held), tuple(held), np.zeros(len(held)))


def first(people: Codes) -> Person:
    """Return the first of a list."""
    return Person(0, tuple(people[0].tolist()), ())


def agreeing(people: Codes, mask: int) -> list[list[int]]:
    """Return the codes of those who agree with the first on a mask, one by one."""
    own = people[0].tolist()
    return [
        row
        for row in people.tolist()
        if all(row[each] == own[each] for each in range(WIDTH) if mask >> each & 1)
    ]


@given(lists, held)
def test_left_are_those_who_agree(people: Codes, held: list[int]) -> None:
    """Counted anew for each request, in whatever order sets grow or shrink."""
    found = left(traced(held), first(people), people)
    assert found.tolist() == [len(agreeing(people, mask)) for mask in held]
    assert (found >= 1).all()


@given(lists, held, masks)
def test_who_knows_more_beforehand_has_fewer_left(
    people: Codes,
    held: list[int],
    known: int,
) -> None:
    """Exactly those who agree with both."""
    found = left(knowing(traced(held), known), first(people), people)
    assert found.tolist() == [len(agreeing(people, mask | known)) for mask in held]
    assert (found <= left(traced(held), first(people), people)).all()


@given(lists, held)
def test_who_pools_forgets_nothing(people: Codes, held: list[int]) -> None:
    """It holds what anybody did, and never has more left than before."""
    together = pooled(traced(held))
    union = 0
    for mine, all_ in zip(held, together.held, strict=True):
        union |= mine
        assert all_ == union
    assert (np.diff(left(together, first(people), people)) <= 0).all()


@given(lists, held, st.integers(0, WIDTH - 1))
def test_what_is_learned_is_bayes(people: Codes, held: list[int], guard: int) -> None:
    """From the people who have it specified, in shares of them."""
    found = guarded(traced(held), first(people), people, guard)
    own = int(people[0, guard])
    if own == 0:
        assert found is None
        return
    assert found is not None
    prior = shares([row[guard] for row in people.tolist()])
    for step, mask in enumerate(held):
        after = shares([row[guard] for row in agreeing(people, mask)])
        assert np.isclose(found.true[step], np.log2(after[own] / prior[own]))
        assert np.isclose(found.doubt[step], entropy(prior) - entropy(after))
        if mask >> guard & 1:
            assert np.isclose(found.doubt[step], entropy(prior))


def shares(values: list[int]) -> dict[int, float]:
    """Return how often each value comes, of those that are specified."""
    said = [each for each in values if each]
    return {each: said.count(each) / len(said) for each in said}


def entropy(of: dict[int, float]) -> float:
    """Return the entropy in bits."""
    return -sum(share * float(np.log2(share)) for share in of.values())
