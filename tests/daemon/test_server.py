"""The two doors as HTTP."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event as Flag
from typing import Any
from urllib.parse import quote

import msgspec
import pytest
from aiohttp.web import UrlDispatcher
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.server import Daemon, application
from agent.errors import LockedError
from agent.wire.base import LONGEST_HOST, Done
from agent.wire.routes import CONTROL, QUERY, ROUTES, Door, Route
from tests.daemon.fakes import ASK, FakeCalls, Running, behind
from tests.wire.messages import messages_of

DOORS: tuple[Door, ...] = (CONTROL, QUERY)
CALLED = [
    (door, route)
    for door in DOORS
    for route in ROUTES
    if door in route.doors and route.name not in {"events", "shutdown", "relay"}
]
SEGMENT = "a b/é%@"
QUOTED = "a%20b%2F%C3%A9%25%40"


@pytest.fixture(scope="module")
def doors() -> Iterator[dict[Door, Running]]:
    """Serve both doors."""
    with behind(CONTROL) as control, behind(QUERY) as query:
        yield {CONTROL: control, QUERY: query}


def registered(router: UrlDispatcher) -> set[tuple[str, str, str | None]]:
    """Return method, path and name of each call that there is."""
    found = {(each.method, each.resource, each.name) for each in router.routes()}
    return {(method, at.canonical, name) for method, at, name in found if at is not None}


@pytest.mark.parametrize("door", DOORS)
def test_a_door_has_exactly_its_calls(door: Door) -> None:
    """No more than the table says, and no fewer."""
    nothing: Any = FakeCalls()
    daemon = Daemon(nothing, nothing, nothing)
    wanted = {(each.method, each.path, each.name) for each in ROUTES if door in each.doors}
    assert registered(application(door, daemon).router) == wanted


@pytest.mark.parametrize(("door", "route"), CALLED, ids=lambda each: getattr(each, "name", each))
@given(data=st.data())
def test_a_call_reaches_the_method_of_its_name(
    doors: dict[Door, Running], door: Door, route: Route, data: st.DataObject
) -> None:
    """With its message first, if it takes one, and its parameters by name."""
    running = doors[door]
    message = None if route.takes is None else data.draw(messages_of(route.takes))
    values: dict[str, Any] = {
        each.name: data.draw(st.integers(each.least, each.most)) if each.kind is int else SEGMENT
        for each in route.parameters
        if each.where == "path" or data.draw(st.booleans())
    }
    path, mark = route.path, "?"
    for each in route.parameters:
        quoted = QUOTED if each.kind is str else str(values.get(each.name))
        if each.where == "path":
            path = path.replace(f"{{{each.name}}}", quoted)
        elif each.name in values:
            path, mark = f"{path}{mark}{each.name}={quoted}", "&"
    running.calls.made.clear()
    said = running.ask(
        route.method, path, None if message is None else msgspec.json.encode(message)
    )
    assert said.status == 200, said
    if route.name == "decide":
        values["by"] = "command" if door == CONTROL else "program"
    assert running.calls.made == [(route.name, () if message is None else (message,), values)]
    assert running.before[-1] == (door, route.name)


def test_every_answer_has_the_same_headers(doors: dict[Door, Running]) -> None:
    """Nothing is kept or guessed at, and nothing says what serves it."""
    for said in (
        doors[QUERY].ask("GET", "/v1/status"),
        doors[QUERY].ask("POST", "/v1/decide", ASK),
        doors[QUERY].ask("POST", "/v1/decide", {}),
        doors[QUERY].ask("GET", "/v1/nothing"),
        doors[QUERY].ask("PUT", "/v1/status"),
    ):
        assert said.headers["Content-Type"] == "application/json"
        assert said.headers["Cache-Control"] == "no-store"
        assert said.headers["X-Content-Type-Options"] == "nosniff"
        assert "Server" not in said.headers


def test_the_longest_host_arrives(doors: dict[Door, Running]) -> None:
    """Every byte of every character is three in a path."""
    host = "\U0001f600" * LONGEST_HOST
    said = doors[CONTROL].ask("GET", f"/v1/knowledge/{quote(host)}")
    assert said.status == 200
    assert doors[CONTROL].calls.made[-1] == ("knowledge", (), {"recipient": host})


def test_a_call_that_nobody_makes_is_told_apart() -> None:
    """Whatever it asks, so that the vault still locks itself."""
    with behind(CONTROL) as running:
        lines = [b"GET /v1/status HTTP/1.1", b"Host: x", b"Reticent-Unattended: ?1"]
        running.raw(b"\r\n".join([*lines, b"Connection: close", b"", b""]))
        assert running.before == [(CONTROL, "unattended")]


def test_shutdown_is_said_to_be_done_before_it_is() -> None:
    """The caller gets an answer."""
    with behind(CONTROL) as running:
        assert running.ask("POST", "/v1/shutdown").body == {"done": True}
        assert running.ended.is_set()


def test_an_empty_list_is_an_answer() -> None:
    """And nothing to say is that it was done."""
    with behind(CONTROL) as running:
        running.calls.instead |= {"reviews": list, "lock": lambda: None}
        assert running.ask("GET", "/v1/reviews").body == []
        assert running.ask("POST", "/v1/lock").body == {"done": True}


def test_what_a_call_raises_is_a_fault() -> None:
    """With its sentence and its hint."""

    def fails(*_: object) -> object:
        raise LockedError("the vault is locked", "run: reticent unlock")

    with behind(CONTROL) as running:
        running.calls.instead["profile"] = fails
        said = running.ask("GET", "/v1/profile")
    assert (said.status, said.body["code"]) == (423, "locked")
    assert (said.body["what"], said.body["hint"]) == ("the vault is locked", "run: reticent unlock")


def test_a_decision_is_made_while_a_slow_call_goes_on() -> None:
    """Opening the vault takes half a second; nobody's request waits for that."""
    begun, decided = Flag(), Flag()

    async def slow(*_: object) -> Done:
        begun.set()
        assert await asyncio.to_thread(decided.wait, 10)
        return Done()

    with behind(CONTROL) as running, ThreadPoolExecutor() as callers:
        running.calls.instead["unlock"] = slow
        unlocking = callers.submit(running.ask, "POST", "/v1/unlock", {"method": "keyring"})
        assert begun.wait(10)
        assert running.ask("POST", "/v1/decide", ASK).body["code"] == "answered"
        assert not unlocking.done()
        decided.set()
        assert unlocking.result(60).body == {"done": True}
