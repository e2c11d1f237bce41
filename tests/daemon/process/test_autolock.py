"""The vault locks after so many minutes without a call on control, and not before."""

import logging
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.process.autolock import Autolock, awake
from agent.errors import VaultError
from agent.wire.routes import CONTROL, QUERY, Door


@dataclass
class Machine:
    """A clock that a test turns, and a vault that is open or not."""

    seconds: float = 0.0
    minutes: float = 15.0
    open: bool = True
    closed: int = 0

    def autolock(self) -> Autolock:
        """Return what locks the vault of this machine."""
        return Autolock(
            lambda: self.minutes, lambda: not self.open, self.lock, lambda: self.seconds
        )

    def lock(self) -> None:
        """Close the vault; it must not be closed already."""
        assert self.open
        self.open = False
        self.closed += 1


@given(
    minutes=st.floats(0.1, 60),
    steps=st.lists(
        st.tuples(
            st.integers(0, 1200),  # seconds that pass before it
            st.sampled_from(
                [
                    (CONTROL, "status"),
                    (CONTROL, "events"),
                    (CONTROL, "unattended"),
                    (QUERY, "decide"),
                    (QUERY, "locked"),
                    None,
                ]
            ),
        ),
        max_size=12,
    ),
)
def test_it_locks_exactly_when_nobody_called_on_control_for_so_long(
    minutes: float, steps: list[tuple[int, tuple[Door, str] | None]]
) -> None:
    """Calls on query do not count, nor does a stream of events; None: a look by the clock."""
    machine = Machine(minutes=minutes)
    autolock = machine.autolock()
    last = 0.0
    due = False
    for seconds, call in steps:
        machine.seconds += seconds
        due = due or machine.seconds - last >= minutes * 60
        if call is None:
            autolock.check()
        else:
            autolock.before(*call)
            last = machine.seconds if call == (CONTROL, "status") else last
        assert machine.open is not due
    assert machine.closed == due


def test_a_call_that_comes_too_late_finds_it_locked() -> None:
    """Though the clock has not been looked at since: the machine may have slept."""
    machine = Machine()
    autolock = machine.autolock()
    machine.seconds = 8 * 3600
    autolock.before(CONTROL, "profile")
    assert not machine.open


def test_nought_minutes_are_never() -> None:
    """The user may want that."""
    machine = Machine(minutes=0)
    machine.seconds = 1e9
    machine.autolock().check()
    assert machine.open


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
    autolock = Autolock(lambda: 1, lambda: False, full, lambda: machine.seconds)
    machine.seconds = 60
    with caplog.at_level(logging.INFO, "reticent"):
        autolock.before(CONTROL, "status")
    assert "locking failed: VaultError in test_autolock.py" in caplog.text
    assert "private" not in caplog.text


def test_the_clock_goes_forward() -> None:
    """Whatever the time of day does."""
    assert awake() <= awake()
