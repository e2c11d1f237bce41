"""Who was told what over time: each recipient, or group of them, at a glance; no values."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby

from agent.daemon.agent import Agent
from agent.daemon.holdings import opened
from agent.daemon.pools import agreeing, blocked, counted_by, known_in
from agent.model.model import Model
from agent.vault.disclosure_index import DisclosureIndex, PoolOf
from agent.vault.timeline import Step
from agent.wire.records import Moment, Recipient

MOST = 48  # moments of one recipient


def recipients(agent: Agent, now: datetime) -> list[Recipient]:
    """Return everybody who was told anything, the one that was told last first; LockedError."""
    told: dict[str, list[Step]] = {}
    last: dict[str, int] = {}
    for step in opened(agent).ledger.timeline.steps:
        pool = agent.rules.in_force.pool_of(step.site)
        told.setdefault(pool, []).append(step)
        if step.people_left is not None:
            last[pool] = step.number
    latest = sorted(last, key=lambda pool: -last[pool])
    return [_recipient(agent, pool, told[pool], now) for pool in latest]


def thinned(moments: Sequence[Moment], most: int = MOST) -> list[Moment]:
    """Return so many moments at most: the first, the last, the extremes, and some between."""
    end = len(moments) - 1
    if end < most:
        return [*moments]
    places = sorted(range(end + 1), key=lambda place: moments[place].people_left)
    kept = {0, end, places[0], places[-1]}
    free = most - len(kept)
    kept |= {place * end // (free + 1) for place in range(1, free + 1)}
    return [moments[place] for place in sorted(kept)]


def _recipient(agent: Agent, pool: str, steps: Sequence[Step], now: datetime) -> Recipient:
    """Return what there is to see of a pool; ``steps``: of the ledger, all that are about it."""
    facts, pool_of = opened(agent).ledger.disclosures, agent.rules.in_force.pool_of
    model, found = counted_by(agent, pool, now), facts.pool(pool, pool_of)
    disclosed = [step for step in steps if step.people_left is not None]
    sites = sorted({step.site for step in disclosed})
    return Recipient(
        pool=pool,
        sites=sites,
        held=sorted(found.held),
        requests=len(disclosed),
        last_at=disclosed[-1].at,
        people=len(model.population.codes),
        people_left=agreeing(known_in(found, model, now), model),
        history=thinned([*_history(steps, pool, pool_of, facts, model)]),
        blocked=blocked(agent, sites, model, now),
    )


def _history(
    steps: Sequence[Step], pool: str, pool_of: PoolOf, facts: DisclosureIndex, model: Model
) -> Iterator[Moment]:
    """Yield each time from which on another number of people agreed with what a pool held."""
    linked: set[str] = set()
    before = None
    for number, of_entry in groupby(steps, key=lambda step: step.number):
        for step in of_entry:
            left = step.people_left
            (linked.discard if left is None else linked.add)(step.site)
        if left is None:  # the ledger has no number, and most have forgotten all
            held = facts.pool_before(number + 1 if linked else 0, pool, pool_of)
            left = agreeing(known_in(held, model, step.at), model)
        if left != before:
            yield Moment(at=step.at, people_left=left)
        before = left
