"""A made model: what helps is known, and so is who can be told apart."""

from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from agent.lab.paper.subject import Subject, subject_of
from agent.model.attributes import Attribute
from agent.model.model import Model, Query
from agent.model.tables import Singles, gather
from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.tables import Population, QueryRows
from agent.tradeoff.utility import Estimator

PEOPLE, QUERIES = 240, 2
CARDS = (3, 4, 3, 3, 5)
NAMES = ("gender", "region", "int_sql", "dev_web", "asked_before")


@cache
def made_model(seed: int) -> Model:
    """Return a model: intents lean on the first three attributes; the last is of the request."""
    draw = np.random.default_rng(seed)
    columns = [draw.integers(0, card, PEOPLE) for card in CARDS[:-1]]
    person = np.stack(columns, axis=1).astype(np.uint8)
    rows = [_rows(draw, person, query) for query in range(QUERIES)]
    counts = draw.integers(1, 9, (PEOPLE, CARDS[-1])).astype(np.uint32)
    singles = Singles(np.zeros((QUERIES, len(CARDS))), np.zeros((3, len(CARDS))))
    tables = gather(Population(person, None, (counts,)), rows, np.array([2.0, 1.0]), singles)
    made = Model(
        id="made",
        source="Synthetic: made for a test",
        licence="CC0-1.0",
        estimator="louo",
        attributes=tuple(
            Attribute(
                name,
                name,
                "request" if name == NAMES[-1] else "person",
                ("unspecified", *(f"v{each}" for each in range(1, card))),
            )
            for name, card in zip(NAMES, CARDS, strict=True)
        ),
        queries=tuple(
            Query(f"query {number}", ("a", "b", "c"), 5.0, len(each.user), PEOPLE, 1.5)
            for number, each in enumerate(rows)
        ),
        tables=tables,
    )
    return replace(made, tables=replace(tables, singles=_singles(made)))


@cache
def made_subject(seed: int, estimator: Estimator) -> Subject:
    """Return the model under an estimator."""
    return subject_of(made_model(seed), estimator)


def _rows(draw: np.random.Generator, person: NDArray[np.uint8], query: int) -> QueryRows:
    user = np.sort(np.concatenate([np.arange(PEOPLE), draw.integers(0, PEOPLE, PEOPLE)]))
    share = draw.random(len(user))
    lean = np.where(share < 0.5, person[user, query], person[user, 2]) % 3  # each helps alone
    luck = draw.random(len(user)) < 0.3
    intent = np.where(luck, draw.integers(0, 3, len(user)), lean).astype(np.intp)
    request = draw.integers(0, CARDS[-1], (len(user), 1)).astype(np.uint8)
    return QueryRows(user, intent, person, request, 3)


def _singles(model: Model) -> Singles:
    """Return the true values: a model promises that they are."""
    crowd = AnonymitySet(model.population, model.cards)
    sets = [1 << each for each in range(len(CARDS))]
    return Singles(
        np.array([[model.utility(q).value(each) for each in sets] for q in range(QUERIES)]),
        np.array(
            [
                [crowd.identifiability(each, metric, 1) for each in sets]
                for metric in ("maxprob", "log-maxprob", "entropy")
            ]
        ),
    )
