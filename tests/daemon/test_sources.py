"""What the clock and past requests say of a request, against a naive reading of the past."""

from datetime import datetime, timedelta, timezone

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.request_log import (
    MOST,
    OF_HISTORY,
    RECORD,
    SOURCES,
    History,
    Sources,
    digest,
    history_of,
)
from agent.errors import normalise
from agent.model.attributes import Attribute
from agent.vault.vault import unlock
from agent.vault.vault_files import Location
from agent.wire.decide import Ask, Clicked
from tests.vault.histories import disclosed
from tests.vault.worlds import TYPED
from tests.worlds.homes import POLICY, Home
from tests.worlds.people import MONDAY, SHOP, Memory, living

START = datetime(2026, 3, 2, 9, 15, tzinfo=timezone(timedelta(hours=1)))
ALL = SOURCES
QUERIES = st.sampled_from(["Python", "python ", "java", "py-thon", "größe", "GRÖSSE", "\ud800"])
TIMES = st.datetimes(
    datetime(2020, 1, 1),  # noqa: DTZ001  (the zone is drawn apart)
    datetime(2030, 1, 1),  # noqa: DTZ001  (the zone is drawn apart)
    timezones=st.integers(-12, 12).map(lambda hours: timezone(timedelta(hours=hours))),
)


def ask(query: str) -> Ask:
    return Ask(query=query, recipient="a.example")


@st.composite
def pasts(draw: st.DrawFn) -> list[tuple[str, str, datetime]]:
    """Draw requests, visits and times at which the vault is locked and opened, in order."""
    at, events = START, []
    for _ in range(draw(st.integers(0, 25))):
        at += draw(st.sampled_from([timedelta(seconds=1), timedelta(days=1)]))
        kind = draw(st.sampled_from(["ask", "ask", "click", "reopen"]))
        events.append((kind, draw(QUERIES), at))
    return events


@given(pasts(), QUERIES, st.integers(0, 9))
def test_the_past_is_as_a_naive_reading_has_it(
    events: list[tuple[str, str, datetime]], query: str, days: int
) -> None:
    """Whenever it was locked in between, and in whatever form a query was written."""
    sources, items = Sources(), Memory()
    sources.opened(items, ALL)
    for kind, text, at in events:
        if kind == "ask":
            sources.noted(ask(text), at)
        elif kind == "click":
            sources.clicked(Clicked(query=text, host="x.example"))
        else:
            sources.closed()
            sources.opened(items, ALL)
    now = (events[-1][2] if events else START) + timedelta(days=days)
    said = sources.values([*sorted(SOURCES)], ask(query), now)
    asked = [(normalise(text), at) for kind, text, at in events if kind == "ask"]
    clicked = [(normalise(text), at) for kind, text, at in events if kind == "click"]
    own = [at for text, at in asked if text == normalise(query)]
    visited = [at for text, at in clicked if text == normalise(query) and own and at > own[0]]
    span = (now - asked[0][1]) if asked else timedelta()
    assert said["asked_before"] == yes(own)
    assert said["visited_before"] == yes(visited)
    assert said["daily"] == yes(span.days >= 7 and len(asked) * timedelta(days=1) >= span)


def yes(holds: object) -> str:
    return "yes" if holds else "no"


@given(TIMES)
def test_the_clock_is_that_of_the_zone(now: datetime) -> None:
    """Whatever the hour is elsewhere."""
    said = Sources().values(["working_hours", "workday"], ask("q"), now)
    text = now.strftime("%a %H")
    assert said["working_hours"] == yes("07" <= text[4:] <= "17")
    assert said["workday"] == yes(text[:3] not in ("Sat", "Sun"))


ATTRIBUTES = st.builds(
    lambda name, values: Attribute(
        name=name, title=name, scope="request", values=("unspecified", *values)
    ),
    st.sampled_from([*sorted(SOURCES), "region", "no_such"]),
    st.sampled_from([("yes", "no"), ("no", "maybe", "yes"), ("yes",), ("often", "rarely")]),
)


@given(st.lists(ATTRIBUTES, unique_by=lambda each: each.name), st.booleans(), QUERIES, TIMES)
def test_only_what_has_a_source_can_be_said(
    attributes: list[Attribute], unlocked: bool, query: str, now: datetime
) -> None:
    """Whatever the request is; and of the past nothing, where none is kept."""
    sources = Sources()
    if unlocked:
        sources.opened(Memory(), ALL)
    found = sources.available(attributes)
    assert found == {
        each.name
        for each in attributes
        if each.name in (ALL if unlocked else ALL - OF_HISTORY) and {"yes", "no"} <= {*each.values}
    }
    said = sources.values(found, ask(query), now)
    assert said.keys() == found
    assert {*said.values()} <= {"yes", "no"}


@given(st.frozensets(st.sampled_from([*sorted(SOURCES), "region"])))
def test_no_history_is_kept_unless_a_model_needs_it(names: frozenset[str]) -> None:
    """Nothing is added; of queries nothing, where only days count."""
    sources, items = Sources(), Memory()
    sources.opened(items, names)
    sources.noted(ask("python"), START)
    sources.clicked(Clicked(query="python", host="x.example"))
    sources.closed()
    assert (RECORD in items.records) == bool(names & OF_HISTORY)
    if kept := items.get(RECORD):
        history, own = history_of(kept), digest("python")
        assert (own in history.queries) == bool(names & {"asked_before", "visited_before"})
        assert history.queries.get(own, False) == ("visited_before" in names)


def test_a_history_is_bounded_and_the_oldest_goes() -> None:
    """A query that is asked again is young again."""
    history = History()
    for number in range(MOST):
        history.note(f"query {number}", START)
    history.note("query 0", START)
    history.note("one more", START)
    assert len(history.queries) == MOST
    assert digest("query 0") in history.queries
    assert digest("query 1") not in history.queries
    assert digest("query 2") in history.queries
    assert len(msgspec.msgpack.encode(history)) < MOST * 24


@given(st.binary(max_size=40))
def test_a_record_that_cannot_be_read_is_no_history(record: bytes) -> None:
    """Of another version, say: it is no reason to stay locked."""
    sources = Sources()
    sources.opened(Memory({RECORD: record}), ALL)
    assert sources.values(["asked_before"], ask("q"), START) == {"asked_before": "no"}


DAYS = timedelta(days=1)
OPEN_UNTIL_WEDNESDAY = """
preset = "none"
anonymity_price = 0
nothing = true
population = "mine"
[[rule]]
recipient = "shop.example"
nothing = false
expires = 2027-03-03
"""


def asked(opened: Home, recipient: str = SHOP.recipient) -> dict[str, str]:
    return dict(opened.calls.decide(Ask(query=SHOP.query, recipient=recipient)).attributes)


def recent(opened: Home) -> int:
    """Return how many facts count as told in the last seven days."""
    return int(opened.calls.recipients(recipient=SHOP.recipient)[0].recent)


def test_a_rule_that_has_expired_does_not_live_again(opened: Home) -> None:
    """While it runs, and after it was unlocked with the clock set back; also of what is shown."""
    opened.rule(POLICY)
    opened.now += 4 * DAYS
    assert asked(opened, "other.example")
    opened.rule(OPEN_UNTIL_WEDNESDAY)
    assert asked(opened) == {}
    opened.now += -4 * DAYS
    for _ in range(2):
        assert asked(opened) == {}
        assert opened.calls.explain(SHOP).disclosed == ()
        [note] = opened.calls.status().notes
        what = "the clock is behind the ledger, whose latest entry is of 2027-03-05"
        assert note.startswith(what)
        opened.calls.lock()
        opened.unlock()


def test_a_week_does_not_begin_anew(opened: Home) -> None:
    """What was told counts for seven days from the latest time, however the clock is set."""
    asked(opened)
    told = recent(opened)
    for days in (-30, 29, -400):
        opened.now += days * DAYS
        assert recent(opened) == told > 0
    opened.now += 409 * DAYS
    assert recent(opened) == 0


def test_a_wrong_date_is_reset_and_freezes_nothing_for_good(opened: Home) -> None:
    """One request while the clock was ten years ahead; then the user says that it was."""
    opened.now += 3650 * DAYS
    asked(opened)
    told = recent(opened)
    opened.now += -3640 * DAYS
    assert recent(opened) == told > 0, "for ten years"
    opened.calls.lock()
    with unlock(Location.of(opened.paths), TYPED) as vault:
        written = [record for _, record in vault.ledger.read()]
        vault.reset_clock(opened.now)
    opened.unlock()
    assert opened.calls.status().notes == []
    assert recent(opened) == told
    opened.now += 8 * DAYS
    assert recent(opened) == 0
    asked(opened)
    [*entries] = opened.calls.ledger()
    assert [each.at for each in entries[: len(written)]] == [each.at for each in written]
    assert entries[-1].at < MONDAY + 19 * DAYS


@given(latest=st.integers(-5, 5), hours=st.integers(-400, 400))
def test_time_is_never_before_the_latest_entry(latest: int, hours: int) -> None:
    """Then it is the clock's."""
    agent, vault = living("preset = 'none'\nanonymity_price = 0.0")
    vault.ledger.append(disclosed(MONDAY + latest * DAYS, "shop.example", age="age1"))
    clock = MONDAY + timedelta(hours=hours)
    agent.clock = lambda: clock
    assert agent.look() == max(clock, MONDAY + latest * DAYS)
    assert agent.ahead == agent.look() - clock
