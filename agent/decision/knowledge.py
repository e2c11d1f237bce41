"""What a recipient holds, as a fold over what it was told. Pure."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from agent.decision.request import Knowledge
from policy.hosts import site_of

WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Told:
    """A host was told the codes of some person attributes; ``at`` has a time zone."""

    at: datetime
    host: str
    codes: tuple[tuple[str, int], ...]


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
    days before ``now`` counts as recent, forgotten or not.
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
    return Knowledge(tuple(sorted(codes.items())), recent)
