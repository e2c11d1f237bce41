"""The real program in a real terminal, against a real daemon."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from agent.paths import Paths
from agent.wire.client import Client
from agent.wire.state import Status
from tests.daemon.whole_daemon import home, started
from tests.tui.terminal import terminal
from tests.vault.worlds import PASSPHRASE


def test_the_name_alone_starts_a_daemon_and_asks_for_the_passphrase() -> None:
    """The daemon goes on when the screens are left."""
    with home() as places, ending(places), terminal(places) as shown:
        title = shown.title()
        shown.shows("The vault is locked")
        shown.press("-l", PASSPHRASE)
        shown.press("Enter")
        shown.shows("√ open")
        assert PASSPHRASE not in shown.tmux("capture-pane", "-p", "-S", "-")
        assert shown.title() == title
        shown.press("C-l")
        shown.shows("The vault is locked")
        shown.press("Escape")
        shown.until(lambda text: "The vault is locked" not in text)
        with Client(places.control) as client:
            status: Status = client.call("status")
            assert status.locked


def test_a_daemon_that_ends_is_seen_and_one_that_is_back_is_asked_for_its_key() -> None:
    """What stood there stays, and is said to be old."""
    with home() as places, ExitStack() as ends:
        live = ends.enter_context(started(places))
        live.unlock()
        shown = ends.enter_context(terminal(places, "review"))
        shown.shows("√ open")
        live.kill()
        shown.shows("STALE", "✗ stale")
        ends.enter_context(started(places))
        shown.shows("The vault is locked")


@contextmanager
def ending(places: Paths) -> Iterator[None]:
    """End the daemon that something else started."""
    try:
        yield
    finally:
        with Client(places.control) as client:
            client.call("shutdown")
