"""What there is to think about: by recipient, the latest first, and of no more than a few."""

import asyncio
from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.ahead import MOST, Ahead, Thoughts

recipients = st.integers(0, MOST + 2).map("r{}".format)


def thoughts(taken: list[str], name: str, steps: int) -> Thoughts:
    """Note each of so many steps."""
    for _ in range(steps):
        taken.append(name)
        yield


def ending(steps: Thoughts, over: asyncio.Event) -> Thoughts:
    """Say when the last step was taken."""
    yield from steps
    over.set()


@given(st.lists(st.tuples(recipients, st.integers(0, 3)), max_size=20))
def test_each_recipient_is_thought_about_once(noted: list[tuple[str, int]]) -> None:
    """As it was noted last, whoever was noted last being first."""
    queue, taken = Ahead(), list[str]()
    left: dict[str, int] = {}
    for name, steps in noted:
        queue.note(name, thoughts(taken, name, steps))
        left.pop(name, None)
        left[name] = steps
    while queue.step():
        pass
    kept = [*left.items()][-MOST:]
    assert taken == [name for name, steps in reversed(kept) for _ in range(steps)]


def test_nothing_is_left_once_it_is_cleared() -> None:
    """Also of what was begun."""
    queue, taken = Ahead(), list[str]()
    queue.note("a", thoughts(taken, "a", 2))
    assert queue.step()
    queue.clear()
    assert not queue.step()
    assert taken == ["a"]


def test_it_thinks_whenever_there_is_something() -> None:
    """Again too, after a time with nothing; never before who notes it has gone on."""
    taken: list[str] = []

    async def scene() -> None:
        queue = Ahead()
        thinking = asyncio.create_task(queue.think())
        for name in ("a", "b"):
            over = asyncio.Event()
            queue.note(name, ending(thoughts(taken, name, 2), over))
            await asyncio.sleep(0)
            assert name not in taken
            async with asyncio.timeout(60):
                await over.wait()
        thinking.cancel()
        with suppress(asyncio.CancelledError):
            await thinking

    asyncio.run(scene())
    assert taken == ["a", "a", "b", "b"]
