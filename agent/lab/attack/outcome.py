"""What one way gave away and brought: a number per person after so many requests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agent.lab.attack.adversaries import guarded, left
from agent.lab.attack.realised import realised

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from agent.lab.attack.service import Service
    from agent.lab.attack.streams import Person
    from agent.lab.attack.walk import Trace

    Codes = NDArray[np.unsignedinteger]
    Floats = NDArray[np.float64]
    Counts = NDArray[np.intp]


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
