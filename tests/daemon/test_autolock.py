"""The vault locks itself."""

import logging
from dataclasses import dataclass
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.autolock import NAP, Autolock, Time, clocks
from agent.daemon.request_log import Asker
from agent.errors import VaultError
from agent.wire.decide import UNDECIDED, Answer, Code
from agent.wire.routes import CONTROL, QUERY
from policy.settings import LONGEST_MINUTES
from tests.daemon.fakes import ASK, behind

LONGEST = LONGEST_MINUTES * 60
CALLS = {
    "command": (CONTROL, "status"),
    "watched": (CONTROL, "events"),
    "unattended": (CONTROL, "unattended"),
    "asked": (QUERY, "decide"),
    "looked": (QUERY, "locked"),
}


@dataclass
class Machine:
    """A clock that a test turns, and a vault that is open or not."""

    seconds: float = 0.0
    slept: float = 0.0
    minutes: float = 15.0
    open: bool = True
    closed: int = 0

    def autolock(self) -> Autolock:
        """Return what locks the vault of this machine."""
        return Autolock(
            lambda: self.minutes,
            lambda: not self.open,
            self.lock,
            lambda: Time(self.seconds, self.slept),
        )

    def lock(self) -> None:
        """Close the vault; it must not be closed already."""
        assert self.open
        self.open = False
        self.closed += 1


@given(
    minutes=st.one_of(st.just(0.0), st.floats(0.1, LONGEST_MINUTES)),
    steps=st.lists(
        st.tuples(
            st.one_of(st.integers(0, 1200), st.integers(0, LONGEST)),  # seconds before it
            st.sampled_from([*CALLS, "search", "sleep", "look"]),
        ),
        max_size=15,
    ),
)
def test_it_locks_exactly_when_nobody_used_it_for_so_long(
    minutes: float, steps: list[tuple[int, str]]
) -> None:
    """Use is a command and a search of the user's; and the last command is eight hours ago."""
    machine = Machine(minutes=minutes)
    autolock = machine.autolock()
    used = commanded = 0.0
    due = False
    for seconds, step in steps:
        machine.seconds += seconds
        due |= machine.seconds - used >= (minutes or LONGEST_MINUTES) * 60
        due |= machine.seconds - commanded >= LONGEST
        if step in CALLS:
            autolock.before(*CALLS[step])
        elif step == "search":
            autolock.before(QUERY, "decide")
            autolock.used()
        elif step == "sleep":
            machine.seconds, machine.slept, due = machine.seconds + 60, machine.slept + 60, True
        autolock.check()
        used = machine.seconds if step in {"command", "search"} else used
        commanded = machine.seconds if step == "command" else commanded
        assert machine.open is not due
    assert machine.closed == due


@given(
    times=st.lists(st.integers(1, 899), max_size=200),
    call=st.sampled_from(["asked", "looked", "watched", "unattended"]),
)
def test_what_pages_and_programs_ask_keeps_nothing_open(times: list[int], call: str) -> None:
    """However often they do."""
    machine = Machine()
    autolock = machine.autolock()
    for seconds in times:
        machine.seconds += seconds
        autolock.before(*CALLS[call])
        assert machine.open is (machine.seconds < 15 * 60)


@given(steps=st.lists(st.integers(1, 899), min_size=40, max_size=200))
def test_searches_keep_it_open_for_hours_and_no_longer(steps: list[int]) -> None:
    """The user may have gone, and left somebody at the screen."""
    machine = Machine()
    autolock = machine.autolock()
    for seconds in steps:
        machine.seconds += seconds
        autolock.before(QUERY, "decide")
        autolock.used()
        assert machine.open is (machine.seconds < LONGEST)


@pytest.mark.parametrize("by", get_args(Asker))
@pytest.mark.parametrize("code", get_args(Code))
def test_a_search_is_use_once_the_user_is_answered(by: Asker, code: Code) -> None:
    """Not where nothing was decided, and nobody else's is."""
    with behind(QUERY) as running:
        running.calls.instead["decide"] = lambda *_, **__: Answer(code=code)
        envelope = {"id": 1, "call": "decide", "by": by, "body": ASK}
        if by in {"user", "page"}:
            running.ask("POST", "/v1/relay", envelope)
        else:
            running.ask("POST", "/v1/decide", ASK)
        assert len(running.used) == (by == "user" and code not in UNDECIDED)


def test_a_call_that_comes_too_late_finds_it_locked() -> None:
    """Though the clock has not been looked at since: the machine may have slept."""
    machine = Machine()
    autolock = machine.autolock()
    machine.seconds = 8 * 3600
    autolock.before(CONTROL, "profile")
    assert not machine.open


def test_a_machine_that_wakes_finds_it_locked() -> None:
    """However short its sleep was; clocks that drift apart a little are no sleep."""
    machine = Machine()
    autolock = machine.autolock()
    for _ in range(100):
        machine.slept += NAP / 2
        autolock.check()
    assert machine.open
    machine.slept += NAP
    autolock.before(QUERY, "decide")
    assert not machine.open


def test_nought_minutes_are_as_long_as_may_be() -> None:
    """Which is hours."""
    machine = Machine(minutes=0)
    autolock = machine.autolock()
    machine.seconds = LONGEST - 1
    autolock.check()
    assert machine.open
    machine.seconds = LONGEST
    autolock.check()
    assert not machine.open


def test_the_policy_is_asked_at_each_look() -> None:
    """An edit holds at once."""
    machine = Machine()
    autolock = machine.autolock()
    machine.seconds = 300
    autolock.check()
    assert machine.open
    machine.minutes = 5
    autolock.check()
    assert not machine.open


def test_one_who_unlocks_has_the_whole_time() -> None:
    """However long it was locked before."""
    machine = Machine(open=False)
    autolock = machine.autolock()
    machine.seconds = 1e6
    autolock.before(CONTROL, "unlock")
    machine.open = True
    machine.seconds += 899
    autolock.check()
    assert machine.open
    machine.seconds += 1
    autolock.check()
    assert machine.closed == 1


def test_a_lock_whose_last_words_fail_is_one(caplog: pytest.LogCaptureFixture) -> None:
    """The call that comes next finds it locked; the log says that something is lost."""

    def full() -> None:
        raise VaultError("private", "free some space")

    machine = Machine()
    autolock = Autolock(lambda: 1, lambda: False, full, lambda: Time(machine.seconds, 0))
    machine.seconds = 60
    with caplog.at_level(logging.INFO, "reticent"):
        autolock.before(CONTROL, "status")
    assert "locking failed: VaultError in test_autolock.py" in caplog.text
    assert "private" not in caplog.text


def test_the_clock_goes_forward() -> None:
    """Whatever the time of day does."""
    one, other = clocks(), clocks()
    assert one.passed <= other.passed
    assert other.slept - one.slept < NAP / 2
