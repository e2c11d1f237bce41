"""A synthetic search log: blocks of people, their tables and files, and its shares counted."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from inspect import cleandoc
from pathlib import Path
from typing import NamedTuple

import ibis
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from agent import __version__
from agent.build.log import open_log, source_of
from agent.build.log_schema import AGE_GROUPS, GENDERS, REGIONS, TABLES, TOPICS
from agent.build.options import LogFiles
from agent.build.tables import QUERY, USER
from agent.errors import UsageError, reason
from agent.files import replace_bytes, unfinished
from agent.lab import Progress, synth
from agent.lab.synth.queries import (
    COUNTRIES,
    NOWHERE,
    SUFFIXES,
    Pages,
    QueryMoments,
    SyntheticQueries,
    moments,
    pages,
    queries,
    targets,
)
from agent.lab.synth.world import (
    MARGINALS,
    OCCUPATIONS,
    PEOPLE,
    QUERIES,
    SOURCE,
    Ints,
    Marginal,
    SyntheticPeople,
    SyntheticWorld,
    people,
    world,
)

_WORLD = 0  # the key of its rng; blocks count from 1
_TYPES = {"text": pa.string(), "time": pa.timestamp("us"), "seconds": pa.float64()}
SCHEMAS = {
    name: pa.schema([(each.name, _TYPES[each.kind]) for each in columns])
    for name, columns in TABLES.items()
}


_SOURCE = """# Synthetic

These tables were written by `reticent lab synth` (version {version}, seed {seed}, {times} times
the paper's size: {people:,} people, {queries:,} queries). They are made up, and
prove nothing about people.

{assumed}
"""


class Block(NamedTuple):
    """People, what they asked, with which moment, the host of each query, and all pages."""

    people: SyntheticPeople
    queries: SyntheticQueries
    moment: QueryMoments
    target: Ints
    pages: Pages


def world_of(seed: int) -> SyntheticWorld:
    """Return the world of a seed: its sites are for people as its first block has them."""
    rng = np.random.default_rng((seed, _WORLD))
    liked = people(2_000, rng).interests.mean(axis=0)
    return world(liked, rng)


def block(seed: int, number: int, of: SyntheticWorld) -> Block:
    """Return block ``number``, from 1; the same arguments, the same block."""
    rng = np.random.default_rng((seed, number))
    crowd = people(PEOPLE, rng)
    asked = queries(crowd.interests, of, rng)
    moment = moments(crowd, asked.person, rng)
    target = targets(crowd, asked, moment, of, rng)
    return Block(crowd, asked, moment, target, pages(crowd.taste, asked, target, of, rng))


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


def log_table(block: Block, number: int, of: SyntheticWorld) -> pa.Table:
    """Return a row per page of block ``number``, in order of person and time."""
    row, moment = block.pages.row, block.moment
    asked = moment.asked[row] * 1_000_000
    city = moment.city
    country = np.where(city == NOWHERE, NOWHERE, city % len(COUNTRIES))
    columns = {
        "user": _users(block.queries.person[row], number),
        "asked": pa.array(asked, pa.timestamp("us")),
        "query": _coded(block.queries.text[row], of.texts),
        "time": pa.array(asked + block.pages.after * 1_000_000, pa.timestamp("us")),
        "host": _coded(block.pages.host, of.hosts),
        "dwell": pa.array(block.pages.dwell),
        "zip": _numbered(moment.zip[row], "zip {:04d}"),
        "city": _numbered(city[row], "city {:04d}"),
        "country": _coded(country[row], COUNTRIES),
        "tld": _coded(moment.suffix[row], SUFFIXES),
    }
    schema = SCHEMAS["log"]
    return pa.table([columns[name] for name in schema.names], schema=schema)


def sites_table(of: SyntheticWorld) -> pa.Table:
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


def write_log(folder: Path, times: int, seed: int, progress: Progress) -> LogFiles:
    """Write a synthetic log of ``times`` the paper's size into a new or empty folder.

    Returns its three parquet files, beside which SOURCE.md says that they are synthetic. The same
    ``times``, ``seed`` >= 0 and version write the same bytes. ``progress`` is told which share is
    done, 0 to 1. Raises UsageError if the folder cannot be made, or holds anything.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            hint = "choose a new one, or remove what is in it"
            raise UsageError("this folder is not empty", hint, str(folder))
        files = LogFiles(*(folder / f"{name}.parquet" for name in LogFiles._fields))
        with ExitStack() as on_failure:
            parts = LogFiles(*(unfinished(path) for path in files))
            for part in parts:
                on_failure.callback(part.unlink, missing_ok=True)
            _write(parts, times, seed, progress)
            text = _SOURCE.format(
                version=__version__,
                seed=seed,
                times=times,
                people=PEOPLE * times,
                queries=QUERIES * times,
                assumed=cleandoc(synth.__doc__ or ""),
            )
            replace_bytes(text.encode(), folder / SOURCE)
            for part, path in zip(parts, files, strict=True):
                part.replace(path)
    except OSError as error:
        hint = "choose a folder that can be written to and has space"
        raise UsageError(reason(error), hint, str(folder)) from error
    return files


def _write(files: LogFiles, times: int, seed: int, progress: Progress) -> None:
    what = "writing a synthetic log"
    progress(what, 0.0)
    world = world_of(seed)
    pq.write_table(sites_table(world), files.sites)
    with ExitStack() as open_files:
        log, people = (
            open_files.enter_context(pq.ParquetWriter(path, SCHEMAS[name]))
            for name, path in (("log", files.log), ("people", files.people))
        )
        for number in range(1, times + 1):
            made = block(seed, number, world)
            people.write_table(people_table(made, number))
            log.write_table(log_table(made, number, world))
            progress(what, number / times)


class Measured(NamedTuple):
    """A log's sizes, and its share of each of MARGINALS.

    ``people``, ``queries``, ``texts``: how many there are; ``min_users``: how many ask the text
    that the fewest ask.
    """

    people: int
    queries: int
    texts: int
    min_users: int
    shares: tuple[tuple[Marginal, float], ...]


def measured(files: LogFiles) -> Measured:
    """Return what the tables of a log have; errors as `open_log`."""
    log = open_log(files)
    source = source_of(log)
    classified = log.sites.filter(log.sites.topic.notnull()).host
    tables = {"people": source.users, "queries": source.events}
    counts: dict[str, int] = {}
    shares: dict[str, float] = {}
    for name, table in tables.items():
        holds = {
            each.name: _holds(each, table, classified) for each in MARGINALS if each.table == name
        }
        means = {key: each.cast("int8").fill_null(0).mean() for key, each in holds.items()}
        row = _row(table, {"count": table.count(), **means})
        counts[name] = int(row.pop("count"))
        shares |= row
    texts = source.events.group_by(QUERY).aggregate(users=source.events[USER].nunique())
    crowds = _row(texts, {"texts": texts.count(), "min_users": texts.users.min()})
    found = {name: int(value) for name, value in crowds.items()}
    return Measured(
        **counts, **found, shares=tuple((each, shares[each.name]) for each in MARGINALS)
    )


def _holds(each: Marginal, table: ibis.Table, classified: ibis.Value) -> ibis.Value:
    """Return in which rows what a share is of holds."""
    column = table[each.column]
    if each.value == "classified":
        return column.isin(classified)
    return column.notnull() if each.value == "*" else column == each.value


def _row(table: ibis.Table, values: Mapping[str, ibis.Value]) -> dict[str, float]:
    """Return one row of what is counted."""
    row: dict[str, float] = table.aggregate(**values).to_pyarrow().to_pylist()[0]
    return row
