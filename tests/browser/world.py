"""A browser, the sites that it visits, and what stands for the daemon: all that a test needs."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from typing import Any

from agent.paths import Paths
from agent.wire.state import Site
from tests.browser.chromium import chromium
from tests.browser.driver import Driver
from tests.browser.firefox import firefox
from tests.browser.frames import RelayedDecide
from tests.browser.installed import knowing, patient
from tests.browser.recipient import SEARCH, Noted, Recipient, right
from tests.browser.standin import Standin, site
from tests.waiting import until
from tests.worlds.doors import short_home

MARK = "mark "  # begins the queries that only tell how far it is
KNOWN = "known"  # the host of an assistant that the popup offers to be used in
BROWSERS = {"chromium": chromium, "firefox": firefox}


class World:
    """What runs for as long as tests of one browser do; ``places``: the daemon's."""

    def __init__(
        self, browser: Driver, recipient: Recipient, daemon: Standin, places: Paths
    ) -> None:
        self.browser = browser
        self.recipient = recipient
        self.daemon = daemon
        self.places = places
        self._numbers = count()

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

    def site(self, host: str) -> Site:
        """Return what a status says of a host."""
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
            if not (isinstance(each, RelayedDecide) and each.body.query.startswith(MARK))
        ]

    def visit(self, host: str) -> None:
        """Show the first page of a host."""
        self.browser.go(self.recipient.url(host))
        self.browser.shows(f"{host}/")

    def forget(self) -> None:
        """Forget what came and what was said."""
        self.recipient.forget()
        self.daemon.forget()

    def decided(self) -> list[tuple[str, str]]:
        """Return the queries that were asked about, and for whom."""
        return [(each.body.query, each.body.recipient) for each in self.daemon.said(RelayedDecide)]


@contextmanager
def running(name: str) -> Iterator[World]:
    """Yield a browser by its name, with the extension in it, once that attaches headers."""
    with short_home() as places, Recipient() as recipient, Standin(places.query) as daemon:
        daemon.sites = [site("search.localhost", recipient.url("search", SEARCH))]
        extension = patient(places.data / "extension")
        knowing(extension, recipient.url(KNOWN), f"{KNOWN}.localhost")
        with BROWSERS[name](places.data / "browser", places, extension) as browser:
            world = World(browser, recipient, daemon, places)
            until(world.attaches, "the first header")
            yield world
