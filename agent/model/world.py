"""One world: several models as one, which counts its people in one of them (DESIGN.md 2.8)."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from agent.model.attributes import SharedKind
from agent.model.model import Member, Model
from agent.model.tables import NO_ROWS, Singles, Tables
from agent.tradeoff.coverage import LEFT_OVER
from agent.tradeoff.tables import Kinds

LEAST_SHARE, MOST_SHARE = 1e-4, 0.5  # of people who hold a value, by rows of other people
UNITS = 1.0, 20.0  # judged bits that a bit of rows is worth, at the least and at the most


def world_of(models: Sequence[Model]) -> Model:
    """One model that knows what each of these does, at least one; of one that one.

    Its people are those of the first model that has kinds, or else of the one whose people are
    most. What another model knows of a person is an attribute of that one where they share its
    concept; else it counts by the shares of that model's own rows, at most one half, since these
    are other people. Its queries stand behind those of the models before. Source: DESIGN.md 2.8.
    """
    base = max(models, key=lambda each: (bool(each.kinds), each.people))
    every = [base, *(each for each in models if each is not base)]
    if len(every) == 1:
        return base
    persons, requests = [*base.attributes[: base.persons]], [*base.attributes[base.persons :]]
    kinds, habits = base.kinds, [*base.population.requests]
    for model in every[1:]:
        names = {(each.scope, each.concept): each.name for each in (*persons, *requests)}
        for at, each in enumerate(model.attributes):
            if (each.scope, each.concept) in names:
                continue
            clash = re.sub(r"[^a-z0-9]", "_", f"_{model.id.lower()}")
            name = each.name + clash * (each.name in names.values())
            new = replace(each, name=name, refines=None, implies={})
            if each.scope == "person":
                persons.append(replace(new, shared=name))
                kinds += (_kind(name, at, model),)
            else:
                requests.append(new)
                habits.append(_habits(at, model, base.population.rows))
    attributes, queries = (*persons, *requests), tuple(chain(*(each.queries for each in every)))
    place = {(each.scope, each.concept): at for at, each in enumerate(attributes)}
    members: tuple[Member, ...] = ()
    for model in every:
        places = tuple(place[each.scope, each.concept] for each in model.attributes)
        first = members[-1].first + len(members[-1].model.queries) if members else 0
        members += (Member(model, first, places, _unit(base, model) if members else 1.0),)
    tables = Tables(
        replace(base.population, requests=tuple(habits)),
        NO_ROWS,
        np.pad(base.tables.query_weights, (0, len(queries) - len(base.queries))),
        Singles(none := np.zeros((0, len(attributes))), none),
        judged=base.tables.judged,
    )
    return replace(
        base, attributes=attributes, queries=queries, tables=tables, kinds=kinds, members=members
    )


def _kind(name: str, source: int, model: Model) -> SharedKind:
    """The kind whose shares count an attribute: those of the model's own rows who say."""
    attribute, population = model.attributes[source], model.population
    if attribute.shared:
        people = np.array(next(e.shares for e in model.kinds if e.name == attribute.shared))
    else:
        people = np.bincount(population.columns[source], population.weights, len(attribute.values))[
            1:
        ]
    shares = np.clip(people / max(people.sum(), 1e-300), LEAST_SHARE, MOST_SHARE).tolist()
    about, values = (name, attribute.title, model.source, 1), attribute.values[1:]
    # Capped, they do not sum to 1, as where a person may hold several.
    return SharedKind(*about, several=True, values=values, shares=tuple(shares))


def _habits(source: int, model: Model, rows: int) -> Kinds:
    """How often anybody has each value of a request attribute: of these people nobody says more."""
    counts, of_row = model.population.requests[source - model.persons]
    whole = np.bincount(of_row, minlength=len(counts)) @ counts.astype(np.int64)
    return Kinds(whole[None].astype(np.uint32), np.zeros(rows, np.uint8))


def _unit(base: Model, model: Model) -> float:
    """Kappa: the bits of all that is judged to help a topic over those of all that helps a query.

    The latter are the largest utility that is stored. Source: DESIGN.md 2.11.
    """
    if base.tables.judged is None or model.tables.judged is not None:
        return 1.0
    topics = zip(base.queries, base.tables.judged.totals, strict=True)
    bits = float(np.mean([query.bits for query, total in topics if total > 0] or [0.0]))
    useful, near = model.tables.singles.utilities.max(axis=1), model.tables.near
    if near is not None:
        np.maximum.at(useful, near.queries, near.utilities.max(axis=1))
    return float(np.clip((1 - LEFT_OVER) * bits / max(float(useful.mean()), 1e-300), *UNITS))
