"""The lines of the tables: what a recipient is told, and how it ranks by that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agent.lab.attack import strategies
from agent.lab.attack.strategies import Strategy

Ranking = Literal["best", "plain"]


@dataclass(frozen=True, slots=True)
class Line:
    """What is told, and whether the service ranks by the best subset of it, or by all of it."""

    name: str
    strategy: Strategy
    ranking: Ranking = "best"


NOTHING = Line("nothing", strategies.NOTHING)
BEST = Line("all, best ranking", strategies.EVERYTHING)
PLAIN = Line("all, plain counts", strategies.EVERYTHING, "plain")
SHIPPED = tuple(Line(each.name, each) for each in strategies.SHIPPED)
