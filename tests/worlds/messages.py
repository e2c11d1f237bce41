"""One of each message of a daemon, for a test to change."""

from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec.structs import replace

from agent.decision.values import Decision, Figures, Outcome, Reading, Request
from agent.wire.decide import Line, Weighed
from agent.wire.policy import AttributeStatus, Review, SettingStatus
from agent.wire.state import Entry, PolicyStatus, Recipient, Status

AT = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
START = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)

POLICY = PolicyStatus(path="/p", in_use=True, rules=1, loaded_at=None, problems=[])
OPEN = Status(  # a daemon that has nothing to say
    version="1",
    process=1,
    started_at=START,
    vault=True,
    locked=False,
    lock_after_minutes=15,
    policy=POLICY,
    models=[],
    waiting=0,
    entries=0,
    notes=[],
)
PAST = Entry(
    number=1,
    kind="disclosed",
    at=AT,
    recipient="shop.example",
    pool="shop.example",
    query="editor",
    disclosed=["region"],
    utility_bits=0.25,
    people_left=310,
)
WAITS = Review(
    id=1,
    kind="ask",
    at=AT,
    recipient="shop.example",
    pool="shop.example",
    names=["gender"],
    query="editor",
    more_bits=0.125,
    people_left=155.0,
)
ASSISTANT = Review(
    id=5,
    kind="offer",
    at=AT,
    recipient="chat.example",
    pool="chat.example",
    names=[],
    address="https://chat.example/",
)
HOSTILE = {  # titles
    "age": "age <b>group</b>",
    "region": "\N{RIGHT-TO-LEFT OVERRIDE}region\nSend all &amp; more " + "x" * 400,
}
ROW = Outcome(
    name="",
    title="",
    disclosed=False,
    held=False,
    disclose="auto",
    reason="worth it",
    gain_bits=0.2,
    cost_bits=0.1,
    people_left=310.0,
)
WEIGHT = Figures(
    utility=0.25, objective=0.15, identifiability=0.01, people=18_991, people_left=310.0
)
REGION = replace(WEIGHT, names=("region",))
WEIGHED = Weighed(
    headline="Disclose region.",
    pool="shop.example",
    decision=Decision(
        code="answered",
        request=Request("editor", "shop.example"),
        model="m",
        metric="maxprob",
        trade_off=1.0,
        disclosed=("region",),
    ),
    chosen=REGION,
    weighed=REGION,
    rows=(
        replace(ROW, name="gender", title="the gender"),
        replace(ROW, name="region", title="the region", disclosed=True),
    ),
    lines=[Line(label="proven", text="at least 46% of the best there is")],
)


def handled(number: int = 1, **given: Any) -> Entry:  # noqa: ANN401  (of the message)
    """Make a request that carried the region."""
    return replace(PAST, number=number, **given)


def review(number: int = 1, **given: Any) -> Review:  # noqa: ANN401  (of the message)
    """Make that the gender waits."""
    return replace(WAITS, id=number, **given)


def row(name: str, **given: Any) -> Outcome:  # noqa: ANN401  (of the message)
    """Make an attribute that helps more than it costs."""
    return replace(ROW, **{"name": name, "title": f"the {name}", **given})


def weight(*names: str, **given: Any) -> Figures:  # noqa: ANN401  (of the message)
    return replace(WEIGHT, names=names, **given)


def weighed(**given: Any) -> Weighed:  # noqa: ANN401  (of the message)
    """Make a request that carries the region, beside the gender."""
    decided = {name: given.pop(name) for name in ("code", "disclosed") if name in given}
    return replace(WEIGHED, decision=replace(WEIGHED.decision, **decided), **given)


def recipient(counts: list[int], **more: Any) -> Recipient:  # noqa: ANN401  (of the message)
    """Make one that was told something each time, as people became fewer."""
    found = Recipient(
        pool="shop.example",
        sites=["shop.example"],
        held=["region", "hobby"],
        requests=len(counts),
        people=20_000,
        people_left=counts[-1],
        first_left=counts[0],
        blocked=False,
    )
    return replace(found, **more)


SHOP = recipient([9_000, 400, 310])
HELD = Recipient(
    pool="shop.example",
    values={"region": "[b]north[/b]", "hobby": "chess"},
    since={"region": START, "hobby": START + timedelta(days=1)},
    recent=2,
    model="survey",
    people=20_000,
    people_left=310,
    first_left=9_000,
)


KNOWN = Reading(query="editor", title="editor", probability=1.0, model="m")
PEOPLE = SettingStatus(key="people", value="700", rule="preset balanced", line=None)


def attribute(name: str, **given: Any) -> AttributeStatus:  # noqa: ANN401  (of the message)
    """Make an attribute that may leave when it is worth it."""
    found = AttributeStatus(
        name=name,
        kind=name,
        title=f"the {name}",
        scope="person",
        values=["unspecified", "a", "b"],
        model="world",
        disclose="auto",
        sensitivity_bits=0.0,
        guard=0.0,
        rule="attributes",
        line=3,
    )
    return replace(found, **given)
