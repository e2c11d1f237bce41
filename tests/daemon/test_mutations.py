"""Requests that are almost such: no crash, no failure of ours, nothing disclosed."""

import http.client
import json
import select
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Any

import pytest

from agent.wire.decide import Ask
from agent.wire.routes import QUERY, ROUTES
from tests.worlds.daemons import Live, living

HEADERS = {"Host": "localhost", "Content-Type": "application/json"}
ODD_TEXT = (
    *("", "\x00", "\ud800", "é", "\u202e", "😀", "'", '"', "\\", "../", "%", "a" * 5000, "\r\n"),
)
ODD_VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 2**63, 1e308, 0.5, "", "x" * 70_000, [], {}, [[]], {"": None}),
)
METHODS = ("PUT", "PATCH", "OPTIONS", "DELETE", "GET", "POST", "TRACE", "get", "", "G T")
_ODD_HEADERS = {
    "Content-Length": ("0", "-1", "99999999999999999999", "3"),
    "Transfer-Encoding": ("chunked", "gzip"),
    "Content-Encoding": ("gzip",),
    "Content-Type": ("text/plain", "application/json; charset=utf-16"),
    "Expect": ("100-continue", "more"),
    "Connection": ("upgrade",),
    "Upgrade": ("websocket",),
    "Host": ("", "a.example, b.example"),
    "Authorization": ("Bearer x",),
    "Cookie": ("a=" + "b" * 9000,),
    "X" * 9000: ("y",),
    "Range": ("bytes=0-1",),
}
ODD_HEADERS = tuple((name, each) for name, values in _ODD_HEADERS.items() for each in values)
DEEPEST = 3000
LONGEST_SLICE = 40


@dataclass(frozen=True, slots=True)
class Plain:
    """A request as it should be, or, with odd parts, as it should not."""

    method: str
    path: str
    body: Any = None
    headers: tuple[tuple[str, str], ...] = ()
    text: str | None = None  # in place of the body as JSON

    def data(self) -> bytes:
        """Return it as it is sent."""
        body = b""
        if self.text is not None or self.body is not None:
            text = json.dumps(self.body) if self.text is None else self.text
            body = text.encode("utf-8", "surrogatepass")
        given = {name.lower() for name, _ in self.headers}
        usual = [pair for pair in HEADERS.items() if pair[0].lower() not in given]
        if body and "content-length" not in given:
            usual.append(("Content-Length", str(len(body))))
        lines = [f"{self.method} {self.path} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in (*usual, *self.headers)]
        head = "\r\n".join(lines) + "\r\n\r\n"
        return head.encode("utf-8", "surrogatepass") + body


def mutated(plain: Plain, rng: Random) -> bytes:
    """Return a request with one kind of thing changed in it, once or several times."""
    ways: list[Callable[[Plain, Random], bytes]] = [_bytes, _bytes, _path, _head]
    if plain.body is not None:
        ways += [_json, _json, _json, _text]
    return rng.choice(ways)(plain, rng)


def _bytes(plain: Plain, rng: Random) -> bytes:
    """Flip bits, and cut out, double or put in slices."""
    data = plain.data()
    for _ in range(rng.choice([1, 1, 2, 8])):
        at = rng.randrange(len(data) + 1)
        to = at + rng.randint(1, LONGEST_SLICE)
        way = rng.randrange(5)
        if way == 0 and at < len(data):
            data = data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
        elif way == 1:
            data = data[:at] + data[to:]
        elif way == 2:
            data = data[:to] + data[at:]
        elif way == 3:
            data = data[:at] + rng.randbytes(rng.randint(1, 8)) + data[at:]
        elif way == 4 and at:
            data = data[:at]
    return data or b"\x00"


def _path(plain: Plain, rng: Random) -> bytes:
    """Put something odd into the path, or the query string."""
    path = plain.path
    odd = rng.choice(
        [*ODD_TEXT, "?", "?a=b", "#", "//", "%zz", "%00", "{id}", "&limit=1", "?limit=-1"]
    )
    at = rng.randrange(1, len(path) + 1)
    return replace(plain, path=path[:at] + odd + path[at + rng.randrange(3) :]).data()


def _head(plain: Plain, rng: Random) -> bytes:
    """Use another method, or a header that lies."""
    if rng.randrange(4) == 0:
        return replace(plain, method=rng.choice(METHODS)).data()
    return replace(plain, headers=tuple(rng.sample(ODD_HEADERS, rng.randint(1, 2)))).data()


def _json(plain: Plain, rng: Random) -> bytes:
    """Put something of another type, size or spelling somewhere into the body."""
    return replace(plain, body=_changed(plain.body, rng)).data()


def _changed(value: Any, rng: Random) -> Any:  # noqa: ANN401  (any JSON)
    """Return a value of JSON with one place in it changed."""
    inside = isinstance(value, dict | list) and value and rng.randrange(4)
    if not inside:
        return _odd(value, rng)
    if isinstance(value, list):
        at = rng.randrange(len(value))
        return [*value[:at], _changed(value[at], rng), *value[at + 1 :]]
    name = rng.choice([*value])
    rest = {key: each for key, each in value.items() if key != name}
    if rng.randrange(4) == 0:
        return {**rest, name + rng.choice(ODD_TEXT): value[name]}
    return {**rest, name: _changed(value[name], rng)}


def _odd(value: Any, rng: Random) -> Any:  # noqa: ANN401  (any JSON)
    """Return something else in the place of a value."""
    if isinstance(value, str) and rng.randrange(2):
        at = rng.randrange(len(value) + 1)
        return value[:at] + rng.choice(ODD_TEXT) + value[at:]
    if isinstance(value, dict) and rng.randrange(2):
        return {**value, "more": 1}
    return rng.choice([*ODD_VALUES, [value], [value] * 2000, {"": value}])


def _text(plain: Plain, rng: Random) -> bytes:
    """Send what is no JSON, or hardly."""
    text = json.dumps(plain.body)
    depth = rng.randint(1, DEEPEST)
    ways = [
        "[" * depth + text + "]" * depth,
        '{"query":' * depth,
        text[: rng.randrange(len(text))],
        text + text,
        text.replace("}", "," + text[1:], 1),
        "\ufeff" + text,
        text.replace(":", ": NaN, ", 1),
        text.replace('"', "'"),
        " " * (64 * 1024 - len(text)) + text,
        " " * (64 * 1024) + text,
    ]
    return replace(plain, text=rng.choice(ways)).data()


COUNTS = [300, pytest.param(50_000, marks=pytest.mark.soak)]
CALLERS = 8
SILENCE = 0.03  # seconds, after which a daemon is taken to wait for the rest of a request
REST = b"\r\n\r\n" + b"x" * 65_536  # whatever it waited for, this is not it
PATIENCE = 2.0  # seconds, after which it is not going to answer
TOLD = Ask(query="editor", recipient="told.example")
NOTHING = f"""
preset = "generous"
nothing = true
[daemon]
lock_after_minutes = 0
[[rule]]
recipient = "{TOLD.recipient}"
nothing = false
lambda = 1
"""
ASKED = {"query": "editor", "recipient": "search.example", "asked": ["int_java", "region"]}
PLAIN = {  # every call of the query socket; a defect of another is met by the user alone
    "locked": Plain("GET", "/v1/status"),
    "decide": Plain("POST", "/v1/decide", ASKED),
    "draft": Plain("POST", "/v1/draft", ASKED),
    "tell": Plain("POST", "/v1/tell", {"id": "of no draft", "names": ["region"]}),
    "clicked": Plain("POST", "/v1/clicked", {"query": "editor", "host": "page.example"}),
    "offer": Plain("POST", "/v1/offer", {"recipient": "a.example", "names": ["region", "race"]}),
    "refuse": Plain("POST", "/v1/refuse", {"recipient": "a.example"}),
    "relay": Plain("POST", "/v1/relay", {"id": 7, "call": "decide", "body": ASKED}),
}
JSON = "application/json"
UNANSWERED = "no answer"
MOST_UNANSWERED = 0.02  # of all: HTTP lets a server hang up on what is no request


def requests(count: int) -> list[bytes]:
    """Return mutations of every call of the query socket, always the same."""
    rng = Random(f"{QUERY}/{count}")  # noqa: S311  (mutations that can be drawn again)
    names = [route.name for route in ROUTES if QUERY in route.doors]
    return [mutated(PLAIN[rng.choice(names)], rng) for _ in range(count)]


def outcome(live: Live, data: bytes) -> str:
    """Return what became of a request; fail where it is other than it should be."""
    method, opened = data.partition(b" ")[0].decode("latin-1"), live.connect(QUERY)
    with opened, suppress(BrokenPipeError, ConnectionResetError, http.client.RemoteDisconnected):
        opened.sendall(data)
        if not select.select([opened], [], [], SILENCE)[0]:
            opened.sendall(REST)
        opened.settimeout(PATIENCE)
        with suppress(TimeoutError), http.client.HTTPResponse(opened, method=method) as said:
            said.begin()
            return checked(said.status, said.headers.get_content_type(), said.read(), data)
    return UNANSWERED


def checked(status: int, kind: str, body: bytes, data: bytes) -> str:
    """Fail where an answer discloses anything, or is an error of ours."""
    assert status < 500, (data, body)
    if kind != JSON:  # what aiohttp says of itself: this is no HTTP, or expects too much
        assert status in {400, 417}, (data, body)
        return f"{status} {kind}"
    found = json.loads(body) if body else {}
    if "status" in found and "body" in found:  # what an envelope has in it
        status, found = found["status"], found["body"]
        assert status < 500, (data, body)
    if status == 200 and "code" in found:
        assert not found["attributes"], data
        assert not found["header"], data
        assert found["code"] != "failed", data
    return str(status)


@pytest.mark.parametrize("sent", COUNTS)
@pytest.mark.parametrize("locked", [False, pytest.param(True, marks=pytest.mark.soak)])
def test_nothing_comes_of_mutated_requests(
    locked: bool, capsys: pytest.CaptureFixture[str], sent: int
) -> None:
    """The same process answers in the end, its log knows no defect, its ledger no entry.

    That it would attach something is seen at the one recipient who may be told.
    """
    with living(NOTHING, locked=locked) as live:
        before = live.status()
        with ThreadPoolExecutor(CALLERS) as callers:
            found = Counter(callers.map(partial(outcome, live), requests(sent)))
        after = live.status()
        failures = live.paths.log.read_text().count("failed")
        live.unlock()
        entries = live.status().entries
        with live.client(QUERY) as client:
            told = client.call("decide", TOLD)
        assert live.status().entries == 1
    with capsys.disabled():
        figures = f"{sent} mutated requests, {found[UNANSWERED]} without an answer"
        sys.stdout.write(f"\n{figures}, {failures} failures, {entries} disclosures: {found}\n")
    assert (after.process, after.locked, after.started_at) == (
        before.process,
        locked,
        before.started_at,
    )
    assert (found.total(), failures, entries) == (sent, 0, 0)
    assert found[UNANSWERED] < MOST_UNANSWERED * sent
    assert min(found["200"], found["400"]) > sent // 50, "few of them reach a call"
    assert told.attributes
