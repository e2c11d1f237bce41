"""The line at the bottom: the keys of the screen, more of them where there is more room."""

from textual.app import ComposeResult
from textual.widgets import Footer
from textual.widgets._footer import FooterKey

from agent.tui.actions.all import ACTIONS

ROOMY = frozenset(each.name for each in ACTIONS if each.roomy)


class Foot(Footer):
    """The keys; a class sets apart those that stand there on a wide screen only."""

    def compose(self) -> ComposeResult:
        """Lay them side by side."""
        for each in super().compose():
            if isinstance(each, FooterKey) and each.action in ROOMY:
                each.add_class("roomy")
            yield each
