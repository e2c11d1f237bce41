"""When a person is asked in a dialog: for the passphrase, or about what waits for their word.

Only where the policy says `prompt = "pinentry"`, and only right after something that they did
themselves, or had an assistant do: never because a page or a program asks. No answer waits for a
dialog; the next request profits.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent.daemon import pinentry
from agent.daemon.events import LOG, kind_and_place
from agent.daemon.pinentry import DECLINED, PASSED, Dialog, PinentryError, opened
from agent.daemon.request_log import Asker
from agent.errors import ReticentError, UsageError, WrongSecretError
from agent.wire.decide import Answer, Ask
from agent.wire.policy import Review, Ruled, Word
from agent.wire.state import SCREEN, Status, Unlock, screen_of
from agent.words import notices
from agent.words.figures import counted
from policy.hosts import host_of
from policy.services import in_clear

if TYPE_CHECKING:
    from agent.daemon.agent import Agent

TRUSTED: frozenset[Asker] = frozenset({"user", "assistant"})
HELD = 600.0  # seconds without a dialog for the passphrase, after "not now"
APART = 3600.0  # seconds between two about the same pool
PAUSE = 1.0  # seconds until a second dialog: its buttons stand where a double click was begun
TRIES = 3
TITLE, LATER = "Reticent", "Decide later"
ONCE = Word(decided="approve", lasting="once")
ALWAYS = Word(decided="approve", lasting="always")
NOT_ONCE = Word(decided="deny", lasting="once")


class Prompts:
    """Opens one dialog at a time; it belongs to one thread."""

    def __init__(
        self,
        agent: "Agent",
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
        if pinentry.shows(found := screen_of(screen)):
            others = {name: each for name, each in self._screen.items() if name not in SCREEN}
            self._screen = others | found

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
        if by not in TRUSTED or busy or not pinentry.shows(self._screen):
            return
        if answer.code == "locked":
            with suppress(UsageError):  # not a host, which nobody has looked at yet
                held = self._held is not None and self._clock() - self._held < HELD
                refused = self._agent.consent.refused_by(ask.recipient, now)
                there = self._agent.place.vault.exists()
                if there and refused is None and not held and not in_clear(ask.recipient):
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
        """Return the program of the policy, or the usual one. PinentryError."""
        chosen = self._agent.settings.pinentry
        found = Path(chosen) if chosen else pinentry.find()
        if found is None:
            raise PinentryError("no pinentry is installed")
        return found

    async def _ask_passphrase(self, host: str) -> None:
        """Ask for the passphrase, and open the vault with it."""
        self._held = self._clock()
        async with opened(self._program(), self._screen, TITLE) as dialog:
            self._dialog = dialog
            await dialog.tell("SETPROMPT", "Passphrase:")
            text = notices.dialog_locked(host)
            for left in reversed(range(TRIES)):
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
                tries = counted(left, "try", "tries")
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
                self._settle(replace(verdict, names=names, pool=review.pool), review.id)
