"""A real daemon behind a real browser: what a site gets is what the ledger says it was told."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import http_sf
import pytest

from agent.wire.policy import Review, Word
from agent.wire.state import Entry, ProfileChange
from tests.browser.installed import listing
from tests.browser.world import World
from tests.developer import PROFILE
from tests.waiting import until
from tests.worlds.daemons import Live, furnish, started

pytestmark = pytest.mark.browser

NAMES = ["dev_web", "int_javascript", "int_python", "region"]
GIT = "version control"
ALWAYS = Word(decided="approve", lasting="always")


@contextmanager
def real(world: World) -> Iterator[Live]:
    """Yield a real daemon in place of the stand-in, unlocked, that lists one search."""
    world.daemon.stop()
    search = world.recipient.url("search", "/search?q={query}")
    if not world.places.policy.exists():
        furnish(world.places, listing(search))
    with started(world.places) as live:
        live.unlock()
        world.learn()
        yield live


def told(header: str | None) -> dict[str, str]:
    """Return the values in a header: of names that have no and yes, Booleans (DESIGN.md 5)."""
    assert header is not None
    words = {True: "yes", False: "no"}
    items: Any = http_sf.parse(header.encode(), tltype="dictionary")
    return {name: words.get(value, value) for name, (value, _) in items.items()}


def entries(live: Live) -> list[Entry]:
    """Return what the ledger has."""
    with live.client() as client:
        return list(client.call("ledger"))


def test_from_the_offer_to_the_ranking(world: World) -> None:
    """A listed site gets what was decided; another one after it offered, and the user agreed."""
    with real(world) as live:
        came = until(lambda: carried(world, "search"), "a header")
        [*_, entry] = entries(live)
        assert (entry.recipient, entry.query) == ("search.localhost", GIT)
        assert told(came) == {name: PROFILE[name] for name in entry.disclosed if name in PROFILE}
        world.recipient.accepts["fresh"] = ", ".join(NAMES)
        assert carried(world, "fresh") is None
        [review] = until(lambda: waiting(live, "fresh.localhost"), "an offer")
        assert review.names == NAMES
        with live.client() as client:
            client.call("verdict", ALWAYS, id=review.id)
        came = until(lambda: carried(world, "fresh"), "a header")
        assert {*told(came)} <= {*NAMES}
        assert live.stop() == 0
        assert carried(world, "search") is None
        world.browser.says("off")


def carried(world: World, host: str) -> str | None:
    """Search there, and return the header."""
    return world.search(GIT, host).header


def waiting(live: Live, recipient: str) -> list[Review]:
    """Return what waits for the user of a recipient."""
    with live.client() as client:
        return [each for each in client.call("reviews") if each.recipient == recipient]


def test_language_and_country_in_the_address(world: World) -> None:
    """As the engine that the rule names has them, and nowhere else; both are in the ledger."""
    search = world.recipient.url("engine", "/search?q={query}")
    rule = f"{listing(search)}carry = 'parameters'\nengine = 'duckduckgo'\n"
    with real(world) as live:
        world.places.policy.write_text(rule)
        with live.client() as client:
            client.call("change_profile", ProfileChange(set={"language": "de", "country": "at"}))
        world.learn()
        came = until(lambda: with_parameters(world), "parameters")
        assert came == "/search?q=knee%20pain&kl=at-de"
        entry = entries(live)[-1]
        assert (entry.recipient, entry.query) == ("engine.localhost", "knee pain")
        assert entry.disclosed == {"language": "de", "country": "at"}
        assert world.search("knee pain", "elsewhere").target == "/search?q=knee%20pain"
        live.stop()
        assert with_parameters(world) is None


def with_parameters(world: World) -> str | None:
    """Search, and return the address that the engine was asked at, None if it is as typed."""
    target = world.search("knee pain", "engine").target
    return None if target == "/search?q=knee%20pain" else target
