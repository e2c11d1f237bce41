"""How a daemon is that has nothing to say, for a test to change."""

from datetime import UTC, datetime

from agent.wire.state import PolicyStatus, Status

POLICY = PolicyStatus(path="/p", in_use=True, rules=1, loaded_at=None, problems=[])
OPEN = Status(
    version="1",
    process=1,
    started_at=datetime(2026, 3, 2, tzinfo=UTC),
    vault=True,
    locked=False,
    lock_after_minutes=15,
    policy=POLICY,
    models=[],
    waiting=0,
    entries=0,
    notes=[],
)
