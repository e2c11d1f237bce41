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
- Pages after the one that was meant follow the person's tastes, not the query. Topics of a person
  are known from these pages alone, for no other pages are in the log. Every 25th site is in no
  directory.
- Who asks from several places has two, in two cities. Employed people and students use the network
  of an employer or a school in working hours.
- How much it depends on them was set with the paper's results in view: the utility of all
  attributes and of search statistics by its estimator (Figs. 6 and 11), and how far topics tell
  people apart. To find these again is no evidence.
"""

from collections.abc import Sequence
from inspect import cleandoc
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

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
    WEIGHTS,
    Ints,
    SyntheticPeople,
    SyntheticQueries,
    drawn,
    people,
    queries,
)

LONG = 30.0  # seconds; a shorter stay is no intent
SOURCE = "SOURCE.md"  # beside a written log: that it is synthetic, and what is assumed
_SOURCE = """# Synthetic

These tables were written by `reticent lab synth` (version {version}, seed {seed}: {people:,}
people, {queries:,} queries). They are made up, and prove nothing about people.

{assumed}
"""
_TYPES = {"text": pa.string(), "time": pa.timestamp("us"), "seconds": pa.float64()}


def tables_of(seed: int) -> dict[str, pa.Table]:
    """Make the people, their log in order of person and time, and the sites."""
    rng = np.random.default_rng(seed)
    crowd = people(rng)
    requests = queries(crowd, rng)
    # The directory has all but one of every 25 sites, by rank of clicks.
    order = np.argsort(-np.bincount(requests.target, minlength=SITES * len(TOPICS)), kind="stable")
    topic = np.repeat(np.arange(len(TOPICS)), SITES)
    every = round(1 / (1 - PUBLISHED["topic_known"]))
    topic[order[every // 2 :: every]] = UNSAID
    names = {"gender": GENDERS, "age_group": AGE_GROUPS, "region": REGIONS, "occupation": CIRCLES}
    hosts = [f"{name.replace('_', '-')}-{n:03d}.example" for name in TOPICS for n in range(SITES)]
    columns = {
        "people": {
            "user": _numbered(np.arange(PEOPLE), "person"),
            **{name: _coded(crowd.volunteered[name], [*values]) for name, values in names.items()},
        },
        "log": _pages(crowd, requests, hosts, rng),
        "sites": {"host": pa.array(hosts), "topic": _coded(topic, TOPICS)},
    }
    empty = pa.nulls(PEOPLE, pa.string())  # what is not known of anybody
    schemas = {
        name: pa.schema([(each.name, _TYPES[each.kind]) for each in schema])
        for name, schema in TABLES.items()
    }
    return {
        name: pa.table([columns[name].get(each, empty) for each in schema.names], schema=schema)
        for name, schema in schemas.items()
    }


def _pages(
    crowd: SyntheticPeople,
    requests: SyntheticQueries,
    hosts: Sequence[str],
    rng: np.random.Generator,
) -> dict[str, pa.Array]:
    """Draw the pages of each query: the one that was meant, then such as the person likes."""
    later = np.minimum(rng.poisson(CLICKS.late, QUERIES), CLICKS.most)
    row = np.repeat(np.arange(QUERIES), 1 + later)
    is_target = np.diff(row, prepend=-1) != 0
    site = drawn(crowd.taste[requests.person[row]], rng) * SITES
    site += rng.choice(SITES, len(row), p=WEIGHTS[:SITES] / WEIGHTS[:SITES].sum())
    long = np.clip(rng.lognormal(CLICKS.stay, CLICKS.spread, len(row)), LONG, CLICKS.longest)
    low, high = CLICKS.short
    stays = is_target | (rng.random(len(row)) < CLICKS.stays)
    dwell = np.round(np.where(stays, long, rng.uniform(low, high, len(row))), 1)
    sums = dwell.cumsum() - dwell
    opened = np.ceil(CLICKS.click + sums - sums[is_target][row]).astype(np.int64)
    opened += np.arange(len(row)) - np.flatnonzero(is_target)[row]
    seconds = requests.sent_at[row]
    return {
        "user": _numbered(requests.person[row], "person"),
        "asked": pa.array(seconds * 1_000_000, pa.timestamp("us")),
        "query": _numbered(requests.text[row], "query"),
        "time": pa.array((seconds + opened) * 1_000_000, pa.timestamp("us")),
        "host": _coded(np.where(is_target, requests.target[row], site), hosts),
        "dwell": pa.array(dwell),
        "zip": _numbered(requests.zip[row], "zip"),
        "city": _numbered(requests.city[row], "city"),
        "country": _coded(requests.city[row] % len(COUNTRIES), COUNTRIES),
        "tld": _coded(requests.network[row], SUFFIXES),
    }


def _numbered(codes: Ints, noun: str) -> pa.Array:
    return _coded(codes, [f"{noun} {each:04d}" for each in range(codes.max() + 1)])


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
    counted = {"people": source.users, "queries": source.events}
    classified = log.sites.filter(log.sites.topic.notnull()).host
    shares = dict[str, float]()
    for each in MARGINALS:
        column = counted[each.table][each.column]
        holds = column.notnull() if each.value == "*" else column == each.value
        holds = column.isin(classified) if each.value == "classified" else holds
        shares[each.name] = _value(holds.cast("int8").fill_null(0).mean())
    texts = source.events.group_by(QUERY).aggregate(users=source.events[USER].nunique())
    return Measured(
        people=_value(source.users.count()),
        queries=_value(source.events.count()),
        texts=_value(texts.count()),
        min_users=_value(texts.users.min()),
        shares=shares,
    )


def _value(expression: ibis.Value) -> Any:  # noqa: ANN401  (a number)
    return expression.to_pyarrow().as_py()
