"""What a recipient holds, as a fold over what it was told. Pure."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from agent.decision.request import Knowledge

WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Told:
    """A host was told the codes of some person attributes; ``at`` has a time zone."""

    at: datetime
    host: str
    codes: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Forgotten:
    """A host, and whoever it pools with, is taken to know nothing any more."""

    at: datetime
    host: str


def knowledge_of(
    events: Iterable[Told | Forgotten], pool: str, pool_of: Callable[[str], str], now: datetime
) -> Knowledge:
    """Return what a pool of recipients holds after these events, in the order they happened.

    ``pool_of``: who remembers what a host is told. The latest value of an attribute counts. What
    was new to the pool since seven days before ``now`` counts as recent, forgotten or not.
    """
    codes: dict[str, int] = {}
    recent = 0
    for event in events:
        if pool_of(event.host) != pool:
            continue
        if isinstance(event, Forgotten):
            codes.clear()
            continue
        new = [name for name, code in event.codes if codes.get(name) != code]
        codes.update(event.codes)
        if event.at > now - WEEK:  # also what a clock set back puts into the future
            recent += len(new)
    return Knowledge(tuple(sorted(codes.items())), recent)
