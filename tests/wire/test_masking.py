"""What is private about a message is not in its repr, which ends up in logs and tracebacks."""

from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from agent.wire.base import Message
from agent.wire.client import Client
from agent.wire.decide import Answer, RelayAnswer
from agent.wire.records import Entry, Held, Profile, ProfileChange
from agent.wire.state import Unlock

AT = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
PRIVATE = "west_europe"
VALUES = {"region": PRIVATE}
ENTRY = Entry(
    number=1, kind="disclosed", at=AT, recipient="a.example", query=PRIVATE, disclosed=VALUES
)
HELD = Held(
    pool="a.example",
    values=VALUES,
    since={"region": AT},
    recent=1,
    model="m",
    people=9,
    people_left=4,
)


@pytest.mark.parametrize(
    "message",
    [
        Answer(code="answered", attributes=VALUES, header=f'region="{PRIVATE}"'),
        ENTRY,
        HELD,
        Profile(values={"so2017": VALUES}),
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


def test_a_client_shows_nothing_of_its_calls() -> None:
    """It is what a traceback shows first."""
    assert PRIVATE not in repr(Client(Path("/s")))
