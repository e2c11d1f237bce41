"""Small models, people whom they have not seen, what these asked, and a small town."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import numpy as np

from agent.lab.attack.simulation import HeldOut, Person, Trace, chooser, walk
from agent.lab.attack.strategies import Strategy
from agent.lab.paper.subject import Subject
from agent.model.model import Model
from agent.tradeoff.utility import Estimator
from tests.decision.made import made_model

PEOPLE, TOWN = 80, 700
NAMES = ("gender", "region", "int_sql", "dev_web", "asked_before")


@cache
def model() -> Model:
    """A model of 80 people with four attributes, and one of the request."""
    return made_model(1, PEOPLE)


@cache
def others() -> HeldOut:
    """80 other people, and what they asked: no text, but the rows of another model."""
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
    return tuple(attribute.name for attribute in model().attributes)


def walker(
    strategy: Strategy, requested: frozenset[str] | None = None
) -> Callable[[Person], Trace]:
    """Who walks in one strategy, and has walked for nobody yet."""
    return partial(walk, chooser(strategy, model(), requested), model())


@cache
def paper_model(seed: int) -> Model:
    """A model whose attributes are named so that some are demographics, and some are topics."""
    found = made_model(seed, 240)
    pairs = zip(found.attributes, NAMES, strict=True)
    weighed = replace(found.tables, query_weights=np.array([2.0, 1.0]))
    named = tuple(replace(each, name=name) for each, name in pairs)
    return replace(found, attributes=named, tables=weighed)


@cache
def paper_subject(seed: int, estimator: Estimator) -> Subject:
    """The same model under an estimator."""
    return Subject.of(paper_model(seed), estimator)


def quiet(_what: str, _share: float) -> None:
    """Tell nobody how far it is."""


def write_town(folder: Path, people: int = TOWN) -> tuple[Path, Path]:
    """Write users and events of a town; returns where they are."""
    users, events = folder / "users.csv", folder / "events.csv"
    rows = [f"u{each},{each % 9 + 1},{each % 4},{each % 3}" for each in range(people)]
    users.write_text("\n".join(("user,weight,age,region", *rows)))
    wanted = [(query, each) for each in range(people) for query in ("sport", "food")]
    rows = [f"u{each},{query},{query} {each % 4}" for query, each in wanted]
    events.write_text("\n".join(("user,query,intent", *rows)))
    return users, events
