"""What is not exactly a request is refused in one sentence, and reaches nobody."""

import gzip
import json
import re
from collections.abc import Iterator

import msgspec
import pytest

from agent.wire.base import MOST_BYTES, Fault
from agent.wire.routes import CONTROL, QUERY
from tests.worlds.doors import ASK, PROMPT, Running, Said, behind

DECIDE = "/v1/decide"
TEXT = json.dumps(ASK)


@pytest.fixture(scope="module")
def query() -> Iterator[Running]:
    """Serve the query door."""
    with behind(QUERY) as running:
        yield running


@pytest.fixture(scope="module")
def control() -> Iterator[Running]:
    """Serve the control door."""
    with behind(CONTROL) as running:
        yield running


def refused(running: Running, said: Said, status: int, code: str) -> None:
    """Make sure that an answer is a fault in one line, and that nothing was called."""
    assert said.status == status
    fault = msgspec.convert(said.body, Fault)
    assert fault.code == code
    for text in (fault.what, fault.hint):
        assert text
        assert text == text.strip(" .\n")
        assert "\n" not in text
    assert running.api.made == []


MALFORMED = [  # bodies of `decide`
    *("", "{", "null", "[]", "{}", '"decide"', "\ufeff" + TEXT, TEXT + "x"),
    *(TEXT.replace("}", f", {more}}}") for more in ('"more": 1', '"query": "again"')),
    *(TEXT.replace("}", f', "asked": {more}}}') for more in ('["a"], "asked": null', '"region"')),
    *(TEXT.replace("}", f', "asked": {more}}}') for more in ("[1]", '["a", ""]')),
    *(json.dumps({**ASK, "query": query}) for query in ("", "x" * 4097, None)),
    json.dumps({**ASK, "recipient": 1}),
    TEXT.replace("python", "\\ud800"),
    *("[" * 30_000, '{"query": ' + "[" * 30_000),
    *(b"\xff\xfe", TEXT.encode("utf-16"), TEXT.encode() + b"\xff", b"\0"),  # no UTF-8
]
TYPES = [  # which a page can send to any address without being asked whether it may
    *("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"),
    *("application/json; charset=utf-16", "application/jsonp", ""),
]
ELSEWHERE = [  # calls of the other door are none here
    *(("GET", path, 404, "not found") for path in ("/", "/v1/profile", "/v1/status/")),
    *(("GET", path, 404, "not found") for path in ("//v1/status", "/v1/../v1/profile")),
    ("POST", "/v1/unlock", 404, "not found"),
    *((method, DECIDE, 405, "wrong method") for method in ("GET", "OPTIONS")),
    *((method, "/v1/status", 405, "wrong method") for method in ("PUT", "PATCH")),
    ("GET", "/v1/status?verbose=1", 400, "malformed"),
]
PARAMETERS = [
    *("after=1&after=1", "after=-1", "after=1.5", "after=", "after=%D9%A3", "after=1e3"),
    *(f"after={'9' * 19}", "After=1", "after"),
]


def test_a_body_that_is_no_message(query: Running) -> None:
    """Whatever is wrong with it, its encoding included; a compressed one is not unpacked."""
    for body in MALFORMED:
        data = body.encode() if isinstance(body, str) else body
        refused(query, query.ask("POST", DECIDE, data), 400, "malformed")
    packed = query.ask("POST", DECIDE, gzip.compress(TEXT.encode()), {"Content-Encoding": "gzip"})
    refused(query, packed, 400, "malformed")


def test_a_body_of_another_type(query: Running) -> None:
    """Of any other than JSON in UTF-8."""
    for kind in TYPES:
        said = query.ask("POST", DECIDE, ASK, {"Content-Type": kind})
        refused(query, said, 415, "malformed")


def test_another_path_method_or_parameter(query: Running, control: Running) -> None:
    """Unknown, given twice, or no number; nor is a body read where none is taken."""
    for method, path, status, code in ELSEWHERE:
        refused(query, query.ask(method, path), status, code)
    assert query.ask("HEAD", DECIDE).status == 405
    for text in PARAMETERS:
        refused(control, control.ask("GET", f"/v1/ledger?{text}"), 400, "malformed")
    refused(control, control.ask("GET", "/v1/knowledge/x?recipient=y"), 400, "malformed")
    refused(control, control.ask("DELETE", "/v1/reviews/first"), 400, "malformed")
    refused(control, control.ask("POST", "/v1/lock", {"why": "x"}), 400, "malformed")
    refused(control, control.ask("GET", "/v1/status", b"x"), 400, "malformed")


@pytest.mark.parametrize("extra", [1, MOST_BYTES, 20 * MOST_BYTES])
def test_a_body_over_the_limit(query: Running, extra: int) -> None:
    """Whether it says its length or not; one of just the limit is read."""
    at_most = TEXT.encode().ljust(MOST_BYTES)
    assert query.ask("POST", DECIDE, at_most).status == 200
    query.api.made.clear()
    refused(query, query.ask("POST", DECIDE, at_most + b" " * extra), 413, "too large")
    chunk = b"1000\r\n" + b" " * 4096 + b"\r\n"
    head = f"POST {DECIDE} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    chunked = head.encode() + b"Transfer-Encoding: chunked\r\n\r\n" + chunk * 17 + b"0\r\n\r\n"
    assert query.raw(chunked).startswith(b"HTTP/1.1 413 ")
    assert query.api.made == []


def test_a_body_that_does_not_arrive() -> None:
    """Its sender is told so, and the connection ends; of half a head, without a word."""
    with behind(QUERY, patience=PROMPT) as running, running.connect() as opened:
        head = f"POST {DECIDE} HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n{{"
        opened.sendall(head.encode())
        answer = b"".join(iter(lambda: opened.recv(65536), b""))
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b'"code":"slow"' in answer
        assert running.raw(head.encode()[:40]) == b""
        assert running.api.made == []


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01 hello",
        b"GET /v1/status HTTP/9.9\r\n\r\n",
        b"POST /v1/decide HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcde",
        b"POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /v1/decide HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET /v1/status HTTP/1.1\r\nHost: x\r\nX: " + b"x" * 100_000 + b"\r\n\r\n",
        b"GET /v1/status HTTP/1.1\r\n" + b"X: y\r\n" * 1000 + b"\r\n",
    ],
    ids=lambda data: repr(data[:50]),
)
def test_what_is_no_http(query: Running, data: bytes) -> None:
    """It is refused by aiohttp, which does not say its name, and others are answered as before."""
    head = query.raw(data).partition(b"\r\n\r\n")[0].lower()
    assert re.match(rb"http/1\.[01] 4", head)
    assert b"\r\nserver:" not in head
    assert b"aiohttp" not in head
    assert b"\r\ncache-control: no-store" in head
    assert query.api.made == []
    assert query.ask("GET", "/v1/status").status == 200
    query.api.made.clear()
