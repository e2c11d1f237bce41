"""What stands on the screen while nobody is there: nothing."""

from textual import events
from textual.app import ComposeResult
from textual.screen import ModalScreen
from textual.widgets import Static


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
