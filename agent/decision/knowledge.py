"""What a recipient holds, as a fold over what it was told. Pure."""

from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from agent.decision.request import Knowledge
from policy.hosts import site_of

WEEK = timedelta(days=7)
LATEST = 200  # requests of a site that count as heard; those before say little of what comes


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

    ``pool_of``: who remembers what a host is told. The latest value of an attribute counts, of
    what its hosts were told and was not forgotten since. What was new to the pool since seven
    days before ``now`` counts as recent, forgotten or not. Of each site it heard the queries of its
    LATEST events that were not forgotten.
    """
    standing: list[Told] = []
    codes: dict[str, int] = {}
    recent = 0
    for event in events:
        if isinstance(event, Forgotten):  # of whom it is said, whoever pools with whom by now
            standing = [each for each in standing if site_of(each.host) not in event.sites]
            codes = {name: code for each in standing for name, code in each.codes}
        elif pool_of(event.host) == pool:
            new = [name for name, code in event.codes if codes.get(name) != code]
            standing.append(event)
            codes.update(event.codes)
            if event.at > now - WEEK:  # also what a clock set back puts into the future
                recent += len(new)
    return Knowledge(tuple(sorted(codes.items())), recent, _heard(standing))


def _heard(standing: list[Told]) -> tuple[tuple[int, int], ...]:
    sites = {host: site_of(host) for host in {event.host for event in standing}}
    latest: dict[str, deque[int | None]] = {}
    for event in standing:
        latest.setdefault(sites[event.host], deque(maxlen=LATEST)).append(event.query)
    queries = (query for each in latest.values() for query in each if query is not None)
    return tuple(sorted(Counter(queries).items()))
