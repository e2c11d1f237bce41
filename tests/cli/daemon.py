"""What a daemon says, for commands to show, and a way to say something else."""

from datetime import UTC, datetime
from typing import Any

import msgspec

from agent.wire.base import Done
from agent.wire.decide import Allowed, Answer, Explained, Line, Reason, Summary
from agent.wire.policy import Review, Ruled, Undone
from agent.wire.records import (
    Changed,
    Entry,
    Handled,
    Held,
    Moment,
    Profile,
    Recipient,
    ValueChange,
)
from agent.wire.state import ModelStatus, PolicyStatus, Status

AT = datetime(2026, 3, 2, 9, 15, 30, tzinfo=UTC)
LONG = "a-rather-long-name-of-a-site-that-nobody-would-choose.but.somebody.has.example"
HOSTILE = "\x1b[2Jwiped\nline"  # what would steer a terminal

POLICY = PolicyStatus(path="/home/u/policy.toml", in_use=True, rules=4, loaded_at=AT, problems=[])
VILLAGE = ModelStatus(name="village", digest="00", shipped=True, attributes=4, queries=2)
STATUS = Status(
    version="0.1.0",
    process=4711,
    started_at=AT,
    vault=True,
    locked=False,
    lock_after_minutes=15,
    policy=POLICY,
    models=[VILLAGE],
    waiting=0,
    entries=12,
    notes=[],
)
LOCKED = msgspec.structs.replace(STATUS, locked=True, entries=None)
SUMMARY = Summary(
    headline="Disclose region: 0.412 bits better served, and about 20 of 60 people look like you.",
    pool="weather.example",
    model="village",
    utility_bits=0.412,
    people_left=20,
    waiting=0,
)
ANSWER = Answer(
    code="answered",
    attributes={"region": "coast"},
    header='region="coast"',
    id=13,
    summary=SUMMARY,
)


def reason(
    name: str, why: str, rule: str | None, bits: tuple[float | None, float | None]
) -> Reason:
    """Return what is said of a candidate; ``bits``: what it brings, and what it costs."""
    gain, cost = bits
    return Reason(
        name=name,
        disclosed=why == "chosen",
        reason=why,
        rule=rule,
        gain_bits=gain,
        cost_bits=cost,
    )


EXPLAINED = Explained(
    code="answered",
    headline=SUMMARY.headline,
    disclosed=["region"],
    pending=["hobby"],
    lines=[Line(label="proven", text="the best of all sets")],
    candidates=[
        reason("shoe_size", "costs more than it brings", "preset balanced", (0.1, 1.5)),
        reason("hobby", "waits for you", "ask first", (0.2, 0.1)),
        reason("region", "chosen", None, (0.5, 0.1)),
        reason("salary", "never", None, (None, None)),
    ],
)
REVIEW = Review(
    id=3,
    kind="ask",
    at=AT,
    recipient="www.weather.example",
    pool="weather.example",
    names=["hobby", "shoe_size"],
    query="weather",
    more_bits=0.1234,
    people_left=7.25,
)
OFFER = Review(
    id=4, kind="offer", at=AT, recipient="books.example", pool="books.example", names=["region"]
)
RULED = Ruled(written=None, without_effect=[])
UNDONE = Undone(
    what="Denied hobby for weather.example: undone. Data already sent cannot be recalled."
)
HELD = Held(
    pool="weather.example",
    values={"region": "coast", "hobby": "unspecified"},
    since={"region": AT, "hobby": AT},
    recent=1,
    model="village",
    people=60,
    people_left=20,
)
PROFILE = Profile(values={"village": {"region": "coast", "hobby": "yes"}, "town": {}})
CHANGED = Changed(changes=[ValueChange(model="village", name="region", was_set=True, is_set=True)])
ENTRIES = [
    Entry(
        number=1,
        kind="disclosed",
        at=AT,
        recipient="weather.example",
        query="weather",
        asked=["region", "hobby"],
        disclosed={"region": "coast", "hobby": "unspecified"},
        model="village",
        utility_bits=0.412,
        people_left=20,
    ),
    Entry(number=2, kind="forgotten", at=AT, recipient="weather.example"),
    Entry(
        number=3,
        kind="disclosed",
        at=AT,
        recipient="books.example",
        query="tide tables \u00fc\x1b[2J",
        model="village",
    ),
]

REQUESTS = [
    Handled(
        number=1,
        kind="disclosed",
        at=AT,
        recipient="www.weather.example",
        pool="weather.example",
        query="weather",
        asked=["region", "hobby"],
        disclosed=["region", "hobby"],
        utility_bits=0.412,
        people_left=20,
        waiting=1,
    ),
    Handled(
        number=-1,
        kind="nothing",
        at=AT,
        recipient="books.example",
        pool="books.example",
        query="tide tables",
        code="blocked",
    ),
    Handled(number=2, kind="forgotten", at=AT, recipient="weather.example", pool="weather.example"),
]
RECIPIENTS = [
    Recipient(
        pool="weather.example",
        sites=["weather.example"],
        held=["hobby", "region"],
        requests=1_204,
        last_at=AT,
        people=60,
        people_left=20,
        history=[Moment(at=AT, people_left=count) for count in (60, 24, 20)],
        blocked=False,
    ),
    Recipient(
        pool="@adverts",
        sites=["ads.example", "more.example"],
        held=[],
        requests=1,
        last_at=AT,
        people=60,
        people_left=60,
        history=[Moment(at=AT, people_left=60)],
        blocked=True,
    ),
]

ANSWERS: dict[str, Any] = {
    "attributes": [],  # so names stand for titles
    "status": STATUS,
    "unlock": STATUS,
    "lock": LOCKED,
    "decide": ANSWER,
    "explain": EXPLAINED,
    "reviews": [REVIEW, OFFER],
    "verdict": RULED,
    "policy": POLICY,
    "dismiss": Done(),
    "override": RULED,
    "undo": UNDONE,
    "refuse": Done(),
    "allow": Allowed(),
    "ledger": ENTRIES,
    "knowledge": HELD,
    "requests": REQUESTS,
    "recipients": RECIPIENTS,
    "forget": Done(),
    "profile": PROFILE,
    "change_profile": CHANGED,
    "models": [VILLAGE],
    "backup": Done(),
}


def changed(message: Any, **fields: Any) -> Any:  # noqa: ANN401 - any message
    """Return a message with some of its fields changed."""
    return msgspec.structs.replace(message, **fields)
