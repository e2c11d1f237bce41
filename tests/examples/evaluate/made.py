"""A small model, people it has not seen, and a service that notes what it is told."""

from collections.abc import Mapping
from datetime import timedelta
from functools import cache

import numpy as np

from agent.model.model import Model
from examples.search_service.ranking import Ranker, Ranking
from examples.search_service.replay.heldout import HeldOut
from examples.search_service.replay.walk import World
from examples.search_service.replay.workers import Scene
from tests.decision.made import made_model

PEOPLE = 80
HOUR = timedelta(hours=1)


@cache
def model() -> Model:
    """Return a model of 80 people with four attributes, and one of the request."""
    return made_model(1, PEOPLE)


@cache
def others() -> HeldOut:
    """Return 80 other people, and what they asked: no text, but the rows of another model."""
    other = made_model(2, PEOPLE)
    rows = [other.rows(query) for query in range(len(other.queries))]
    user = np.concatenate([each.user for each in rows])
    query = np.repeat(np.arange(len(rows)), [len(each.user) for each in rows])
    order = np.argsort(user, kind="stable")
    return HeldOut(
        codes=other.population.codes,
        starts=np.searchsorted(user[order], np.arange(PEOPLE + 1)),
        query=query[order],
        intent=np.concatenate([each.intent for each in rows])[order],
        request=np.concatenate([each.request for each in rows])[order],
        unranked=0,
    )


def names() -> tuple[str, ...]:
    """Return the names of all attributes."""
    return tuple(attribute.name for attribute in model().attributes)


def scene(asked: frozenset[str] | None = None) -> Scene:
    """Return a request an hour to a service that asks for these, by default for all."""
    return Scene(frozenset(names()) if asked is None else asked, others().codes, HOUR)


class Noting(Ranker):
    """Ranks, and notes which codes it was given."""

    def __init__(self, of: Model) -> None:
        super().__init__(of)
        self.given: list[Mapping[str, int]] = []

    def rank(self, query: int, codes: Mapping[str, int]) -> Ranking:
        """Note the codes and rank."""
        self.given.append(codes)
        return super().rank(query, codes)


def noted(asked: frozenset[str] | None = None) -> tuple[World, Noting]:
    """Return a world whose service notes what it is given."""
    noting = Noting(model())
    world = scene(asked).world(model())
    return World(
        model(), {"best": noting, "plain": noting}, world.asked, world.populations, HOUR
    ), noting
