"""A search log that is synthetic: nobody searched for any of it.

It has the size and the published shares of the log of Krause and Horvitz (2010, section 5), which
`synth_marginals.csv` holds, and which are counted in what was written. What they do not say is
invented, and this is all of it:

- People belong to one of seven walks of life, which lean to ages, genders, topics and hours
  (`synth_invented.toml`). Beyond that each has tastes of their own. Who does not say what they are
  is drawn by lot, whatever they are. Nobody lives outside the three regions that the paper names.
  Marital status and children are not known of anybody.
- All queries are of the 914 that at least 30 people asked, and all led to a page: the tail of
  rarer ones, and searches without a result, are not in the paper's figures and not here. So who
  asks once a day or more does so over few days, and who does not over many, up to 14 months
  (December 2005 to January 2007).
- Which queries somebody asks depends on their tastes, and how often they repeat each on chance.
  Numbers of queries per person and of people per query are heavy-tailed.
- Each person mostly wants one site with each of their queries. Which one depends on the query, and
  on their walk of life, age, gender, region, tastes and whether they ask from several places; when
  they pick anew, on the network, the hour and the kind of day too. The weights are random, and the
  same for all people. Gender and region say least.
- Pages before the one that was meant are left within 30 seconds. Pages after it follow the
  person's tastes, not the query. Topics of a person are known from these pages alone, for no other
  pages are in the log. Every 25th site is in no directory.
- Who asks from several places has two, in two cities. Employed people and students use the network
  of an employer or a school in working hours.
- How much it depends on them was set with the paper's results in view: the utility of all
  attributes and of search statistics by its estimator (Figs. 6 and 11), and how far topics tell
  people apart. To find these again is no evidence.
"""

from collections.abc import Mapping, Sequence
from inspect import cleandoc
from io import BytesIO
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
from agent.files import replace_bytes
from agent.lab import Progress
from agent.lab.synth_world import (
    CIRCLES,
    CLICKS,
    COUNTRIES,
    MARGINALS,
    PEOPLE,
    PUBLISHED,
    QUERIES,
    SITES,
    SUFFIXES,
    UNSAID,
    Flags,
    Floats,
    Ints,
    Rng,
    SyntheticPeople,
    SyntheticQueries,
    SyntheticWorld,
    drawn,
    people,
    queries,
    within,
    world_of,
)

SOURCE = "SOURCE.md"  # beside a written log: that it is synthetic, and what is assumed
LONG = 30.0  # seconds; a shorter stay is no intent
_SOURCE = """# Synthetic

These tables were written by `reticent lab synth` (version {version}, seed {seed}: {people:,}
people, {queries:,} queries). They are made up, and prove nothing about people.

{assumed}
"""
_TYPES = {"text": pa.string(), "time": pa.timestamp("us"), "seconds": pa.float64()}
SCHEMAS = {
    name: pa.schema([(each.name, _TYPES[each.kind]) for each in columns])
    for name, columns in TABLES.items()
}


def targets(
    crowd: SyntheticPeople, asked: SyntheticQueries, world: SyntheticWorld, rng: Rng
) -> Ints:
    """Draw the host that each query leads to, a code in ``world.hosts``."""
    person = _traits(
        ("circle", crowd.circle, len(CIRCLES)),
        ("age", crowd.age, len(AGE_GROUPS)),
        ("region", crowd.region, 3),
        ("woman", crowd.woman, 2),
        ("moves", asked.moves, 2),
    )
    now = _traits(
        ("network", asked.network - UNSAID, len(SUFFIXES) + 1),
        ("working", asked.working, 2),
        ("workday", asked.workday, 2),
    )
    returns = rng.random(QUERIES) < CLICKS.returns
    found = np.empty(QUERIES, dtype=np.int64)
    for text, (hosts, leans) in enumerate(zip(world.answers, world.leans, strict=True)):
        rows, pairs = np.flatnonzero(asked.text == text), np.flatnonzero(asked.pair_text == text)
        who, ranks = asked.pair_person[pairs], np.log(np.arange(len(hosts)) + 1)
        liked = person[who] @ leans[: person.shape[1]]
        liked += CLICKS.taste * crowd.taste[who][:, world.topic[hosts]]
        wanted = drawn(liked - CLICKS.steep * ranks, rng)
        which = np.searchsorted(pairs, asked.pair[rows])
        anew = liked[which] + now[rows] @ leans[person.shape[1] :] - CLICKS.flatter * ranks
        found[rows] = hosts[np.where(returns[rows], wanted[which], drawn(anew, rng))]
    return found


def _traits(*traits: tuple[str, Ints | Flags, int]) -> Floats:
    """Spread traits out: how much each value can speak for a site, (rows, values).

    ``traits``: a name, codes, and how many values there are.
    """
    columns = [
        CLICKS.speaks[name] * np.eye(many)[codes.astype(np.int64)] for name, codes, many in traits
    ]
    return np.concatenate(columns, axis=1)


class Pages(NamedTuple):
    """A row per page, in order of its query and of time.

    ``row``: the place of the query; ``host``: its code; ``after``: seconds since it was asked,
    int64; ``dwell``: seconds, float64.
    """

    row: Ints
    host: Ints
    after: Ints
    dwell: Floats


def pages(
    taste: Floats, asked: SyntheticQueries, world: SyntheticWorld, target: Ints, rng: Rng
) -> Pages:
    """Draw the pages of the queries; ``taste``: as `SyntheticPeople` has it.

    Before the one that was meant they look at other answers, for less than LONG; after it at
    sites of topics that they like.
    """
    early, late = (
        np.minimum(rng.poisson(mean, QUERIES), CLICKS.most) for mean in (CLICKS.early, CLICKS.late)
    )
    each = early + 1 + late
    row, first = np.repeat(np.arange(QUERIES), each), np.cumsum(each) - each
    place = np.arange(len(row)) - first[row]
    before, meant = place < early[row], place == early[row]
    host = within(world.visited, world.topic, drawn(taste[asked.person[row]], rng), rng)
    # An answer to the query, the first ones more often.
    sizes = np.array([len(answers) for answers in world.answers])
    text, starts = asked.text[row], np.cumsum(sizes) - sizes
    answer = starts[text] + (rng.random(len(row)) ** 2 * sizes[text]).astype(np.int64)
    host = np.where(before, np.concatenate(world.answers)[answer], host)
    host = np.where(meant, target[row], host)
    stays = meant | (~before & (rng.random(len(row)) < CLICKS.stays))
    short = rng.uniform(CLICKS.short[0], CLICKS.short[1], len(row))
    long = np.clip(rng.lognormal(CLICKS.stay, CLICKS.spread, len(row)), LONG, CLICKS.longest)
    dwell: Floats = np.round(np.where(stays, long, short), 1).astype(np.float64)
    opened = rng.uniform(CLICKS.click[0], CLICKS.click[1], QUERIES)[row]
    sums = np.concatenate([[0.0], dwell.cumsum()])[:-1]
    opened += sums - sums[first][row]
    return Pages(row, host, np.ceil(opened).astype(np.int64) + place, dwell)


def tables_of(seed: int) -> dict[str, pa.Table]:
    """Make the people, their log in order of person and time, and the sites."""
    rng = np.random.default_rng(seed)
    crowd = people(rng)
    world = world_of(crowd.interests.mean(axis=0), rng)
    asked = queries(crowd, world, rng)
    target = targets(crowd, asked, world, rng)
    opened = pages(crowd.taste, asked, world, target, rng)
    names = {
        "gender": GENDERS,
        "age_group": AGE_GROUPS,
        "region": REGIONS,
        "occupation": tuple(CIRCLES),
    }
    said = {column: _coded(crowd.said[column], values) for column, values in names.items()}
    row, seconds = opened.row, asked.asked * 1_000_000
    # The directory has all but one of every 25 sites, by rank of clicks.
    order = np.argsort(-np.bincount(target, minlength=SITES), kind="stable")
    every = round(1 / (1 - PUBLISHED["topic_known"]))
    is_known = np.ones(SITES, dtype=np.bool_)
    is_known[order[every // 2 :: every]] = False
    columns = {
        "people": {"user": _numbered(np.arange(PEOPLE), "person {:04d}"), **said},
        "log": {
            "user": _numbered(asked.person[row], "person {:04d}"),
            "asked": pa.array(seconds[row], pa.timestamp("us")),
            "query": _coded(asked.text[row], world.texts),
            "time": pa.array(seconds[row] + opened.after * 1_000_000, pa.timestamp("us")),
            "host": _coded(opened.host, world.hosts),
            "dwell": pa.array(opened.dwell),
            "zip": _numbered(asked.zip[row], "zip {:04d}"),
            "city": _numbered(asked.city[row], "city {:04d}"),
            "country": _coded(asked.city[row] % len(COUNTRIES), COUNTRIES),
            "tld": _coded(asked.network[row], SUFFIXES),
        },
        "sites": {
            "host": pa.array(world.hosts),
            "topic": _coded(np.where(is_known, world.topic, UNSAID), TOPICS),
        },
    }
    empty = pa.nulls(PEOPLE, pa.string())  # what is not known of anybody
    return {
        name: pa.table([columns[name].get(each, empty) for each in schema.names], schema=schema)
        for name, schema in SCHEMAS.items()
    }


def _numbered(codes: Ints, form: str) -> pa.Array:
    return _coded(codes, [form.format(each) for each in range(codes.max() + 1)])


def _coded(codes: Ints, names: Sequence[str]) -> pa.Array:
    """Name each code, null for one below 0."""
    places = pa.array(codes, pa.int32(), mask=codes < 0)
    return pa.DictionaryArray.from_arrays(places, pa.array(names, pa.string())).cast(pa.string())


def write_log(folder: Path, seed: int, progress: Progress) -> LogFiles:
    """Write a synthetic log of the paper's size into a new or empty folder.

    Beside its three parquet files SOURCE.md says that they are synthetic. The same ``seed`` >= 0
    and version write the same bytes. ``progress`` is called with the share that is done, 0 to 1.
    Raises UsageError if the folder cannot be made, or holds anything.
    """
    paths = LogFiles(*(folder / f"{name}.parquet" for name in LogFiles._fields))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            hint = "choose a new one, or remove what is in it"
            raise UsageError("this folder is not empty", hint, str(folder))
    except OSError as error:
        hint = "choose a folder that can be written to"
        raise UsageError(reason(error), hint, str(folder)) from error
    progress("writing a synthetic log", 0.0)
    tables = tables_of(seed)
    assumed = cleandoc(__doc__ or "")
    text = _SOURCE.format(
        version=__version__, seed=seed, people=PEOPLE, queries=QUERIES, assumed=assumed
    )
    replace_bytes(text.encode(), folder / SOURCE)  # first, so that no table is without it
    for name, path in paths._asdict().items():
        data = BytesIO()
        pq.write_table(tables[name], data)
        replace_bytes(data.getvalue(), path)
    progress("writing a synthetic log", 1.0)
    return paths


class Measured(NamedTuple):
    """A log's sizes, and its share of each of MARGINALS, by name.

    ``people``, ``queries``, ``texts``: how many there are; ``min_users``: how many ask the text
    that the fewest ask.
    """

    people: int
    queries: int
    texts: int
    min_users: int
    shares: dict[str, float]


def measured(paths: LogFiles) -> Measured:
    """Count what a log has, by the code that builds a model; errors as `open_log`."""
    log = open_log(paths)
    source = source_of(log)
    classified = log.sites.filter(log.sites.topic.notnull()).host
    shares = dict[str, float]()
    for name, table in (("people", source.users), ("queries", source.events)):
        means = {name: table.count()}
        for each in (each for each in MARGINALS if each.table == name):
            column = table[each.column]
            holds = column.notnull() if each.value == "*" else column == each.value
            holds = column.isin(classified) if each.value == "classified" else holds
            means[each.name] = holds.cast("int8").fill_null(0).mean()
        shares |= _row(table, means)
    texts = source.events.group_by(QUERY).aggregate(users=source.events[USER].nunique())
    row = _row(texts, {"texts": texts.count(), "least": texts.users.min()})
    people, queries = (int(shares.pop(name)) for name in ("people", "queries"))
    return Measured(people, queries, int(row["texts"]), int(row["least"]), shares)


def _row(table: ibis.Table, values: Mapping[str, ibis.Value]) -> dict[str, float]:
    row: dict[str, float] = table.aggregate(**values).to_pyarrow().to_pylist()[0]
    return row
