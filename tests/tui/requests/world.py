"""A daemon that runs, and the screen of requests over it, as a test has them at hand."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from agent.tui.screens.requests import RequestsScreen
from agent.tui.screens.requests_list import key_of
from agent.wire.decide import Answer, Ask, Offer
from agent.wire.policy import Review
from agent.wire.records import Handled
from agent.wire.routes import QUERY
from tests.daemon.whole_daemon import Live
from tests.tui.running import USUAL, Running, running

POLICY = """\
preset = "balanced"
mode = "dynamic"
lambda = 5.12
k = 10
risk = 0.1

[attributes]
region = "ask"
int_java = "ask"

[daemon]
lock_after_minutes = 0
prompts_per_hour = 1000
"""
QUERY_TEXT = "job_site"  # of which the region brings most


class World:
    """A daemon that runs, and what a test asks of it beside the screen."""

    def __init__(self, live: Live) -> None:
        """Take it."""
        self.live = live

    def ask(self, recipient: str, query: str = QUERY_TEXT) -> Answer:
        """Make a request."""
        with self.live.client(QUERY) as client:
            answer: Answer = client.call("decide", Ask(query=query, recipient=recipient))
        return answer

    def offer(self, recipient: str, *names: str) -> None:
        """Say what a recipient can use."""
        with self.live.client(QUERY) as client:
            client.call("offer", Offer(recipient=recipient, names=[*names]))

    def reviews(self, recipient: str) -> list[Review]:
        """Return what waits of a recipient."""
        with self.live.client() as client:
            found: list[Review] = client.call("reviews")
        return [each for each in found if each.recipient == recipient]

    def policy(self) -> str:
        """Return the policy file."""
        return self.live.paths.policy.read_text()


def on(world: World, size: tuple[int, int] = USUAL) -> AbstractAsyncContextManager[Running]:
    """Return the screens over the world."""
    return running(world.live.paths.control, size)


def page(shown: Running) -> RequestsScreen:
    """Return the screen."""
    found = shown.app.page()
    assert isinstance(found, RequestsScreen)
    return found


def at(shown: Running, recipient: str, kind: type[Review | Handled]) -> Callable[[], bool]:
    """Return what puts the cursor on the first item of a recipient, once there is one."""

    def put() -> bool:
        listing = page(shown).listing
        for each in listing.items:
            if isinstance(each, kind) and each.recipient == recipient:
                listing.put(key_of(each))
                return True
        return False

    return put


async def opened(shown: Running, recipient: str, kind: type[Review | Handled]) -> None:
    """Look into the first item of a recipient."""
    await shown.until(at(shown, recipient, kind))
    await shown.pilot.press("enter")
    await shown.until(lambda: weighed(shown, recipient))


def weighed(shown: Running, recipient: str) -> bool:
    """Return whether the detail has the figures of a recipient's request, and the keys."""
    trial = page(shown).detail.trial
    if trial is None or trial.subject.recipient != recipient:
        return False
    return trial.weighed is not None and page(shown).detail.rows.has_focus


def told(shown: Running, said: str) -> bool:
    """Return whether something was said to the user."""
    return any(said in each.message for each in shown.app._notifications)  # noqa: SLF001  (unwrapped)


def words(shown: Running) -> str:
    """Return what stands on the screen, whatever its lines are."""
    return " ".join(shown.text().split())


def row(shown: Running, name: str) -> None:
    """Put the cursor of the detail on an attribute."""
    detail = page(shown).detail
    detail.rows.put(("row", name))
    if detail.row() != name:
        detail.unfold()
        detail.rows.put(("row", name))
    assert detail.row() == name
