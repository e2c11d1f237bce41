"""What the ledger does not have of the latest requests: in memory, until the vault is locked."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from agent.wire.decide import Answer, Ask, Code

MOST = 1_000  # requests
ROOM = 2**20  # characters of them in all


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


class Unrecorded:
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
        while len(self._silent) > MOST or self._size > ROOM:
            self._size -= self._silent.popleft().size
        return made.number

    def recorded(self, entry: int, answer: Answer) -> None:
        """Remember how much waits beside what an entry of the ledger says."""
        if waiting := _waiting(answer):
            self._waiting[entry] = waiting
            if len(self._waiting) > MOST:
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
