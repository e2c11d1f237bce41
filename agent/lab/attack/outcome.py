"""What adversaries make of a strategy, and what it brings, with intervals over the people."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import or_
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agent.lab.attack.heldout import Codes, Floats, Indexes, Person, received
from agent.lab.attack.simulation import PosedRequest, Reticent, Scene, Trace, requests_of
from agent.model.model import Model
from agent.tradeoff import members
from agent.tradeoff.study import UNSPECIFIED, plogp, union


class Learned(NamedTuple):
    """Bits learned of an attribute after each request; float64, shape (T,) each.

    ``true``: log2 of how much likelier its true value became; ``entropy``: how much entropy of it
    went, over all values.
    """

    true: Floats
    entropy: Floats


def left(trace: Trace, person: Person, people: Codes) -> Indexes:
    """Return how many people of a list agree with what is held after each request.

    ``people``: unsigned, shape (N, P), codes by person attribute; intp, shape (T,) comes back.
    """
    return np.array([len(rows) for rows in consistent(trace.held, person, people)], dtype=np.intp)


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


def knowing(trace: Trace, mask: int) -> Trace:
    """Return the trace for an adversary who knew these attributes of the person beforehand."""
    return trace._replace(held=tuple(held | mask for held in trace.held))


def pooled(trace: Trace) -> Trace:
    """Return the trace for an adversary with whom all recipients share what they hold."""
    return trace._replace(held=tuple(accumulate(trace.held, or_)))


def guarded(trace: Trace, person: Person, people: Codes, attribute: int) -> Learned | None:
    """Return what is learned of an attribute, from those of a list who have it specified.

    None for a person who has not.
    """
    own = person.codes[attribute]
    if own == UNSPECIFIED:
        return None
    said = people[people[:, attribute] != UNSPECIFIED]
    prior = np.bincount(said[:, attribute], minlength=own + 1) / len(said)
    found: list[tuple[float, float]] = []
    before = None
    for rows in consistent(trace.held, person, said):
        if rows is not before:
            before = rows
            after = np.bincount(said[rows, attribute], minlength=len(prior)) / len(rows)
            entropy = float(plogp(after).sum() - plogp(prior).sum())
            learned = float(np.log2(after[own] / prior[own])), entropy
        found.append(learned)
    return Learned(*np.array(found, dtype=np.float64).reshape(-1, 2).T)


class Remaining(NamedTuple):
    """The people of a list who are left after each request; intp, shape (T,), and bool.

    ``agreeing``: with all that was disclosed to any recipient; ``producing``: whose agent would
    have sent the whole transcript; ``same``: whether these are the same people.
    """

    agreeing: Indexes
    producing: Indexes
    same: NDArray[np.bool_]

    @property
    def bits(self) -> Floats:
        """What absence gives after each request, in bits: how many fewer people produce it."""
        found: Floats = np.log2(self.agreeing / self.producing)
        return found


class Reasoner:
    """Simulates the agent of everybody on a list, in one strategy that Reticent decides.

    Whoever is decided alike is decided once: those with the same of all that a decision takes.
    """

    def __init__(self, agent: Reticent, model: Model, scene: Scene, people: Codes) -> None:
        """Take the list: unsigned, shape (N, P), codes by person attribute."""
        self._agent, self._model, self._scene, self._people = agent, model, scene, people

    def inferred(self, person: Person) -> Remaining:
        """Return who is left of the list, after each request of a person who is on it."""
        # Whoever is not out yet was asked the same and has said the same: one memory is all theirs.
        producing, held = np.arange(len(self._people)), 0
        left, masks = [], []
        for question, chosen, _ in requests_of(
            self._agent.chosen, self._model, self._scene, person
        ):
            producing = self._those_who_say(chosen.order, question, person, producing)
            held |= union(each for each in chosen.order if each < self._model.persons)
            left.append(producing)
            masks.append(held)
        agreeing = list(consistent(masks, person, self._people))
        return Remaining(
            np.array([len(rows) for rows in agreeing], dtype=np.intp),
            np.array([len(rows) for rows in left], dtype=np.intp),
            np.array([np.array_equal(*both) for both in zip(agreeing, left, strict=True)]),
        )

    def _those_who_say(
        self, order: Sequence[int], question: PosedRequest, person: Person, among: Indexes
    ) -> Indexes:
        """Return who would send these attributes, in this order, with the person's values."""
        # Whoever would have sent other values need not be decided for.
        for each in order:
            if each < self._model.persons:
                among = among[self._people[among, each] == person.codes[each]]
        said = []
        for rows in self._decided_alike(question, among):
            first = int(rows[0])
            like = Person(first, tuple(self._people[first].tolist()), ())
            if self._agent.chosen(question, like).order == order:
                said.append(rows)
        return np.sort(np.concatenate([np.zeros(0, np.intp), *said]))

    def _decided_alike(self, question: PosedRequest, among: Indexes) -> list[Indexes]:
        """Return the rows in groups that share all that a decision takes."""
        if not len(among) or not self._agent.reads_person(question):
            return [among] if len(among) else []
        groups: dict[Hashable, list[int]] = {}
        for row in among.tolist():
            own = self._agent.own(question, self._people[row].tolist())
            groups.setdefault(own, []).append(row)
        return [np.array(rows, dtype=np.intp) for rows in groups.values()]


if TYPE_CHECKING:  # which needs the extra `lab`
    from agent.lab.attack.services import Service

Numbers = NDArray[np.number]

SURE = (0.025, 0.975)
DRAWS = 2000
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
    its place among the results; ``carried``: intp, how many attributes the request carried.
    """

    bits: Floats
    reciprocal: Floats
    carried: Indexes


def realised(service: Service, people: Sequence[Person], traces: Sequence[Trace]) -> Realised:
    """Return what the traces of people brought them.

    All have as many requests. Of equal results the first in the model stands first.
    """
    requests = [(person, asked) for person in people for asked in person.requests]
    codes = np.array([(*person.codes, *asked.request) for person, asked in requests], np.uint8)
    query = np.array([asked.query for _, asked in requests], np.intp)
    intent = np.array([asked.intent for _, asked in requests], np.intp)
    masks = [mask for trace in traces for mask in trace.sent]
    said = received(codes, masks)
    bits, reciprocal = np.zeros(len(query)), np.zeros(len(query))
    for each in np.unique(query).tolist():
        places = np.flatnonzero(query == each)
        different, which = np.unique(said[places], axis=0, return_inverse=True)
        scores = service.scores(each, different)
        order = np.argsort(-(scores + np.log2(service.prior(each))), axis=1, kind="stable")
        wanted = which.reshape(-1), intent[places]
        bits[places] = scores[wanted]
        reciprocal[places] = 1 / (np.argsort(order, axis=1) + 1)[wanted]
    carried = np.array([mask.bit_count() for mask in masks], dtype=np.intp)
    shape = (len(people), -1)
    return Realised(bits.reshape(shape), reciprocal.reshape(shape), carried.reshape(shape))


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
class StrategyOutcome:
    """What came of one strategy, shape (people, steps) each.

    ``left``: intp, how many people of the list agree with what is held after a step; float64, mean
    over the requests until then: ``bits`` and ``reciprocal`` of `Realised`, and attributes
    ``carried``. ``learned``: bits towards the true value of what is guarded, the mean over what a
    person has specified, nan where that is nothing; ``entropy``: entropy of it that went.
    ``seconds``: the mean of a decision, nan where none was made.
    """

    left: Indexes
    bits: Floats
    reciprocal: Floats
    carried: Floats
    learned: Floats
    entropy: Floats
    seconds: float

    @property
    def success(self) -> Floats:
        """The chance that a single guess at a person is right, float64, as the others."""
        return 1 / self.left


def outcome(crowd: Crowd, traces: Sequence[Trace], service: Service) -> StrategyOutcome:
    """Return what came of the traces of the crowd's people."""
    brought, places = realised(service, crowd.people, traces), np.array(crowd.steps) - 1
    until = [np.cumsum(each, axis=1, dtype=np.float64)[:, places] for each in brought]
    bits, reciprocal, carried = (each / crowd.steps for each in until)
    table = np.full((2, len(traces), len(crowd.steps)), np.nan)
    for number, (trace, person) in enumerate(_ends(crowd, traces)):
        each = [guarded(trace, person, crowd.codes, attribute) for attribute in crowd.guarded]
        found = [learned for learned in each if learned is not None]
        if found:
            table[:, number] = np.mean(found, axis=0)
    taken = np.concatenate([each.seconds for each in traces])
    seconds = float(taken[taken > 0].mean()) if taken.any() else float("nan")
    learned, entropy = table
    return StrategyOutcome(
        left_of(crowd, traces), bits, reciprocal, carried, learned, entropy, seconds
    )


def left_of(crowd: Crowd, traces: Sequence[Trace]) -> Indexes:
    """Return how many people agree with what is held, intp, shape (people, steps)."""
    return np.array([left(trace, person, crowd.codes) for trace, person in _ends(crowd, traces)])


def _ends(crowd: Crowd, traces: Sequence[Trace]) -> list[tuple[Trace, Person]]:
    """Return each trace as it stands after each step, and whose it is."""
    ends = [
        each._replace(held=tuple(each.held[step - 1] for step in crowd.steps)) for each in traces
    ]
    return [*zip(ends, crowd.people, strict=True)]


@dataclass(frozen=True, slots=True)
class StrategyFigures:
    """What one strategy gave away and brought.

    ``success``: of a single guess; ``left``: the QUANTILES over people of how many people are
    left; ``enough``: the share of people with at least ENOUGH left; ``bits``, ``reciprocal`` and
    ``carried``: the means of a request until then; ``learned``, ``entropy``: bits about what is
    guarded, None where nobody has it.
    """

    success: Interval
    left: tuple[int, ...]
    enough: Interval
    bits: Interval
    reciprocal: Interval
    carried: float
    learned: Interval | None
    entropy: Interval | None


def figures(found: StrategyOutcome, step: int, resamples: Resamples) -> StrategyFigures:
    """Return the figures after a step, by its place among the steps."""
    left = found.left[:, step]
    return StrategyFigures(
        success=resamples.mean(found.success[:, step]),
        left=tuple(int(quantile(left, each)) for each in QUANTILES),
        enough=resamples.mean((left >= ENOUGH).astype(np.float64)),
        bits=resamples.mean(found.bits[:, step]),
        reciprocal=resamples.mean(found.reciprocal[:, step]),
        carried=float(found.carried[:, step].mean()),
        learned=_of_those_who_have(found.learned[:, step], resamples),
        entropy=_of_those_who_have(found.entropy[:, step], resamples),
    )


def _of_those_who_have(values: Floats, resamples: Resamples) -> Interval | None:
    have = ~np.isnan(values)
    return resamples.ratio(np.where(have, values, 0.0), have.astype(np.float64))
