"""What exact search in place of local search gives away and brings, for some of the people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.lab.attack.intervals import Resamples
from agent.lab.attack.outcome import Crowd, Outcome, outcome
from agent.lab.attack.walk import Scene
from agent.lab.attack.ways import EXACT, SINGLE
from agent.lab.attack.workers import searches, traces

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent.lab.attack.searched import Compared
    from agent.lab.attack.service import Service
    from agent.lab.attack.ways import Way
    from agent.lab.attack.workers import Run
    from agent.model.model import Model


@dataclass(frozen=True, slots=True, eq=False)
class Exactly:
    """What came of SINGLE and of EXACT, for the same people.

    ``compared``: EXACT's requests, person by person; ``resamples``: of these people.
    """

    outcomes: Mapping[Way, Outcome]
    compared: tuple[Compared, ...]
    resamples: Resamples


def exactly(model: Model, crowd: Crowd, service: Service, run: Run, seed: int) -> Exactly:
    """Return what comes of a crowd's people; ``seed``: of their resamples."""
    # In this order: what a search is compared with is remembered, and would take no time after.
    sent = traces(model, Scene(), [SINGLE], crowd.people, run)
    found = searches(model, Scene(), EXACT, crowd.people, run)
    sent[EXACT] = [each.trace for each in found]
    return Exactly(
        outcomes={way: outcome(crowd, each, service) for way, each in sent.items()},
        compared=tuple(request for each in found for request in each.compared),
        resamples=Resamples(len(crowd.people), seed),
    )
