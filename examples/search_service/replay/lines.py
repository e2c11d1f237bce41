"""The lines of the tables: what a recipient is told, and how it ranks by that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agent.lab.attack import ways
from agent.lab.attack.ways import Way

Ranking = Literal["best", "plain"]


@dataclass(frozen=True, slots=True)
class Line:
    """What is told, and whether the service ranks by the best subset of it, or by all of it."""

    name: str
    way: Way
    ranking: Ranking = "best"


NOTHING = Line("nothing", ways.NOTHING)
BEST = Line("all, best ranking", ways.EVERYTHING)
PLAIN = Line("all, plain counts", ways.EVERYTHING, "plain")
SHIPPED = tuple(Line(way.name, way) for way in ways.SHIPPED)
