"""The model of one half, and the other half's people and events."""

from collections import Counter

from agent.build.build import model_of
from agent.build.observe import HALF_KEY, in_half_a, observe
from agent.lab.attack.heldout import HeldOut, held_out
from agent.model.model import Model
from tests.build.worlds import QUIET, World, options, source

pytestmark = QUIET
USERS = [f"user {number}" for number in range(40)]
SEEN = dict(zip(USERS, in_half_a(USERS, HALF_KEY).tolist(), strict=True))
STRANGE = next(user for user in USERS if not SEEN[user])


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
    model = model_of(tables, options(half="A"), lambda _what, _share: None)
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
        these = held.events_of(person)
        for query, intent, request in zip(
            held.query[these], held.intent[these], held.request[these], strict=True
        ):
            asked = model.queries[query]
            told = zip(model.attributes, (*codes, *request), strict=True)
            *own, hour = (attribute.values[code] for attribute, code in told)
            found[*own, asked.text, asked.intents[intent], hour] += 1
    assert found == expected
    assert held.unranked == 2
    assert len(held.codes) == sum(not seen for seen in SEEN.values())
    assert model.population.people == sum(SEEN.values())


def test_who_asked_nothing_does_not_ask() -> None:
    """One in five has no event."""
    _, held = both()
    asking = {user for user, *_ in world().events[1:] if not SEEN[user]}
    assert len(held.askers) == len(asking)
