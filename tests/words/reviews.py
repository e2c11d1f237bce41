"""A review as hostile as its parts can be, and the titles of its attributes."""

from datetime import UTC, datetime

from agent.wire.policy import Review

TITLES = {
    "age": "age <b>group</b>",
    "region": "\N{RIGHT-TO-LEFT OVERRIDE}region\nSend all &amp; more " + "x" * 400,
}


ASSISTANT = Review(
    id=5,
    kind="offer",
    at=datetime(2026, 1, 1, tzinfo=UTC),
    recipient="chat.example",
    pool="chat.example",
    names=[],
    address="https://chat.example/",
)


def review(recipient: str = "shop.example", names: tuple[str, ...] = ("age", "region")) -> Review:
    """Return what waits for a recipient."""
    return Review(
        id=1,
        kind="ask",
        at=datetime(2026, 1, 1, tzinfo=UTC),
        recipient=recipient,
        pool=recipient,
        names=[*names],
        query="where to go",
        more_bits=0.5,
        people_left=1234.0,
    )
