"""What every screen has: the program around it, the bars, the footer, and what others do for it."""

from abc import abstractmethod
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Protocol, cast

from textual.app import App, ComposeResult
from textual.css.query import NoMatches
from textual.screen import Screen
from textual.timer import Timer
from textual.worker import Worker

from agent.errors import ReticentError
from agent.tui.actions import Where
from agent.tui.link import Link
from agent.tui.plain import plain, plain_lines
from agent.tui.status_bar import Bars, Foot, State
from agent.wire.state import EventKind

Doing = Callable[[], Coroutine[Any, Any, None]]
WIDE = 110  # columns, from which on a list and a detail stand side by side
SOON = 0.15  # seconds in which several events lead to one look


class Finding(Protocol):
    """One thing that was looked at; ``state``: ok, warn or bad; ``fix``: unless it is ok."""

    @property
    def name(self) -> str:
        """What was looked at."""

    @property
    def state(self) -> str:
        """How it is."""

    @property
    def what(self) -> str:
        """What was found."""

    @property
    def fix(self) -> str:
        """What mends it."""


@dataclass(frozen=True, slots=True)
class Environment:
    """What the screens take from their host.

    ``doctor``: looks for what is wrong, in a thread; ``edit``: has the user change a file, at a
    line if one is named, and returns once they are done, UsageError where that cannot be;
    ``clock``: the time, where the user lives.
    """

    doctor: Callable[[], Sequence[Finding]]
    edit: Callable[[str, int | None], None]
    clock: Callable[[], datetime]


class Program(App[None]):
    """The program as its screens see it.

    ``link``: to the daemon; ``environment``: what others do for it; ``masked``: whether the
    user's own values are hidden.
    """

    def __init__(self, link: Link, environment: Environment, *, ansi_color: bool | None) -> None:
        super().__init__(ansi_color=ansi_color)
        self.link = link
        self.environment = environment
        self.state = State(trouble="Connecting to the daemon …")
        self.masked = True

    @property
    def reachable(self) -> bool:
        """Whether the daemon answers, and its vault is open."""
        status = self.state.status
        return status is not None and not status.locked and not self.state.stale

    def tell(self, text: str) -> None:
        """Say what was done."""
        self.notify(plain_lines(text), markup=False)

    @abstractmethod
    def say(self, error: ReticentError) -> None:
        """Say what went wrong, and the way out; where the vault is locked, ask for its key."""

    @abstractmethod
    def action_show(self, where: Where) -> None:
        """Show another screen."""


class Page(Screen[None]):
    """A screen; ``where``: its name among the actions; ``concerns``: the events it is about.

    ``needs_vault``: there is something to show only where the daemon was heard and its vault is
    open.
    """

    where: ClassVar[Where]
    concerns: ClassVar[frozenset[EventKind]] = frozenset()
    needs_vault: ClassVar[bool] = True
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012  (no class variable to Textual)

    def __init__(self) -> None:
        super().__init__()
        self._looks: Timer | None = None
        self._known = False  # whether the daemon's answer stands there
        self._missing = ""  # why it does not

    @property
    def review(self) -> Program:
        """The program."""
        return cast("Program", self.app)

    def compose(self) -> ComposeResult:
        """Lay the bars on top, the footer below, and what the screen is about between."""
        yield Bars(self.where)
        yield from self.body()
        yield Foot(show_command_palette=False)

    @abstractmethod
    def body(self) -> ComposeResult:
        """Lay out what the screen is about."""

    @abstractmethod
    async def renew(self) -> None:
        """Ask the daemon, with calls that nobody makes, and show what it says."""

    @abstractmethod
    def clear(self) -> None:
        """Take everything private off the screen: the vault is locked."""

    def masked(self) -> None:
        """Show the user's values, or hide them, as `review.masked` says."""

    def tell(self, state: State) -> None:
        """Show how the daemon is."""
        for bars in self.query(Bars):  # none before it is laid out, nor once it is taken away
            bars.tell(state)
        self._say_missing()

    def forget(self) -> None:
        """Take everything private off the screen, and let nothing come that was asked for."""
        self.workers.cancel_group(self, "look")
        self._known, self._missing = False, ""
        self.clear()
        self._say_missing()

    def on_screen_resume(self) -> None:
        """Show what there is now, since the screen is looked at again."""
        self.tell(self.review.state)
        self.look()

    def happened(self, kind: EventKind) -> None:
        """Look again if it is about what this screen shows."""
        if kind in self.concerns:
            self.soon()

    def soon(self) -> None:
        """Look again in a moment, once for all that happens until then."""
        if self._looks is None:
            self._looks = self.set_timer(SOON, self.look)

    def look(self) -> None:
        """Ask the daemon again."""
        self._looks = None
        if self.review.reachable or not self.needs_vault:
            self._work(self._renewed, "look", exclusive=True)

    def do(self, doing: Doing) -> None:
        """Do what a person asked for; what goes wrong is said in a sentence, with the way out."""
        self._work(doing, "do", exclusive=False)

    async def _renewed(self) -> None:
        try:
            await self.renew()
        except ReticentError as error:
            self._missing = f"Not known: {plain(str(error))}."
            raise
        else:
            self._known = True
        finally:
            self._say_missing()

    def _say_missing(self) -> None:
        """Say why nothing stands there yet, where nothing would mean that there is nothing."""
        missing = "" if self._known else self._missing or self.review.state.unknown()
        self.set_class(bool(missing), "-unknown")
        for bars in self.query(Bars):
            bars.missing(missing)

    def _work(self, doing: Doing, group: str, *, exclusive: bool) -> None:
        async def safely() -> None:
            try:
                await doing()
            except ReticentError as error:
                self.review.say(error)
            except NoMatches:
                if self.review.is_running:  # else it is being removed, its parts first
                    raise

        _: Worker[None] = self.run_worker(safely, group=group, exclusive=exclusive)


def standing(stacks: Iterable[Iterable[Screen[Any]]]) -> list[Page]:
    """Return those screens that are laid out, whether they are shown or not."""
    every = (each for stack in stacks for each in stack)
    return [each for each in every if isinstance(each, Page) and each.is_mounted]
