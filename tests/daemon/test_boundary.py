"""Where every error of the daemon ends."""

import logging
import os
import re
from collections.abc import Iterator

import msgspec
import pytest

from agent.daemon.boundary import DECIDE, NOWHERE, without_certificates
from agent.errors import (
    DaemonError,
    LockedError,
    PolicyError,
    Problem,
    ReticentError,
    UsageError,
    VaultError,
)
from agent.wire.decide import Answer
from agent.wire.routes import CONTROL
from tests.house.tree import ROOT, sources
from tests.worlds.doors import ASK, Running, behind

PRIVATE = "married, 47 years old"
FAILED = msgspec.to_builtins(Answer(code="failed"))
UNFORESEEN = [
    ZeroDivisionError(PRIVATE),
    KeyError(PRIVATE),
    AssertionError(PRIVATE),
    MemoryError(PRIVATE),
    RecursionError(PRIVATE),
    OSError(28, PRIVATE),
    TimeoutError(PRIVATE),
    ExceptionGroup(PRIVATE, [ValueError(PRIVATE)]),
    UnicodeEncodeError("utf-8", PRIVATE, 0, 1, PRIVATE),
]


@pytest.fixture(scope="module")
def control() -> Iterator[Running]:
    """Serve the control door."""
    with behind(CONTROL) as running:
        yield running


def failing(running: Running, name: str, error: BaseException) -> None:
    """Let a call fail."""

    def call(*_: object, **__: object) -> object:
        raise error

    running.api.instead[name] = call


@pytest.mark.parametrize("error", UNFORESEEN, ids=lambda error: type(error).__name__)
def test_a_defect_attaches_nothing_and_tells_nothing(
    control: Running, error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    """The caller learns that it failed, and the log its class and its place."""
    failing(control, DECIDE, error)
    failing(control, "profile", error)
    with caplog.at_level(logging.INFO, "reticent"):
        decided = control.ask("POST", "/v1/decide", ASK)
        other = control.ask("GET", "/v1/profile")
    assert (decided.status, decided.body) == (200, FAILED)
    assert (other.status, other.body["code"]) == (500, "failed")
    assert PRIVATE not in str(other.body) + str(other.headers)
    assert [record.getMessage() for record in caplog.records] == [
        f"{name} failed: {type(error).__name__} in test_boundary.py, line {line}"
        for name, line in ((DECIDE, LINE), ("profile", LINE))
    ]
    assert all(record.exc_info is None for record in caplog.records)


LINE = failing.__code__.co_firstlineno + 4  # where it is raised


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (VaultError(PRIVATE, "free some space"), "failed"),
        (DaemonError(PRIVATE, "try again"), "failed"),
        (ReticentError(PRIVATE, "try again"), "failed"),
        (PolicyError("policy.toml", [Problem(1, "", PRIVATE, "mend it")]), "failed"),
        (LockedError("the vault is locked", "run: reticent unlock"), "locked"),
    ],
)
def test_a_decision_that_cannot_be_made_attaches_nothing(
    control: Running, error: ReticentError, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    """It is an answer all the same: the request goes on without."""
    failing(control, DECIDE, error)
    with caplog.at_level(logging.INFO, "reticent"):
        said = control.ask("POST", "/v1/decide", ASK)
    assert (said.status, said.body) == (200, {**FAILED, "code": code})
    assert PRIVATE not in caplog.text


def test_a_request_that_names_nothing_is_told_so(control: Running) -> None:
    """What its sender can mend, its sender must see."""
    failing(control, DECIDE, UsageError("this is no host", "name a domain"))
    said = control.ask("POST", "/v1/decide", ASK)
    assert (said.status, said.body["code"], said.body["what"]) == (400, "usage", "this is no host")


def test_an_answer_that_cannot_be_written_is_a_defect_too(control: Running) -> None:
    """Half a surrogate is no text; nothing is sent of it."""
    control.api.instead[DECIDE] = lambda *_, **__: {"header": "\ud800"}
    assert control.ask("POST", "/v1/decide", ASK).body == FAILED


def test_a_failure_leaves_the_connection_usable(control: Running) -> None:
    """The next request over it is answered; a Host of any name means nothing on a Unix socket."""
    failing(control, "profile", ValueError(PRIVATE))
    get = b"GET /v1/profile HTTP/1.1\r\nHost: anything.example\r\n\r\n"
    last = b"GET /v1/policy HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    answers = control.raw(get + last)
    assert answers.count(b"HTTP/1.1 500") == answers.count(b"HTTP/1.1 200") == 1


@pytest.mark.parametrize("set_before", [[], ["SSL_CERT_FILE"], ["SSL_CERT_FILE", "SSL_CERT_DIR"]])
def test_the_environment_is_as_before(
    set_before: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether somebody had set it or not, and whatever happens in between."""
    for name in NOWHERE:
        monkeypatch.delenv(name, raising=False)
    for name in set_before:
        monkeypatch.setenv(name, "/their/own")
    before = dict(os.environ)
    with without_certificates():
        assert [os.environ[name] for name in NOWHERE] == [os.devnull] * 2
    assert dict(os.environ) == before
    with pytest.raises(ZeroDivisionError), without_certificates():
        raise ZeroDivisionError
    assert dict(os.environ) == before


def test_nobody_else_imports_it() -> None:
    """Whoever did it first would pay for the certificates, which the proxy needs."""
    found = re.compile(r"^\s*(import|from) aiohttp\b", re.MULTILINE)
    ours = [path for path in sources(".py") if path.is_relative_to(ROOT / "agent")]
    names = {str(path.relative_to(ROOT)) for path in ours if found.search(path.read_text())}
    assert names == {"agent/daemon/boundary.py", "agent/assistants/proxy.py"}
