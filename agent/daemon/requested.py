"""The latest requests, whether or not they carried anything; never with a value."""

from collections.abc import Iterator
from heapq import merge
from typing import NamedTuple

from agent.daemon.agent import Agent
from agent.daemon.holdings import opened, sites_in
from agent.daemon.unrecorded import Silent
from agent.errors import UsageError
from agent.vault.disclosure_index import Forgetting, Numbered
from agent.wire.base import LATEST_ENTRIES
from agent.wire.records import Handled
from policy.hosts import host_of


class _Placed(NamedTuple):
    """A request by its place: after which entry of the ledger, and which request after that."""

    after: int
    beside: int
    handled: Handled


def requested(agent: Agent, recipient: str | None, limit: int | None) -> list[Handled]:
    """Return the latest requests in the order in which they came.

    ``recipient``: those of it and its pool, None for all. UsageError where it is neither a host
    nor a group, LockedError.
    """
    pool = None if recipient is None else agent.rules.in_force.pool(recipient)
    most = LATEST_ENTRIES if limit is None else limit
    wanted = None if pool is None else sites_in(agent, pool)
    recorded = opened(agent).ledger.read(0, most, wanted)
    placed = merge((_recorded(each, agent) for each in recorded), _silent(agent, pool))
    return [each.handled for each in placed][-most:]


def _recorded(numbered: Numbered, agent: Agent) -> _Placed:
    number, record = numbered
    pool = agent.rules.in_force.pool_of(record.host)
    if isinstance(record, Forgetting):
        kept = Handled(
            number=number, kind="forgotten", at=record.at, recipient=record.host, pool=pool
        )
        return _Placed(number, 0, kept)
    kept = Handled(
        number=number,
        kind="disclosed",
        at=record.at,
        recipient=record.host,
        pool=pool,
        query=record.query,
        asked=None if record.asked is None else [*record.asked],
        disclosed=[name for name, _ in record.disclosed],
        utility_bits=record.utility_bits,
        people_left=record.people_left,
        waiting=agent.unrecorded.waiting(number),
    )
    return _Placed(number, 0, kept)


def _silent(agent: Agent, pool: str | None) -> Iterator[_Placed]:
    """Yield the requests that carried nothing; what named no host went nowhere."""
    for each in agent.unrecorded:
        try:
            host = host_of(each.ask.recipient)
        except UsageError:  # without a policy nobody looks at it
            continue
        found = agent.rules.in_force.pool_of(host)
        if pool in (None, found):
            yield _Placed(each.after, -each.number, _of_silent(each, host, found))


def _of_silent(silent: Silent, host: str, pool: str) -> Handled:
    return Handled(
        number=silent.number,
        kind="nothing",
        at=silent.at,
        recipient=host,
        pool=pool,
        query=silent.ask.query,
        asked=silent.ask.asked,
        code=silent.code,
        waiting=silent.waiting,
    )
