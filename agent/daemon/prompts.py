"""Dialogs in which a person is asked: for the passphrase, or about what waits for their word.

Only where the policy says `prompt = "pinentry"`, and only right after something that they did
themselves, or had an assistant do: never because a page or a program asks. No answer waits for a
dialog; the next request profits. First the Assuan protocol, pure; then the program of gpg-agent
that speaks it; then when one is opened. What it is told and what it answers is in no log, and it
never caches a passphrase: it is not allowed to ask another program for one, and is told the name of
no key.
Source: the manuals of Assuan ("Client requests", "Server responses") and of pinentry ("Protocol").
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

from msgspec.structs import replace

from agent.daemon.events import LOG, kind_and_place
from agent.errors import (
    DaemonError,
    ReticentError,
    UnsafeError,
    UsageError,
    WrongSecretError,
    reason,
)
from agent.files import check_ours
from agent.wire.decide import Answer, Ask
from agent.wire.policy import Review, Ruled, Word
from agent.wire.state import SCREEN, Status, Unlock, screen_of
from agent.words import notices
from agent.words.figures import counted
from policy.hosts import host_of
from policy.services import in_clear

if TYPE_CHECKING:
    from agent.daemon.agent import Agent
    from agent.daemon.request_log import Asker

LONGEST_LINE = 1000  # bytes, with the line feed
MOST_LINES = 100  # of one reply: status lines, comments and data
MOST_DATA = 4096  # bytes, four times the longest passphrase
_NUMBER, _NO_ESCAPE = re.compile(rb"[0-9]{1,10}"), re.compile(rb"%(?![0-9A-Fa-f]{2})")
CODES = 0xFFFF  # the bits of an error that say which; the others say whose
DECLINED = 114  # GPG_ERR_NOT_CONFIRMED: the third button
UNANSWERED = {62, 99, 198}  # GPG_ERR_TIMEOUT, GPG_ERR_CANCELED, GPG_ERR_FULLY_CANCELED
PATIENCE = 60  # seconds until a dialog that nobody answers is closed
SECONDS = 5.0  # for an answer that nobody is asked for, and after PATIENCE
FOLDERS = ("/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/run/current-system/sw/bin")
NAMES = ("gnome3", "gtk-2", "gtk", "qt", "qt5", "mac")
DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")
LOCALES = ("LC_ALL", "LC_CTYPE", "LC_MESSAGES", "LANG")
PASSED = (*DISPLAYS, *LOCALES, "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "HOME")
_ESCAPED = {each: b"%%%02X" % each for each in (*range(32), ord("%"), 127)}
_TRY = 'write its path as `pinentry = "/…"` under [daemon], or prompt = "terminal"'


class PinentryError(DaemonError):
    """The program cannot be used, or does not speak as it should."""

    def __init__(self, what: str, where: str | None = None, hint: str = _TRY) -> None:
        super().__init__(what, hint, where)


@dataclass(frozen=True, slots=True)
class Reply:
    """The end of a reply: ``error`` is 0 for OK; ``data``: what was typed, as bytes of UTF-8."""

    error: int
    data: bytes = b""

    def __repr__(self) -> str:
        return f"Reply(error={self.error})"


def request(command: str, text: str = "") -> bytes:
    """Write a command as a line, its text escaped and cut to what a line holds.

    It is cut between characters, never within one or its escape.
    """
    line = bytearray(command.encode() + (b" " if text else b""))
    for each in text:
        data = each.encode("utf-8", "replace")
        data = b"".join(_ESCAPED.get(byte, bytes([byte])) for byte in data)
        if len(line) + len(data) >= LONGEST_LINE:
            break
        line += data
    return bytes(line) + b"\n"


def unescaped(data: bytes) -> bytes:
    """Decode the data of a reply; PinentryError where an escape is broken."""
    if _NO_ESCAPE.search(data):
        raise PinentryError("its answer is damaged")
    return unquote_to_bytes(data)


class Response:
    """The lines of one reply as they come, and what they come to."""

    def __init__(self) -> None:
        self._data = b""
        self._lines = 0

    def take(self, line: bytes) -> Reply | None:
        """Take a line without its end; return the reply if it is the last. PinentryError."""
        self._lines += 1
        word, _, rest = line.partition(b" ")
        if self._lines > MOST_LINES or len(line) >= LONGEST_LINE:
            raise PinentryError("it says too much")
        if word == b"D":
            self._data += unescaped(rest)
            if len(self._data) > MOST_DATA:
                raise PinentryError("it says too much")
        elif word == b"OK":
            return Reply(0, self._data)
        elif word == b"ERR":
            code = rest.partition(b" ")[0]
            error = int(code) & CODES if _NUMBER.fullmatch(code) else 0
            if not error:
                raise PinentryError("its answer is damaged")
            return Reply(error)
        elif word != b"S" and not word.startswith(b"#"):
            raise PinentryError("its answer is damaged")
        return None


def find() -> Path | None:
    """Find the first of the usual programs that is installed and may be used."""
    for folder in FOLDERS:
        for name in NAMES:
            path = Path(folder, f"pinentry-{name}")
            with suppress(PinentryError, UnsafeError):
                return checked(path)
    return None


def checked(path: Path) -> Path:
    """Check that only root and we can change a program. PinentryError, UnsafeError."""
    try:
        check_ours(path)
        usable = path.is_file() and os.access(path, os.X_OK)
    except OSError as error:
        raise PinentryError(reason(error), str(path)) from error
    if not path.is_absolute() or not usable:
        raise PinentryError("not a program, by its absolute path", str(path))
    return path


def shows(environment: Mapping[str, str]) -> bool:
    """Say whether an environment names a display; elsewhere no dialog is ever opened."""
    return any(environment.get(name) for name in DISPLAYS) or os.uname().sysname == "Darwin"


class Dialog:
    """A program that is running; ``over`` once it is to end, whatever it may still answer.

    ``seconds``: for an answer that nobody is asked for; ``patience``: until the person answers.
    """

    def __init__(self, process: asyncio.subprocess.Process, seconds: float, patience: int) -> None:
        self._process = process
        self._seconds, self._patience = seconds, patience
        self.over = False

    def end(self) -> None:
        """Close it at once, with all that the program started."""
        self.over = True
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    async def ask(self, command: str, text: str = "", patience: int = 0) -> Reply:
        """Send a command and return the reply. PinentryError, also where it takes too long."""
        to, source = self._process.stdin, self._process.stdout
        assert to is not None  # noqa: S101  (both are pipes)
        assert source is not None  # noqa: S101
        try:
            async with asyncio.timeout(self._seconds + patience):
                if command:
                    to.write(request(command, text))
                    await to.drain()
                response = Response()
                while True:
                    line = await source.readuntil(b"\n")
                    if (reply := response.take(line[:-1])) is not None:
                        return reply
        except TimeoutError:
            raise PinentryError("it did not answer in time") from None
        except (asyncio.IncompleteReadError, ConnectionError):
            raise PinentryError("it has ended") from None
        except asyncio.LimitOverrunError:
            raise PinentryError("it says too much") from None

    async def tell(self, command: str, text: str = "") -> None:
        """Send a command that must be obeyed. PinentryError."""
        if (await self.ask(command, text)).error:
            raise PinentryError(f"it refused {command or 'to begin'}")

    async def show(self, kind: str, text: str, *buttons: str) -> Reply:
        """Ask the person. PinentryError.

        ``kind``: GETPIN for a passphrase, CONFIRM for one of the buttons: the one that Enter
        presses, the one that stands for closing the dialog, and perhaps a third.
        """
        await self.tell("SETDESC", text)
        for command, label in zip(("SETOK", "SETCANCEL", "SETNOTOK"), buttons, strict=False):
            await self.tell(command, label)
        reply = await self.ask(kind, patience=self._patience)
        if reply.error not in {0, DECLINED, *UNANSWERED}:
            raise PinentryError(f"it could not ask (error {reply.error})")
        return reply


@asynccontextmanager
async def opened(
    program: Path,
    screen: Mapping[str, str],
    title: str,
    seconds: float = SECONDS,
    patience: int = PATIENCE,
) -> AsyncIterator[Dialog]:
    """Run a program on a screen, ready to ask, and kill it at the end. PinentryError, UnsafeError.

    ``screen``: the variables of `PASSED`; it gets no others, and no terminal to fall back on, where
    a person could not tell it from any other program. It does not grab the keyboard.
    """
    to = asyncio.subprocess
    try:
        process = await asyncio.create_subprocess_exec(
            str(checked(program)),
            stdin=to.PIPE,
            stdout=to.PIPE,
            stderr=to.DEVNULL,
            env={name: screen[name] for name in PASSED if name in screen},
            cwd="/",
            limit=LONGEST_LINE,
            start_new_session=True,
        )
    except OSError as error:
        raise PinentryError(reason(error), str(program)) from error
    dialog = Dialog(process, seconds, patience)
    try:
        await dialog.tell("")  # which it greets with
        await dialog.ask("OPTION", "no-grab")  # no option need be known to it
        locale = next((screen[name] for name in LOCALES if screen.get(name)), "")
        options = ("display", screen.get("DISPLAY")), ("lc-ctype", locale), ("lc-messages", locale)
        for name, value in options:
            if value:
                await dialog.ask("OPTION", f"{name}={value}")
        await dialog.tell("SETKEYINFO", "--clear")
        await dialog.tell("SETTIMEOUT", str(patience))
        await dialog.tell("SETTITLE", title)
        yield dialog
    finally:
        dialog.end()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await process.communicate()  # `wait` alone never ends where something is unread


TRUSTED: frozenset[Asker] = frozenset({"user", "assistant"})
HELD = 600.0  # seconds without a dialog for the passphrase, after "not now"
APART = 3600.0  # seconds between two about the same pool
PAUSE = 1.0  # seconds until a second dialog: its buttons stand where a double click was begun
TRIES = 3
TITLE, LATER = "Reticent", "Decide later"
ONCE = Word(disclose="auto", lasting="once")
ALWAYS = Word(disclose="auto", lasting="always")
NOT_ONCE = Word(disclose="never", lasting="once")


class Prompts:
    """Opens one dialog at a time; it belongs to one thread."""

    def __init__(
        self,
        agent: Agent,
        unlock: Callable[[Unlock], Awaitable[Status]],
        settle: Callable[[Word, int], Ruled],
        screen: Mapping[str, str],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Take what there is to do; ``screen``: the environment of the daemon, or the service."""
        self._agent = agent
        self._unlock = unlock
        self._settle = settle
        self._clock = clock
        self._screen = {name: screen[name] for name in PASSED if name in screen}
        self._task: asyncio.Task[None] | None = None
        self._dialog: Dialog | None = None
        self._held: float | None = None  # since when
        self._asked: dict[str, float] = {}  # by pool

    def use(self, screen: Mapping[str, str]) -> None:
        """Open dialogs on another screen from now on; only for callers on control."""
        if shows(screen_now := screen_of(screen)):
            others = {name: each for name, each in self._screen.items() if name not in SCREEN}
            self._screen = others | screen_now

    def end(self) -> None:
        """Close the dialog that is open, since nothing can come of it: nobody said "not now"."""
        if self._task is None or self._task.done():
            return
        if self._dialog is not None:
            self._dialog.end()
        else:
            self._task.cancel()  # its program is only starting
        self._held = None

    def locked(self) -> None:
        """Close the dialog, and forget whom it was about."""
        self._asked.clear()
        self.end()

    def after(self, ask: Ask, answer: Answer, by: Asker, now: datetime) -> None:
        """Open a dialog if this answer gives reason for one, and now is the time."""
        busy = self._task is not None and not self._task.done()
        if by not in TRUSTED or busy or not shows(self._screen):
            return
        if answer.code == "locked":
            with suppress(UsageError):  # not a host, which nobody has looked at yet
                is_paused = self._held is not None and self._clock() - self._held < HELD
                refused = self._agent.consent.refused_by(ask.recipient, now)
                there = self._agent.place.vault.exists()
                if there and refused is None and not is_paused and not in_clear(ask.recipient):
                    self._begin(self._ask_passphrase, host_of(ask.recipient))
        elif answer.summary is not None and answer.summary.waiting:
            pool, pending = answer.summary.pool, {*answer.summary.pending}
            at = self._asked.get(pool)
            for review in self._agent.consent.reviews(now):
                own = (review.kind, review.pool) == ("ask", pool) and {*review.names} <= pending
                if own and review.prompted and (at is None or self._clock() - at >= APART):
                    self._asked[pool] = self._clock()
                    self._begin(self._ask_word, review, answer.summary.titles)
                    break

    def _begin(self, ask: Callable[..., Awaitable[None]], *about: object) -> None:
        async def run() -> None:
            try:
                await ask(*about)
            except ReticentError as error:
                LOG.warning("the dialog failed: %s", kind_and_place(error))
            finally:
                self._dialog = None

        self._task = asyncio.get_running_loop().create_task(run())

    def _program(self) -> Path:
        """Find the program of the policy, or the usual one. PinentryError."""
        chosen = self._agent.settings.pinentry
        program = Path(chosen) if chosen else find()
        if program is None:
            raise PinentryError("no pinentry is installed")
        return program

    async def _ask_passphrase(self, host: str) -> None:
        """Ask for the passphrase, and open the vault with it."""
        self._held = self._clock()
        async with opened(self._program(), self._screen, TITLE) as dialog:
            self._dialog = dialog
            await dialog.tell("SETPROMPT", "Passphrase:")
            text = notices.dialog_locked(host)
            for tries_left in reversed(range(TRIES)):
                reply = await dialog.show("GETPIN", text, "Unlock", "Not now")
                if dialog.over:
                    break
                if reply.error:
                    self._held = self._clock()
                    break
                secret = reply.data.decode("utf-8", "surrogateescape")
                del reply
                with suppress(WrongSecretError, UsageError):
                    await self._unlock(Unlock(method="passphrase", secret=secret))
                    self._agent.commanded()
                    break
                del secret
                tries = counted(tries_left, "try", "tries")
                await dialog.tell("SETERROR", f"That is not the passphrase. {tries} left.")

    async def _ask_word(self, review: Review, titles: Mapping[str, str]) -> None:
        """Ask about what waits, and settle it; it stays where the dialog is closed."""
        async with opened(self._program(), self._screen, TITLE) as dialog:
            self._dialog = dialog
            text = notices.dialog_asks(review, titles)
            reply = await dialog.show("CONFIRM", text, "No", LATER, "Yes ...")
            verdict = NOT_ONCE if not reply.error else None
            if reply.error == DECLINED:
                await asyncio.sleep(PAUSE)
                buttons = (notices.ONCE, LATER, notices.ALWAYS)
                text = notices.dialog_how_long(review, titles)
                reply = await dialog.show("CONFIRM", text, *buttons)
                verdict = {0: ONCE, DECLINED: ALWAYS}.get(reply.error)
            if verdict is not None and not dialog.over:
                names = review.names[: notices.DIALOG_NAMES]
                self._settle(replace(verdict, names=names, recipient=review.pool), review.id)
