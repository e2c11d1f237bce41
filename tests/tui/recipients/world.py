"""A daemon that is none, whose recipients are as a test wants; and the way to the screen."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from msgspec.structs import replace

from agent.tui.screens.recipients import RecipientsScreen
from agent.wire.base import Done
from agent.wire.decide import Allowed
from tests.daemon.whole_daemon import BALANCED
from tests.tui.double import Double
from tests.tui.recipients.values import HELD, SHOP, row, weighed
from tests.tui.running import Running
from tests.wire.fake import FakeDaemon, Handler, says, short_folder

NEWS, SEARCH = "news.example", "search.example"
ASKED = (("editor", SEARCH), ("database used", NEWS), ("version control", SEARCH))
GUARDED = f"{BALANCED}[attributes]\ngender = {{ guard = 1.0 }}\n"


class Told(Double):
    """A daemon whose recipients are as a test wants."""

    def __init__(self) -> None:
        """Begin with one."""
        super().__init__()
        group = replace(SHOP, pool="@ads", sites=["a.example", "b.example"], blocked=True)
        self.recipients = [SHOP, group]
        self.allowed = Allowed(done=False, rule="my own", line=3)
        self.whatif: object = weighed(row("age", 0.5, 0.1))

    def weigh(self, body: object) -> object:  # noqa: ARG002  (the name that a handler is given)
        """Return what one more attribute would do, or fail."""
        if isinstance(self.whatif, Exception):
            raise self.whatif
        return self.whatif

    def handlers(self) -> dict[str, Handler]:
        """Return what answers the calls of the screen too."""
        mine: dict[str, Handler] = {
            "recipients": lambda: self.recipients,
            "knowledge": lambda recipient: replace(HELD, pool=recipient),
            "attributes": lambda **_: [],
            "whatif": self.weigh,
            "allow": lambda body: self.allowed,  # noqa: ARG005  (the route's word)
            "refuse": says(Done()),
            "forget": says(Done(done=False)),
        }
        return {**super().handlers(), **mine}


@contextmanager
def told() -> Iterator[tuple[Told, FakeDaemon, Path]]:
    """Yield a daemon that is none, and its socket."""
    with ExitStack() as ends:
        path = ends.enter_context(short_folder()) / "control.sock"
        found = Told()
        fake = ends.enter_context(FakeDaemon(path, found.handlers()))
        ends.callback(found.events.set)
        yield found, fake, path


async def opened(shown: Running, name: str) -> None:
    """Go to the screen, and wait for a recipient."""
    await shown.pilot.press("2")
    await shown.until(
        lambda: isinstance(shown.app.screen, RecipientsScreen) and name in shown.text()
    )


def flat(shown: Running) -> str:
    """Return what stands in the detail, as one line."""
    lines = (line.rpartition("│")[2].rstrip("▁▂▃▄▅▆▇█ ") for line in shown.text().splitlines())
    return " ".join(" ".join(lines).split())
