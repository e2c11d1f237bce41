"""The app: its screens, the actions that work on all of them, and the command palette."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from importlib import import_module
from os import environ
from typing import Any, ClassVar, cast

from textual import work
from textual.app import ComposeResult, SystemCommand
from textual.binding import BindingType
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.screen import Screen
from textual.worker import WorkerFailed

from agent.errors import ReticentError
from agent.tui import actions
from agent.tui.actions import TITLES, Action, Where, actions_of, keys
from agent.tui.dialogs import Help
from agent.tui.link import Connected, DaemonEvent, Disconnected, Link
from agent.tui.page import Environment, Page
from agent.tui.privacy_lock import PrivacyLock
from agent.tui.status_bar import TopBar
from agent.wire.base import Undone

NAMED = 1000.0  # more than any match: whoever types the whole name means that
FIRST: Where = "requests"  # of the screens
IDLE = 120.0  # seconds without a key, after which nothing private is on the screen
STARTED = "The daemon was started, and goes on when you leave; `reticent daemon stop` ends it."


class Actions(Provider):
    """Finds actions by their names and by their help."""

    async def discover(self) -> Hits:
        """Yield all actions."""
        for each in self._actions():
            yield DiscoveryHit(each.label, self._doing(each), help=each.help)

    async def search(self, query: str) -> Hits:
        """Yield the actions that match the text typed."""
        words = query.strip()
        matcher = self.matcher(words)
        for each in self._actions():
            text = f"{each.label}: {each.help}"
            score = matcher.match(text)
            if score > 0:
                best = score + NAMED if each.label.casefold() == words.casefold() else score
                yield Hit(best, matcher.highlight(text), self._doing(each))

    def _actions(self) -> tuple[Action, ...]:
        return actions_of(self.screen.where) if isinstance(self.screen, Page) else ()

    def _doing(self, action: Action) -> Callable[[], Awaitable[object]]:
        """Bind an action to the app or to the screen, whichever has it."""
        where = self.app if action in actions.EVERYWHERE else self.screen
        return partial(self.app.run_action, action.name, where)


def _page(where: Where) -> Page:
    """Make a screen, loading its modules."""
    module = import_module(f"agent.tui.screens.{where}")
    return cast("Page", getattr(module, f"{where.capitalize()}Screen")())


PAGES: Mapping[str, Callable[[], Page]] = {where: partial(_page, where) for where in TITLES}


class ReviewApp(PrivacyLock):
    """The screens of one daemon.

    ``link``: to it; ``environment``: what the host provides; ``idle``: seconds without a key until
    all is covered.
    """

    TITLE = "Reticent"  # all that a window's title says
    CSS_PATH = "review.tcss"
    ALLOW_SELECT = False  # what is copied is asked about
    AUTO_FOCUS = "#first"
    NOTIFICATION_TIMEOUT = 4.0
    BINDINGS: ClassVar[list[BindingType]] = [*keys(actions.EVERYWHERE)]
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {Actions}
    MODES: ClassVar[dict[str, str | Callable[[], Screen[Any]]]] = {**PAGES}

    def __init__(self, link: Link, environment: Environment, idle: float = IDLE) -> None:
        no_color = "NO_COLOR" in environ or None  # else it is grey
        super().__init__(link, environment, idle, ansi_color=no_color)

    @property
    def defect(self) -> Exception | None:
        """The exception that ended the app, None without one."""
        ended = self._exception
        cause = ended.error if isinstance(ended, WorkerFailed) else ended
        return cause if isinstance(cause, Exception) else ended

    def compose(self) -> ComposeResult:
        """Lay out the first line alone: it stands there in a third of the time of a screen."""
        yield TopBar(FIRST)

    def on_mount(self) -> None:
        """Show the first screen, and reach the daemon."""
        self.call_after_refresh(self._show_first)
        self.begin()

    def on_unmount(self) -> None:
        """Leave the daemon alone."""
        self.link.close()

    # reports of the daemon, dropped while the screens are being removed, their parts first

    def on_connected(self, message: Connected) -> None:
        """Show that the daemon answers."""
        if self.is_running:
            self.take(message.status)

    def on_disconnected(self, message: Disconnected) -> None:
        """Show that the screen may be out of date; nor may the vault be open."""
        if self.is_running:
            self.stopped(message.error)

    def on_daemon_event(self, message: DaemonEvent) -> None:
        """Renew what the event is about."""
        if self.is_running:
            self.look_at_daemon()
            page = self.page()
            if page is not None:
                page.happened(message.event.kind)

    @work
    async def begin(self) -> None:
        """Reach the daemon, start it if none runs, and wait for what it reports."""
        await self._start()
        self.link.follow(self.post_message)

    async def _start(self) -> None:
        try:
            if await self.link.begin():
                self.tell(STARTED)
        except ReticentError as error:
            self.say(error)

    # actions of every screen

    def action_show(self, where: Where) -> None:
        """Show another screen."""
        if isinstance(self.screen, Page):
            self.switch_mode(where)

    def action_turn(self, by: int) -> None:
        """Show the screen after this one, or before it; after the last comes the first."""
        page = self.page()
        if page is not None:
            names = [*TITLES]
            self.action_show(names[(names.index(page.where) + by) % len(names)])

    @work(group="start", exclusive=True)
    async def action_start(self) -> None:
        """Start the daemon, if none runs."""
        await self._start()

    def action_command_palette(self) -> None:
        """Find an action of the screen, unless something stands in front of it."""
        if isinstance(self.screen, Page):
            super().action_command_palette()

    async def action_undo(self) -> None:
        """Undo the last decision, on requests or values."""
        try:
            undone: Undone = await self.link.call("undo", attended=True)
        except ReticentError as error:
            self.say(error)
        else:
            self.tell(undone.what)

    def action_renew(self) -> None:
        """Ask the daemon again."""
        self.look_at_daemon()
        page = self.page()
        if page is not None:
            page.look()

    def action_help(self) -> None:
        """Say what can be done on this screen."""
        page = self.page()
        if page is not None and self.screen is page:
            self.push_screen(Help(page.where, self.focused))

    async def _show_first(self) -> None:
        """Show the first screen, with what the daemon reported meanwhile."""
        await self.switch_mode(FIRST)
        if self.state.status is not None:
            self.take(self.state.status)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:  # noqa: ARG002
        """Offer none: the palette has our own actions, and no screenshots."""
        return ()

    def _fatal_error(self) -> None:
        """End at a defect in silence: the caller reports it, without values.

        Textual would print the values of variables.
        """
        self._close_messages_no_wait()
