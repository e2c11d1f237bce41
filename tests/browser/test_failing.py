"""Whatever fails: the page loads without a header, the badge says so, and it mends by itself."""

import threading
import time
from collections.abc import Callable

import pytest

from agent.wire.decide import Answer, Ask
from tests.browser.frames import RelayedDecide
from tests.browser.installed import killed_relays
from tests.browser.recipient import right
from tests.browser.standin import LATE, answered, breaking, locked
from tests.browser.world import World
from tests.waiting import until

pytestmark = pytest.mark.browser


def lock(world: World) -> None:
    """Lock the vault."""
    world.daemon.locked = True
    world.daemon.answer = locked


def end(world: World) -> None:
    """Stop the daemon."""
    world.daemon.stop()


def break_off(world: World) -> None:
    """Have it end each call without an answer."""
    world.daemon.answer = breaking


def dally(world: World) -> None:
    """Have it take too long."""
    world.daemon.answer = late


def late(ask: Ask) -> Answer:
    """Answer rightly when it is too late."""
    time.sleep(LATE)
    return answered(ask)


FAILURES = ((lock, "lock"), (end, "off"), (break_off, "off"), (dally, "slow"))


@pytest.mark.parametrize(("fail", "badge"), FAILURES)
def test_the_page_loads_without_a_header(
    world: World, fail: Callable[[World], None], badge: str
) -> None:
    """And the next search after it is mended has one again."""
    fail(world)
    assert world.search("failing").header is None
    world.browser.says(badge)
    mend(world)
    until(lambda: found_again(world), "a header")
    world.browser.says("1")


def test_a_late_answer_is_never_applied(world: World) -> None:
    """Neither to its own search, which has gone, nor to the next, of the same address or not."""
    world.daemon.answer = late
    assert world.search("late").header is None
    world.daemon.answer = answered
    assert world.search("next").header == right("next")
    assert world.search("late").header == right("late")
    time.sleep(LATE)  # until the late answer is there as well
    assert world.search("last").header == right("last")


def test_a_relay_killed_under_a_question(world: World) -> None:
    """It costs that search its header, and the next one none."""
    waits = threading.Event()
    world.daemon.answer = lambda ask: answered(ask) if waits.wait(LATE) else locked(ask)
    for attempt in range(5):  # on a busy machine a question may time out before the kill
        query = f"killed {attempt}"
        world.browser.go(world.recipient.search(query))
        world.daemon.heard(RelayedDecide, attempt + 1)
        ended = killed_relays(world.places.query)
        world.browser.shows(query)
        assert [each.header for each in world.recipient.searches(query)] == [None]
        if ended:
            break
    assert ended == 1
    waits.set()
    world.browser.says("off", "slow")  # Firefox may notice after the time-out
    until(lambda: found_again(world), "a header")
    world.browser.says("1")


def mend(world: World) -> None:
    """Have the daemon answer as it should."""
    world.daemon.reset()
    world.daemon.start()


def found_again(world: World) -> bool:
    """Search for something, and say whether that had its header."""
    came = world.search(f"again {time.monotonic()}")
    assert came.header in {None, right(came.query)}
    return came.header is not None
