"""What one way gives away and brings, with intervals over the people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agent.lab.attack.adversaries import guarded, left
from agent.lab.attack.heldout import Person
from agent.lab.attack.services import Heard, Service, heard
from agent.lab.attack.simulation import Trace

Floats = NDArray[np.float64]
Numbers = NDArray[np.number]
Counts = NDArray[np.intp]
Codes = NDArray[np.unsignedinteger]


SURE = (0.025, 0.975)
DRAWS = 2000
ROUNDING = 1e-9  # a share of a number of people is a whole number but for this
QUANTILES = (0.01, 0.05, 0.5)
ENOUGH = 50  # people left


class Interval(NamedTuple):
    """A figure over people, and between what it lies in 95 of 100 resamples of them."""

    mean: float
    low: float
    high: float


class Resamples:
    """The same resamples of people for all that is asked of them: what is compared is paired."""

    def __init__(self, people: int, seed: int) -> None:
        """Draw as many people as there are, with replacement, DRAWS times."""
        even = np.full(people, 1 / people)
        drawn = np.random.default_rng(seed).multinomial(people, even, DRAWS)
        self._drawn: Floats = drawn.astype(np.float64)

    def means(self, values: Numbers) -> Floats:
        """Return the mean over people in each resample, float64, shape (DRAWS, ...).

        ``values``: a line per person, shape (people, ...).
        """
        sums: Floats = np.tensordot(self._drawn, values.astype(np.float64), axes=1)
        return sums / len(values)

    def mean(self, values: Numbers) -> Interval:
        """Return the mean of one number per person, shape (people,)."""
        return between(float(values.mean()), self.means(values))

    def ratio(self, values: Numbers, whole: Numbers) -> Interval | None:
        """Return the ratio of two means; None where the second is not above 0 in a resample."""
        wholes = self.means(whole)
        if whole.mean() <= 0 or wholes.min() <= 0:
            return None
        return between(float(values.mean() / whole.mean()), self.means(values) / wholes)

    def quantile(self, values: Numbers, share: float) -> Interval:
        """Return the number that at most a share of the people, 0 to 1, stays below."""
        order = np.argsort(values, kind="stable")
        below = np.cumsum(self._drawn[:, order], axis=1)
        first = (below >= share * len(values) - ROUNDING).argmax(axis=1)
        return between(float(quantile(values, share)), values[order][first])


def quantile(values: Numbers, share: float) -> float:
    """Return the number that at most a share of the people stays below: one of the values."""
    return float(np.quantile(values, share, method="inverted_cdf"))


def between(mean: float, resampled: Numbers) -> Interval:
    """Return a figure with the ends of what resamples gave."""
    low, high = np.quantile(resampled, SURE)
    return Interval(mean, float(low), float(high))


class Realised(NamedTuple):
    """What each of T requests of N people brought, shape (N, T) each.

    ``bits``: float64, log2 P(x|.) - log2 p0(x) of what was wanted; ``reciprocal``: float64, 1 over
    its place among the results; ``told``: intp, how many attributes the request carried.
    """

    bits: Floats
    reciprocal: Floats
    told: Counts


def realised(service: Service, people: Sequence[Person], traces: Sequence[Trace]) -> Realised:
    """Return what the traces of people brought them.

    All have as many requests. Of equal results the first in the model stands first.
    """
    masks = [mask for trace in traces for mask in trace.sent]
    query, intent = (
        np.array([getattr(each, name) for person in people for each in person.requests], np.intp)
        for name in ("query", "intent")
    )
    bits, reciprocal = np.zeros(len(query)), np.zeros(len(query))
    for each in np.unique(query).tolist():
        places = np.flatnonzero(query == each)
        said = _said(people, places, [masks[place] for place in places.tolist()])
        bits[places], reciprocal[places] = _served(service, each, said, intent[places])
    told = np.array([mask.bit_count() for mask in masks], dtype=np.intp)
    shape = (len(people), -1)
    return Realised(bits.reshape(shape), reciprocal.reshape(shape), told.reshape(shape))


def _said(people: Sequence[Person], places: Counts, masks: Sequence[int]) -> Heard:
    """Return what is heard of these requests, numbered through from the first person's first."""
    of_each = len(people[0].requests)
    asking = [divmod(place, of_each) for place in places.tolist()]
    codes = [(*people[one].codes, *people[one].requests[number].request) for one, number in asking]
    return heard(np.array(codes, dtype=np.uint8), masks)


def _served(service: Service, query: int, said: Heard, intent: Counts) -> tuple[Floats, Floats]:
    """Return the bits and the reciprocal ranks of what was wanted with one query."""
    different, places = np.unique(said, axis=0, return_inverse=True)
    scores = service.scores(query, different)
    order = np.argsort(-(scores + np.log2(service.chances(query))), axis=1, kind="stable")
    ranks = np.argsort(order, axis=1) + 1
    wanted = places.reshape(-1), intent
    return scores[wanted], 1 / ranks[wanted]


@dataclass(frozen=True, slots=True, eq=False)
class Crowd:
    """Who is attacked, and among whom.

    ``people``: who send requests; ``codes``: unsigned, shape (N, P), of the list that the
    adversary has, themselves included; ``guarded``: attributes that it would like to learn;
    ``steps``: after how many requests it guesses.
    """

    people: tuple[Person, ...]
    codes: Codes
    guarded: tuple[int, ...]
    steps: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What came of one way, shape (people, steps) each.

    ``left``: intp, how many people of the list agree with what is held after a step; float64, mean
    over the requests until then: ``bits`` and ``reciprocal`` of `Realised`, and attributes
    ``told``. ``learned``: bits towards the true value of what is guarded, the mean over what a
    person has specified, nan where that is nothing; ``doubt``: entropy of it that went.
    ``seconds``: the mean of a decision, nan where none was made.
    """

    left: Counts
    bits: Floats
    reciprocal: Floats
    told: Floats
    learned: Floats
    doubt: Floats
    seconds: float

    @property
    def success(self) -> Floats:
        """The chance that a single guess at a person is right, float64, as the others."""
        return 1 / self.left


def outcome(crowd: Crowd, traces: Sequence[Trace], service: Service) -> Outcome:
    """Return what came of the traces of the crowd's people."""
    brought = realised(service, crowd.people, traces)
    places = np.array(crowd.steps) - 1
    learned, doubt = _learned(crowd, traces)
    return Outcome(
        left=left_of(crowd, traces),
        bits=_until(brought.bits)[:, places],
        reciprocal=_until(brought.reciprocal)[:, places],
        told=_until(brought.told)[:, places],
        learned=learned,
        doubt=doubt,
        seconds=_seconds(traces),
    )


def left_of(crowd: Crowd, traces: Sequence[Trace]) -> Counts:
    """Return how many people agree with what is held, intp, shape (people, steps)."""
    pairs = zip(traces, crowd.people, strict=True)
    return np.array([left(_at(crowd, trace), person, crowd.codes) for trace, person in pairs])


def _at(crowd: Crowd, trace: Trace) -> Trace:
    """Return the trace as it stands after each step."""
    return trace._replace(held=tuple(trace.held[each - 1] for each in crowd.steps))


def _learned(crowd: Crowd, traces: Sequence[Trace]) -> tuple[Floats, Floats]:
    """Return bits learned, and bits of doubt that went, each of shape (people, steps)."""
    table = np.full((2, len(traces), len(crowd.steps)), np.nan)
    for number, (trace, person) in enumerate(zip(traces, crowd.people, strict=True)):
        at = _at(crowd, trace)
        each = [guarded(at, person, crowd.codes, attribute) for attribute in crowd.guarded]
        found = [learned for learned in each if learned is not None]
        if found:
            table[:, number] = np.mean(found, axis=0)
    return table[0], table[1]


def _until(values: NDArray[np.number]) -> Floats:
    """Return the mean of the first 1, 2, 3, ... requests of each person."""
    sums = np.cumsum(values.astype(np.float64), axis=1)
    return sums / np.arange(1, values.shape[1] + 1)


def _seconds(traces: Sequence[Trace]) -> float:
    taken = np.concatenate([each.seconds for each in traces])
    made = taken[taken > 0]
    return float(made.mean()) if len(made) else float("nan")


@dataclass(frozen=True, slots=True)
class Figures:
    """What one way gave away and brought.

    ``success``: of a single guess; ``left``: the QUANTILES over people of how many people are
    left; ``enough``: the share of people with at least ENOUGH left; ``bits``, ``reciprocal`` and
    ``told``: the means of a request until then; ``learned``, ``doubt``: bits about what is
    guarded, None where nobody has it.
    """

    success: Interval
    left: tuple[int, ...]
    enough: Interval
    bits: Interval
    reciprocal: Interval
    told: float
    learned: Interval | None
    doubt: Interval | None


def figures(found: Outcome, step: int, resamples: Resamples) -> Figures:
    """Return the figures after a step, by its place among the steps."""
    left = found.left[:, step]
    return Figures(
        success=resamples.mean(found.success[:, step]),
        left=tuple(int(quantile(left, each)) for each in QUANTILES),
        enough=resamples.mean((left >= ENOUGH).astype(np.float64)),
        bits=resamples.mean(found.bits[:, step]),
        reciprocal=resamples.mean(found.reciprocal[:, step]),
        told=float(found.told[:, step].mean()),
        learned=_of_those_who_have(found.learned[:, step], resamples),
        doubt=_of_those_who_have(found.doubt[:, step], resamples),
    )


def _of_those_who_have(values: Floats, resamples: Resamples) -> Interval | None:
    have = ~np.isnan(values)
    return resamples.ratio(np.where(have, values, 0.0), have.astype(np.float64))
