"""A browser, the sites that it visits, and what stands for the daemon: all that a test needs."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any
from urllib.parse import quote

import pytest
from msgspec.structs import replace

from agent.paths import Paths
from agent.wire.decide import Answer, Ask, Carry
from agent.wire.state import Site
from tests.browser.chromium import chromium
from tests.browser.driver import Driver, knowing, patient
from tests.browser.firefox import firefox
from tests.browser.recipient import SEARCH, Noted, Recipient, digest, right
from tests.browser.standin import Standin, answered, site
from tests.waiting import until
from tests.worlds.doors import short_home

MARK = "mark "  # begins the queries that only tell how far it is
KNOWN = "known"  # the host of an assistant that the popup offers to be used in
CARRIES: tuple[Carry, ...] = ("header", "words")
BROWSERS = {"chromium": chromium, "firefox": firefox}
# What each browser does in its own way: it holds a search, and what it takes for a gesture.
in_both = pytest.mark.parametrize("world", BROWSERS, indirect=True)


def added(ask: Ask) -> Answer:
    """Answer for each kind of site, so that a wrong one would show."""
    return replace(answered(ask), words=words(ask.query))


def words(query: str) -> str:
    """Derive the words that are added to a query."""
    return f"w{digest(query)}"


def led(query: str, carry: Carry = "words") -> str:
    """Say what is searched for at last: with the words, or as typed."""
    return f"{query} {words(query)}" if carry == "words" else query


def target(carry: Carry, query: str, more: str = "") -> str:
    """Return the address of a search with what is added; ``more``: what stands behind the query."""
    typed = quote(query, safe="")
    return f"{SEARCH}?q={typed}{f'+{words(query)}' if carry == 'words' else ''}{more}"


def is_right(came: Noted, carry: Carry, query: str) -> bool:
    """Say whether a request has what is attached for its query, and nothing else of the user."""
    header = right(query) if carry == "header" else None
    return (came.header, came.target) == (header, target(carry, query))


def is_plain(came: Noted, query: str) -> bool:
    """Say whether a request has nothing of the user but their query."""
    return (came.header, came.target) == (None, target("header", query))


@dataclass
class World:
    """What runs for as long as tests of one browser do; ``places``: the daemon's."""

    browser: Driver
    recipient: Recipient
    daemon: Standin
    places: Paths
    _numbers: Iterator[int] = field(default_factory=count)

    def fresh(self) -> None:
        """Have everything as it is at first: one empty tab, and one site that is listed."""
        self.daemon.reset()
        self.daemon.start()
        self.recipient.reset()
        tabs = self.browser.tabs()
        for each in tabs[1:]:
            self.browser.switch(each)
            self.browser.close()
        self.browser.switch(tabs[0])
        self.browser.front()
        self.listing("search")
        self.browser.go("about:blank")
        self.forget()

    def listing(self, *hosts: str) -> None:
        """Have the daemon list the searches of hosts, and wait until all of them get headers."""
        self.daemon.sites = [self.site(host) for host in hosts]
        if self.daemon.told != self.daemon.status():
            self.learn()
        for host in hosts:
            until(partial(self.attaches, host), f"a header for {host}")

    def adding(self, carry: Carry, *hosts: str) -> None:
        """List hosts that take facts in this way, beside one that takes headers; wait for that."""
        self.daemon.answer = added
        self.daemon.sites = [replace(self.site(host), carry=carry) for host in hosts]
        if "search" not in hosts:
            self.daemon.sites.append(self.site("search"))
        self.learn()

        def adds(host: str) -> bool:
            query = f"try {next(self._numbers)}"
            return is_right(self.goes(query, host), carry, query)

        for host in hosts:
            until(partial(adds, host), f"something added for {host}")
        self.forget()

    def goes(self, query: str, host: str = "engine") -> Noted:
        """Search as if typed; return what came with the words or without, once it is shown."""
        texts = {query, led(query)}
        before = sum(each.query in texts for each in self.recipient.seen())
        self.browser.go(self.recipient.search(query, host))
        came = self.recipient.heard(lambda each: each.query in texts, before + 1)[-1]
        self.browser.shows(came.query)
        return came

    def site(self, host: str) -> Site:
        return site(f"{host}.localhost", self.recipient.url(host, SEARCH))

    def learn(self) -> None:
        """Have the extension ask how the daemon is, as it does when its popup opens."""
        with self.browser.popup():
            pass

    def attaches(self, host: str = "search") -> bool:
        """Search for something new, and say whether that brought its header."""
        query = f"try {next(self._numbers)}"
        self.browser.go(self.recipient.search(query, host))
        if not self.browser.is_shown(query):  # Firefox drops one in thousands of navigations
            return False
        came = self.recipient.searches(query)[-1]
        if came.header is None:
            self.learn()
        return came.header == right(came.query)

    def search(self, query: str, host: str = "search") -> Noted:
        """Search as if the address were typed; return what came once the page is shown."""
        self.browser.go(self.recipient.search(query, host))
        self.browser.shows(query)
        return self.recipient.searches(query)[-1]

    def settled(self) -> list[Any]:
        """Return what was said up to now, but for how the daemon is: a search later, all of it."""
        query = f"{MARK}{next(self._numbers)}"
        assert self.search(query).header == right(query)
        return [
            each
            for each in self.daemon.said()
            if not (each.call == "decide" and each.body.query.startswith(MARK))
        ]

    def visit(self, host: str) -> None:
        """Show the first page of a host."""
        self.browser.go(self.recipient.url(host))
        self.browser.shows(f"{host}/")

    def forget(self) -> None:
        self.recipient.forget()
        self.daemon.forget()

    def decided(self) -> list[tuple[str, str]]:
        """Return the queries that were asked about, and for whom."""
        return [(each.body.query, each.body.recipient) for each in self.daemon.said("decide")]


@contextmanager
def running(name: str) -> Iterator[World]:
    with short_home() as places, Recipient() as recipient, ExitStack() as ends:
        daemon = Standin(places.query)
        ends.callback(daemon.stop)
        daemon.sites = [site("search.localhost", recipient.url("search", SEARCH))]
        extension = patient(places.data / "extension")
        knowing(extension, recipient.url(KNOWN), f"{KNOWN}.localhost")
        with BROWSERS[name](places.data / "browser", places, extension) as browser:
            world = World(browser, recipient, daemon, places)
            until(world.attaches, "the first header")
            yield world
