"""The lines of the tables, and what many people's traces say of each, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from agent.lab.attack import strategies
from agent.lab.attack.outcome import Resamples, quantile
from agent.lab.attack.strategies import Strategy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from agent.lab.attack.outcome import Interval
    from examples.search_service.replay.served import Served

    Floats = NDArray[np.float64]

QUANTILES = (0.01, 0.05, 0.5)
KEPT, PEOPLE, SHARE = 0.6, 50, 0.95  # the target: of the gain, and people left for so many


Ranking = Literal["best", "plain"]


@dataclass(frozen=True, slots=True)
class Line:
    """What is told, and whether the service ranks by the best subset of it, or by all of it.

    ``returned``: how many results the user's machine then ranks by all that it knows, 0 for none.
    """

    name: str
    strategy: Strategy
    ranking: Ranking = "best"
    returned: int = 0


NOTHING = Line("nothing", strategies.NOTHING)
BEST = Line("all, best ranking", strategies.EVERYTHING)
PLAIN = Line("all, plain counts", strategies.EVERYTHING, "plain")
RERANKED = tuple(
    Line(f"nothing, {each} re-ranked", strategies.NOTHING, returned=each) for each in (10, 30, 100)
)
SHIPPED = tuple(Line(each.name, each) for each in strategies.SHIPPED)


@dataclass(frozen=True, slots=True)
class Figures:
    """What one line brings and costs.

    ``rank``: mean reciprocal rank of the chosen result; ``kept``: the share of the best ranking's
    gain over none, None where some resample has no such gain; ``told``: attributes a request;
    ``left``: for each population the QUANTILES over people of how many are left after the last
    request; ``many``: the share of people who have at least PEOPLE left in every population.
    """

    rank: Interval
    kept: Interval | None
    told: float
    left: tuple[tuple[int, ...], ...]
    many: Interval

    @property
    def reached(self) -> bool:
        """Whether the target is, by the means."""
        return self.kept is not None and self.kept.mean >= KEPT and self.many.mean >= SHARE

    @property
    def surely(self) -> bool:
        """Whether the target is, by the lower ends of the intervals."""
        return self.kept is not None and self.kept.low >= KEPT and self.many.low >= SHARE


@dataclass(frozen=True, slots=True)
class Compared:
    """Between which lines the gain lies that others keep a share of, and the seed of resampling."""

    nothing: Line
    best: Line
    seed: int


def figures(traces: Mapping[Line, Sequence[Served]], by: Compared) -> dict[Line, Figures]:
    """Compute the figures of each line; the traces are of the same people in the same order.

    People are resampled together for all lines, so that the intervals of shares are paired.
    """
    ranks = {line: _reciprocal(of) for line, of in traces.items()}
    resamples = Resamples(len(ranks[by.nothing]), by.seed)
    none, best = ranks[by.nothing], ranks[by.best]
    return {
        line: Figures(
            rank=resamples.mean(ranks[line]),
            kept=resamples.ratio(ranks[line] - none, best - none),
            told=float(np.mean([each.told.mean() for each in of])),
            left=_left(of),
            many=resamples.mean(_many(of)),
        )
        for line, of in traces.items()
    }


def _reciprocal(traces: Sequence[Served]) -> Floats:
    return np.array([(1 / each.ranks).mean() for each in traces])


def _many(traces: Sequence[Served]) -> Floats:
    return np.array([float(each.left[-1].min() >= PEOPLE) for each in traces])


def _left(traces: Sequence[Served]) -> tuple[tuple[int, ...], ...]:
    """Find for each population the numbers that at most such shares of the people stay below."""
    last = np.array([each.left[-1] for each in traces])
    return tuple(tuple(int(quantile(line, each)) for each in QUANTILES) for line in last.T)
