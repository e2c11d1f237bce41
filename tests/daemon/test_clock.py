"""A clock that was set: what has expired stays so, and what was told this week counts."""

from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from agent.vault.vault import unlock
from agent.vault.vault_files import Location
from agent.wire.decide import Ask
from tests.vault.histories import disclosed
from tests.vault.worlds import TYPED
from tests.worlds.homes import POLICY, Home
from tests.worlds.people import MONDAY, SHOP, living

DAYS = timedelta(days=1)
OPEN_UNTIL_WEDNESDAY = """
lambda = 0.0
nothing = true
model = "mine"
[[rule]]
recipient = "shop.example"
nothing = false
expires = 2027-03-03
"""


def ruled(opened: Home, policy: str) -> None:
    """Let another policy hold."""
    opened.paths.policy.write_text(policy)
    opened.calls.reload()


def asked(opened: Home, recipient: str = SHOP.recipient) -> dict[str, str]:
    """Return what a request carries."""
    return dict(opened.calls.decide(Ask(query=SHOP.query, recipient=recipient)).attributes)


def recent(opened: Home) -> int:
    """Return how many facts count as told in the last seven days."""
    return opened.calls.knowledge(recipient=SHOP.recipient).recent


def later(opened: Home, days: float) -> None:
    """Set the clock."""
    opened.now += days * DAYS


def again(opened: Home) -> None:
    """Lock the vault and unlock it."""
    opened.calls.lock()
    opened.unlock()


def test_a_rule_that_has_expired_does_not_live_again(opened: Home) -> None:
    """While it runs, and after it was unlocked with the clock set back; also of what is shown."""
    ruled(opened, POLICY)
    later(opened, 4)
    assert asked(opened, "other.example")
    ruled(opened, OPEN_UNTIL_WEDNESDAY)
    assert asked(opened) == {}
    later(opened, -4)
    for _ in range(2):
        assert asked(opened) == {}
        assert opened.calls.explain(SHOP).disclosed == ()
        [note] = opened.calls.status().notes
        assert note.startswith(
            "the clock is behind the ledger, whose latest entry is of 2027-03-05"
        )
        again(opened)


def test_it_would_have_lived_without_the_entry(opened: Home) -> None:
    """Or nothing above says anything."""
    ruled(opened, OPEN_UNTIL_WEDNESDAY)
    assert asked(opened)
    assert opened.calls.status().notes == []


def test_a_week_does_not_begin_anew(opened: Home) -> None:
    """What was told counts for seven days from the latest time, however the clock is set."""
    asked(opened)
    told = recent(opened)
    for days in (-30, 29, -400):
        later(opened, days)
        assert recent(opened) == told > 0
    later(opened, 409)
    assert recent(opened) == 0


def test_a_wrong_date_is_reset_and_freezes_nothing_for_good(opened: Home) -> None:
    """One request while the clock was ten years ahead; then the user says that it was."""
    later(opened, 3650)
    asked(opened)
    told = recent(opened)
    later(opened, -3640)
    assert recent(opened) == told > 0, "for ten years"
    opened.calls.lock()
    with unlock(Location.of(opened.paths), TYPED) as vault:
        written = [each.record for each in vault.ledger.read()]
        vault.reset_clock(opened.now)
    opened.unlock()
    assert opened.calls.status().notes == []
    assert recent(opened) == told
    later(opened, 8)
    assert recent(opened) == 0
    asked(opened)
    [*entries] = opened.calls.ledger()
    assert [each.at for each in entries[: len(written)]] == [each.at for each in written]
    assert entries[-1].at < MONDAY + 19 * DAYS


@given(
    latest=st.integers(-5, 5).map(lambda days: MONDAY + days * DAYS),
    steps=st.lists(st.tuples(st.integers(-400, 400), st.integers(0, 500)), min_size=1, max_size=9),
)
def test_time_goes_on_from_the_latest_entry(latest: datetime, steps: list[tuple[int, int]]) -> None:
    """Never back before it, nor on by more than time passed or the clock says; then the clock's."""
    agent, vault = living("lambda = 0.0")
    vault.ledger.append(disclosed(latest, "shop.example", age="age1"))
    agent.vault = vault
    clock, passed = MONDAY, 0.0
    first: float | None = None
    for by_clock, by_time in steps:
        clock, passed = clock + timedelta(hours=by_clock), passed + by_time
        told, since = clock, passed
        now = agent.time(lambda told=told: told, lambda since=since: since)  # type: ignore[misc]
        if clock >= latest:
            assert now == clock
        else:
            first = passed if first is None else first
            assert now == max(clock, latest + timedelta(seconds=passed - first))
        assert now >= latest
        assert agent.ahead == now - clock
