"""What adversaries make of a strategy, and what it brings, with intervals over the people."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agent.lab.attack.simulation import Person, PosedRequest, Reticent, Trace, received, requests_of
from agent.model.model import Model
from agent.tradeoff import members
from agent.tradeoff.tables import Codes, Floats, Indexes

if TYPE_CHECKING:  # which needs the extra `lab`
    from agent.lab.attack.services import Service

Numbers = NDArray[np.number | np.bool_]

SURE = (0.025, 0.975)
DRAWS = 2000
QUANTILES = (0.01, 0.05, 0.5)
ENOUGH = 50  # people left


def people_left(trace: Trace, person: Person, people: Codes) -> Indexes:
    """Count the people of a list who agree with what is held after each request; intp, (T,).

    ``people``: unsigned, shape (N, P), codes by person attribute.
    """
    return np.array([*map(len, consistent(trace.disclosed, person, people))], dtype=np.intp)


def consistent(masks: Sequence[int], person: Person, people: Codes) -> Iterator[Indexes]:
    """Yield for each mask the rows of a list that agree with a person on it, ascending.

    The same array where it is the same mask as before.
    """
    rows, before = np.arange(len(people)), 0
    for mask in masks:
        if before & ~mask:
            rows, before = np.arange(len(people)), 0
        for each in members(mask & ~before):
            rows = rows[people[rows, each] == person.codes[each]]
        before = mask
        yield rows


class Remaining(NamedTuple):
    """The people of a list who are left after each request; intp, shape (T,), and bool.

    ``agreeing``: with all that was disclosed; ``producing``: whose agent would
    have sent the whole transcript; ``same``: whether these are the same people.
    """

    agreeing: Indexes
    producing: Indexes
    same: NDArray[np.bool_]

    @property
    def bits(self) -> Floats:
        """What absence gives after each request, in bits: how many fewer people produce it."""
        return np.asarray(np.log2(self.agreeing / self.producing))


class Reasoner:
    """Simulates the agent of everybody on a list, in one strategy that Reticent decides.

    Whoever is decided alike is decided once: those with the same of all that a decision takes.
    """

    def __init__(self, agent: Reticent, model: Model, people: Codes) -> None:
        """Take the list: unsigned, shape (N, P), codes by person attribute."""
        self._agent, self._model, self._people = agent, model, people

    def inferred(self, person: Person) -> Remaining:
        """Infer who is left of the list, after each request of a person who is on it."""
        # All remaining candidates share one history.
        producing, ended = np.arange(len(self._people)), set[int]()
        candidates, masks = [], []
        for question, chosen, disclosed in requests_of(self._agent.chosen, self._model, person):
            producing = self._those_who_say(chosen.order, question, person, producing, ended)
            candidates.append(producing)
            masks.append(disclosed)
        agreeing = list(consistent(masks, person, self._people))
        return Remaining(
            np.array([*map(len, agreeing)], dtype=np.intp),
            np.array([*map(len, candidates)], dtype=np.intp),
            np.array([np.array_equal(*both) for both in zip(agreeing, candidates, strict=True)]),
        )

    def _those_who_say(
        self,
        order: Sequence[int],
        question: PosedRequest,
        person: Person,
        among: Indexes,
        ended: set[int],
    ) -> Indexes:
        """Find who would send these attributes, in this order, with the person's values.

        ``ended``: of whom the recipient learns nothing new; whoever stands out now is added.
        """
        # Whoever would have sent other values need not be decided for.
        for each in order:
            if each < self._model.persons:
                among = among[self._people[among, each] == person.codes[each]]
        alike: dict[Hashable, list[int]] = {}
        if self._agent.reads_person(question):
            for row in among.tolist():
                own = self._agent.own(question, self._people[row].tolist())
                alike.setdefault((own, row in ended), []).append(row)
        elif len(among):
            alike[None] = among.tolist()
        who: list[int] = []
        for rows in alike.values():
            first = Person(rows[0], tuple(self._people[rows[0]].tolist()))
            posed = question._replace(stopped=rows[0] in ended)
            chosen = self._agent.chosen(posed, first)
            ended.update(rows if chosen.stops else ())
            if chosen.order == order:
                who += rows
        return np.array(sorted(who), dtype=np.intp)


class Interval(NamedTuple):
    """A figure over people, and between what it lies in 95 of 100 resamples of them."""

    mean: float
    low: float
    high: float


class Resamples:
    """The same resamples of people for every figure: what is compared is paired."""

    def __init__(self, people: int, seed: int) -> None:
        """Draw as many people as there are, with replacement, DRAWS times."""
        drawn = np.random.default_rng(seed).multinomial(people, np.full(people, 1 / people), DRAWS)
        self._drawn: Floats = drawn.astype(np.float64)

    def means(self, values: Numbers) -> Floats:
        """Compute the mean over people in each resample, float64, shape (DRAWS, ...).

        ``values``: a line per person, shape (people, ...).
        """
        sums: Floats = np.tensordot(self._drawn, values.astype(np.float64), axes=1)
        return sums / len(values)

    def mean(self, values: Numbers) -> Interval:
        """Compute the mean of one number per person, shape (people,)."""
        return between(float(values.mean()), self.means(values))

    def ratio(self, values: Numbers, whole: Numbers) -> Interval | None:
        """Compute the ratio of two means; None where a resample's second is not above 0."""
        wholes = self.means(whole)
        if whole.mean() <= 0 or wholes.min() <= 0:
            return None
        return between(float(values.mean() / whole.mean()), self.means(values) / wholes)


def quantile(values: Numbers, share: float) -> float:
    """Find the number that at most a share of the people stays below: one of the values."""
    return float(np.quantile(values, share, method="inverted_cdf"))


def between(mean: float, resampled: Numbers) -> Interval:
    """Pair a figure with the ends of what resamples gave."""
    low, high = np.quantile(resampled, SURE)
    return Interval(mean, float(low), float(high))


def realised(
    service: Service, people: Sequence[Person], traces: Sequence[Trace]
) -> tuple[Floats, Indexes]:
    """Score what each of T requests of N people brought: bits, and how many attributes it carried.

    Each has shape (N, T). Bits are log2 P(x|.) - log2 p0(x) of what was wanted.
    """
    requests = [(person, request) for person in people for request in person.requests]
    codes = np.array([(*person.codes, *request.request) for person, request in requests], np.uint8)
    query = np.array([request.query for _, request in requests], np.intp)
    intent = np.array([request.intent for _, request in requests], np.intp)
    masks = [mask for trace in traces for mask in trace.sent]
    heard, bits = received(codes, masks), np.zeros(len(query))
    for each in np.unique(query).tolist():
        places = np.flatnonzero(query == each)
        different, which = np.unique(heard[places], axis=0, return_inverse=True)
        bits[places] = service.scores(each, different)[which.reshape(-1), intent[places]]
    carried = np.array([mask.bit_count() for mask in masks], dtype=np.intp)
    return bits.reshape(len(people), -1), carried.reshape(len(people), -1)


@dataclass(frozen=True, slots=True, eq=False)
class Crowd:
    """Who is attacked, and among whom.

    ``people``: who send requests; ``codes``: unsigned, shape (N, P), of the list that the
    adversary has, themselves included; ``steps``: after how many requests it guesses.
    """

    people: tuple[Person, ...]
    codes: Codes
    steps: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class StrategyOutcome:
    """What came of one strategy, shape (people, steps) each.

    ``remaining``: intp, how many people of the list agree with what is held after a step; float64,
    mean over the requests until then: ``bits`` of `realised`, and attributes ``carried``.
    """

    remaining: Indexes
    bits: Floats
    carried: Floats

    @property
    def success(self) -> Floats:
        """The chance that a single guess at a person is right, float64, as the others."""
        return 1 / self.remaining


def outcome(crowd: Crowd, traces: Sequence[Trace], service: Service) -> StrategyOutcome:
    """Sum up the traces of the crowd's people."""
    places, pairs = np.array(crowd.steps) - 1, zip(traces, crowd.people, strict=True)
    remaining = np.array([people_left(*each, crowd.codes)[places] for each in pairs])
    bits, carried = (
        np.cumsum(each, axis=1, dtype=np.float64)[:, places] / crowd.steps
        for each in realised(service, crowd.people, traces)
    )
    return StrategyOutcome(remaining, bits, carried)


@dataclass(frozen=True, slots=True)
class StrategyFigures:
    """What one strategy gave away and brought.

    ``success``: of a single guess; ``remaining``: the QUANTILES over people of how many people are
    left; ``bits`` and ``carried``: the means of a request until then.
    """

    success: Interval
    remaining: tuple[int, ...]
    bits: Interval
    carried: float


def figures(result: StrategyOutcome, step: int, resamples: Resamples) -> StrategyFigures:
    """Compute the figures after a step, by its place among the steps."""
    return StrategyFigures(
        success=resamples.mean(result.success[:, step]),
        remaining=tuple(int(quantile(result.remaining[:, step], each)) for each in QUANTILES),
        bits=resamples.mean(result.bits[:, step]),
        carried=float(result.carried[:, step].mean()),
    )
