"""Who is drawn, and what they ask."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from agent.lab.attack.heldout import drawn
from tests.lab.attack.made import PEOPLE, others

SEEDS = st.integers(0, 2**32)


@given(SEEDS, st.integers(1, PEOPLE), st.integers(1, 20))
def test_fewer_are_a_beginning_of_more(seed: int, people: int, requests: int) -> None:
    """So that a longer run continues a shorter one."""
    every = drawn(others(), 10 * PEOPLE, 20, seed)
    assert len(every) == len(others().askers) == PEOPLE
    some = drawn(others(), people, requests, seed)
    assert some == tuple(
        each._replace(requests=each.requests[:requests]) for each in every[:people]
    )


@given(SEEDS)
def test_everybody_is_drawn_once_and_asks_what_they_asked(seed: int) -> None:
    """Each person's codes and requests are of one and the same held-out person."""
    held, people = others(), drawn(others(), PEOPLE, 6, seed)
    codes = [tuple(each.tolist()) for each in held.codes]
    assert Counter(person.codes for person in people) == Counter(codes)
    for person in people:
        alike = [place for place, each in enumerate(codes) if each == person.codes]
        assert any(events(place).issuperset(person.requests) for place in alike)


def test_another_seed_draws_others() -> None:
    """A seed that did nothing would pass the laws above."""
    assert drawn(others(), 5, 5, 1) != drawn(others(), 5, 5, 2)


def events(person: int) -> set[tuple[int, int, tuple[int, ...]]]:
    """Return what one held-out person asked."""
    held = others()
    these = held.events_of(person)
    columns = (held.query[these], held.intent[these], held.request[these])
    return {(int(q), int(x), tuple(r.tolist())) for q, x, r in zip(*columns, strict=True)}
