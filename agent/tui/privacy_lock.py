"""Hides everything private while the vault is locked or nobody is there."""

import os
from time import monotonic
from typing import ClassVar

from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.notifications import Notify
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Static

from agent.errors import DaemonError, LockedError, ReticentError
from agent.tui.dialogs import QUIT
from agent.tui.link import Link
from agent.tui.page import BaseApp, Environment, Page, mounted_pages
from agent.tui.plain import plain, plain_lines
from agent.tui.status_bar import DaemonState, trouble_of
from agent.wire.state import Method, Status, Unlock, screen_of

ASKED: dict[Method, str] = {"passphrase": "Passphrase", "recovery": "Recovery code"}
OTHER: dict[Method, Method] = {"passphrase": "recovery", "recovery": "passphrase"}
LOCKING = Content.from_markup(
    "[bold]Everything is hidden.[/bold] The vault locks as soon as the daemon answers."
)
LOCKED = Content.from_markup(
    "[bold]The vault is locked.[/bold] Nothing is attached to any request."
)
STOPPED = "[bold]Reticent is stopped:[/bold] $why. Nothing is attached to any request."
USUAL, TALL = 80, 16  # columns and lines, from which on nothing is left out
LOOKS = 5.0  # seconds between two looks at the clock
TOUCHES = 30.0  # seconds between two calls that tell the daemon that a person is there
QUIET = 1.0  # seconds without a key, after which nobody is typing the passphrase any more
GLOBAL = ("ctrl+l", "ctrl+q")  # keys that mean the same in the field as outside
MOST = 2  # notifications at once
WAY_OUT = 8.0  # seconds, in which what went wrong and the way out can be read


class Cover(ModalScreen[None]):
    """Hides everything below, until a key or the mouse is pressed."""

    def compose(self) -> ComposeResult:
        """Say why nothing is shown."""
        yield Static("Hidden while nobody is here.\nPress any key.", id="covered")

    def on_key(self, event: events.Key | events.MouseDown) -> None:
        """Show what is below, and let the key do nothing else."""
        event.stop()
        self.dismiss()

    on_mouse_down = on_key


class Unlocking(ModalScreen[Status | None]):
    """Asks for the passphrase, or for the recovery code; or takes the key from the keyring.

    It is dismissed with the daemon's state once the vault is open, by whomever.
    """

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (USUAL, "-usual")]  # noqa: RUF012  (no class variable to Textual)
    VERTICAL_BREAKPOINTS = [(0, "-low"), (TALL, "-high")]  # noqa: RUF012  (no class variable to Textual)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "app.quit", "Leave"),
        QUIT,
        Binding("f9", "app.start", "Start it"),
        Binding("ctrl+r", "other", "Recovery code", priority=True),
        Binding("ctrl+k", "keyring", "Keyring", priority=True),
    ]

    def __init__(self, link: Link) -> None:
        """Take the way to the daemon."""
        super().__init__()
        self._link = link
        self._method: Method = "passphrase"
        self._reason, self._outcome = LOCKED, ""
        self.trying = False  # whether it is about to open the vault itself

    def compose(self) -> ComposeResult:
        """Ask, with the other ways below; small from the first, so that the field is in sight."""
        self.set_class(self.app.size.width < USUAL, "-narrow")
        self.set_class(self.app.size.height < TALL, "-low")
        with VerticalScroll(id="unlock", classes="dialog", can_focus=False):
            yield Static(self._reason, id="locked")
            yield Input(password=True, placeholder=ASKED["passphrase"], id="secret")
            yield Static(Content(self._outcome), id="wrong")
            other = f"{ASKED[OTHER[self._method]]} (^r)"
            with Container():
                yield Button("Unlock", variant="primary", action="screen.open")
                yield Button(other, id="other", action="screen.other")
                yield Button("Keyring (^k)", action="screen.keyring")
                yield Button("Start it (F9)", id="start", variant="primary", action="app.start")
                yield Button("Leave (esc)", id="leave", action="app.quit")

    def on_mount(self) -> None:
        """Focus the field."""
        self.query_one(Input).focus()

    def explain(self, reason: Content, *, stopped: bool = False) -> None:
        """Say why the key is needed, unless it says so; none is while the daemon is ``stopped``."""
        if self.has_class("-stopped") != stopped:
            self.set_class(stopped, "-stopped")
            self.query_one("#start" if stopped else "#secret").focus()
        if self._reason != reason:
            self._reason = reason
            for each in self.query("#locked").results(Static):
                each.update(reason)
            self.say("")

    def say(self, text: str) -> None:
        """Show what went wrong, or what is being done; also before anything is laid out."""
        self._outcome = plain_lines(text)
        for each in self.query("#wrong").results(Static):
            each.update(Content(self._outcome))

    def on_input_submitted(self) -> None:
        """Try it."""
        self.action_open()

    def action_open(self) -> None:
        """Try what was typed, and keep it nowhere."""
        field = self.query_one(Input)
        secret, field.value = field.value, ""
        if secret:
            self._unlock(Unlock(method=self._method, secret=secret, screen=screen_of(os.environ)))

    def action_other(self) -> None:
        """Ask for the recovery code in place of the passphrase, or the other way round."""
        self._method = OTHER[self._method]
        self.query_one("#other", Button).label = f"{ASKED[OTHER[self._method]]} (^r)"
        self.say("")
        field = self.query_one(Input)
        field.value, field.placeholder = "", ASKED[self._method]
        field.focus()

    def action_keyring(self) -> None:
        """Take the key from the keyring of the desktop."""
        self._unlock(Unlock(method="keyring"))

    @work(exclusive=True)
    async def _unlock(self, how: Unlock) -> None:
        self.trying = True
        self.say("Opening …")
        try:
            status: Status = await self._link.call("unlock", how, attended=True)
        except ReticentError as error:
            self.trying = False
            self.say(f"✗ {error}\n{error.hint}")
            self.query_one(Input).focus()
        else:
            if self.is_current:
                self.dismiss(status)


class PrivacyLock(BaseApp):
    """Hides what is private; ``idle``: seconds without a key until all is covered."""

    def __init__(
        self, link: Link, environment: Environment, idle: float, *, ansi_color: bool | None
    ) -> None:
        super().__init__(link, environment, ansi_color=ansi_color)
        self._idle = idle
        self._touched = self._reported = monotonic()
        self._quiet_at = 0.0  # until when keys are dropped
        self._to_lock = False  # asked for, and not done yet

    @property
    def reachable(self) -> bool:
        """Whether the daemon answers, and its vault is open and to stay so."""
        return super().reachable and not self._to_lock

    @property
    def hidden(self) -> bool:
        """Whether nothing private may stand on the screen."""
        return isinstance(self.screen, Cover | Unlocking)

    def on_mount(self) -> None:
        """Check for idleness from time to time; a return to this terminal counts as presence."""
        self.set_interval(min(LOOKS, self._idle / 4), self.look_at_clock)
        self.app_resume_signal.subscribe(self, self._touch)

    async def on_event(self, event: events.Event) -> None:
        """Note that somebody is there, and drop what was typed for the passphrase.

        Another terminal may have opened the vault while somebody typed here: what they go on
        typing, up to Enter or a pause, is no command.
        """
        now = monotonic()
        typed = isinstance(event, events.Key | events.Paste)
        if typed or isinstance(event, events.MouseDown):
            self._touch()
        key = event.key if isinstance(event, events.Key) else ""
        if typed and now < self._quiet_at and key not in GLOBAL:
            self._quiet_at = 0.0 if key == "enter" else now + QUIET
        else:
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
        if isinstance(self.screen, Unlocking):
            shown = LOCKING if self._to_lock else reason
            self.screen.explain(shown, stopped=self.state.stale)

    def stopped(self, error: ReticentError) -> None:
        """Say that the daemon does not answer any more; nor may its vault be open."""
        self.mask()
        trouble = f"This may be out of date: {plain(str(error))}. F9 starts the daemon."
        self.state = DaemonState(self.state.status, stale=True, trouble=trouble)
        self.show_state()
        if isinstance(self.screen, Unlocking):
            reason = Content.from_markup(STOPPED, why=plain(str(error)))
            self.screen.explain(LOCKING if self._to_lock else reason, stopped=True)

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
        self._to_lock &= status.vault and not status.locked
        if self._to_lock:
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
            self._to_lock = True
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
            self._to_lock = False
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
