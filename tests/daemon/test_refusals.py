"""What is not exactly a request is refused in one sentence, and reaches nobody."""

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

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


@pytest.fixture(scope="module")
def hasty() -> Iterator[Running]:
    """Serve the query door to those who send all at once."""
    with behind(QUERY, patience=PROMPT) as running:
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
    assert running.calls.made == []


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{",
        "null",
        "[]",
        "{}",
        '"decide"',
        TEXT + "x",
        TEXT.replace("}", ', "more": 1}'),
        TEXT.replace("}", ', "query": "again"}'),
        TEXT.replace("}", ', "asked": ["a"], "asked": null}'),
        TEXT.replace("}", ', "asked": "region"}'),
        TEXT.replace("}", ', "asked": [1]}'),
        TEXT.replace("}", ', "asked": ["a", ""]}'),
        json.dumps({**ASK, "query": ""}),
        json.dumps({**ASK, "query": "x" * 4097}),
        json.dumps({**ASK, "query": None}),
        json.dumps({**ASK, "recipient": 1}),
        TEXT.replace("python", "\\ud800"),
        "[" * 30_000,
        '{"query": ' + "[" * 30_000,
        "\ufeff" + TEXT,
    ],
    ids=lambda body: body[:40] or "empty",
)
def test_a_body_that_is_no_message(query: Running, body: str) -> None:
    """Whatever is wrong with it."""
    refused(query, query.ask("POST", DECIDE, body.encode()), 400, "malformed")


@pytest.mark.parametrize(
    "body", [b"\xff\xfe", TEXT.encode("utf-16"), TEXT.encode() + b"\xff", b"\0"]
)
def test_a_body_that_is_no_text(query: Running, body: bytes) -> None:
    """JSON is UTF-8 here, and nothing else."""
    refused(query, query.ask("POST", DECIDE, body), 400, "malformed")


@pytest.mark.parametrize(
    "kind",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json; charset=utf-16",
        "application/jsonp",
        "",
    ],
)
def test_a_body_of_another_type(query: Running, kind: str) -> None:
    """A page can send these to any address without being asked whether it may."""
    said = query.ask("POST", DECIDE, ASK, {"Content-Type": kind})
    refused(query, said, 415, "malformed")


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/", 404, "not found"),
        ("GET", "/v1/profile", 404, "not found"),
        ("POST", "/v1/unlock", 404, "not found"),
        ("GET", "/v1/status/", 404, "not found"),
        ("GET", "//v1/status", 404, "not found"),
        ("GET", "/v1/../v1/profile", 404, "not found"),
        ("GET", DECIDE, 405, "wrong method"),
        ("HEAD", "/v1/decide", 405, ""),
        ("OPTIONS", DECIDE, 405, "wrong method"),
        ("PUT", "/v1/status", 405, "wrong method"),
        ("PATCH", "/v1/status", 405, "wrong method"),
        ("GET", "/v1/status?verbose=1", 400, "malformed"),
        ("GET", "/v1/status?", 200, ""),
    ],
)
def test_another_path_method_or_parameter(
    query: Running, method: str, path: str, status: int, code: str
) -> None:
    """Calls of the other door are none here."""
    said = query.ask(method, path)
    if code:
        refused(query, said, status, code)
    assert said.status == status
    query.calls.made.clear()


@pytest.mark.parametrize(
    "path",
    [
        "/v1/ledger?after=1&after=1",
        "/v1/ledger?after=-1",
        "/v1/ledger?after=1.5",
        "/v1/ledger?after=",
        "/v1/ledger?after=%D9%A3",
        "/v1/ledger?after=1e3",
        f"/v1/ledger?after={'9' * 19}",
        "/v1/ledger?After=1",
        "/v1/ledger?after",
        "/v1/knowledge/x?recipient=y",
    ],
)
def test_a_parameter_that_is_not_as_described(control: Running, path: str) -> None:
    """Given twice, unknown, or no number."""
    refused(control, control.ask("GET", path), 400, "malformed")


def test_a_number_in_a_path_that_is_none(control: Running) -> None:
    """The review is not looked for."""
    refused(control, control.ask("DELETE", "/v1/reviews/first"), 400, "malformed")


def test_a_body_where_none_is_taken(control: Running) -> None:
    """It would be read by nobody."""
    refused(control, control.ask("POST", "/v1/lock", {"why": "x"}), 400, "malformed")
    refused(control, control.ask("GET", "/v1/status", b"x"), 400, "malformed")


@pytest.mark.parametrize("extra", [1, MOST_BYTES, 20 * MOST_BYTES])
def test_a_body_over_the_limit(query: Running, extra: int) -> None:
    """Whether it says its length or not; one of just the limit is read."""
    at_most = TEXT.encode().ljust(MOST_BYTES)
    assert query.ask("POST", DECIDE, at_most).status == 200
    query.calls.made.clear()
    refused(query, query.ask("POST", DECIDE, at_most + b" " * extra), 413, "too large")
    chunk = b"1000\r\n" + b" " * 4096 + b"\r\n"
    head = f"POST {DECIDE} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    chunked = head.encode() + b"Transfer-Encoding: chunked\r\n\r\n" + chunk * 17 + b"0\r\n\r\n"
    assert query.raw(chunked).startswith(b"HTTP/1.1 413 ")
    assert query.calls.made == []


def test_a_body_that_does_not_arrive() -> None:
    """Its sender is told so, and the connection ends; of half a head, without a word."""
    with behind(QUERY, patience=PROMPT) as running, running.connect() as opened:
        head = f"POST {DECIDE} HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n{{"
        opened.sendall(head.encode())
        answer = b"".join(iter(lambda: opened.recv(65536), b""))
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b'"code":"slow"' in answer
        assert running.raw(head.encode()[:40]) == b""
        assert running.calls.made == []


def test_a_compressed_body_is_not_unpacked(query: Running) -> None:
    """A thousand times its size could be in it."""
    import gzip

    packed = gzip.compress(TEXT.encode())
    said = query.ask("POST", DECIDE, packed, {"Content-Encoding": "gzip"})
    refused(query, said, 400, "malformed")


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
    assert query.calls.made == []
    assert query.ask("GET", "/v1/status").status == 200
    query.calls.made.clear()


WHOLE = (
    f"POST {DECIDE} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    f"Content-Length: {len(TEXT)}\r\nConnection: close\r\n\r\n{TEXT}"
).encode()


@given(
    at=st.integers(0, len(WHOLE)),
    cut=st.integers(0, 20),
    put=st.binary(max_size=20) | st.sampled_from([b"\r\n", b"\r\n\r\n", b'"', b"}", b"\\u0000"]),
)
@example(at=0, cut=0, put=b"")
def test_a_mutated_request_is_refused_or_is_another(
    hasty: Running, at: int, cut: int, put: bytes
) -> None:
    """It is never a failure of ours, and only what is a message is decided about."""
    hasty.calls.made.clear()
    answer = hasty.raw(WHOLE[:at] + put + WHOLE[at + cut :])
    statuses = {*re.findall(rb"HTTP/1\.[01] (\d{3}) ", answer)}
    assert statuses <= {b"200", b"400", b"404", b"405", b"408", b"413", b"415", b"417"}
    asked: list[Any] = [made[1][0] for made in hasty.calls.made if made[0] == "decide"]
    assert all(msgspec.convert(msgspec.to_builtins(each), type(each)) == each for each in asked)
    assert hasty.ask("GET", "/v1/status").status == 200
