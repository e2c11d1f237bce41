"""What stands in front of everything private: the cover, and the question for the key."""

import os
from typing import ClassVar

from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Static

from agent.errors import ReticentError
from agent.tui.dialogs import QUIT
from agent.tui.link import Link
from agent.tui.plain import plain_lines
from agent.wire.state import Method, Status, Unlock, screen_of

LABELS: dict[Method, str] = {"passphrase": "Passphrase", "recovery": "Recovery code"}
OTHER: dict[Method, Method] = {"passphrase": "recovery", "recovery": "passphrase"}
LOCKED = Content.from_markup(
    "[bold]The vault is locked.[/bold] Nothing is attached to any request."
)
USUAL, TALL = 80, 16  # columns and lines, from which on nothing is left out


class Cover(ModalScreen[None]):
    """Hides everything below, until a key or the mouse is pressed."""

    def compose(self) -> ComposeResult:
        """Say why nothing is shown."""
        yield Static("Hidden while nobody is here.\nPress any key.", id="covered")

    def on_key(self, event: events.Key | events.MouseDown) -> None:
        """Show what is below; neither this key nor one typed right after it does anything else."""
        event.stop()
        if self.is_current:
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
            yield Input(password=True, placeholder=LABELS["passphrase"], id="secret")
            yield Static(Content(self._outcome), id="wrong")
            other = f"{LABELS[OTHER[self._method]]} (^r)"
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
        self.query_one("#other", Button).label = f"{LABELS[OTHER[self._method]]} (^r)"
        self.say("")
        field = self.query_one(Input)
        field.value, field.placeholder = "", LABELS[self._method]
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
