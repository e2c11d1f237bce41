"""Web sites on this machine that note all that reaches them.

One server stands for every host of ``.localhost``, which browsers take to be this machine. Its
search pages are told from others by their path; a host that ``accepts`` names says so on them. Like
search engines do, they have in their box what was searched for, suggest as it is typed, and lead to
further pages of results.
"""

import hashlib
import html
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self
from urllib.parse import parse_qs, quote, urlsplit

from tests.waiting import PATIENCE

HEADER = "shared-attributes"  # as `Noted` has it, however the browser writes it
SEARCH = "/search"
LAX = "unsafe-url"
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>
<link rel="icon" href="data:,">
<form action="/search">
<input name="q" aria-label="query" value="{query}"><button>Search</button></form>
<p id="suggested"></p><a id="more" href="{more_results}">more results</a>
<script>
document.querySelector('input').addEventListener('input', async ({{ target }}) => {{
  await fetch('/suggest?text=' + encodeURIComponent(target.value));
  suggested.textContent = target.value;
}});
</script>
<p><a id="link" href="/search?q={link}">a search</a> <a id="result" href="{result}">a result</a>
<output>{title}</output>{more}
"""
NEXT = "<script>setTimeout(() => {{ location = {address} }})</script>"


def digest(query: str) -> str:
    """Return what stands for a query, so that the header of another one shows."""
    return hashlib.sha256(query.encode()).hexdigest()[:16]


def right(query: str) -> str:
    """Return the one header that a request with this query may carry."""
    return f'h="{digest(query)}"'


class Noted(NamedTuple):
    """A request that came; ``at``: when, in seconds since the epoch."""

    at: float
    method: str
    host: str
    target: str
    headers: Mapping[str, str]

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    def given(self, name: str) -> str | None:
        """Return the first parameter of a name that is not empty."""
        return parse_qs(urlsplit(self.target).query).get(name, [None])[0]

    @property
    def query(self) -> str:
        return self.given("q") or ""

    @property
    def header(self) -> str | None:
        return self.headers.get(HEADER)


class Recipient:
    """Serves until its `with` ends; ``accepts``: the attributes that hosts say they can use.

    ``leads``: where to a request is sent on, None for nowhere; ``referrer``: the policy by which
    pages tell others where they are, the laxest at first; ``pages``: by path, what is answered
    instead of a page of links; ``port``: where it listens.
    """

    def __init__(self) -> None:
        self.accepts: dict[str, str] = {}
        self.leads: Callable[[Noted], str | None] = _to
        self.referrer = LAX
        self.pages: dict[str, str] = {}
        self._noted: list[Noted] = []
        self._came, self._stack = threading.Condition(), ExitStack()
        self.port = 0

    def __enter__(self) -> Self:
        self.port = self._stack.enter_context(self.beside())
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @contextmanager
    def beside(self) -> Iterator[int]:
        with _Server(("127.0.0.1", 0), _Handler) as server:
            server.recipient = self
            thread = threading.Thread(target=server.serve_forever, args=(0.01,))
            thread.start()
            try:
                yield server.server_port
            finally:
                server.shutdown()
                thread.join(PATIENCE)
                assert not thread.is_alive()

    def url(self, host: str, target: str = "/") -> str:
        """Return an address; ``host``: its first label."""
        return f"http://{host}.localhost:{self.port}{target}"

    def search(self, query: str, host: str = "search") -> str:
        return self.url(host, f"{SEARCH}?q={quote(query, safe='')}")

    def note(self, came: Noted) -> None:
        with self._came:
            self._noted.append(came)
            self._came.notify_all()

    def seen(self) -> list[Noted]:
        """Return what has come since it was last forgotten, oldest first."""
        with self._came:
            return [each for each in self._noted if each.path != "/favicon.ico"]

    def reset(self) -> None:
        self.accepts.clear()
        self.pages.clear()
        self.leads, self.referrer = _to, LAX

    def forget(self) -> None:
        with self._came:
            self._noted.clear()

    def searches(self, query: str | None = None) -> list[Noted]:
        return [
            each
            for each in self.seen()
            if each.path == SEARCH and (query is None or each.query == query)
        ]

    def arrived(self, query: str, count: int = 1) -> list[Noted]:
        """Return the requests with a query, once there are so many."""
        return self.heard(lambda each: each.query == query, count)

    def heard(self, holds: Callable[[Noted], bool], count: int = 1) -> list[Noted]:
        """Return the requests of which something holds, once there are so many.

        It waits for as long as more and more of them come.
        """
        found: list[Noted] = []

        def more() -> bool:
            before = len(found)
            found[:] = [each for each in self._noted if holds(each)]
            return len(found) > before

        with self._came:
            while len(found) < count:
                assert self._came.wait_for(more, PATIENCE), f"only {found} came, of {self._noted}"
            return found


class _Server(ThreadingHTTPServer):
    recipient: Recipient
    daemon_threads = True  # a browser keeps its connections
    request_queue_size = 64


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002, ANN401  (http.server's name)
        """Say nothing."""

    def do_GET(self) -> None:
        """Note a request, and show a page, or send it on to the address that `to` names."""
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        host = (self.headers.get("Host") or "").split(".")[0].split(":")[0]
        headers = {name.lower(): value for name, value in self.headers.items()}
        came = Noted(time.time(), self.command, host, self.path, headers)
        self.server.recipient.note(came)
        if to := self.server.recipient.leads(came):
            self._answer(302, b"", Location=to)
            return
        accepts = self.server.recipient.accepts.get(host)
        more = {"Accept-Shared-Attributes": accepts} if accepts and came.path == SEARCH else {}
        more["Referrer-Policy"] = self.server.recipient.referrer
        own = self.server.recipient.pages.get(came.path)
        page = _page(came, self.server.recipient) if own is None else own
        self._answer(200, page.encode(), **more)

    do_POST = do_GET  # noqa: N815 - names of http.server

    def _answer(self, status: int, data: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Cache-Control", "no-store")  # so that going back asks anew
        self.end_headers()
        self.wfile.write(data)


def _to(came: Noted) -> str | None:
    return came.given("to")


def _page(came: Noted, recipient: Recipient) -> str:
    """Return a page whose title says what was searched for, or where it is."""
    title = came.query if came.path == SEARCH else came.host + came.path
    more, left = "", int(came.given("left") or 0)
    if left:  # it goes on to the next of so many searches
        text, number = came.query.split(" ")[:2]  # words may have been added to it
        query = quote(f"{text} {int(number) + 1}", safe="")
        more = NEXT.format(address=json.dumps(f"{SEARCH}?q={query}&left={left - 1}"))
    return PAGE.format(
        title=html.escape(title),
        query=html.escape(came.query if came.path == SEARCH else ""),
        link=quote(f"linked from {title}", safe=""),
        result=html.escape(recipient.url("result", "/page")),
        more_results=html.escape(f"{came.target}&page=2"),
        more=more,
    )
