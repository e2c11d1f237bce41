"""The latest requests: how many in a minute, and those of which the ledger has nothing."""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Literal

from agent.wire.decide import Answer, Ask, Code

Asker = Literal["command", "user", "page", "program"]  # who asks, as the door says
MINUTE = timedelta(minutes=1)
RECORDED: Mapping[Asker, int] = MappingProxyType({"user": 120, "page": 600, "program": 600})
MOST_POOLS = 1000  # that are counted for pages; the one that was counted first goes
MOST_SILENT = 1_000  # requests
ROOM = 2**20  # characters of them in all


class Rates:
    """What was decided in the last minute; it belongs to one thread, and is forgotten at a lock."""

    def __init__(self) -> None:
        self._recorded: dict[Asker, deque[datetime]] = {}
        self._of_pages: dict[str, deque[datetime]] = {}

    def is_page_full(self, pool: str, most: int, now: datetime) -> bool:
        """Return whether pages have led to a pool so often; if not, this time is counted."""
        times = self._of_pages.setdefault(pool, deque())
        if _lately(times, now) >= most:
            return True
        times.append(now)
        if len(self._of_pages) > MOST_POOLS:
            del self._of_pages[next(iter(self._of_pages))]
        return False

    def is_full(self, by: Asker, now: datetime) -> bool:
        """Return whether as many requests of an asker are recorded as may be."""
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


@dataclass(frozen=True, slots=True, repr=False)
class Silent:
    """A request that carried nothing.

    ``number``: below 0, by which it is known; ``after``: the entry of the ledger that was the last
    one then, which says better than a clock what came before what; ``waiting``: how many
    attributes waited for the user.
    """

    number: int
    after: int
    at: datetime
    ask: Ask
    code: Code
    waiting: int

    def __repr__(self) -> str:
        return f"Silent(number={self.number}, at={self.at.isoformat()})"

    @property
    def size(self) -> int:
        """How many characters it takes."""
        return len(self.ask.query) + len(self.ask.recipient) + sum(map(len, self.ask.asked or ()))


class SilentRequests:
    """The latest requests that carried nothing, and how much waited where an entry says else.

    Numbers run from -1 downwards for as long as the daemon lives, so that none comes twice.
    """

    def __init__(self) -> None:
        self._silent: deque[Silent] = deque()
        self._size = 0
        self._number = 0
        self._waiting: dict[int, int] = {}

    def __iter__(self) -> Iterator[Silent]:
        """Yield the requests that carried nothing, in the order in which they came."""
        return iter(self._silent)

    def silent(self, ask: Ask, answer: Answer, after: int, at: datetime) -> int:
        """Remember a request that carried nothing, and return its number."""
        self._number -= 1
        made = Silent(self._number, after, at, ask, answer.code, _waiting(answer))
        self._silent.append(made)
        self._size += made.size
        while len(self._silent) > MOST_SILENT or self._size > ROOM:
            self._size -= self._silent.popleft().size
        return made.number

    def recorded(self, entry: int, answer: Answer) -> None:
        """Remember how much waits beside what an entry of the ledger says."""
        if waiting := _waiting(answer):
            self._waiting[entry] = waiting
            if len(self._waiting) > MOST_SILENT:
                del self._waiting[next(iter(self._waiting))]

    def waiting(self, entry: int) -> int:
        """Return how many attributes waited at an entry, 0 where that is not known any more."""
        return self._waiting.get(entry, 0)

    def clear(self) -> None:
        """Forget all but how many there were."""
        self._silent.clear()
        self._waiting.clear()
        self._size = 0


def _waiting(answer: Answer) -> int:
    return 0 if answer.summary is None else answer.summary.waiting
