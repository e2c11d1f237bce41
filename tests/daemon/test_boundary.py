"""What is not exactly a request is refused in one sentence; and where every error ends."""

import gzip
import json
import logging
import re
from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.server import DECIDE, message_of
from agent.errors import (
    DISK_FULL,
    DaemonError,
    LockedError,
    PolicyError,
    Problem,
    RefusedError,
    ReticentError,
    UsageError,
    VaultError,
)
from agent.wire.base import MOST_BYTES, Fault
from agent.wire.decide import Answer
from agent.wire.routes import CONTROL, QUERY, ROUTES, Route
from tests.worlds.doors import ASK, PROMPT, Running, Said, behind

AT = "/v1/decide"
TEXT = json.dumps(ASK)
PRIVATE = "married, 47 years old"
FAILED = msgspec.to_builtins(Answer(code="failed"))
UNFORESEEN = [
    *(kind(PRIVATE) for kind in (ZeroDivisionError, KeyError, AssertionError, MemoryError)),
    *(RecursionError(PRIVATE), OSError(28, PRIVATE), TimeoutError(PRIVATE)),
    ExceptionGroup(PRIVATE, [ValueError(PRIVATE)]),
    UnicodeEncodeError("utf-8", PRIVATE, 0, 1, PRIVATE),
]
MALFORMED = [  # bodies of `decide`
    *("", "{", "null", "[]", "{}", '"decide"', "\ufeff" + TEXT, TEXT + "x"),
    *(TEXT.replace("}", f", {more}}}") for more in ('"more": 1', '"asked": "region"')),
    *(TEXT.replace("}", f', "asked": {more}}}') for more in ("[1]", '["a", ""]')),
    *(json.dumps({**ASK, "query": query}) for query in ("", "x" * 4097, None)),
    json.dumps({**ASK, "recipient": 1}),
    TEXT.replace("python", "\\ud800"),
    *("[" * 30_000, '{"query": ' + "[" * 30_000),
    *(b"\xff\xfe", TEXT.encode("utf-16"), TEXT.encode() + b"\xff", b"\0"),  # no UTF-8
]
ELSEWHERE = [  # calls of the other door are none here
    *(("GET", path, 404, "not found") for path in ("/", "/v1/profile", "/v1/status/")),
    *(("GET", path, 404, "not found") for path in ("//v1/status", "/v1/../v1/profile")),
    ("POST", "/v1/unlock", 404, "not found"),
    *((method, AT, 405, "not found") for method in ("GET", "OPTIONS")),
    *((method, "/v1/status", 405, "not found") for method in ("PUT", "PATCH")),
    ("GET", "/v1/status?verbose=1", 400, "malformed"),
]
PARAMETERS = [
    *("after=1&after=1", "after=-1", "after=1.5", "after=", "after=%D9%A3"),
    *(f"after={'9' * 19}", "After=1", "after"),
]
NO_HTTP = [
    b"\x16\x03\x01 hello",
    b"GET /v1/status HTTP/9.9\r\n\r\n",
    b"POST /v1/decide HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcde",
    b"POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST /v1/decide HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"GET /v1/status HTTP/1.1\r\nHost: x\r\nX: " + b"x" * 100_000 + b"\r\n\r\n",
    b"GET /v1/status HTTP/1.1\r\n" + b"X: y\r\n" * 1000 + b"\r\n",
]


@pytest.fixture(scope="module")
def query() -> Iterator[Running]:
    with behind(QUERY) as running:
        yield running


@pytest.fixture(scope="module")
def control() -> Iterator[Running]:
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


def test_a_body_that_is_no_message(query: Running) -> None:
    """Whatever is wrong with it, its encoding included; none is unpacked."""
    for body in MALFORMED:
        data = body.encode() if isinstance(body, str) else body
        refused(query, query.ask("POST", AT, data), 400, "malformed")
    packed = query.ask("POST", AT, gzip.compress(TEXT.encode()), {"Content-Encoding": "gzip"})
    refused(query, packed, 400, "malformed")


@given(
    st.sampled_from([each for each in ROUTES if each.takes]),
    st.integers(0, len(TEXT)),
    st.integers(0, 40),
    st.binary(max_size=8) | st.sampled_from([b'"', b"{", b"null", b"\\ud800", b"1e999"]),
)
def test_any_bytes_are_a_message_or_refused(route: Route, at: int, cut: int, odd: bytes) -> None:
    """Whatever a request was changed to; no error but ours, and it repeats none of it."""
    data = TEXT.encode()
    for body in (data[:at] + odd + data[at + cut :], odd * at, odd):
        try:
            message = message_of(body, route.takes)
        except RefusedError as error:
            found = (error.code, ASK["query"] in str(error))
        else:
            found = ("malformed", message_of(msgspec.json.encode(message), route.takes) != message)
        assert found == ("malformed", False)


def test_another_path_method_or_parameter(query: Running) -> None:
    """Unknown, given twice, or no number; nor is a body read where none is taken."""
    for method, path, status, code in ELSEWHERE:
        refused(query, query.ask(method, path), status, code)
    assert query.ask("HEAD", AT).status == 405
    with behind(CONTROL) as control:
        for text in PARAMETERS:
            refused(control, control.ask("GET", f"/v1/ledger?{text}"), 400, "malformed")
        refused(control, control.ask("DELETE", "/v1/reviews/1?id=1"), 400, "malformed")
        refused(control, control.ask("DELETE", "/v1/reviews/first"), 400, "malformed")
        refused(control, control.ask("POST", "/v1/lock", {"why": "x"}), 400, "malformed")
        refused(control, control.ask("GET", "/v1/status", b"x"), 400, "malformed")


def test_a_body_over_the_limit(query: Running) -> None:
    """Whether it says its length or not; one of just the limit is read."""
    at_most = TEXT.encode().ljust(MOST_BYTES)
    assert query.ask("POST", AT, at_most).status == 200
    query.api.made.clear()
    for extra in (1, MOST_BYTES, 20 * MOST_BYTES):
        refused(query, query.ask("POST", AT, at_most + b" " * extra), 413, "too large")
    chunk = b"1000\r\n" + b" " * 4096 + b"\r\n"
    head = f"POST {AT} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    chunked = head.encode() + b"Transfer-Encoding: chunked\r\n\r\n" + chunk * 17 + b"0\r\n\r\n"
    assert query.raw(chunked).startswith(b"HTTP/1.1 413 ")
    assert query.api.made == []


def test_a_body_that_does_not_arrive() -> None:
    """Its sender is told so, and the connection ends; of half a head, without a word."""
    with behind(QUERY, patience=PROMPT) as running, running.connect() as opened:
        head = f"POST {AT} HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n{{"
        opened.sendall(head.encode())
        answer = b"".join(iter(lambda: opened.recv(65536), b""))
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b'"code":"slow"' in answer
        assert running.raw(head.encode()[:40]) == b""
        assert running.api.made == []


def test_what_is_no_http(query: Running) -> None:
    """It is refused by aiohttp, and others are answered as before."""
    for data in NO_HTTP:
        head = query.raw(data).partition(b"\r\n\r\n")[0].lower()
        assert re.match(rb"http/1\.[01] 4", head), data[:50]
        assert query.api.made == []
        assert query.ask("GET", "/v1/status").status == 200
        query.api.made.clear()


def failing(running: Running, name: str, error: BaseException) -> None:
    def call(*_: object, **__: object) -> object:
        raise error

    running.api.instead[name] = call


LINE = failing.__code__.co_firstlineno + 2  # where it is raised


def test_a_defect_attaches_nothing_and_tells_nothing(
    control: Running, caplog: pytest.LogCaptureFixture
) -> None:
    """The caller learns that it failed, and the log its class and its place."""
    for error in UNFORESEEN:
        caplog.clear()
        failing(control, DECIDE, error)
        failing(control, "profile", error)
        with caplog.at_level(logging.INFO, "reticent"):
            decided = control.ask("POST", AT, ASK)
            other = control.ask("GET", "/v1/profile")
        assert (decided.status, decided.body) == (200, FAILED)
        assert (other.status, other.body["code"]) == (500, "failed")
        assert PRIVATE not in str(other.body) + str(other.headers)
        assert [record.getMessage() for record in caplog.records] == [
            f"{name} failed: {type(error).__name__} in test_boundary.py, line {LINE}"
            for name in (DECIDE, "profile")
        ]
        assert all(record.exc_info is None for record in caplog.records)


def test_a_decision_that_cannot_be_made_attaches_nothing(
    control: Running, caplog: pytest.LogCaptureFixture
) -> None:
    """It is an answer all the same: the request goes on without. Nor is one that is no text."""
    errors: list[tuple[ReticentError, str]] = [
        *(
            (kind(PRIVATE, "mend it"), "failed")
            for kind in (VaultError, DaemonError, ReticentError)
        ),
        (PolicyError("policy.toml", [Problem(1, "", PRIVATE, "mend it")]), "failed"),
        (LockedError("the vault is locked", "run: reticent unlock"), "locked"),
        (VaultError(*DISK_FULL, PRIVATE), "disk full"),
    ]
    for error, code in errors:
        failing(control, DECIDE, error)
        with caplog.at_level(logging.INFO, "reticent"):
            said = control.ask("POST", AT, ASK)
        assert (said.status, said.body) == (200, {**FAILED, "code": code})
        assert PRIVATE not in caplog.text
    control.api.instead[DECIDE] = lambda *_, **__: {"header": "\ud800"}
    assert control.ask("POST", AT, ASK).body == FAILED


def test_a_request_that_names_nothing_is_told_so(control: Running) -> None:
    """What its sender can mend, its sender must see."""
    failing(control, DECIDE, UsageError("this is no host", "name a domain"))
    said = control.ask("POST", AT, ASK)
    assert (said.status, said.body["code"], said.body["what"]) == (400, "usage", "this is no host")


def test_a_failure_leaves_the_connection_usable(control: Running) -> None:
    """The next request over it is answered; a Host of any name means nothing on a Unix socket."""
    failing(control, "profile", ValueError(PRIVATE))
    get = b"GET /v1/profile HTTP/1.1\r\nHost: anything.example\r\n\r\n"
    last = b"GET /v1/models HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    answers = control.raw(get + last)
    assert answers.count(b"HTTP/1.1 500") == answers.count(b"HTTP/1.1 200") == 1
