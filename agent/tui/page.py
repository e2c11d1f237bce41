"""What every screen has: the app around it, bars and footer, and ways to call the daemon."""

from abc import abstractmethod
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial, wraps
from typing import Any, ClassVar, Concatenate, ParamSpec, TypeVar, cast

from msgspec.structs import replace
from textual.app import App, ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.css.query import NoMatches
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Footer, Static
from textual.worker import Worker

from agent.errors import ReticentError
from agent.tui.actions import ACTIONS, TEXTS, Where, keys
from agent.tui.dialogs import confirm
from agent.tui.link import Link
from agent.tui.plain import plain, plain_lines
from agent.tui.status_bar import DaemonState, TopBar
from agent.wire.policy import Edited, PolicyEdit
from agent.wire.state import EventKind, Finding
from agent.words.notices import edited, would_differ
from agent.words.titles import Titles, titles_of

P = ParamSpec("P")
Self = TypeVar("Self", bound="Page")
Work = Callable[[], Coroutine[Any, Any, None]]
WIDE = 110  # columns, from which on a list and a detail stand side by side
SOON = 0.15  # seconds in which several events lead to one renewal
LEFT_TO = ("never", "ask", "auto", "always")  # what a user may choose of a fact


@dataclass(frozen=True, slots=True)
class Environment:
    """What the host provides to the screens.

    ``doctor``: checks this machine, in a thread; ``edit``: opens a file in the user's editor, at a
    line if one is given, and returns when the editor ends, UsageError where it cannot start;
    ``clock``: the time in the user's zone; ``save``: writes a text to a new file of this name, for
    the user alone, and returns where it is, UsageError where it cannot be written.
    """

    doctor: Callable[[], Sequence[Finding]]
    edit: Callable[[str, int | None], None]
    clock: Callable[[], datetime]
    save: Callable[[str, str], str]


class BaseApp(App[None]):
    """The app as its screens see it.

    ``link``: to the daemon; ``environment``: what the host provides; ``masked``: whether the
    user's own values are hidden; ``to_lock``: a lock was asked for, and is not done yet.
    """

    def __init__(self, link: Link, environment: Environment, *, ansi_color: bool | None) -> None:
        super().__init__(ansi_color=ansi_color)
        self.link, self.environment = link, environment
        self.state = DaemonState(trouble="Connecting to the daemon …")
        self.masked, self.to_lock = True, False
        self._titles: Titles = {}
        self._titles_of: tuple[str, ...] | None = None  # digests of models

    @property
    def reachable(self) -> bool:
        """Whether the daemon answers, and its vault is open and to stay so."""
        status = self.state.status
        return status is not None and not (status.locked or self.state.stale or self.to_lock)

    def page(self) -> "Page | None":
        """Find the current screen, below any dialog in front of it."""
        return next((each for each in reversed(self.screen_stack) if isinstance(each, Page)), None)

    async def titles(self) -> Titles:
        """Fetch the titles of the attributes; they are kept until the models change."""
        status = self.state.status
        models = () if status is None else tuple(each.digest for each in status.models)
        if self._titles_of != models:
            self._titles = titles_of(await self.link.call("attributes"))
            self._titles_of = models
        return self._titles

    def tell(self, text: str) -> None:
        """Show what was done."""
        self.notify(plain_lines(text), markup=False)

    @abstractmethod
    def say(self, error: ReticentError) -> None:
        """Show an error with its hint; where the vault is locked, ask for its key."""


class Page(Screen[None]):
    """A screen; ``where``: its name among the actions; ``concerns``: the events it is about.

    ``needs_vault``: there is something to show only where the daemon answers and its vault is
    open. A subclass names itself, and has its keys and what it says from the registry.
    """

    where: ClassVar[Where]
    concerns: ClassVar[frozenset[EventKind]] = frozenset()
    needs_vault: ClassVar[bool] = True
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012  (no class variable to Textual)

    def __init_subclass__(cls, where: Where | None = None, **options: Any) -> None:  # noqa: ANN401  (Textual's own)
        if where is not None:
            cls.where, cls.BINDINGS = where, [*keys(ACTIONS[where])]
            for name, text in TEXTS[where].items():
                setattr(cls, name, text)
        super().__init_subclass__(**options)

    def __init__(self) -> None:
        super().__init__()
        self._due: Timer | None = None
        self._answered = False  # whether the daemon's answer is shown
        self._missing = ""  # why it is not

    @property
    def review(self) -> BaseApp:
        """The program."""
        return cast("BaseApp", self.app)

    def compose(self) -> ComposeResult:
        """Lay the bars on top, the footer below, and what the screen is about between."""
        with Container(id="bars"):
            yield TopBar(self.where)
            yield Static(id="banner")
            yield Static(id="missing")
        yield from self.body()
        yield Footer(show_command_palette=False)

    @abstractmethod
    def body(self) -> ComposeResult:
        """Lay out what the screen is about."""

    @abstractmethod
    async def renew(self) -> None:
        """Ask the daemon, with calls that no person made, and show its answers."""

    @abstractmethod
    def clear(self) -> None:
        """Take everything private off the screen: the vault is locked."""

    def mask(self) -> None:
        """Show or hide the user's values, as `review.masked` says."""

    def put_text(self, part: str, text: str) -> None:
        """Show a text in a part of the screen, which is not there where the text is empty."""
        for each in self.query(part).results(Static):  # none before or after it is laid out
            each.display = bool(text)
            each.update(Content(text))

    def show_state(self, state: DaemonState) -> None:
        """Show how the daemon is."""
        for bar in self.query(TopBar):
            bar.show_state(state)
        self.put_text("#banner", state.trouble)
        self._show_missing()

    def forget(self) -> None:
        """Take everything private off the screen, and drop answers on their way."""
        self.workers.cancel_group(self, "look")
        self._answered, self._missing = False, ""
        self.clear()
        self._show_missing()

    def on_screen_resume(self) -> None:
        """Refresh the screen when it is shown again."""
        self.show_state(self.review.state)
        self.look()

    def happened(self, kind: EventKind) -> None:
        """Refresh the screen if the event concerns it."""
        if kind in self.concerns:
            self.soon()

    def soon(self) -> None:
        """Refresh the screen in a moment, once for several events."""
        if self._due is None:
            self._due = self.set_timer(SOON, self.look)

    def look(self) -> None:
        """Ask the daemon again."""
        self._due = None
        if self.review.reachable or not self.needs_vault:
            self.do(self._renewed, "look", exclusive=True)

    async def ask(self, name: str, body: Any = None, **given: Any) -> Any:  # noqa: ANN401  (of the route's types)
        """Make a call on the user's behalf, which keeps the vault open for a while."""
        return await self.review.link.call(name, body, attended=True, **given)

    def do(self, work: Work, group: str = "do", *, exclusive: bool = False) -> None:
        """Run something in the background; show an error with its hint."""

        async def safely() -> None:
            try:
                await work()
            except ReticentError as error:
                self.review.say(error)
            except NoMatches:
                if self.review.is_running:  # else it is being removed, its parts first
                    raise

        _: Worker[None] = self.run_worker(safely, group=group, exclusive=exclusive)

    async def _renewed(self) -> None:
        try:
            await self.renew()
        except ReticentError as error:
            self._missing = f"Not known: {plain(str(error))}."
            raise
        else:
            self._answered = True
        finally:
            self._show_missing()

    def _show_missing(self) -> None:
        """Say why the screen is still empty, where empty would mean that there is nothing."""
        missing = "" if self._answered else self._missing or self.review.state.missing()
        self.set_class(bool(missing), "-unknown")
        self.put_text("#missing", missing)


def background(
    method: Callable[Concatenate[Self, P], Coroutine[Any, Any, None]],
) -> Callable[Concatenate[Self, P], None]:
    """Make a screen's method run in the background; show an error with its hint."""

    @wraps(method)
    def started(page: Self, /, *args: P.args, **options: P.kwargs) -> None:
        page.do(partial(method, page, *args, **options))

    return started


def mounted_pages(stacks: Iterable[Iterable[Screen[Any]]]) -> list[Page]:
    """List the screens that are laid out, shown or not."""
    every = (each for stack in stacks for each in stack)
    return [each for each in every if isinstance(each, Page) and each.is_mounted]


async def write_rule(page: Page, edit: PolicyEdit, done: str) -> None:
    """Change a rule of the policy, once the user has seen its effect; ``done``: what it does."""
    trial: Edited = await page.ask("edit_policy", replace(edit, dry_run=True))
    question = confirm(f"{edited(done, trial)} {would_differ(trial)}", "write this rule")
    if await page.review.push_screen_wait(question):
        outcome: Edited = await page.ask("edit_policy", edit)
        page.review.tell(f"{edited(done, outcome)} u reverts that.")
