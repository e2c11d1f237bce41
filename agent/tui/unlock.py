"""The vault is locked: what opens it is asked for."""

from functools import partial
from typing import ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Static
from textual.worker import Worker

from agent.errors import ReticentError
from agent.tui.link import Link
from agent.tui.plain import plain_lines
from agent.wire.state import Method, Status, Unlock

ASKED: dict[Method, str] = {
    "passphrase": "Passphrase",
    "recovery": "Recovery code",
}


class Unlocking(ModalScreen[Status | None]):
    """Asks for the passphrase, or for the recovery code; or takes the key from the keyring.

    It is dismissed with the daemon's state once the vault is open, by whomever.
    """

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (80, "-usual")]  # noqa: RUF012  (no class variable to Textual)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "app.quit", "Leave"),
        Binding("ctrl+r", "other", "Recovery code", priority=True),
        Binding("ctrl+k", "keyring", "Keyring", priority=True),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._method: Method = "passphrase"

    def compose(self) -> ComposeResult:
        """Ask, with the other ways below."""
        with Vertical(id="unlock", classes="dialog"):
            yield Static("[bold]The vault is locked.[/bold] Nothing is attached to any request.")
            yield Input(password=True, placeholder=ASKED["passphrase"], id="secret")
            yield Static("", id="wrong")
            with Container():
                yield Button("Unlock", id="open", variant="primary")
                yield Button("Recovery code (^r)", id="other")
                yield Button("Keyring (^k)", id="keyring")
                yield Button("Leave (esc)", id="leave")

    def on_mount(self) -> None:
        """Let what is typed go into the field."""
        self.query_one(Input).focus()

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
        self._method = "recovery" if self._method == "passphrase" else "passphrase"
        field = self.query_one(Input)
        field.value, field.placeholder = "", ASKED[self._method]
        field.focus()

    def action_keyring(self) -> None:
        """Take the key from the keyring of the desktop."""
        self._try(Unlock(method="keyring"))

    def _try(self, how: Unlock) -> None:
        self.query_one("#wrong", Static).update("Opening …")
        _: Worker[None] = self.run_worker(partial(self._unlock, how), exclusive=True)

    async def _unlock(self, how: Unlock) -> None:
        link = cast("Link", self.app.link)  # type: ignore[attr-defined]
        try:
            status: Status = await link.call("unlock", how, attended=True)
        except ReticentError as error:
            self.query_one("#wrong", Static).update(
                Content(plain_lines(f"✗ {error}\n{error.hint}"))
            )
            self.query_one(Input).focus()
        else:
            if self.is_current:
                self.dismiss(status)
