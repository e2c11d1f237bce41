"""A search engine that one can really run: what it is told, where, and what it makes of that."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import urlsplit

import pytest

from examples.searxng.adapter import asked_of
from examples.shared_attributes import SHARED
from tests.browser.test_whole import ALWAYS, entries, real, told, waiting
from tests.browser.world import World
from tests.developer import PROFILE
from tests.examples.searxng.serving import searx
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.browser

HOST, QUERY = "searx.localhost", "version control"
ADAPTED = 'Adapted to what you shared: category "it" added'


class Tap(ThreadingHTTPServer):
    """Stands before a server, and keeps what it is asked; ``told``: path and header of each."""

    daemon_threads = True

    def __init__(self, behind: int) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.behind = behind
        self.told: list[tuple[str, str | None]] = []


class Handler(BaseHTTPRequestHandler):
    """Passes a request on as it is."""

    server: Tap

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """Note it, ask the server behind, and hand back its answer."""
        self.server.told.append((urlsplit(self.path).path, self.headers.get(SHARED)))
        connection = HTTPConnection("127.0.0.1", self.server.behind, timeout=PATIENCE)
        try:
            connection.request("GET", self.path, headers=dict(self.headers.items()))
            came = connection.getresponse()
            self.send_response_only(came.status)
            for name, value in came.getheaders():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(came.read())
        finally:
            connection.close()


@contextmanager
def tapped() -> Iterator[Tap]:
    """Run searx, and yield what stands before it."""
    with searx() as port, Tap(port) as tap:
        thread = Thread(target=tap.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield tap
        finally:
            tap.shutdown()
            thread.join(PATIENCE)


def test_a_real_engine_answers_for_its_reader(world: World) -> None:
    """After it has asked and the user agreed; from then on its searches, and nothing else of it."""
    with tapped() as tap, real(world) as live:
        home = f"http://{HOST}:{tap.server_port}/"
        search = partial(searched, world, home)
        until(lambda: search() and waiting(live, HOST), "the offer")
        assert {header for _, header in tap.told} == {None}
        [review] = waiting(live, HOST)
        assert {*review.names} == {*asked_of(())}
        with live.client() as client:
            client.call("verdict", ALWAYS, id=review.id)
        until(lambda: ADAPTED in search(), "a page for this user")
        carried = [(path, header) for path, header in tap.told if header is not None]
        assert {path for path, _ in carried} == {"/search"}
        assert {path for path, header in tap.told if header is None} > {"/", "/search"}
        entry = [each for each in entries(live) if each.recipient == HOST][-1]
        assert entry.query == QUERY
        assert told(carried[-1][1]) == {name: PROFILE[name] for name in entry.disclosed}


def searched(world: World, home: str) -> str:
    """Type a search on the engine's first page; return the text of what comes."""
    browser = world.browser
    browser.arrive(home)
    browser.write("#q", QUERY, enter=True)
    found = "location.pathname === '/search' && document.readyState === 'complete'"
    until(lambda: browser.tried(f"return {found}"), "results")
    return str(browser.tried("return document.body.innerText"))
