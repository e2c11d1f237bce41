"""What a recipient holds, a fold over what it was told; and what that tells of guarded facts."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import log2

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent.decision.knowledge import (
    LATEST,
    Holdings,
    Knowledge,
    inferred,
    knowledge_in,
    people_left,
)
from agent.errors import UsageError
from agent.model.model import Concepts
from agent.model.world import world_of
from policy.hosts import site_of
from tests.decision.made import CARD, NAMES, PERSONS, elsewhere, made_model
from tests.decision.transcripts import Forgotten, Told, knowledge_of

NOW = datetime(2027, 3, 8, 12, tzinfo=UTC)
SITES = ("a.test", "b.test", "shop.example")
HOSTS = st.sampled_from(["a.test", "www.b.test", "shop.example"])
ASKED = st.none() | st.integers(0, 2)
CODES = st.dictionaries(st.sampled_from(["age", "region", "job"]), st.integers(0, 2), max_size=3)


@st.composite
def histories(draw: st.DrawFn) -> list[Told | Forgotten]:
    """Draw what happened around the last seven days, mostly in order: a clock may be set back."""
    hours = draw(st.lists(st.integers(-200, 5), max_size=10))
    return [
        Forgotten(NOW + timedelta(hours=each), draw(st.frozensets(st.sampled_from(SITES))))
        if draw(st.integers(0, 5)) == 0
        else Told(NOW + timedelta(hours=each), draw(HOSTS), tuple(draw(CODES).items()), draw(ASKED))
        for each in (sorted(hours) if draw(st.booleans()) else hours)
    ]


def folded(events: Sequence[Told | Forgotten], now: datetime = NOW) -> Knowledge:
    """Return what is held, kept up event by event."""
    holdings = Holdings[int]()
    for event in events:
        if isinstance(event, Forgotten):
            holdings.forget(event.sites)
        else:
            holdings.add_facts(event.at, site_of(event.host), event.codes)
            meant = [] if event.query is None else [(event.query, 1.0)]
            holdings.add_query(site_of(event.host), meant)
    codes = tuple(sorted((name, fact.value) for name, fact in holdings.held.items()))
    return Knowledge(codes, holdings.recent(now), tuple(sorted(holdings.times.items())))


BOTH_WERE_TOLD = [
    *(Told(NOW, host, (("age", 1),)) for host in ("a.test", "www.b.test")),
    Forgotten(NOW, frozenset({"a.test"})),
]


@given(histories(), st.integers(-200, 400))
@example(BOTH_WERE_TOLD, 0)
def test_it_is_the_plain_fold_over_all_that_happened(
    events: list[Told | Forgotten], hours: int
) -> None:
    """The latest values that were not forgotten, what was new this week, what was asked."""
    now = NOW + timedelta(hours=hours)
    assert folded(events, now) == knowledge_of(events, "all", lambda _: "all", now)


@given(CODES, CODES)
def test_one_more_answer(held: dict[str, int], more: dict[str, int]) -> None:
    """It adds what it says to what was held."""
    events = [Told(NOW, "a.test", tuple(codes.items())) for codes in (held, more)]
    assert folded(events).codes == folded(events[:1]).with_facts(more).codes


def test_only_the_latest_requests_of_a_site_count() -> None:
    """Of each site for itself."""
    many = [Told(NOW, "a.test", (), place // LATEST) for place in range(2 * LATEST - 1)]
    events = [Told(NOW, "www.b.test", (), 2), *many]
    assert folded(events).queries == ((0, 1), (1, LATEST - 1), (2, 1))
    assert folded([*events, Forgotten(NOW, frozenset(SITES))]) == Knowledge()


def test_the_seven_days() -> None:
    """Not the moment a week ago, and what a clock set back left in the future; all stays known."""
    for hours, recent in ((-168, 0), (-167.99, 1), (-1, 1), (0, 1), (30, 1), (-1000, 0)):
        events = [Told(NOW + timedelta(hours=hours), "shop.example", (("age", 1),))]
        assert folded(events) == Knowledge((("age", 1),), recent)


MODEL = made_model(1, people=300)
ROWS = MODEL.population.codes.tolist()
Held = dict[str, int]


def held() -> st.SearchStrategy[Held]:
    """Draw what a recipient may hold, unspecified included."""
    codes = {name: st.integers(0, CARD[name] - 1) for name in NAMES[:PERSONS]}
    return st.fixed_dictionaries({}, optional=codes)


def said(name: str, agree: Held) -> list[int]:
    """Return what the people who agree say of an attribute, those who say nothing left out."""
    rows = [row for row in ROWS if all(row[NAMES.index(n)] == code for n, code in agree.items())]
    return [row[NAMES.index(name)] for row in rows if row[NAMES.index(name)]]


def bits(codes: list[int]) -> float:
    shares = [count / len(codes) for count in Counter(codes).values()]
    return -sum(share * log2(share) for share in shares)


def best(codes: list[int]) -> float:
    """Return the share of the most frequent."""
    return max(Counter(codes).values()) / len(codes)


@given(held(), st.sampled_from(NAMES[:PERSONS]))
def test_it_is_a_sum_over_the_people_who_agree(agree: Held, name: str) -> None:
    """And nothing is said where fewer than thirty of them specify it."""
    [found] = inferred([name], Knowledge().with_facts(agree), MODEL)
    before, after = said(name, {}), said(name, agree)
    assert found.name == name
    assert found.bits_in_all == pytest.approx(bits(before))
    assert found.by_chance == pytest.approx(best(before))
    few = len(after) < 30
    assert found.bits == pytest.approx(0.0 if few else bits(before) - bits(after), abs=1e-9)
    assert found.best_guess == pytest.approx(0.0 if few else best(after))


@given(held())
def test_who_holds_nothing_is_told_nothing(agree: Held) -> None:
    """Nor one whose values nobody has; each guarded name is answered, in the order given."""
    names = [*agree]
    with pytest.raises(UsageError):
        inferred(["shoe_size"], Knowledge(), MODEL)
    for nothing in (Knowledge(), None):
        found = inferred(names, nothing, MODEL)
        assert [each.name for each in found] == names
        for each in found:
            assert each.bits == pytest.approx(0.0)
            assert each.best_guess == (0.0 if nothing is None else each.by_chance)


def holding(*facts: tuple[str, str]) -> Holdings[str]:
    holdings = Holdings[str]()
    holdings.add_facts(NOW, "a.test", facts)
    return holdings


def test_a_fact_that_the_model_lacks_leaves_nobody() -> None:
    """But language and country, which are told anyway."""
    told, own = [("language", "de"), ("country", "ch")], ("age", "age1")
    found = knowledge_in(holding(*told, own), MODEL, NOW)
    assert found == knowledge_in(holding(own), MODEL, NOW)
    assert found == Knowledge(codes=(("age", 1),), recent=1, today=1)
    assert people_left(found, MODEL) > 0
    for outside in (("shoe", "42"), ("age", "older")):
        found = knowledge_in(holding(own, outside), MODEL, NOW)
        assert found.inexpressible
        assert people_left(found, MODEL) == 0


def test_what_one_model_of_a_world_told_another_one_knows() -> None:
    """By its concept, in the people of the world: a fact is counted once."""
    other = replace(elsewhere(made_model(2)), id="other")
    hobby = replace(other.attributes[0], name="hobby", concept="hobby")
    other = replace(other, attributes=(hobby, *other.attributes[1:]))
    world = world_of([MODEL, other])
    facts = [other.meanings["hobby", "age1"], other.meanings["other_1", "region1"]]
    concepts = Concepts((world,))
    found = knowledge_in(holding(*facts), world, NOW, concepts)
    assert dict(found.codes) == {"hobby": 1, "region": 1}
    assert not found.inexpressible
    assert people_left(found, world) <= people_left(Knowledge(codes=(("region", 1),)), world)
