"""The vault is locked: what opens it is asked for."""

from functools import partial
from typing import ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Static
from textual.worker import Worker

from agent.errors import ReticentError
from agent.tui.asked import QUIT
from agent.tui.link import Link
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
USUAL, HIGH = 80, 16  # columns and lines, from which on nothing is left out


class Unlocking(ModalScreen[Status | None]):
    """Asks for the passphrase, or for the recovery code; or takes the key from the keyring.

    It is dismissed with the daemon's state once the vault is open, by whomever.
    """

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (USUAL, "-usual")]  # noqa: RUF012  (no class variable to Textual)
    VERTICAL_BREAKPOINTS = [(0, "-low"), (HIGH, "-high")]  # noqa: RUF012  (no class variable to Textual)
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
        self.set_class(self.app.size.height < HIGH, "-low")
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
