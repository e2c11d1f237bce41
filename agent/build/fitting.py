"""Fitting a query: beta, the weight of its prior; prices; a trial by halves (DESIGN.md 2.1).

The best of many sets looks better than it is, the more so the fewer rows there are. So every
attribute has a price, in bits, that it has to bring on top of what it costs: as if LUCKY of the
rows, and FEW more, had each scored one standard deviation too high. Luck with attributes that tell
nothing falls as 1/rows, and so does the price. A small beta trusts small groups and pays more:
prices differ by beta, and the choice of beta counts them. Promises came true for people held out
at prices of 14, 18, 22, 24 and 27 lucky rows where there were 100, 200, 500, 1,000 and 3,000, much
the same on the developer survey, the time use survey and a synthetic log, and with 5 attributes as
with 42.

What takes long is shared out among processes, here and where figures are stored: `each_of`.
"""

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import chain
from multiprocessing import current_process, get_context, parent_process
from multiprocessing.connection import Connection
from threading import Thread
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from agent.build.canonical import Observed
from agent.build.observe import Observations, in_half_a
from agent.errors import BuildError, ReticentError
from agent.model.model import Figure
from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.counts import heldout_bits
from agent.tradeoff.grouping import row_columns
from agent.tradeoff.objective import DisclosureObjective, Settings
from agent.tradeoff.search import maximise
from agent.tradeoff.tables import Floats, Kinds, Population, QueryRows
from agent.tradeoff.utility import (
    MOST_PRICE,
    Estimator,
    LeaveOneUserOut,
    Priced,
    QueryUtility,
    query_utility,
)

MANY_ROWS = 1_000_000  # from here on, the halves are so large that one direction says enough
SHRINKAGES = (5.0, 10.0, 20.0, 50.0, 100.0, 200.0)
LUCKY, FEW = 25.0, 75.0  # rows
AHEAD = 6_000  # rows that take as long as what does not grow with a query's
MUCH, PROCESSES = 200_000, 4  # rows, AHEAD included, that are worth a second process; and the most
Advance = Callable[[float], None]
T = TypeVar("T")
R = TypeVar("R")
TRADE_OFF = 1.0  # lambda at which beta is chosen, and a model validated


class Fitted(NamedTuple):
    """A query at the ``shrinkage`` beta chosen for it, in rows.

    ``utility``: before prices; ``prices``: of the attributes, bits, None for ``plugin``;
    ``deviation``: the largest that scores have by an attribute, bits, 0 for ``plugin``;
    ``objective``: F, prices included, for a recipient that knows nothing, at TRADE_OFF with
    ``maxprob`` and everything else at its default; it remembers what it has evaluated.
    """

    shrinkage: float
    utility: QueryUtility
    prices: Floats | None
    deviation: float
    objective: DisclosureObjective

    def pairs(self, count: int) -> Floats:
        """U of each two attributes, in bits, float64; ``count``: of attributes."""
        some = (self.utility.extensions(1 << at, range(at + 1, count)) for at in range(count))
        return np.fromiter(chain.from_iterable(some), np.float64)


def fit(
    rows: QueryRows, people: AnonymitySet, estimator: Estimator, shrinkage: float | None
) -> Fitted:
    """Fit a query at a given shrinkage, in rows, or for None at the best of SHRINKAGES.

    The best has the largest F that greedy search finds; of equals, it is the largest.
    ``people``: the whole population. Source: DESIGN.md 2.1.
    """
    some = SHRINKAGES if shrinkage is None else (shrinkage,)
    first, size = query_utility(rows, people.cards, estimator, some[0]), len(rows.user)
    luck = first.deviations(some) if isinstance(first, LeaveOneUserOut) else [None] * len(some)
    every = zip(some, luck, strict=True)
    fitted = [_fitted(each, first.at(each), own, size, people) for each, own in every]
    if len(fitted) == 1:  # which needs no search
        return fitted[0]
    return max(reversed(fitted), key=lambda each: maximise(each.objective, "greedy").value)


def _fitted(
    shrinkage: float,
    utility: QueryUtility,
    deviations: Floats | None,
    rows: int,
    people: AnonymitySet,
) -> Fitted:
    prices, count = None, len(people.cards)
    if deviations is not None:
        prices = np.minimum(LUCKY / (rows + FEW) * deviations, MOST_PRICE)
    deviation = 0.0 if deviations is None else float(deviations.max())
    settings = Settings(
        candidates=(1 << count) - 1, sensitivity=(0.0,) * count, trade_off=TRADE_OFF
    )
    corrected = utility if prices is None else Priced(utility, prices)
    objective = DisclosureObjective(corrected, people, settings)
    return Fitted(shrinkage, utility, prices, deviation, objective)


class HalfTrial(NamedTuple):
    """The set chosen for one query on one half of the users, and its score on the other.

    ``predicted_bits``: its utility by the model of that half; ``heldout_bits``: for the other half;
    ``attributes``: how many it has; ``identifiability_cost``: I(A) - I(0).
    """

    predicted_bits: float
    heldout_bits: float
    attributes: float
    identifiability_cost: float


def mean(trials: Iterable[HalfTrial | None]) -> HalfTrial | None:
    """The plain mean of each figure over the trials, None where there is no trial."""
    tried = [trial for trial in trials if trial is not None]
    return HalfTrial(*np.mean(tried, axis=0).tolist()) if tried else None


def figures(trials: Sequence[HalfTrial | None]) -> dict[str, Figure]:
    """The figures that a model keeps about all of its queries."""
    average = mean(trials)
    if average is None:
        return {}
    tried = sum(trial is not None for trial in trials)
    return {"trade_off": TRADE_OFF, "queries": tried, **average._asdict()}


def validate(
    observations: Observations,
    key: bytes,
    estimator: Estimator,
    shrinkage: float | None,
    advance: Advance,
) -> tuple[HalfTrial | None, ...]:
    """Split the users in two by ``key``, build from one half and score it on the other.

    Returns the trial of each query, None where one of the halves says nothing about it. Below
    MANY_ROWS the halves then change places, and figures are means of both directions.
    ``shrinkage``: beta, or None to choose it on the half that is built from; ``advance`` is
    called with the share done. Trade-off 1, everything else at its default. Source: DESIGN.md 2.1.
    """
    half = in_half_a(observations.users, key)
    rows = [len(query.rows.user) for query in observations.queries]
    sides = (half, ~half) if sum(rows) < MANY_ROWS else (half,)
    trained = [(side, _people(observations, side)) for side in sides if side.any()]

    def tried(query: Observed) -> HalfTrial | None:
        return mean(_trial(query, *each, estimator, shrinkage) for each in trained)

    return tuple(each_of(observations.queries, tried, rows, advance))


def each_of(
    items: Sequence[T], work: Callable[[T], R], rows: Sequence[int], advance: Advance
) -> list[R]:
    """What work makes of each item, in their order; ``rows``, ``advance`` as in `in_parts`."""

    def some(part: Sequence[int], advance: Advance) -> dict[int, R]:
        return {at: work(items[at]) for at in passing(part, rows, advance)}

    found = dict(chain.from_iterable(each.items() for each in in_parts(some, rows, advance)))
    return [found[at] for at in range(len(items))]


def in_parts(
    work: Callable[[Sequence[int], Advance], R], rows: Sequence[int], advance: Advance
) -> list[R]:
    """What work makes of parts of some items, one part in each process, this one's first.

    ``work`` gets the positions of items, and what to call with the share of them that is done;
    ``rows``: of each item, with which its time grows: where they are few, there is one part.
    ``advance`` is called for the part of this process. What no process can be started for is done
    here. BuildError if one of them is killed, or raises anything but a ReticentError itself.
    """
    count, order = 1, np.argsort(np.negative(rows), kind="stable")
    # Elsewhere a fork is not safe, and a daemonic process may start no other.
    worth = sum(rows) + AHEAD * len(rows) >= MUCH and not current_process().daemon
    if sys.platform == "linux" and worth:
        count = min(len(os.sched_getaffinity(0)), PROCESSES, len(rows))
    first, *others = (sorted(order[lane::count].tolist()) for lane in range(count))
    with ExitStack() as stack:
        arriving = [stack.enter_context(_helper(partial(work, each))) for each in others]
        done = [work(first, advance)]
        for part, results in zip(others, arriving, strict=True):
            try:
                result = work(part, advance) if results is None else results.recv()
            except EOFError as error:
                hint = "close other programs, or build where there is more memory"
                raise BuildError("a process that did a part of the work ended", hint) from error
            if isinstance(result, ReticentError):
                raise result
            done.append(result)
        return done


@contextmanager
def _helper(work: Callable[[Advance], object]) -> Iterator[Connection | None]:
    """Start a copy of this process that works, and yield where its result will arrive.

    It ends with this process. None where it cannot be started.
    """
    fork = get_context("fork")

    def stay() -> None:
        if parent := parent_process():
            parent.join()
            os._exit(1)

    def copy() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever waits for it ends it
        gc.freeze()  # what it has from there, an engine for one, is not its to close
        Thread(target=stay, daemon=True).start()
        try:
            results.send(work(lambda _share: None))
        except ReticentError as error:
            results.send(error)

    try:
        arriving, results = fork.Pipe(duplex=False)
        process = fork.Process(target=copy, daemon=True)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
    except OSError:
        yield None
        return
    results.close()
    try:
        yield arriving
    finally:
        process.kill()
        process.join()


def passing(part: Sequence[int], rows: Sequence[int], advance: Advance) -> Iterator[int]:
    """Yield the positions of some items, and tell before each which share of the time has passed.

    It grows with the ``rows`` of each item, but that of the first: what it makes serves the others.
    """
    shares = np.array([0, *(AHEAD + rows[each] for each in part[1:])])
    passed = (np.cumsum(shares) - shares) / max(shares.sum(), 1)
    for at, share in zip(part, passed.tolist(), strict=True):
        advance(share)
        yield at
    advance(1.0)


def _people(observations: Observations, side: NDArray[np.bool_]) -> AnonymitySet:
    """The users of one side, who stand for as many people as all do."""
    population = observations.population
    counts = tuple(Kinds(each.counts, each.of_row[side]) for each in population.requests)
    weights = population.weights
    if weights is not None:
        weights = weights[side] * (weights.sum() / weights[side].sum())
    return AnonymitySet(Population(population.codes[side], weights, counts), observations.cards)


def _trial(
    query: Observed,
    side: NDArray[np.bool_],
    people: AnonymitySet,
    estimator: Estimator,
    shrinkage: float | None,
) -> HalfTrial | None:
    """Build from the users of one side, and score the set that LLS picks."""
    training = query.part(side)
    if training is None:
        return None
    fitted = fit(training.rows, people, estimator, shrinkage)
    objective = fitted.objective
    mask, rows = maximise(objective, "lls").mask, query.rows
    groups = row_columns(rows, people.cards).dense[mask].labels
    trained = side[query.people][rows.user]
    score = heldout_bits(rows.intent, trained, fitted.shrinkage, groups)
    if score is None:
        return None
    cost = objective.identifiability_cost(mask)
    return HalfTrial(objective.utility(mask), score, mask.bit_count(), cost)
