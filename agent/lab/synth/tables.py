"""A block of people as the three tables of a search log (agent/build/FORMAT_LOG.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from agent.build.log.schema import AGE_GROUPS, GENDERS, REGIONS, TABLES, TOPICS
from agent.lab.synth.addresses import COUNTRIES, NOWHERE
from agent.lab.synth.circles import OCCUPATIONS
from agent.lab.synth.marginals import PEOPLE
from agent.lab.synth.networks import SUFFIXES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.lab.synth.block import Block
    from agent.lab.synth.draws import Ints
    from agent.lab.synth.world import World

_TYPES = {"text": pa.string(), "time": pa.timestamp("us"), "seconds": pa.float64()}
SCHEMAS = {
    name: pa.schema([(each.name, _TYPES[each.kind]) for each in columns])
    for name, columns in TABLES.items()
}


def people_table(block: Block, number: int) -> pa.Table:
    """Return a row per person of block ``number``, counted from 1."""
    said = block.people
    columns = {
        "user": _users(np.arange(PEOPLE), number),
        "gender": _coded(said.says_gender, GENDERS),
        "age_group": _coded(said.says_age, AGE_GROUPS),
        "occupation": _coded(said.says_occupation, OCCUPATIONS),
        "region": _coded(said.says_region, REGIONS),
    }
    schema = SCHEMAS["people"]
    unknown = pa.nulls(PEOPLE, pa.string())
    return pa.table([columns.get(name, unknown) for name in schema.names], schema=schema)


def log_table(block: Block, number: int, of: World) -> pa.Table:
    """Return a row per page of block ``number``, in order of person and time."""
    row, moment = block.pages.row, block.moment
    asked = moment.times.asked[row] * 1_000_000
    city = moment.places.city
    country = np.where(city == NOWHERE, NOWHERE, city % len(COUNTRIES))
    columns = {
        "user": _users(block.queries.person[row], number),
        "asked": pa.array(asked, pa.timestamp("us")),
        "query": _coded(block.queries.text[row], of.texts),
        "time": pa.array(asked + block.pages.after * 1_000_000, pa.timestamp("us")),
        "host": _coded(block.pages.host, of.hosts),
        "dwell": pa.array(block.pages.dwell),
        "zip": _numbered(moment.places.zip[row], "zip {:04d}"),
        "city": _numbered(city[row], "city {:04d}"),
        "country": _coded(country[row], COUNTRIES),
        "tld": _coded(moment.suffixes[row], SUFFIXES),
    }
    schema = SCHEMAS["log"]
    return pa.table([columns[name] for name in schema.names], schema=schema)


def sites_table(of: World) -> pa.Table:
    """Return a row per host and topic of a world."""
    known = of.classified()
    second = np.flatnonzero(known & (of.second >= 0))
    host = np.concatenate([np.arange(len(of.hosts)), second])
    topic = np.concatenate([np.where(known, of.topic, -1), of.second[second]])
    return pa.table([_coded(host, of.hosts), _coded(topic, TOPICS)], schema=SCHEMAS["sites"])


def _users(person: Ints, number: int) -> pa.Array:
    return _numbered(person + (number - 1) * PEOPLE, "person {:07d}")


def _numbered(codes: Ints, form: str) -> pa.Array:
    """Return a name for each code, null for one below 0."""
    found, places = np.unique(codes[codes >= 0], return_inverse=True)
    all_places = np.full(len(codes), -1)
    all_places[codes >= 0] = places
    return _coded(all_places, [form.format(each) for each in found])


def _coded(codes: Ints, names: Sequence[str] | np.ndarray) -> pa.Array:
    """Return the name of each code, null for one below 0."""
    places = pa.array(codes, pa.int32(), mask=codes < 0)
    return pa.DictionaryArray.from_arrays(places, pa.array(names, pa.string())).cast(pa.string())
