"""The model of one half, the other half's people and events, and the requests drawn from them."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from agent.build.build import model_of
from agent.build.observe import HALF_KEY, in_half_a, observe
from agent.lab.attack.halves import held_out
from agent.lab.attack.simulation import HeldOut, people_of
from agent.model.model import Model
from tests.build.worlds import QUIET, World, options, source
from tests.lab.worlds import PEOPLE, others, quiet

USERS = [f"user {number}" for number in range(40)]
SEEN = dict(zip(USERS, in_half_a(USERS, HALF_KEY).tolist(), strict=True))
STRANGE = next(user for user in USERS if not SEEN[user])
SEEDS = st.integers(0, 2**32)


pytestmark = QUIET


def world() -> World:
    """Return two tables; one of the other half asks and wants what nobody of the first does."""
    users = [(user, "ab"[number % 2], "xyz"[number % 3]) for number, user in enumerate(USERS)]
    events = [
        (user, query, "st"[(number + shift) % 2], "uv"[shift])
        for number, user in enumerate(USERS)
        for shift, query in enumerate(("editor", "shell"))
        if number % 5
    ]
    strange = [(STRANGE, "editor", "unheard", "u"), (STRANGE, "nowhere", "s", "")]
    return World(
        (("user", "p0", "p1"), *users), (("user", "query", "intent", "r0"), *events, *strange)
    )


def both() -> tuple[Model, HeldOut]:
    """Return both halves of the world."""
    tables = source(world())
    model = model_of(tables, options(half="A"), quiet)
    return model, held_out(observe(tables, options(half="B")), model)


def test_the_others_are_the_people_whom_the_model_has_not_seen() -> None:
    """Every event of theirs that the model has a result for, with the values it came with."""
    model, held = both()
    values = {user: rest for user, *rest in world().users[1:]}
    expected = Counter(
        (*values[user], query, intent, request)
        for user, query, intent, request in world().events[1:]
        if not SEEN[user] and query != "nowhere" and intent != "unheard"
    )
    found: Counter[tuple[str, ...]] = Counter()
    for person, codes in enumerate(held.codes):
        these = slice(*held.starts[person : person + 2])
        for query, intent, request in zip(
            held.query[these], held.intent[these], held.request[these], strict=True
        ):
            asked = model.queries[query]
            told = zip(model.attributes, (*codes, *request), strict=True)
            *own, hour = (attribute.values[code] for attribute, code in told)
            found[*own, asked.text, asked.intents[intent], hour] += 1
    assert found == expected
    assert held.unranked == 2
    asking = {user for user, *_ in world().events[1:] if not SEEN[user]}  # one in five does not
    assert len(held.askers) == len(asking)
    assert len(held.codes) == sum(not seen for seen in SEEN.values())
    assert model.population.rows == sum(SEEN.values())


@given(SEEDS, st.integers(1, PEOPLE), st.integers(1, 20))
def test_fewer_are_a_beginning_of_more(seed: int, people: int, requests: int) -> None:
    """So that a longer run continues a shorter one."""
    every = people_of(others(), 10 * PEOPLE, 20, seed)
    assert len(every) == len(others().askers) == PEOPLE
    some = people_of(others(), people, requests, seed)
    assert some == tuple(
        each._replace(requests=each.requests[:requests]) for each in every[:people]
    )


@given(SEEDS)
def test_everybody_is_drawn_once_and_asks_what_they_asked(seed: int) -> None:
    """Each person's codes and requests are of one and the same held-out person."""
    held, people = others(), people_of(others(), PEOPLE, 6, seed)
    codes = [tuple(each.tolist()) for each in held.codes]
    assert Counter(person.codes for person in people) == Counter(codes)
    for person in people:
        alike = [place for place, each in enumerate(codes) if each == person.codes]
        assert any(events(place).issuperset(person.requests) for place in alike)


def test_another_seed_draws_others() -> None:
    """A seed that did nothing would pass the laws above."""
    assert people_of(others(), 5, 5, 1) != people_of(others(), 5, 5, 2)


def events(person: int) -> set[tuple[int, int, tuple[int, ...]]]:
    """Return what one held-out person asked."""
    held = others()
    these = slice(*held.starts[person : person + 2])
    columns = (held.query[these], held.intent[these], held.request[these])
    return {(int(q), int(x), tuple(r.tolist())) for q, x, r in zip(*columns, strict=True)}
