"""The client calls over a socket of the same user, believes only what fits, and shows no values."""

import os
import socket
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import LockedError, UsageError
from agent.wire.base import MOST_BYTES, UNATTENDED, Done, Message, RecipientName
from agent.wire.client import NOBODY, Client, event_data, peer_uid
from agent.wire.decide import Answer, RelayAnswer
from agent.wire.routes import ROUTES
from agent.wire.state import Entry, Event, ProfileChange, ProfileFacts, Recipient, Unlock
from tests.vault.values import facts_of
from tests.wire.fake import FakeDaemon, saying, short_folder
from tests.wire.messages import messages_of

NOISE = st.lists(st.sampled_from([b": alive", b"event: lock", b"id: 7", b"retry", b"datum: x"]))
ORDINARY = [route for route in ROUTES if route.name != "events"]
AT = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)


def test_who_is_at_the_other_end() -> None:
    """The system says it, and of what is no Unix socket it says nothing."""
    here, there = socket.socketpair(socket.AF_UNIX)
    with here, there:
        assert peer_uid(here) == os.geteuid()
    assert peer_uid(here) == NOBODY
    with socket.socket(socket.AF_INET) as other:
        assert peer_uid(other) == NOBODY


@given(st.lists(st.tuples(NOISE, st.sampled_from([b"a", b"{:}", b"", b" b"]))))
def test_data_comes_out_as_it_was(given: list[tuple[list[bytes], bytes]]) -> None:
    """Whatever else an event has; one that is cut off is none."""
    lines = [line + b"\n" for noise, data in given for line in [*noise, b"data: " + data, b""]]
    assert [*event_data([*lines, b"data: half"])] == [data + b"\n" for _, data in given]


@given(st.data())
def test_each_call_arrives_and_its_answer_comes_back(data: st.DataObject) -> None:
    """By the name of the route, with every type of message; what is None is left out."""
    route = data.draw(st.sampled_from(ORDINARY))
    answer = data.draw(messages_of(route.gives))
    given = {
        name: data.draw(messages_of(kind) | (st.nothing() if name == "id" else st.none()))
        for name, kind in route.parameters.items()
    }
    sent = {name: value for name, value in given.items() if value is not None}
    body = None if route.takes is None else data.draw(messages_of(route.takes))

    def handler(**got: Any) -> Any:  # noqa: ANN401  (what a handler takes)
        assert got == ({**sent, "body": body} if body is not None else sent)
        return answer

    with (
        short_folder() as folder,
        FakeDaemon(folder / "s", {route.name: handler}, route.doors[0]) as fake,
        Client(folder / "s") as client,
    ):
        assert client.call(route.name, body, **given) == answer
        assert [name for name, _ in fake.calls] == [route.name]


@pytest.mark.parametrize("attended", [True, False])
def test_a_call_says_whether_somebody_makes_it(path: Path, *, attended: bool) -> None:
    """One that nobody makes does not keep the vault from locking itself."""
    answer = b'HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n{"done":true}'
    with saying(path, answer) as requests, Client(path, attended=attended) as client:
        assert client.call("shutdown") == Done()
    assert (f"{UNATTENDED}: ?1\r\n".encode() in requests[0]) is not attended


def test_a_fault_is_raised_as_its_error(path: Path) -> None:
    """With what the daemon said, also in place of events."""
    locked = Mock(side_effect=LockedError)
    handlers = {"profile": locked, "events": locked}
    with FakeDaemon(path, {**handlers, "shutdown": Done}), Client(path) as client:
        for call in (lambda: client.call("profile"), lambda: next(client.events())):
            with pytest.raises(LockedError, match="the vault is locked") as raised:
                call()
            assert raised.value.hint == "unlock it with `reticent unlock`"
        assert client.call("shutdown") == Done()


def test_a_daemon_that_was_started_again_is_found_again(path: Path) -> None:
    """The connection that it closed is not one to write to."""
    with Client(path) as client:
        for _ in range(2):
            with FakeDaemon(path, {"shutdown": Done}):
                assert client.call("shutdown") == Done()


def test_what_the_daemon_would_not_read_is_not_sent(path: Path) -> None:
    """It is said before anything goes out, whether or not a daemon runs."""
    body = ProfileChange(set={f"a{number}": "x" * 190 for number in range(400)})
    with Client(path) as client, pytest.raises(UsageError, match=f"at most {MOST_BYTES:,}"):
        client.call("change_profile", body)


@pytest.mark.parametrize("text", ["\udcff", "caf\udce9"])
def test_what_is_no_text_is_not_sent(path: Path, text: str) -> None:
    """As it comes from a terminal of another encoding; it is not repeated either."""
    with Client(path) as client:
        calls: list[Callable[[], Any]] = [
            lambda: client.call("recipients", recipient=text),
            lambda: client.call("ledger", recipient=text),
            lambda: client.call("forget", RecipientName(recipient=text)),
            lambda: client.call("change_profile", ProfileChange(set={"region": text})),
        ]
        for call in calls:
            with pytest.raises(UsageError, match="not text in UTF-8") as raised:
                call()
            assert text not in raised.value.what + raised.value.hint


def test_events_come_in_order_and_end_with_the_daemon(path: Path) -> None:
    """Beside other calls of the same client."""
    events = [Event(number=number, kind="lock", at=AT) for number in range(100)]
    handlers = {"events": lambda: iter(events), "profile": lambda: ProfileFacts(facts=[])}
    with FakeDaemon(path, handlers), Client(path) as client:
        got = []
        for event in client.events():
            got.append(event)
            assert client.call("profile") == ProfileFacts(facts=[])
        assert got == events


PRIVATE = "west_europe"
VALUES = {"region": PRIVATE}
ENTRY = Entry(number=1, kind="disclosed", at=AT, recipient="a", query=PRIVATE, values=VALUES)
HELD = Recipient(
    pool="a", values=VALUES, since={}, recent=1, model="m", people=9, people_left=4, first_left=9
)


@pytest.mark.parametrize(
    "message",
    [
        Answer(code="answered", attributes=VALUES, header=f'region="{PRIVATE}"'),
        ENTRY,
        HELD,
        ProfileFacts(facts=facts_of(**VALUES)),
        RelayAnswer(id=1, status=200, body=msgspec.Raw(PRIVATE.encode())),
        ProfileChange(set=VALUES),
        Unlock(method="passphrase", secret=PRIVATE),
    ],
    ids=lambda message: type(message).__name__,
)
def test_values_and_secrets_are_masked(message: Message) -> None:
    """Also within a list of messages, and in an error that holds one."""
    for shown in (repr(message), str([message]), repr(ValueError(message))):
        assert type(message).__name__ in shown
        assert PRIVATE not in shown
