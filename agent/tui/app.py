"""The app: its screens, and the actions that work on all of them."""

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from os import environ
from time import monotonic
from typing import Any, ClassVar, cast

from textual import events, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.notifications import Notify
from textual.screen import Screen
from textual.worker import WorkerFailed

from agent.errors import DaemonError, LockedError, ReticentError
from agent.tui.actions import ACTIONS, TITLES, Where, keys
from agent.tui.dialogs import Help
from agent.tui.link import DaemonNews, Link
from agent.tui.list_page import ListPage
from agent.tui.page import BaseApp, Environment, Page, mounted_pages
from agent.tui.plain import plain
from agent.tui.status_bar import DaemonState, TopBar, trouble_of
from agent.tui.unlocking import LOCKED, Cover, Unlocking
from agent.wire.base import Undone
from agent.wire.state import Status
from agent.words.notices import without_facts

FIRST: Where = "requests"  # of the screens
IDLE = 120.0  # seconds without a key, after which nothing private is on the screen
LOCKING = Content.from_markup(
    "[bold]Everything is hidden.[/bold] The vault locks as soon as the daemon answers."
)
STOPPED = "[bold]Reticent is stopped:[/bold] $why. Nothing is attached to any request."
LOOKS = 5.0  # seconds between two looks at the clock
TOUCHES = 30.0  # seconds between two calls that tell the daemon that a person is there
QUIET = 1.0  # seconds without a key, after which nobody is typing the passphrase any more
GLOBAL = ("ctrl+l", "ctrl+q")  # keys that mean the same in the field as outside
MOST = 2  # notifications at once
WAY_OUT = 8.0  # seconds, in which what went wrong and the way out can be read
STARTED = "The daemon was started, and goes on when you leave; `reticent daemon stop` ends it."


def _page(where: Where) -> Page:
    """Make a screen, loading its modules."""
    module = import_module(f"agent.tui.screens.{where}")
    return cast("Page", getattr(module, f"{where.capitalize()}Screen")())


PAGES: Mapping[str, Callable[[], Page]] = {where: partial(_page, where) for where in TITLES}


class ReviewApp(BaseApp):
    """The screens of one daemon.

    ``link``: to it; ``environment``: what the host provides; ``idle``: seconds without a key until
    all is covered.
    """

    TITLE = "Reticent"  # all that a window's title says
    CSS_PATH = "review.tcss"
    ALLOW_SELECT = False  # what is copied is asked about
    AUTO_FOCUS = "#first"
    NOTIFICATION_TIMEOUT = 4.0
    BINDINGS: ClassVar[list[BindingType]] = [*keys(ACTIONS["everywhere"])]
    ENABLE_COMMAND_PALETTE = False
    MODES: ClassVar[dict[str, str | Callable[[], Screen[Any]]]] = {**PAGES}

    def __init__(self, link: Link, environment: Environment, idle: float = IDLE) -> None:
        no_color = "NO_COLOR" in environ or None  # else it is grey
        super().__init__(link, environment, ansi_color=no_color)
        self._idle = idle
        self._touched = self._reported = monotonic()
        self._quiet_at = 0.0  # until when keys are dropped

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
        """Show the first screen, reach the daemon, and check for idleness from time to time.

        A return to this terminal counts as presence.
        """
        self.call_after_refresh(self._show_first)
        self.begin()
        self.set_interval(min(LOOKS, self._idle / 4), self.look_at_clock)
        self.app_resume_signal.subscribe(self, self._touch)

    def on_unmount(self) -> None:
        """Leave the daemon alone."""
        self.link.close()

    # reports of the daemon, dropped while the screens are being removed, their parts first

    def on_daemon_news(self, message: DaemonNews) -> None:
        """Show that the daemon answers, or is lost; renew what an event is about."""
        news, page = message.news, self.page()
        if not self.is_running:
            return
        if isinstance(news, Status):
            self.take(news)
        elif isinstance(news, ReticentError):
            self.stopped(news)
        else:
            self.look_at_daemon()
            if page is not None:
                page.happened(news.kind)

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

    @work(group="start", exclusive=True)
    async def action_start(self) -> None:
        """Start the daemon, if none runs."""
        await self._start()

    async def action_undo(self) -> None:
        """Undo the last change, of requests, values or rules."""
        try:
            undone: Undone = await self.link.call("undo", attended=True)
        except ReticentError as error:
            self.say(error)
        else:
            self.tell(undone.what)
            self.action_renew()

    def action_renew(self) -> None:
        """Ask the daemon again."""
        self.look_at_daemon()
        page = self.page()
        if page is not None:
            page.look()

    def action_copy(self) -> None:
        """Copy the row under the cursor as it is shown: hidden values stay hidden."""
        page = self.page()
        if self.screen is page and isinstance(page, ListPage):
            self.copy_to_clipboard(page.copied())
            self.tell("Copied the row; some terminals do not let a program copy.")

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

    def _fatal_error(self) -> None:
        """End at a defect in silence: the caller reports it, without values.

        Textual would print the values of variables.
        """
        self._close_messages_no_wait()

    # what is private is hidden while the vault is locked, or nobody is there

    @property
    def hidden(self) -> bool:
        """Whether nothing private may stand on the screen."""
        return isinstance(self.screen, Cover | Unlocking)

    async def on_event(self, event: events.Event) -> None:
        """Note that somebody is there, and drop what was typed for the passphrase.

        Another terminal may have opened the vault while somebody typed here, or they took the cover
        for its lock: what they go on typing, up to Enter or a pause, is no command.
        """
        now, typed = monotonic(), isinstance(event, events.Key | events.Paste)
        if typed or isinstance(event, events.MouseDown):
            self._touch()
        key = event.key if isinstance(event, events.Key) else ""
        if typed and now < self._quiet_at and key not in GLOBAL:
            self._quiet_at = 0.0 if key == "enter" else now + QUIET
        else:
            if key not in ("", "enter", *GLOBAL) and isinstance(self.screen, Cover):
                self._quiet_at = now + QUIET
            await super().on_event(event)

    def on_notify(self, event: Notify) -> None:
        """Let one older notification stand beside a new one; none comes while all is hidden."""
        if self.hidden:
            event.prevent_default()
        new, older = event.notification, [*self._notifications]
        for old in older:
            if old.message == new.message or old in older[: 1 - MOST]:
                self._unnotify(old)

    def say(self, error: ReticentError) -> None:
        """Say what went wrong, and the way out; where the vault is locked, ask for its key."""
        if not isinstance(error, LockedError):
            text = f"✗ {plain(str(error))}: {plain(error.hint)}"
            self.notify(text, severity="error", markup=False, timeout=WAY_OUT)
        elif self.is_running:
            self.look_at_daemon()

    def cover(self) -> None:
        """Hide all that is private, until a key is pressed; values stay hidden then."""
        self.mask()
        self.clear_notifications()
        if not self.hidden:
            self.push_screen(Cover())

    def hide(self) -> None:
        """Take everything private off all screens, open questions too, and ask for the key."""
        self.masked = True
        self.clear_notifications()
        while not isinstance(self.screen, Page | Unlocking):
            self.screen.dismiss()
        for each in mounted_pages(self._screen_stacks.values()):
            each.forget()
        if not isinstance(self.screen, Unlocking):
            self.push_screen(Unlocking(self.link), self._unlocked)
        notice, reason = self.state.status and self.state.status.notice, LOCKED
        if notice:
            text = "[bold]The vault is locked:[/bold] $notice."
            reason = Content.from_markup(text, notice=plain(notice))
        elif (status := self.state.status) is not None and status.without_facts is not None:
            reason = Content.assemble(LOCKED, "\n", without_facts(status.without_facts)).rstrip()
        if isinstance(self.screen, Unlocking):
            shown = LOCKING if self.to_lock else reason
            self.screen.explain(shown, stopped=self.state.stale)

    def stopped(self, error: ReticentError) -> None:
        """Say that the daemon does not answer any more; nor may its vault be open."""
        self.mask()
        trouble = f"This may be out of date: {plain(str(error))}. F9 starts the daemon."
        self.state = DaemonState(self.state.status, stale=True, trouble=trouble)
        self.show_state()
        if isinstance(self.screen, Unlocking):
            reason = Content.from_markup(STOPPED, why=plain(str(error)))
            self.screen.explain(LOCKING if self.to_lock else reason, stopped=True)

    def uncover(self, status: Status) -> None:
        """Show the screens again, since the vault was opened, or is gone."""
        if not isinstance(self.screen, Unlocking):
            return
        elsewhere = not status.locked and not self.screen.trying
        self.screen.dismiss(status)
        if elsewhere:
            self._quiet_at = monotonic() + QUIET
            self.tell("Unlocked elsewhere.")

    @work(group="status", exclusive=True)
    async def look_at_daemon(self, *, attended: bool = False) -> None:
        """Ask how the daemon is; ``attended``: and tell it that a person is there."""
        try:
            self.take(await self.link.call("status", attended=attended))
        except DaemonError:
            return  # the thread that follows it will say so
        except ReticentError as error:
            self.say(error)

    def take(self, status: Status) -> None:
        """Show how the daemon is; ask for the key where the vault is locked.

        Where it should be locked and is not, lock it. Before the first screen is there, the state
        waits for it.
        """
        self.to_lock &= status.vault and not status.locked
        if self.to_lock:
            self._lock()
            return
        page, was_reachable = self.page(), self.reachable
        self.state = DaemonState(status, trouble=trouble_of(status))
        self.show_state()
        there_was_one = status.vault or status.notice is not None
        if page is not None and status.locked and there_was_one:
            self.hide()
        else:
            self.uncover(status)
        if self.reachable and not was_reachable and page is not None:
            page.look()

    def show_state(self) -> None:
        """Show how the daemon is on the screens of this stack."""
        for each in self.screen_stack:
            if isinstance(each, Page):
                each.show_state(self.state)

    def action_lock(self) -> None:
        """Hide everything at once, then have the daemon lock the vault."""
        status = self.state.status
        if self.page() is not None and (status is None or status.vault):
            self.to_lock = True
            self.hide()
        self._lock()

    def action_mask(self) -> None:
        """Show the user's values, or hide them; none are shown while all is covered.

        Nor while the daemon is away.
        """
        if self.hidden:
            return
        if self.masked and self.state.stale:
            self.tell("Your values stay hidden while the daemon is away.")
        else:
            self.mask(hidden=not self.masked)

    def mask(self, *, hidden: bool = True) -> None:
        """Hide the user's own values on all screens, or show them on this one."""
        self.masked = hidden
        for each in mounted_pages(self._screen_stacks.values()):
            if hidden or each is self.page():
                each.mask()

    def look_at_clock(self) -> None:
        """Cover all once nobody is there; tell the daemon if somebody is; else ask for its state.

        The daemon rereads its policy when asked, and somebody may have edited that. A program that
        ends has no screen to cover, or to show an answer on.
        """
        if not self.is_running:
            return
        now = monotonic()
        if now - self._touched >= self._idle:
            self.cover()
        elif self.reachable and self._touched > self._reported and now - self._reported >= TOUCHES:
            self._reported = now
            self.look_at_daemon(attended=True)
        elif not self.state.stale:
            self.look_at_daemon()

    def _unlocked(self, status: Status | None) -> None:
        if status is not None:
            self.to_lock = False
            self.take(status)

    @work(group="lock", exclusive=True)
    async def _lock(self) -> None:
        try:
            self.take(await self.link.call("lock", attended=True))
        except ReticentError as error:
            if isinstance(self.screen, Unlocking):
                self.screen.say(f"✗ {error}\n{error.hint}")
            else:
                self.say(error)

    def _touch(self, _app: object = None) -> None:
        """Note that somebody is there."""
        self._touched = monotonic()

    async def _close_all(self) -> None:
        """End background work before the screens go that it would draw on."""
        self.workers.cancel_all()
        await super()._close_all()
