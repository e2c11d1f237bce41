"""What was disclosed beside what another policy would have disclosed, as values. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum
from typing import NamedTuple

from agent.decision.past import Past

Shares = tuple[tuple[str, float], ...]  # attribute, in which share of the worlds, above 0 to 1
Counts = tuple[tuple[str, int], ...]  # attribute, in how many requests; the most frequent first


class Compared(NamedTuple):
    """A figure as it was, and as it would be: a mean over worlds."""

    was: float
    would_be: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """One request of the past under the policy that is tried.

    ``host``: its recipient; ``pool``: who remembers what that is told; ``matched_query``: the
    known query that was meant, None where there is none; ``bits``: the utility of what it carried;
    ``people_left``: who agree with all that the pool was ever told by then; ``would_ask``: what
    would have waited for the user, and so does not count as disclosed; ``expected``: whether a
    value had to be taken from people of the model.
    """

    past: Past
    host: str
    pool: str
    matched_query: str | None
    bits: Compared
    people_left: Compared
    newly_disclosed: Shares
    newly_withheld: Shares
    would_ask: Shares
    expected: bool

    @property
    def changed(self) -> bool:
        """Whether it would have carried something else, in any world."""
        return bool(self.newly_disclosed or self.newly_withheld)


class PoolEnd(NamedTuple):
    """A pool of recipients in the end: how many requests it had, and who agrees with its facts."""

    pool: str
    requests: int
    people_left: Compared


@dataclass(frozen=True, slots=True)
class Summary:
    """A whole history under the policy that is tried.

    ``bits``: means over the requests, None without one; ``asking``: requests with something that
    would have waited for the user; ``pools``: in the order in which they were first told.
    """

    requests: int
    changed: int
    asking: int
    bits: Compared | None
    pools: tuple[PoolEnd, ...]
    newly_disclosed: Counts
    newly_withheld: Counts
    expected: bool


def summary_of(outcomes: Sequence[Outcome]) -> Summary:
    """Return what the outcomes, in their order, come to."""
    ends = {each.pool: each.people_left for each in outcomes}
    requests = Counter(each.pool for each in outcomes)
    return Summary(
        requests=len(outcomes),
        changed=sum(each.changed for each in outcomes),
        asking=sum(bool(each.would_ask) for each in outcomes),
        bits=_mean_bits(outcomes) if outcomes else None,
        pools=tuple(PoolEnd(pool, requests[pool], left) for pool, left in ends.items()),
        newly_disclosed=_counted(each.newly_disclosed for each in outcomes),
        newly_withheld=_counted(each.newly_withheld for each in outcomes),
        expected=any(each.expected for each in outcomes),
    )


def mean(numbers: Sequence[float]) -> float:
    """Return the mean, which of equal numbers is exactly that number."""
    first = numbers[0]
    return first + fsum(number - first for number in numbers) / len(numbers)


def _mean_bits(outcomes: Sequence[Outcome]) -> Compared:
    was, would_be = zip(*(each.bits for each in outcomes), strict=True)
    return Compared(mean(was), mean(would_be))


def _counted(shares: Iterable[Shares]) -> Counts:
    counts = Counter(name for each in shares for name, _ in each)
    return tuple(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))
