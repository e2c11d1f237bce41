"""What recipients remember of one person, whose values stay the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.decision.knowledge import Told, knowledge_of
from agent.tradeoff.sets import union

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from agent.decision.request import Knowledge
    from agent.lab.attack.deciding import Question

GROUP = "@recipients"


def hosts_of(recipients: int) -> tuple[str, ...]:
    """Return the names of so many recipients, each of a site of its own."""
    return tuple(f"recipient{number}.example" for number in range(1, recipients + 1))


class Memory:
    """What several recipients were told by one person.

    As the agent sees it, and as it is: recipients who pool without its knowing are none here.
    """

    def __init__(self, names: Sequence[str], codes: Sequence[int], *, grouped: bool) -> None:
        """Take the person attributes and their codes; ``grouped``: whether all of them pool."""
        self._names, self._codes, self._grouped = names, codes, grouped
        self._events: dict[str, list[Told]] = {}
        self._held: dict[str, int] = {}

    def held(self, host: str) -> int:
        """Return the person attributes that a host was told, as a mask."""
        return self._held.get(host, 0)

    def knowledge(self, host: str, now: datetime) -> Knowledge:
        """Return what the agent takes a host to hold."""
        pool = self._pool(host)
        return knowledge_of(self._events.get(pool, ()), pool, self._pool, now)

    def tell(self, question: Question, order: Sequence[int], *, counted: bool) -> None:
        """Tell the recipient of a request these attributes of the model.

        Those of the request are not remembered. ``counted``: whether the agent counts what it was
        asked; only then the events of the fold are as many as the requests.
        """
        host, pool = question.host, self._pool(question.host)
        known = question.held.names
        lasting = [each for each in order if each < len(self._names)]
        new = sorted(
            (self._names[each], int(self._codes[each]))
            for each in lasting
            if self._names[each] not in known
        )
        if new or (counted and order):  # what is known already changes no fold but the counts
            query = question.query if counted else None
            told = Told(question.at, host, tuple(new), query)
            self._events.setdefault(pool, []).append(told)
        self._held[host] = self.held(host) | union(lasting)

    def _pool(self, host: str) -> str:
        return GROUP if self._grouped else host
