"""The vault locks with the screen, and before the machine sleeps, where systemd-logind tells.

Its signals come by a program of the desktop's, `gdbus`: so there is no library for D-Bus here, and
where either is absent, nothing is watched. A sleep shows in the clocks as well (autolock.py).
Source: org.freedesktop.login1(5).
"""

import asyncio
import os
import re
import shutil
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from agent.daemon.process.log import LOG

BUS = Path("/run/dbus/system_bus_socket")
SESSIONS = Path("/run/systemd/sessions")  # a file for each, with UID= and the number of its user
LINE = 1 << 16  # bytes
_ARGUMENTS = ("monitor", "--system", "--dest", "org.freedesktop.login1")
_SLEEPS = re.compile(r"\.Manager\.PrepareForSleep \(true,\)")
_LOCKS = re.compile(
    r"^/org/freedesktop/login1/session/(\w+): .*(?:\.Session\.Lock \(\)|'LockedHint': <true>)"
)


def watcher() -> str | None:
    """Return the program that tells what logind says, None where it cannot be asked."""
    return shutil.which("gdbus") if BUS.exists() else None


def locks(line: str, sessions: Path = SESSIONS) -> bool:
    """Say whether a line tells of a sleep, or of the lock of a screen of this user's."""
    found = _LOCKS.match(line)
    return bool(_SLEEPS.search(line)) or (found is not None and _is_ours(found[1], sessions))


async def watch(lock: Callable[[], object], program: str | None) -> None:
    """Lock whenever the system tells of it, until there is nobody who would."""
    if program is None:
        return
    to = asyncio.subprocess
    try:
        process = await asyncio.create_subprocess_exec(
            *(program, *_ARGUMENTS),
            stdin=to.DEVNULL,
            stdout=to.PIPE,
            stderr=to.DEVNULL,
            limit=LINE,
            start_new_session=True,  # so that what it has started ends with it
        )
    except OSError:
        return
    assert process.stdout is not None  # noqa: S101  (it is a pipe)
    try:
        while line := await process.stdout.readline():
            if locks(line.decode("utf-8", "replace")):
                lock()
    except ValueError:  # no line is as long
        pass
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):  # it may just have ended
                os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
    LOG.info("the screen's lock is not watched any more")


def _is_ours(name: str, sessions: Path) -> bool:
    """Say whether a session is of this user, or of nobody that can be told."""
    number = re.sub(r"_([0-9a-f]{2})", lambda found: chr(int(found[1], 16)), name)
    try:
        text = (sessions / number).read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return True
    return f"UID={os.geteuid()}" in text.splitlines()
