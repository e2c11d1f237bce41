"""Decisions that may be asked for next, made in the pauses: the model remembers each it has made.

What a recipient was told changes all that it may be told next, and a person pauses between two
searches for longer than it takes to decide the next one, whichever it is.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Generator

MOST = 8  # recipients; who is noted again comes last, and who waits longest is left out
BREATH = 0.02  # seconds between two decisions, in which calls are answered

Thoughts = Generator[None, None, None]
_OVER = object()


class Ahead:
    """What there is to think about, by recipient; one step is one decision, and tells nobody."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, Thoughts] = OrderedDict()
        self._expected = asyncio.Event()

    def note(self, recipient: str, thoughts: Thoughts) -> None:
        """Think about a recipient from now on, in place of what there was to think of it."""
        self._waiting.pop(recipient, None)
        self._waiting[recipient] = thoughts
        if len(self._waiting) > MOST:
            self._waiting.popitem(last=False)
        self._expected.set()

    def clear(self) -> None:
        """Think about nothing more."""
        self._waiting.clear()

    def step(self) -> bool:
        """Take one step about the recipient that was noted last; return whether there was one."""
        if not self._waiting:
            return False
        recipient, thoughts = next(reversed(self._waiting.items()))
        if next(thoughts, _OVER) is _OVER:
            del self._waiting[recipient]
        return True

    async def think(self) -> None:
        """Take all steps that there will ever be, with time for calls in between."""
        while True:
            await self._expected.wait()
            await asyncio.sleep(BREATH)
            if not self.step():
                self._expected.clear()
