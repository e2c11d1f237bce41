"""What happened to recipients, as events, and what a pool of them holds after some."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from agent.decision.request import Holdings, Knowledge
from policy.hosts import site_of


@dataclass(frozen=True, slots=True)
class Told:
    """A host was told the codes of some person attributes; ``at`` has a time zone.

    ``query``: the query of the model that something was sent with, None for one that it lacks.
    """

    at: datetime
    host: str
    codes: tuple[tuple[str, int], ...]
    query: int | None = None


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What the recipients with these registered sites were told until then, they link no more."""

    at: datetime
    sites: frozenset[str]


def knowledge_of(
    events: Iterable[Told | Forgotten], pool: str, pool_of: Callable[[str], str], now: datetime
) -> Knowledge:
    """Return what a pool of recipients holds after these events, in the order they happened.

    ``pool_of``: who remembers what a host is told.
    """
    holdings: Holdings[int] = Holdings()
    for event in events:
        if isinstance(event, Forgotten):
            holdings.forget(event.sites)
        elif pool_of(event.host) == pool:
            holdings.tell(event.at, site_of(event.host), event.codes)
            holdings.ask(site_of(event.host), event.query)
    return holdings.knowledge(now)
