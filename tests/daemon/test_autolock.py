"""The vault locks itself: unused, after hours, with the screen, and after a sleep."""

import asyncio
import logging
import os
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon import autolock as locking
from agent.daemon.autolock import NAP, Autolock, watch, watcher
from agent.daemon.server import ASKERS
from agent.decision.values import UNDECIDED, Code
from agent.errors import VaultError
from agent.wire.base import ASKER
from agent.wire.decide import Answer
from agent.wire.routes import CONTROL, QUERY
from policy.settings import LONGEST_MINUTES, DaemonSettings
from tests.worlds.doors import ASK, awaited, behind

CALLS = {
    "command": (CONTROL, "status"),
    "watched": (CONTROL, "events"),
    "unattended": (CONTROL, "unattended"),
    "asked": (QUERY, "decide"),
    "looked": (QUERY, "locked"),
}
HERE = "/org/freedesktop/login1"
OF = f"{HERE}/session/_32: org.freedesktop.login1.Session"
CHANGED = f"{HERE}/session/_32: org.freedesktop.DBus.Properties.PropertiesChanged"
LOCKED = "'org.freedesktop.login1.Session', {'IdleHint': <true>, 'LockedHint': <true>}, @as []"
USER = (
    f"{HERE}/user/_%d: org.freedesktop.DBus.Properties.PropertiesChanged "
    "('org.freedesktop.login1.User', {'Display': "
)
TELLING = [
    f"{OF}.Lock ()",
    f"{CHANGED} ({LOCKED})",
    f"{HERE}: org.freedesktop.login1.Manager.PrepareForSleep (true,)",
    f"{USER % os.getuid()}<('', objectpath '/')>}}, @as [])",  # the last session has ended
]
SILENT = [
    f"{OF}.Unlock ()",
    f"{CHANGED} ({LOCKED.replace('true', 'false')})",
    f"{USER % os.getuid()}<('2', objectpath '{HERE}/session/_32')>}}, @as [])",
    f"{USER % (os.getuid() + 1)}<('', objectpath '/')>}}, @as [])",
    f"{HERE}: org.freedesktop.login1.Manager.PrepareForSleep (false,)",
    f"{HERE}: org.freedesktop.login1.Manager.SessionNew ('Session.Lock ()', objectpath '/a')",
    "The name org.freedesktop.login1 is owned by :1.4",
    "",
]


@dataclass
class Machine:
    """A clock that a test turns, and a vault that is open or not."""

    seconds: float = 0.0
    slept: float = 0.0
    minutes: float = 15.0
    open: bool = True
    closed: int = 0

    def autolock(self) -> Autolock:
        return Autolock(cast("Any", self), lambda: (self.seconds, self.slept))

    @property
    def rules(self) -> object:
        daemon = DaemonSettings(lock_after_minutes=self.minutes)
        return SimpleNamespace(active=SimpleNamespace(daemon=daemon))

    @property
    def vault(self) -> object:
        return object() if self.open else None

    def lock(self) -> None:
        """Close the vault; it must not be closed already."""
        assert self.open
        self.open = False
        self.closed += 1


MINUTES = st.just(0.0) | st.floats(0.1, LONGEST_MINUTES)

SECONDS = st.integers(0, 1200) | st.integers(0, LONGEST_MINUTES * 60)  # before a step
STEPS = st.sampled_from([*CALLS, "search", "sleep", "drift", "look", "unlock"])


@given(minutes=MINUTES, steps=st.lists(st.tuples(SECONDS, STEPS), max_size=15))
def test_it_locks_exactly_when_nobody_used_it_for_so_long(
    minutes: float, steps: list[tuple[int, str]]
) -> None:
    """Use is a command and a search of the user's. Where no idle time locks it, no time does.

    Each call finds it locked where it is time. A machine that wakes does too, however short its
    sleep was; clocks that drift apart a little are no sleep.
    """
    machine = Machine(minutes=minutes)
    autolock, used = machine.autolock(), 0.0
    for seconds, step in steps:
        machine.seconds += seconds
        due = 0 < minutes * 60 <= machine.seconds - used
        was_open, closed = machine.open, machine.closed
        if step in CALLS:
            autolock.check(*CALLS[step])
        elif step == "search":
            autolock.check(QUERY, "decide")
            autolock.used()
        elif step == "unlock":
            autolock.check(CONTROL, "unlock")
            assert machine.open is (was_open and not due)
            machine.open = True
        elif step == "sleep":
            machine.slept, due = machine.slept + NAP, True
        elif step == "drift":
            machine.slept += NAP / 2
        autolock.check()
        used = machine.seconds if step in {"command", "search", "unlock"} else used
        assert machine.closed == closed + (was_open and due)
        assert machine.open is (step == "unlock" or (was_open and not due))


def test_a_search_is_use_once_the_user_is_answered() -> None:
    """Not where nothing was decided, and nobody else's is."""
    with behind(QUERY) as running:
        for by, code in product([*ASKERS, "program"], get_args(Code)):
            running.api.instead["decide"] = lambda *_, code=code, **__: Answer(code=code)
            running.used.clear()
            running.ask("POST", "/v1/decide", ASK, {ASKER: by})
            assert len(running.used) == (by == "user" and code not in UNDECIDED), (by, code)


def test_a_lock_whose_last_words_fail_is_one(caplog: pytest.LogCaptureFixture) -> None:
    """The call that comes next finds it locked; the log says that something is lost."""

    class Full(Machine):
        def lock(self) -> None:
            raise VaultError("private", "free some space")

    machine = Full(minutes=1)
    autolock = machine.autolock()
    machine.seconds = 60
    with caplog.at_level(logging.INFO, "reticent"):
        autolock.check(CONTROL, "status")
    assert "locking failed: VaultError in test_autolock.py" in caplog.text
    assert "private" not in caplog.text


def followed(program: str | None) -> list[str]:
    """Return how often the vault was locked until the program has no more to say."""
    locked: list[str] = []

    async def live() -> None:
        await asyncio.wait_for(watch(lambda: locked.append("locked"), program), 30)

    asyncio.run(live())
    return locked


def script(folder: Path, text: str) -> str:
    (made := folder / "gdbus").write_text(f"#!/bin/sh\n{text}\n")
    made.chmod(0o700)
    return str(made)


def test_the_screens_lock_and_a_sleep_are_told_and_nothing_else(tmp_path: Path) -> None:
    """As `gdbus` writes them; least of all the end of either; and the program need not last."""
    said = "\n".join([*TELLING, *SILENT, TELLING[2]])
    assert followed(script(tmp_path, f"cat <<'X'\n{said}\nX")) == ["locked"] * 5


def test_none_or_one_that_fails_is_no_matter(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Then nobody watches; nor without the program, nor without a bus."""
    flood = "head -c 200000 /dev/zero; sleep 60"
    for text in ("exit 3", "kill $$", f"sleep 60 & {flood}"):
        assert followed(script(tmp_path, text)) == []
    assert followed(None) == followed(str(tmp_path / "absent")) == []
    monkeypatch.setenv("PATH", str(tmp_path))
    for bus, program in (("absent", None), ("", script(tmp_path, ""))):
        monkeypatch.setattr(locking, "BUS", tmp_path / bus)
        assert watcher() == program


def test_it_ends_with_the_daemon(tmp_path: Path) -> None:
    """No program is left behind."""
    place = tmp_path / "number"

    async def live() -> None:
        program = script(tmp_path, f"echo $$ > {place}; exec sleep 60")
        task = asyncio.create_task(watch(lambda: None, program))
        await asyncio.to_thread(awaited, place, "\n")
        task.cancel()
        await asyncio.wait({task})

    asyncio.run(live())
    with pytest.raises(ProcessLookupError):
        os.kill(int(place.read_text()), 0)
