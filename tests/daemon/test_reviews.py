"""What waits, offers, and words for the next request, as values."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Literal, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.instructions import OPENNESS, Preference, Preferences, applied, ruled_of, used_up
from agent.daemon.reviews import (
    EXPIRES,
    MOST_REVIEWS,
    MOST_SEARCHES,
    Approved,
    Offers,
    Waiting,
    expired,
    queued,
    settled,
    sites,
)
from agent.decision.context import Terms, terms_under
from agent.decision.knowledge import Knowledge
from agent.decision.values import Decision, Request
from agent.wire.decide import BIGGEST, RelayAnswer
from agent.wire.policy import Disclose, Review
from agent.wire.state import Locked
from policy.match import Rulebook, Ruling, known
from policy.read import preset, read
from policy.services import LONGEST
from tests.daemon.office import MODEL
from tests.decision.made import NAMES as FACTS
from tests.decision.made import decide
from tests.worlds.people import Memory

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
Kind = Literal["ask", "offer"]
IN_CLEAR = "http://odd.example/?q={query}"  # an older version approved those
LARGEST_TO_BROWSER = 2**20  # bytes of a message, as browsers have it
TODAY = START.date()
NAMES = ("salary", "gender", "job")
STEPS = st.sampled_from([0, 1, 10, 45, 60, 600, 24 * 60, -30]).map(lambda n: timedelta(minutes=n))
KINDS: tuple[Kind, ...] = ("ask", "ask", "offer")
SOME = st.lists(st.sampled_from(NAMES), min_size=1, unique=True)


def review(pool: str, names: list[str], at: datetime, kind: Kind = "ask") -> Review:
    return Review(id=0, kind=kind, at=at, recipient=pool, pool=pool, names=names)


@st.composite
def streams(draw: st.DrawFn) -> list[Review]:
    """Draw reviews in the order of their arrival, with a clock that may be set back."""
    at, made = START, []
    for _ in range(draw(st.integers(0, 30))):
        at += draw(STEPS)
        kind = draw(st.sampled_from(KINDS))
        made.append(review(draw(st.sampled_from("ab")), draw(SOME), at, kind))
    return made


def alike(one: Review) -> tuple[str, str, frozenset[str]]:
    """Return what reviews have in common that are one to the user."""
    return one.kind, one.pool, frozenset(one.names if one.kind == "ask" else ())


def shown(one: Review) -> tuple[object, ...]:
    """Return what reviews of one number have in common: all that a verdict is about."""
    return one.kind, one.pool, frozenset(one.names)


@given(streams())
def test_what_waits_is_what_was_met_within_a_day(stream: list[Review]) -> None:
    """Once each, in the order of the last time, under a number that stays while it is the same."""
    waiting, oracle = Waiting(), dict[tuple[str, str, frozenset[str]], Review]()
    numbers: set[int] = set()
    for each in stream:
        before = {shown(one): one.id for one in expired(waiting, each.at).reviews.values()}
        waiting, new = queued(expired(waiting, each.at), each)
        oracle = {key: one for key, one in oracle.items() if each.at - one.at < EXPIRES}
        oracle.pop(alike(each), None)
        oracle[alike(each)] = each
        found = [*waiting.reviews.values()]
        expected = [(key, one.at, one.names) for key, one in oracle.items()]
        assert [(alike(one), one.at, one.names) for one in found] == expected
        own = found[-1].id
        assert own == before.get(shown(each), own)
        assert (own in numbers) == (shown(each) in before)
        numbers.add(own)
        assert shown(each) in before or new == found[-1]


@pytest.mark.parametrize(("kind", "other"), [("ask", "offer"), ("offer", "ask")])
def test_the_oldest_goes_where_there_are_too_many(kind: Kind, other: Kind) -> None:
    """Of its own kind, so that offers push out nothing that is ruled `ask`."""
    most = MOST_REVIEWS[kind]
    waiting, _ = queued(Waiting(), review("x", ["job"], START, other))
    for number in range(most + 3):
        waiting, _ = queued(waiting, review(f"r{number}", ["job"], START, kind))
    pools = [each.pool for each in waiting.reviews.values()]
    assert pools == ["x", *(f"r{number}" for number in range(3, most + 3))]


@given(streams(), st.data())
def test_what_is_settled_goes_and_the_rest_stays(stream: list[Review], data: st.DataObject) -> None:
    """A review loses the names that were ruled on, and is gone when it has no other."""
    waiting = Waiting()
    for each in stream:
        waiting, _ = queued(waiting, each)
    if not waiting.reviews:
        return
    own = data.draw(st.sampled_from([*waiting.reviews.values()]))
    names = frozenset(data.draw(SOME))
    left = settled(waiting, own.id, names)
    others = [each for each in waiting.reviews.values() if each.id != own.id]
    assert [each for each in left.reviews.values() if each.id != own.id] == others
    rest = [each.names for each in left.reviews.values() if each.id == own.id]
    kept = [name for name in own.names if name not in names]
    same = [{*each.names} for each in others if (each.kind, each.pool) == ("ask", own.pool)]
    there = alike(own)[:2] == ("ask", own.pool) and {*kept} in same
    assert rest == ([] if not kept or there else [kept])
    assert [*settled(waiting, own.id).reviews.values()] == others


def book_of(text: str) -> Rulebook:
    return Rulebook(read(text, "test", preset), {})


def test_records_of_another_version_list_nothing() -> None:
    """One without a search, one that cannot be read, one whose search is none."""
    old = {"names": ["age"], "until": None}
    odd = {
        **old,
        "searches": ["javascript:'{query}'", "https://u@odd.example/?q={query}", IN_CLEAR],
    }
    items = Memory({"offers/old.example": msgspec.msgpack.encode(old), "offers/bad.example": b"?"})
    items.put("offers/odd.example", msgspec.msgpack.encode(odd))
    offers = Offers(items)
    assert sites(book_of("anonymity_price = 1"), offers.searched(), TODAY) == []
    assert offers.find("old.example") == Approved(("age",))


def test_what_is_listed_has_room_on_its_way_to_a_browser() -> None:
    """However long the addresses are; the policy's come before others."""
    host = ".".join(["a" * 63] * 3)
    start = f"https://{{}}.{host}/?q={{{{query}}}}&a="
    texts = [start.format(f"b{number:03}") for number in range(2 * MOST_SEARCHES)]
    texts = [each + "a" * (LONGEST - len(each)) for each in texts]
    offered = tuple(Approved(("age",), None, (each,)) for each in texts)
    found = sites(book_of(f'search = "https://z.{host}/?q={{query}}"'), offered, TODAY)
    assert len(found) == MOST_SEARCHES
    assert found[-1].recipient.startswith("z.")
    body = msgspec.json.encode(Locked(version="1" * 99, locked=False, sites=found))
    answer = RelayAnswer(id=BIGGEST, status=200, body=msgspec.Raw(body))
    assert len(msgspec.json.encode(answer)) <= LARGEST_TO_BROWSER


HOSTS = ("a.example", "b.example")
EVERYTHING_ASKED = 'preset = "none"\ndisclose = "ask"\nanonymity_price = 1e-05\n'
POLICIES = st.lists(
    st.tuples(st.sampled_from(FACTS), st.sampled_from(["never", "ask", "auto", "always"])),
    unique_by=lambda pair: pair[0],
).map(lambda pairs: "[attributes]\n" + "".join(f'{name} = "{each}"\n' for name, each in pairs))
VALUES = st.sampled_from(get_args(Disclose))
POOLS = st.sampled_from([None, *HOSTS])
SAID = st.builds(Preference, st.sampled_from(FACTS), POOLS, VALUES, VALUES)
WORDS = st.lists(SAID, max_size=8).map(tuple)
LIMITS = "preset = 'none'\nanonymity_price = 0\nk = 20\nrisk = 0.1\nattributes_per_request = 2\n"
GUARDS = "[attributes]\ngender = { guard = 0.5 }\nhours = { guard = 1.0 }\n"


def value_of(terms: Terms, name: str) -> Disclose:
    parts: dict[Disclose, frozenset[str]] = {
        "never": terms.excluded,
        "ask": terms.ask,
        "always": terms.always,
    }
    found = [value for value, names in parts.items() if name in names]
    assert len(found) <= 1
    return found[0] if found else "auto"


def ruled(text: str, host: str = "a.example") -> tuple[Ruling, Terms]:
    policy = read(text, "test", preset)
    ruling = Rulebook(policy, known(*FACTS)).match(host, "python today", TODAY)
    return ruling, terms_under(ruling, MODEL)


def decided(terms: Terms, query: str = "python today", held: Knowledge | None = None) -> Decision:
    return decide(Request(query, "a.example"), terms, held or Knowledge(), MODEL)


def expected(words: Preferences, terms: Terms, host: str, name: str) -> Preference | None:
    """Return the word that should hold for an attribute: the last that is about it."""
    now, found = value_of(terms, name), None
    for word in words:
        if word.concept != name or word.pool not in (None, host):
            continue
        if opens(word, now):
            found = word if now == word.ruled else found
        elif word.disclose != now:
            found = word
    return found


def opens(word: Preference, now: Disclose) -> bool:
    """Say whether a word is more open than what is ruled now."""
    return OPENNESS.index(word.disclose) > OPENNESS.index(now)


@given(POLICIES, WORDS, st.sampled_from(HOSTS))
def test_the_last_word_that_holds_counts(policy: str, words: Preferences, host: str) -> None:
    """It opens only what is ruled as when it was said."""
    _, terms = ruled(policy, host)
    over = applied(terms, words)
    for name in FACTS:
        word, now = expected(words, terms, host, name), value_of(terms, name)
        assert value_of(over, name) == (now if word is None else word.disclose)


@given(WORDS, st.sampled_from(["python today", "restaurants today"]))
def test_no_word_lets_out_what_is_guarded_or_breaks_a_limit(words: Preferences, query: str) -> None:
    """However much of it is said."""
    ruling, terms = ruled(f"{LIMITS}{GUARDS}")
    over = applied(terms, words)
    decision = decided(over, query)
    assert ruled_of(ruling, "gender") is None
    assert not {"gender", "hours"} & {*decision.disclosed}
    assert len(decision.disclosed) <= 2
    assert over.limits == terms.limits
    assert not decision.disclosed or decision.figures.identifiability <= 0.1
    blocked = applied(ruled("nothing = true\n")[1], words)
    assert decided(blocked, query).disclosed == ()


@given(POLICIES, WORDS)
def test_a_word_is_used_up_by_the_request_that_it_changes(policy: str, words: Preferences) -> None:
    """By no other: an approval by the one that sends it, any other word by the next answer."""
    ruling, terms = ruled(f"preset = 'none'\nanonymity_price = 1e-05\n{policy}")
    decision = decided(applied(terms, words))
    spent = set()
    for name in FACTS:
        word, now = expected(words, terms, "a.example", name), value_of(terms, name)
        if word is not None and (name in decision.disclosed or not opens(word, now)):
            spent.add(word)
    assert used_up(words, decision, ruling) == tuple(each for each in words if each not in spent)
    silent = decided(applied(terms, words), "no such query")
    assert used_up(words, silent, ruling) == words


def test_what_was_decided_for_another_reason_uses_nothing_up() -> None:
    """A resent value that the recipient holds, and one that the policy allows by now."""
    ruling, terms = ruled(EVERYTHING_ASKED)
    words = tuple(Preference(name, "a.example", "auto", "ask") for name in FACTS)
    held = Knowledge(tuple((name, 1) for name in sorted(FACTS[:4])))
    over = replace(applied(terms, words), excluded=frozenset(FACTS[4:]))
    again = decided(over, held=held)
    assert again.disclosed
    assert used_up(words, again, ruling) == words
    open_ruling, open_terms = ruled("preset = 'none'\nanonymity_price = 1e-05\n")
    free = decided(applied(open_terms, words))
    assert free.disclosed
    assert used_up(words, free, open_ruling) == words
