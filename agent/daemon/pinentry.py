"""The dialog of gpg-agent: a program that asks one person one thing, over the Assuan protocol.

The upper half is the protocol, pure; the lower half runs the program. What it is told and what it
answers is in no log, and it never caches a passphrase: it is not allowed to ask another program for
one, and is told the name of no key.
Source: the manuals of Assuan ("Client requests", "Server responses") and of pinentry ("Protocol").
"""

import asyncio
import os
import re
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote_to_bytes

from agent.errors import DaemonError, UnsafeError, reason
from agent.files import check_ours

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
    """Return a command as a line, its text escaped and cut to what a line holds.

    It is cut between characters, never within one or its escape.
    """
    made = bytearray(command.encode() + (b" " if text else b""))
    for each in text:
        data = each.encode("utf-8", "replace")
        data = b"".join(_ESCAPED.get(byte, bytes([byte])) for byte in data)
        if len(made) + len(data) >= LONGEST_LINE:
            break
        made += data
    return bytes(made) + b"\n"


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
    """Return the first program of the usual ones that is there, and that may be used."""
    for folder in FOLDERS:
        for name in NAMES:
            path = Path(folder, f"pinentry-{name}")
            with suppress(PinentryError, UnsafeError):
                return checked(path)
    return None


def checked(path: Path) -> Path:
    """Return the path of a program that only root and we can change. PinentryError, UnsafeError."""
    try:
        check_ours(path)
        usable = path.is_file() and os.access(path, os.X_OK)
    except OSError as error:
        raise PinentryError(reason(error), str(path)) from error
    if not path.is_absolute() or not usable:
        raise PinentryError("not a program, by its absolute path", str(path))
    return path


def shows(environment: Mapping[str, str]) -> bool:
    """Return whether an environment names a display; elsewhere no dialog is ever opened."""
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
                    if (found := response.take(line[:-1])) is not None:
                        return found
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
