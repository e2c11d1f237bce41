"""The vault locks with the screen."""

import asyncio
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon import autolock
from agent.daemon.autolock import locks, watch, watcher
from tests.daemon.begun import awaited

HERE = "/org/freedesktop/login1"
OF = f"{HERE}/session/_32: org.freedesktop.login1.Session"
CHANGED = f"{HERE}/session/_32: org.freedesktop.DBus.Properties.PropertiesChanged"
LOCKED = "'org.freedesktop.login1.Session', {'IdleHint': <true>, 'LockedHint': <true>}, @as []"
TELLING = [
    f"{OF}.Lock ()",
    f"{CHANGED} ({LOCKED})",
    f"{HERE}: org.freedesktop.login1.Manager.PrepareForSleep (true,)",
]
SILENT = [
    f"{OF}.Unlock ()",
    f"{CHANGED} ({LOCKED.replace('true', 'false')})",
    f"{HERE}: org.freedesktop.login1.Manager.PrepareForSleep (false,)",
    f"{HERE}: org.freedesktop.login1.Manager.SessionNew ('Session.Lock ()', objectpath '/a')",
    "The name org.freedesktop.login1 is owned by :1.4",
    "",
]


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    """The sessions of a machine: one of this user, one of another."""
    (tmp_path / "2").write_text(f"# systemd\nUID={os.geteuid()}\nUSER=me\n")
    (tmp_path / "c1").write_text(f"UID={os.geteuid() + 1}\n")
    return tmp_path


@pytest.mark.parametrize("line", TELLING)
def test_the_screens_lock_and_a_sleep_are_told(line: str, sessions: Path) -> None:
    """As `gdbus` writes them."""
    assert locks(f"{line}\n", sessions)


@pytest.mark.parametrize("line", SILENT)
def test_nothing_else_is(line: str, sessions: Path) -> None:
    """Least of all the end of either."""
    assert not locks(f"{line}\n", sessions)


def test_another_users_screen_is_theirs(sessions: Path) -> None:
    """One of whom nobody knows is ours, to be safe."""
    for line in TELLING[:2]:
        assert not locks(line.replace("_32", "c1"), sessions)
        assert locks(line.replace("_32", "_33"), sessions)


@given(line=st.text())
def test_any_line_is_read(line: str) -> None:
    """Whatever it says."""
    assert not locks(line)


def followed(program: str | None) -> list[str]:
    """Return how often the vault was locked until the program has no more to say."""
    locked: list[str] = []

    async def live() -> None:
        await asyncio.wait_for(watch(lambda: locked.append("locked"), program), 30)

    asyncio.run(live())
    return locked


def script(folder: Path, text: str) -> str:
    """Return a program in place of `gdbus`."""
    made = folder / "gdbus"
    made.write_text(f"#!/bin/sh\n{text}\n")
    made.chmod(0o700)
    return str(made)


def test_each_time_it_locks(tmp_path: Path) -> None:
    """And it need not last."""
    said = "\n".join([*TELLING[2:], *SILENT, *TELLING[2:]])
    assert followed(script(tmp_path, f"cat <<'X'\n{said}\nX")) == ["locked", "locked"]


@pytest.mark.parametrize(
    "text",
    [
        "exit 3",
        "kill $$",
        "head -c 200000 /dev/zero; sleep 60",
        "sleep 60 & head -c 200000 /dev/zero; sleep 60",
    ],
)
def test_one_that_fails_is_no_matter(tmp_path: Path, text: str) -> None:
    """Then nobody watches."""
    assert followed(script(tmp_path, text)) == []


def test_none_is_no_matter(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither without the program, nor without a bus."""
    assert followed(None) == []
    assert followed(str(tmp_path / "absent")) == []
    monkeypatch.setattr(autolock, "BUS", tmp_path / "absent")
    assert watcher() is None
    monkeypatch.setattr(autolock, "BUS", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert watcher() is None
    made = script(tmp_path, "")
    assert watcher() == made


def test_it_ends_with_the_daemon(tmp_path: Path) -> None:
    """No program is left behind."""
    place = tmp_path / "number"

    async def live() -> None:
        task = asyncio.create_task(
            watch(lambda: None, script(tmp_path, f"echo $$ > {place}; exec sleep 60"))
        )
        await asyncio.to_thread(awaited, place, "\n")
        task.cancel()
        await asyncio.wait({task})

    asyncio.run(live())
    with pytest.raises(ProcessLookupError):
        os.kill(int(place.read_text()), 0)
