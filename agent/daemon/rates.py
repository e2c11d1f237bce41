"""How many requests are decided in a minute: those that pages lead to, and all that is recorded.

What a page leads to is capped for each recipient by the policy (`page_requests_per_minute`): none
spends what the user wants to spend. What the query door records is capped here: nobody fills the
ledger, each entry of which is read when the vault is unlocked. The user's own searches have places
of their own, and commands are not counted.
"""

from collections import deque
from collections.abc import Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Literal

Asker = Literal["command", "user", "page", "program"]  # who asks, as the door says

MINUTE = timedelta(minutes=1)
RECORDED: Mapping[Asker, int] = MappingProxyType({"user": 120, "page": 600, "program": 600})
MOST_POOLS = 1000  # that are counted for pages; the one that was counted first goes


class Rates:
    """What was decided in the last minute; it belongs to one thread, and is forgotten at a lock."""

    def __init__(self) -> None:
        self._recorded: dict[Asker, deque[datetime]] = {}
        self._of_pages: dict[str, deque[datetime]] = {}

    def is_page_full(self, pool: str, most: int, now: datetime) -> bool:
        """Say whether pages have led to a pool so often; if not, this time is counted."""
        times = self._of_pages.setdefault(pool, deque())
        if _lately(times, now) >= most:
            return True
        times.append(now)
        if len(self._of_pages) > MOST_POOLS:
            del self._of_pages[next(iter(self._of_pages))]
        return False

    def is_full(self, by: Asker, now: datetime) -> bool:
        """Say whether as many requests of an asker are recorded as may be."""
        return by in RECORDED and _lately(self._of(by), now) >= RECORDED[by]

    def record(self, by: Asker, now: datetime) -> None:
        """Count a request that is recorded."""
        if by in RECORDED:
            self._of(by).append(now)

    def clear(self) -> None:
        """Forget who was asked, and when."""
        self._recorded.clear()
        self._of_pages.clear()

    def _of(self, by: Asker) -> deque[datetime]:
        """Return when requests of an asker were recorded; pages and programs share their places."""
        return self._recorded.setdefault("program" if by == "page" else by, deque())


def _lately(times: deque[datetime], now: datetime) -> int:
    """Return how many times lie within a minute; a clock that is set back forgives nothing new."""
    while times and abs(now - times[0]) >= MINUTE:
        times.popleft()
    return len(times)
