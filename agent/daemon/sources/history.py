"""What past requests say of one (paper, 5.2: AQRY, ACLK, AFRQ).

Queries are known by a digest of their words alone, so that each takes the same small space.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256

import msgspec

from agent.model.lookup import normalise

MOST = 10_000  # queries
WEEK = timedelta(days=7)
DAY = timedelta(days=1)
SIZE = 16  # bytes of a digest


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A history as it is kept: the queries, oldest first, each with whether one was visited."""

    first: datetime | None
    requests: int
    queries: tuple[tuple[bytes, bool], ...]


@dataclass(slots=True)
class History:
    """Past requests: ``queries`` by digest, with whether a result was visited, oldest first.

    ``first``: when the first was made; ``requests``: how many were. The one thing of its room
    that changes in place: it is long, and changes with every request.
    """

    first: datetime | None = None
    requests: int = 0
    queries: dict[bytes, bool] = field(default_factory=dict)

    def asked_before(self, query: str) -> bool:
        """Say whether the same query, but for case and white space, was asked before."""
        return digest(query) in self.queries

    def visited_before(self, query: str) -> bool:
        """Say whether a result of the same query was visited before."""
        return self.queries.get(digest(query), False)

    def daily(self, at: datetime) -> bool:
        """Say whether there was a request a day, on average over a week or more."""
        span = at - self.first if self.first else timedelta()
        return span >= WEEK and self.requests >= span / DAY

    def note(self, query: str | None, at: datetime) -> None:
        """Take note of a request, None where its query is not to be kept; the oldest may go."""
        self.first = self.first or at
        self.requests += 1
        if query is not None:
            own = digest(query)
            self.queries[own] = self.queries.pop(own, False)
            if len(self.queries) > MOST:
                del self.queries[next(iter(self.queries))]

    def visit(self, query: str) -> bool:
        """Take note that a result was visited; say whether that is new. Of no unknown query."""
        own = digest(query)
        new = self.queries.get(own) is False
        if new:
            self.queries[own] = True
        return new

    def record(self) -> bytes:
        """Return it as it is kept."""
        record = Record(self.first, self.requests, tuple(self.queries.items()))
        return msgspec.msgpack.encode(record)


def history_of(record: bytes | None) -> History:
    """Return a history that was kept; an empty one where there is none that can be read."""
    if record is None:
        return History()
    try:
        known = msgspec.msgpack.decode(record, type=Record)
    except msgspec.DecodeError:
        return History()
    return History(known.first, known.requests, dict(known.queries))


def digest(query: str) -> bytes:
    """Return what a query is known by, the same for all that a model takes for the same."""
    return sha256(normalise(query).encode("utf-8", "surrogatepass")).digest()[:SIZE]
