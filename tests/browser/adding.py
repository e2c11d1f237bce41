"""Sites that take words in the query, or parameters of the address, in place of a header."""

import time
from functools import partial
from urllib.parse import quote

from msgspec.structs import replace

from agent.wire.decide import Answer, Ask, Carry
from tests.browser.recipient import SEARCH, Noted, digest
from tests.browser.standin import answered
from tests.browser.world import World
from tests.waiting import until

NAME = "kl"  # of the one parameter


def added(ask: Ask) -> Answer:
    """Return an answer for each kind of site, so that a wrong one would show."""
    plain = answered(ask)
    return replace(plain, words=words(ask.query), parameters={NAME: digest(ask.query)})


def words(query: str) -> str:
    """Return the words that stand for a query."""
    return f"w{digest(query)}"


def led(query: str) -> str:
    """Return what is searched for with the words."""
    return f"{query} {words(query)}"


def adding(world: World, carry: Carry, *hosts: str) -> None:
    """Have hosts take what is added to addresses, beside one that gets headers; wait for that."""
    world.daemon.answer = added
    world.daemon.sites = [replace(world.site(host), carry=carry) for host in hosts]
    if "search" not in hosts:
        world.daemon.sites.append(world.site("search"))
    world.learn()
    for host in hosts:
        until(partial(_adds, world, carry, host), f"something added for {host}")
    world.forget()


def _adds(world: World, carry: Carry, host: str) -> bool:
    query = f"try {time.monotonic()}"
    world.browser.go(world.recipient.search(query, host))
    came = world.recipient.heard(lambda each: each.query in {query, led(query)})[-1]
    world.browser.shows(came.query)
    return is_right(came, carry, query)


def is_right(came: Noted, carry: Carry, query: str) -> bool:
    """Say whether a request has what is added for its query, and nothing else of the user."""
    return came.header is None and came.target == target(carry, query)


def target(carry: Carry, query: str, more: str = "") -> str:
    """Return the address of a search with what is added; ``more``: what stands behind the query."""
    typed = quote(query, safe="")
    if carry == "words":
        return f"{SEARCH}?q={typed}+{words(query)}{more}"
    return f"{SEARCH}?q={typed}{more}&{NAME}={digest(query)}"


def is_plain(came: Noted, query: str) -> bool:
    """Say whether a request has nothing of the user but their query."""
    return came.header is None and came.target == f"{SEARCH}?q={quote(query, safe='')}"


def searched(world: World, query: str, host: str = "engine") -> Noted:
    """Search where words are added, as if typed; return what came once the page is shown."""
    world.browser.go(world.recipient.search(query, host))
    world.browser.shows(led(query))
    [came] = world.recipient.arrived(led(query))
    return came
