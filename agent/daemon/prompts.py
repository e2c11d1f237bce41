"""Dialogs in which a person is asked: for the passphrase, or about what waits for their word.

Only where the policy says `prompt = "pinentry"`, and elsewhere one notice in each lock; only right
after something that they did themselves, or had an assistant do: never because a page or a program
asks. No answer waits for a dialog; the next request profits. First the Assuan protocol, pure; then
the program of gpg-agent that speaks it; then when one is opened. What it is told and what it
answers is in no log, and it never caches a passphrase: it is not allowed to ask another program for
one, and is told the name of no key.
Source: the manuals of Assuan ("Client requests", "Server responses") and of pinentry ("Protocol").
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from math import inf
from pathlib import Path
from string import punctuation
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote_to_bytes

from agent import errors
from agent.daemon.events import LOG, kind_and_place
from agent.files import check_ours
from agent.wire.decide import Answer, Ask
from agent.wire.policy import Disclose, Review, Word
from agent.wire.state import SCREEN, Unlock, screen_of
from agent.words import notices
from agent.words.figures import counted
from policy.hosts import host_of
from policy.services import in_clear
from policy.settings import DaemonSettings

if TYPE_CHECKING:
    from agent.daemon.agent import Agent
    from agent.daemon.request_log import Asker

LONGEST_LINE = 1000  # bytes, with the line feed
MOST_LINES = 20  # of one reply: status lines, comments and data
PLAIN = punctuation.replace("%", "") + " "
_NUMBER = re.compile(rb"[0-9]{1,10}")
CODES = 0xFFFF  # the bits of an error that say which; the others say whose
DECLINED = 114  # GPG_ERR_NOT_CONFIRMED: the third button
CANCELED = 99  # GPG_ERR_CANCELED: the second button, or the Escape key
UNANSWERED = {62, CANCELED, 198}  # GPG_ERR_TIMEOUT, and GPG_ERR_FULLY_CANCELED: it was closed
PATIENCE = 60  # seconds until a dialog that nobody answers is closed
SECONDS = 5.0  # for an answer that nobody is asked for, and after PATIENCE
FOLDERS = ("/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/run/current-system/sw/bin")
NAMES = ("gnome3", "gtk-2", "gtk", "qt", "qt5", "mac")
ON_TERMINAL = ("curses", "tty")
DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")
TERMINAL = {"GPG_TTY": "ttyname", "TERM": "ttytype"}  # variables, and what pinentry calls each
LOCALES = ("LC_ALL", "LC_CTYPE", "LC_MESSAGES", "LANG")
PASSED = (*DISPLAYS, *LOCALES, "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "HOME")
_INSTALL = "install pinentry-gnome3, or without a desktop pinentry-curses, and set GPG_TTY"
_TRY = 'write its path as `pinentry = "/…"` under [daemon], or prompt = "terminal"'


class PinentryError(errors.DaemonError):
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
    """Write a command as a line, its text escaped, and cut between characters to what it holds."""
    text = text[:LONGEST_LINE]
    while True:
        escaped = quote(text, safe=PLAIN, errors="replace")
        line = f"{command} {escaped}" if text else command
        if len(line) < LONGEST_LINE:
            return f"{line}\n".encode()
        text = text[:-1]


def parsed(line: bytes) -> Reply | bytes:
    """Read a line of a reply, without its end: its data, if any, or the end. PinentryError."""
    word, _, rest = line.partition(b" ")
    code = rest.partition(b" ")[0]
    if word == b"D":
        return unquote_to_bytes(rest)
    if word == b"OK":
        return Reply(0)
    if word == b"ERR" and _NUMBER.fullmatch(code) and int(code) & CODES:
        return Reply(int(code) & CODES)
    if word == b"S" or word.startswith(b"#"):
        return b""
    raise PinentryError("its answer is damaged")


def find(screen: Mapping[str, str]) -> Path | None:
    """Find the first of the usual programs that is installed, fits a screen and may be used."""
    names = NAMES if _on_desktop(screen) or not screen.get("GPG_TTY") else (*ON_TERMINAL, *NAMES)
    for folder in FOLDERS:
        for name in names:
            path = Path(folder, f"pinentry-{name}")
            with suppress(PinentryError, errors.UnsafeError):
                return checked(path)
    return None


def checked(path: Path) -> Path:
    """Check that only root and we can change a program. PinentryError, UnsafeError."""
    try:
        check_ours(path)
        usable = path.is_file() and os.access(path, os.X_OK)
    except OSError as error:
        raise PinentryError(errors.reason(error), str(path)) from error
    if not path.is_absolute() or not usable:
        raise PinentryError("not a program, by its absolute path", str(path))
    return path


def chosen(settings: DaemonSettings, screen: Mapping[str, str]) -> Path:
    """Find the program of the policy, or the usual one. PinentryError, UnsafeError."""
    program = checked(Path(settings.pinentry)) if settings.pinentry else find(screen)
    if program is None:
        raise PinentryError("no pinentry is installed", hint=_INSTALL)
    return program


def shows(environment: Mapping[str, str]) -> bool:
    """Say whether an environment names a display, or a terminal as gpg-agent has it.

    Elsewhere no dialog is ever opened.
    """
    return _on_desktop(environment) or bool(environment.get("GPG_TTY"))


def _on_desktop(environment: Mapping[str, str]) -> bool:
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
                data = b""
                for _ in range(MOST_LINES):
                    part = parsed((await source.readuntil(b"\n"))[:-1])
                    if isinstance(part, Reply):
                        return replace(part, data=data)
                    data += part
        except (TimeoutError, EOFError, ConnectionError, asyncio.LimitOverrunError):
            raise PinentryError("it did not answer in time") from None
        raise PinentryError("it says too much")

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
    program: Path, screen: Mapping[str, str], seconds: float = SECONDS, patience: int = PATIENCE
) -> AsyncIterator[Dialog]:
    """Run a program on a screen, ready to ask, and kill it at the end. PinentryError, UnsafeError.

    ``screen``: the variables of `PASSED`; it gets no others. On a desktop it gets no terminal to
    fall back on, where a person could not tell it from any other program; elsewhere the one that
    the user names by GPG_TTY. It does not grab the keyboard.
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
        raise PinentryError(errors.reason(error), str(program)) from error
    dialog = Dialog(process, seconds, patience)
    try:
        await dialog.tell("")  # which it greets with
        named = {} if _on_desktop(screen) else TERMINAL
        places = [f"{option}={screen[name]}" for name, option in named.items() if name in screen]
        for option in ("no-grab", *places):
            await dialog.ask("OPTION", option)  # none need be known to it
        await dialog.tell("SETTIMEOUT", str(patience))
        await dialog.tell("SETTITLE", TITLE)
        yield dialog
    finally:
        dialog.end()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await process.communicate()  # `wait` alone never ends where something is unread


UNASKED: frozenset[Asker] = frozenset({"command", "draft", "page", "program"})
AFTER_NOT_NOW = 600.0  # seconds without a dialog for the passphrase, after "not now"
TRIES = 3
TITLE = "Reticent"
NOTIFY = (  # of the Desktop Notifications Specification
    *("call", "--session", "--timeout", "5", "--dest", "org.freedesktop.Notifications"),
    *("--object-path", "/org/freedesktop/Notifications"),
    *("--method", "org.freedesktop.Notifications.Notify"),
)
NO_BUTTONS = ("[]", "{}", "10000")  # nor hints; for ten seconds
DECISIONS: Mapping[int, Disclose] = {0: "never", DECLINED: "auto"}  # by what a button replies
ONCE = "You decide once about {}: never, each time after asking you, or if worth it?"
FOR_GOOD: Mapping[int, Disclose] = {**DECISIONS, CANCELED: "ask"}


class Prompts:
    """Opens one dialog at a time; it belongs to one thread."""

    def __init__(self, agent: Agent, call: Callable[..., Any], screen: Mapping[str, str]) -> None:
        """Take what makes calls; ``screen``: the environment of the daemon, or the service."""
        self._agent, self._call, self._clock = agent, call, monotonic
        self._screen = {name: screen[name] for name in (*PASSED, *TERMINAL) if name in screen}
        self._task: asyncio.Task[None] | None = None
        self._dialog: Dialog | None = None
        self._next = -inf  # when the next for the passphrase may open
        self._shown = set[int]()  # the reviews that one was about
        self._noticed: datetime | None = None  # the lock that the desktop was told of

    def use(self, screen: Mapping[str, str]) -> None:
        """Open dialogs on another screen from now on; only for callers on control."""
        if shows(screen_now := screen_of(screen)):
            others = {name: each for name, each in self._screen.items() if name not in SCREEN}
            self._screen = others | screen_now

    def end(self) -> None:
        """Close the dialog that is open, since nothing can come of it: nobody said "not now"."""
        self._next = -inf
        if self._dialog is not None:
            self._dialog.end()
        elif self._task is not None:
            self._task.cancel()  # its program is only starting

    def after(self, ask: Ask, answer: Answer, by: Asker, now: datetime) -> None:
        """Open a dialog if this answer gives reason for one, and now is the time."""
        busy = self._task is not None and not self._task.done()
        if by in UNASKED or busy or not shows(self._screen):
            return
        if self._agent.rules.active.daemon.prompt != "pinentry":
            if answer.code == "locked" and self._agent.place.vault.exists():
                self._notify()
            return
        consent = self._agent.consent
        if answer.code == "locked" and self._clock() >= self._next:
            with suppress(errors.UsageError):  # not a host, which nobody has looked at yet
                refused = consent.refused_by(ask.recipient, now) or in_clear(ask.recipient)
                if self._agent.place.vault.exists() and not refused:
                    self._next = self._clock() + AFTER_NOT_NOW
                    self._begin(partial(self._ask_passphrase, host_of(ask.recipient)))
        elif answer.summary is not None and answer.summary.pending:
            pool, pending = answer.summary.pool, {*answer.summary.pending}
            for review in consent.reviews(now):
                own = review.raised and review.pool == pool and {*review.names} <= pending
                if own and review.id not in self._shown:
                    self._shown.add(review.id)
                    self._begin(partial(self._ask_word, review, answer.summary.titles))
                    break

    def _notify(self) -> None:
        """Say on the desktop that requests carry nothing, once in each lock."""
        lock, program = self._agent.without_facts, shutil.which("gdbus")
        if lock is None or program is None or lock.since == self._noticed:
            return
        self._noticed = lock.since
        command = program, *NOTIFY, TITLE, "0", "", TITLE, notices.DESKTOP_LOCKED, *NO_BUTTONS
        tell = partial(subprocess.run, command, capture_output=True, check=False, env=self._screen)
        Thread(target=tell, daemon=True).start()  # which no request waits for

    def _begin(self, ask: Callable[[Dialog], Awaitable[None]]) -> None:
        async def run() -> None:
            try:
                program = chosen(self._agent.rules.active.daemon, self._screen)
                async with opened(program, self._screen) as dialog:
                    self._dialog = dialog
                    await ask(dialog)
            except errors.ReticentError as error:
                LOG.warning("the dialog failed: %s", kind_and_place(error))
            finally:
                self._dialog = None

        self._task = asyncio.get_running_loop().create_task(run())

    async def _ask_passphrase(self, host: str, dialog: Dialog) -> None:
        """Ask for the passphrase, and open the vault with it."""
        await dialog.tell("SETPROMPT", "Passphrase:")
        text = notices.dialog_locked(host)
        for tries_left in reversed(range(TRIES)):
            reply = await dialog.show("GETPIN", text, "Unlock", "Not now")
            if dialog.over:
                break
            if reply.error:
                self._next = self._clock() + AFTER_NOT_NOW
                break
            secret = reply.data.decode("utf-8", "surrogateescape")
            del reply
            with suppress(errors.WrongSecretError, errors.UsageError):
                await self._call("unlock", Unlock(method="passphrase", secret=secret))
                self._agent.commanded()
                break
            del secret
            tries = counted(tries_left, "try", "tries")
            await dialog.tell("SETERROR", f"That is not the passphrase. {tries} left.")

    async def _ask_word(self, review: Review, titles: Mapping[str, str], dialog: Dialog) -> None:
        """Ask about what waits, and settle it; it stays where the dialog is closed.

        Families that only a preset asks about come first, once for all recipients of its kind; what
        the user wants to be asked each time is asked now.
        """
        if review.families:
            text = ONCE.format(notices.family_facts(review))
            reply = await dialog.show("CONFIRM", text, "Never", "Ask each time", "If worth it")
            disclose = FOR_GOOD.get(reply.error)
            if disclose is None or dialog.over:
                return
            word = Word(disclose=disclose, about="family", recipient=review.pool)
            self._call("verdict", word, id=review.id)
            if disclose != "ask":
                return
        text = notices.dialog_asks(review, titles)
        reply = await dialog.show("CONFIRM", text, "No", "Decide later", "Yes, once")
        disclose = DECISIONS.get(reply.error)
        if disclose is not None and not dialog.over:
            names = review.names[: notices.DIALOG_NAMES]
            word = Word(disclose=disclose, names=names, recipient=review.pool)
            self._call("verdict", word, id=review.id)
