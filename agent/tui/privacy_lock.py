"""Hides everything private while the vault is locked or nobody is there."""

from functools import partial
from time import monotonic
from typing import ClassVar, cast

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.notifications import Notify
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Static
from textual.worker import Worker

from agent.errors import ReticentError
from agent.tui.daemon_events import DaemonEvents
from agent.tui.dialogs import QUIT
from agent.tui.link import Link
from agent.tui.page import Environment, Page, standing
from agent.tui.plain import plain, plain_lines
from agent.wire.state import Method, Status, Unlock

ASKED: dict[Method, str] = {
    "passphrase": "Passphrase",
    "recovery": "Recovery code",
}
OTHER: dict[Method, Method] = {"passphrase": "recovery", "recovery": "passphrase"}
LOCKING = Content.from_markup(
    "[bold]All is hidden.[/bold] The vault is locked once the daemon answers."
)
LOCKED = Content.from_markup(
    "[bold]The vault is locked.[/bold] Nothing is attached to any request."
)
USUAL, TALL = 80, 16  # columns and lines, from which on nothing is left out
LOOKS = 5.0  # seconds between two looks at the clock
TOUCHES = 30.0  # seconds between two words to the daemon that a person is there
DEAF = 1.0  # seconds without a key, after which keys that were meant for the passphrase have ended
HEARD = ("ctrl+l", "ctrl+q")  # keys that mean the same in the field as outside
MOST = 2  # sentences at once that say in passing what was done


class Cover(ModalScreen[None]):
    """Hides all that is below, until a key is pressed or the mouse is."""

    def compose(self) -> ComposeResult:
        """Say why nothing is seen."""
        yield Static("Hidden while nobody is here.\nPress any key.", id="covered")

    def on_key(self, event: events.Key) -> None:
        """Show what is below, and let the key do nothing else."""
        event.stop()
        self.dismiss()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Show what is below."""
        event.stop()
        self.dismiss()


class Unlocking(ModalScreen[Status | None]):
    """Asks for the passphrase, or for the recovery code; or takes the key from the keyring.

    It is dismissed with the daemon's state once the vault is open, by whomever.
    """

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (USUAL, "-usual")]  # noqa: RUF012  (no class variable to Textual)
    VERTICAL_BREAKPOINTS = [(0, "-low"), (TALL, "-high")]  # noqa: RUF012  (no class variable to Textual)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "app.quit", "Leave"),
        QUIT,
        Binding("ctrl+r", "other", "Recovery code", priority=True),
        Binding("ctrl+k", "keyring", "Keyring", priority=True),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._method: Method = "passphrase"
        self._locked, self._said = LOCKED, ""
        self.trying = False  # whether it is about to open the vault itself

    def compose(self) -> ComposeResult:
        """Ask, with the other ways below; small from the first, so that the field is in sight."""
        self.set_class(self.app.size.width < USUAL, "-narrow")
        self.set_class(self.app.size.height < TALL, "-low")
        with VerticalScroll(id="unlock", classes="dialog", can_focus=False):
            yield Static(self._locked, id="locked")
            yield Input(password=True, placeholder=ASKED["passphrase"], id="secret")
            yield Static(Content(self._said), id="wrong")
            with Container():
                yield Button("Unlock", id="open", variant="primary")
                yield Button(f"{ASKED[OTHER[self._method]]} (^r)", id="other")
                yield Button("Keyring (^k)", id="keyring")
                yield Button("Leave (esc)", id="leave")

    def on_mount(self) -> None:
        """Let what is typed go into the field."""
        self.query_one(Input).focus()

    def locking(self) -> None:
        """Say that the vault is being locked, and may be open yet."""
        self._now(LOCKING)

    def locked(self, notice: str | None) -> None:
        """Say that the vault is locked, if that was not known; ``notice``: what became of it."""
        said = LOCKED
        if notice is not None:
            text = plain(notice)
            said = Content.from_markup("[bold]The vault is locked:[/bold] $notice.", notice=text)
        if self._locked != said:
            self._now(said)

    def _now(self, locked: Content) -> None:
        self._locked = locked
        for each in self.query("#locked").results(Static):
            each.update(locked)
        self.say("")

    def say(self, text: str) -> None:
        """Say what went wrong, or what is done; also before anything is laid out."""
        self._said = text
        for each in self.query("#wrong").results(Static):
            each.update(Content(text))

    def on_input_submitted(self) -> None:
        """Try it."""
        self.action_open()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Do what the button says."""
        event.stop()
        if event.button.id == "leave":
            self.app.exit()
        else:
            getattr(self, f"action_{event.button.id}")()

    def action_open(self) -> None:
        """Try what was typed, and keep it nowhere."""
        field = self.query_one(Input)
        secret, field.value = field.value, ""
        if secret:
            self._try(Unlock(method=self._method, secret=secret))

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
        self._try(Unlock(method="keyring"))

    def _try(self, how: Unlock) -> None:
        self.trying = True
        self.say("Opening …")
        _: Worker[None] = self.run_worker(partial(self._unlock, how), exclusive=True)

    async def _unlock(self, how: Unlock) -> None:
        link = cast("Link", self.app.link)  # type: ignore[attr-defined]
        try:
            status: Status = await link.call("unlock", how, attended=True)
        except ReticentError as error:
            self.trying = False
            self.say(plain_lines(f"✗ {error}\n{error.hint}"))
            self.query_one(Input).focus()
        else:
            if self.is_current:
                self.dismiss(status)


class PrivacyLock(DaemonEvents):
    """Hides what is private; ``idle``: seconds without a key until all is covered."""

    def __init__(
        self, link: Link, environment: Environment, idle: float, *, ansi_color: bool | None
    ) -> None:
        super().__init__(link, environment, ansi_color=ansi_color)
        self._idle = idle
        self._touched = self._told = monotonic()
        self._deaf_until = 0.0
        self._to_lock = False  # asked for, and not heard yet

    @property
    def reachable(self) -> bool:
        """Whether the daemon was heard, and its vault is open and to stay so."""
        return super().reachable and not self._to_lock

    @property
    def hidden(self) -> bool:
        """Whether nothing private may stand on the screen."""
        return isinstance(self.screen, Cover | Unlocking)

    def on_mount(self) -> None:
        """Look at the clock from time to time; who comes back from elsewhere is there."""
        self.set_interval(min(LOOKS, self._idle / 4), self._look_at_clock)
        self.app_resume_signal.subscribe(self, self._touch)

    async def on_event(self, event: events.Event) -> None:
        """Note that somebody is there, and drop what was typed for the passphrase."""
        if isinstance(event, events.Key | events.MouseDown | events.Paste):
            self._touch()
        if not self._drops(event):
            await super().on_event(event)

    def mask(self) -> None:
        """Hide the user's own values."""
        self.masked = True
        self._show_mask()

    def on_notify(self, event: Notify) -> None:
        """Let one older sentence stand beside a new one; none comes while all is hidden."""
        if self.hidden:
            event.prevent_default()
        new, older = event.notification, [*self._notifications]
        for old in older:
            if old.message == new.message or old in older[: 1 - MOST]:
                self._unnotify(old)

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
        for each in standing(self._screen_stacks.values()):
            each.forget()
        if not isinstance(self.screen, Unlocking):
            self.push_screen(Unlocking(), self._unlocked)
        if isinstance(self.screen, Unlocking):
            if self._to_lock:
                self.screen.locking()
            else:
                status = self.state.status
                self.screen.locked(None if status is None else status.notice)

    def uncover(self, status: Status) -> None:
        """Show the screens again, since the vault was opened, or is there no more."""
        if not isinstance(self.screen, Unlocking):
            return
        elsewhere = not status.locked and not self.screen.trying
        self.screen.dismiss(status)
        if elsewhere:
            self._deaf_until = monotonic() + DEAF
            self.tell("Unlocked elsewhere.")

    def take(self, status: Status) -> None:
        """Show how the daemon is; where it should be locked and is not, lock it."""
        self._to_lock &= status.vault and not status.locked
        if self._to_lock:
            self.beside(self._lock, group="lock", exclusive=True)
        else:
            super().take(status)

    def action_lock(self) -> None:
        """Hide all at once, whatever the daemon does; then have it close the vault."""
        status = self.state.status
        if self.page() is not None and (status is None or status.vault):
            self._to_lock = True
            self.hide()
        self.beside(self._lock, group="lock", exclusive=True)

    def action_mask(self) -> None:
        """Show the user's values, or hide them; none are shown while all is covered.

        Nor of a daemon that is away.
        """
        if self.hidden:
            return
        if self.masked and self.state.stale:
            self.tell("Your values stay hidden while the daemon is away.")
            return
        self.masked = not self.masked
        self._show_mask()

    def _look_at_clock(self) -> None:
        """Cover all once nobody is there; tell the daemon if somebody is; else ask how it is.

        It looks at its policy when it is asked something, and somebody may have edited that.
        """
        now = monotonic()
        if now - self._touched >= self._idle:
            self.cover()
        elif self.reachable and self._touched > self._told and now - self._told >= TOUCHES:
            self._told = now
            self.beside(partial(self.call_and_take, "status"))
        elif not self.state.stale:
            self.beside(self.look_at_daemon, group="status", exclusive=True)

    def _unlocked(self, status: Status | None) -> None:
        if status is not None:
            self._to_lock = False
            self.take(status)

    async def _lock(self) -> None:
        try:
            self.take(await self.link.call("lock", attended=True))
        except ReticentError as error:
            if isinstance(self.screen, Unlocking):
                start = "; F9 starts it here" if self.state.stale else ""
                self.screen.say(plain_lines(f"✗ {error}\n{error.hint}{start}"))
            else:
                self.say(error)

    def _touch(self, _app: object = None) -> None:
        """Note that somebody is there."""
        self._touched = monotonic()

    def _drops(self, event: events.Event) -> bool:
        """Say whether something was typed for the passphrase, which another terminal knew."""
        now = monotonic()
        if now >= self._deaf_until or not isinstance(event, events.Key | events.Paste):
            return False
        if isinstance(event, events.Key) and event.key in HEARD:
            return False
        ends = isinstance(event, events.Key) and event.key == "enter"
        self._deaf_until = 0.0 if ends else now + DEAF
        return True

    def _show_mask(self) -> None:
        """Hide the values on all screens, or show them on this one."""
        for each in standing(self._screen_stacks.values()):
            if self.masked or each is self.page():
                each.masked()

    async def _close_all(self) -> None:
        """End what runs beside the drawing before the screens go that it would draw on."""
        self.workers.cancel_all()
        self._idle = float("inf")  # nor is a screen covered that goes
        await super()._close_all()
