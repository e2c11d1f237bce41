"""Small models, people whom they have not seen, what these asked, and a small town."""

import csv
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import numpy as np

from agent.lab.attack.simulation import HeldOut, Person, Scene, Trace, chooser, walk
from agent.lab.attack.strategies import Strategy
from agent.lab.paper.subject import Subject, subject_of
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


def walker(strategy: Strategy, scene: Scene | None = None) -> Callable[[Person], Trace]:
    """Who walks in one strategy, and has walked for nobody yet."""
    scene = scene or Scene()
    return partial(walk, chooser(strategy, model(), scene), model(), scene)


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
    return subject_of(paper_model(seed), estimator)


def quiet(_what: str, _share: float) -> None:
    """Tell nobody how far it is."""


def write_town(folder: Path, people: int = TOWN) -> tuple[Path, Path]:
    """Write users and events of a town; returns where they are."""
    draw = np.random.default_rng(1)
    users, events = folder / "users.csv", folder / "events.csv"
    rows, asked = [], []
    for number in range(people):
        work = int(draw.integers(0, 2))
        age, hours = int(draw.integers(0, 4)), int(draw.integers(1, 4)) * work
        rest = draw.integers(0, 3, 3).tolist()
        weight = f"{draw.uniform(1, 9):.3f}"
        rows.append((f"u{number}", weight, age, ("no", "yes")[work], hours, *rest))
        for query in ("sport", "food"):
            wanted = age if draw.random() < 0.8 else int(draw.integers(0, 4))
            asked.append((f"u{number}", query, f"{query} {wanted}"))
    heads = (
        ("user", "weight", "age", "work", "hours", "home", "region", "pets"),
        ("user", "query", "intent"),
    )
    for path, head, lines in zip((users, events), heads, (rows, asked), strict=True):
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([head, *lines])
    return users, events
