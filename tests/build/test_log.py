"""A search log is read as FORMAT_LOG.md says, and becomes what section 5 of the paper says."""

import csv
import gc
import re
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow.csv import write_csv

from agent.build.build import build_model
from agent.build.engines import connected
from agent.build.log import Log, open_log, source_of
from agent.build.log_schema import TABLE_1, TABLES
from agent.build.observe import observe
from agent.build.options import LogFiles
from agent.errors import BuildError, UsageError
from agent.model.file import encode
from tests.build import naive
from tests.build.worlds import ENGINES, QUIET, SmallLog, few, frames, logs, options, tables
from tests.build.worlds import write_log as write_parquet
from tests.house.tree import ROOT

pytestmark = QUIET

LOG = (
    "user,asked,query,time,host,dwell,zip,city,country,tld\n"
    "1,2006-03-01T09:30:00,tea,2006-03-01T09:30:05,a.example,12.5,98052,Redmond,us,net\n"
    "2,2006-03-04 18:00:00.5,Tea,2006-03-04 18:00:01,,,,,,\n"
)
PEOPLE = "user,gender,age_group,occupation\n1,female,,baker\n2,unspecified,over_55,\n"
SITES = "host,topic\na.example,arts\nb.example,\n"
TEXTS = {"log": LOG, "people": PEOPLE, "sites": SITES}


def written(folder: Path, **changed: str | bytes) -> LogFiles:
    """Write the three tables, some of them changed."""
    for name, text in (TEXTS | changed).items():
        (folder / f"{name}.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    return LogFiles(*(folder / f"{name}.csv" for name in TEXTS))


def contents(log: Log) -> dict[str, list[str]]:
    return {
        name: sorted(map(repr, table.to_pyarrow().to_pylist()))
        for name, table in log._asdict().items()
    }


def first_row(path: Path, changed: dict[str, pa.Array]) -> pa.Table:
    """The first row of a csv as text, with some fields in place of its own."""
    with path.open(encoding="utf-8", newline="") as file:
        row = next(csv.DictReader(file))
    return pa.table({name: changed.get(name, pa.array([value])) for name, value in row.items()})


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet"])
@few(2)
@given(log=logs())
def test_what_was_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, log: SmallLog
) -> None:
    """In every format, but for the space around a text."""
    folder = tmp_path_factory.mktemp("log")
    files = write_parquet(log, folder)
    if suffix != "parquet":
        files = LogFiles(*(folder / f"{name}.{suffix}" for name in TABLES))
        for path, table in zip(files, frames(log).values(), strict=True):
            with pa.output_stream(str(path)) as file:  # which compresses what ends in .gz
                write_csv(table, file)
    stripped = (p._replace(query=(p.query or "").strip() or None) for p in log.pages)
    assert contents(open_log(files)) == contents(tables(replace(log, pages=tuple(stripped))))


def test_the_same_log_written_otherwise(tmp_path: Path) -> None:
    """Columns in another order or left out, case and spaces."""
    plain = contents(open_log(written(tmp_path)))
    people = "occupation,user,age_group,gender,children\nbaker, 1 ,,female,\n,2,over_55,,\n"
    sites = "topic,host\narts,A.Example\n,b.example \n"
    log = LOG.replace("a.example", " A.EXAMPLE").replace(",net", ",NET").replace("T0", " 0")
    again = written(tmp_path, people=people, sites=sites, log=log)
    assert contents(open_log(again)) == plain
    short = "\n".join(",".join(line.split(",")[:6]) for line in LOG.splitlines())
    lacking = open_log(written(tmp_path, log=short)).log
    assert lacking.columns == tuple(column.name for column in TABLES["log"])
    assert lacking.zip.to_pyarrow().to_pylist() == [None, None]


BAD: tuple[tuple[dict[str, str | bytes], str, str], ...] = (
    ({"log": LOG.replace("dwell", "dwel")}, "the log table has no column 'dwell'", "'dwel'"),
    ({"log": LOG.replace("zip", "zap")}, "unknown log column 'zap'", "did you mean 'zip'"),
    ({"people": PEOPLE.replace("gender", "shoe_size")}, "people column 'shoe_size'", "known"),
    (
        {"log": LOG.replace("2006-03-01T09:30:00", "01/03/06")},
        "the log table has 1 rows in which 'asked' is not a time: '01/03/06', for example",
        "write times as 2006-03-01T09:30:00",
    ),
    ({"log": LOG.replace("09:30:05", "09:30:05Z")}, "'time' is not a time", "without a zone"),
    ({"log": LOG.replace("03-01T09:30:00", "02-30T09:30:00")}, "'asked' is not a time", "write"),
    ({"log": LOG.replace("\n2,", "\n,")}, "1 rows without 'user'", "fill it"),
    ({"log": LOG.replace("12.5", "long")}, "not a number of seconds: 'long'", "from 0"),
    ({"log": LOG.replace("12.5", "inf")}, "not a number of seconds: 'inf'", "from 0"),
    ({"log": LOG.replace("09:30:05", "09:29:59")}, "1 pages that were opened", "swapped"),
    ({"people": PEOPLE.replace("over_55", "old")}, "unknown age_group 'old'", "18_to_55"),
    ({"people": PEOPLE + "2,male,,\n"}, "repeats users in 1 rows", "one row per user"),
    (
        {"people": "user,occupation\n" + "".join(f"{i},job {i}\n" for i in range(8))},
        "column 'occupation' of the people table has 8 different values",
        "7 are the most",
    ),
    ({"sites": SITES.replace("arts", "art")}, "unknown topic 'art'", "did you mean 'arts'?"),
    ({"log": LOG.encode("utf-16")}, "a text is not", "in UTF-8"),
)


def test_a_bad_table_gets_one_sentence(tmp_path: Path) -> None:
    """What is wrong, and how to mend it; one line each."""
    for changed, what, hint in BAD:
        with pytest.raises((BuildError, UsageError)) as caught:
            open_log(written(tmp_path, **changed))
        assert what in str(caught.value)
        assert hint in caught.value.hint
        assert "\n" not in str(caught.value) + caught.value.hint


def test_parquet_has_types_and_they_are_not_guessed_at(tmp_path: Path) -> None:
    """One that cannot be meant is named; whole numbers are ids and seconds, as a database has."""
    files = written(tmp_path)
    for column, values, what in (
        ("asked", pa.array([1]), "column 'asked' of the log table holds int64"),
        ("asked", pa.array([0], pa.timestamp("us", "UTC")), "holds timestamp('UTC'"),
        ("dwell", pa.array([True]), "column 'dwell' of the log table holds boolean"),
        ("user", pa.array([1.5]), "column 'user' of the log table holds float64"),
    ):
        pq.write_table(first_row(files.log, {column: values}), tmp_path / "log.parquet")
        with pytest.raises(BuildError) as caught:
            open_log(files._replace(log=tmp_path / "log.parquet"))
        assert what in str(caught.value)
    numbers = {"user": pa.array([1]), "zip": pa.array([98052]), "dwell": pa.array([12])}
    pq.write_table(first_row(files.log, numbers), tmp_path / "log.parquet")
    (row,) = open_log(files._replace(log=tmp_path / "log.parquet")).log.to_pyarrow().to_pylist()
    assert (row["user"], row["zip"], row["dwell"]) == ("1", "98052", 12.0)


def test_nothing_is_left_of_a_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What did not fit into memory goes with the tables."""
    (tmp_path / "spilled").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "spilled"))
    log = open_log(written(tmp_path))
    (folder,) = (tmp_path / "spilled").iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert log.log.count().to_pyarrow().as_py() == 2
    del log
    gc.collect()
    assert not folder.exists()


def test_the_description_names_every_column_and_value() -> None:
    """FORMAT_LOG.md, table by table, and no others."""
    text = Path("agent/build/FORMAT_LOG.md").read_text()
    for name, columns in TABLES.items():
        part = text.partition(f"## `{name}`")[2].partition("\n## ")[0]
        for column in columns:
            assert f"`{column.name}`" in part
            assert [value for value in column.values if f"`{value}`" not in part] == []
        known = {c.name for c in columns} | {value for c in columns for value in c.values}
        words = set(re.findall(r"`([a-z_0-9]+)`", part)) - {"unspecified"}
        assert words <= known


FEW = few(2)


def in_order(rows: list[Any]) -> list[list[tuple[str, str]]]:
    """Rows to be compared whatever their order."""
    return sorted(sorted((name, str(value)) for name, value in row.items()) for row in rows)


@pytest.mark.parametrize("spark", ENGINES)
@FEW
@given(log=logs(), data=st.data())
def test_every_attribute_is_the_plain_computation(
    spark: str | None, log: SmallLog, data: st.DataObject
) -> None:
    """Of every query, target and attributes of the request; of everybody, those of the person.

    On any backend, and whatever the order of the rows of the three tables.
    """
    shuffled = SmallLog(
        tuple(data.draw(st.permutations(log.pages))),
        tuple(data.draw(st.permutations(log.people))),
        tuple(data.draw(st.permutations(log.sites))),
    )
    source = source_of(tables(shuffled, connected(spark)))
    for table, expected in ((source.events, naive.events(log)), (source.users, naive.users(log))):
        assert in_order(table.to_pyarrow().to_pylist()) == in_order(expected)


@pytest.mark.parametrize("spark", ENGINES)
def test_a_log_in_partitions_is_the_same_model(spark: str | None, tmp_path: Path) -> None:
    """From a partitioned folder in any order, on any engine, as from the three files on DuckDB."""
    files = {name: ROOT / f"examples/own_log/{name}.csv" for name in ("log", "people", "sites")}
    for name, file in files.items():
        with file.open(encoding="utf-8", newline="") as text:
            rows = [*csv.DictReader(text)]
        order = np.random.default_rng(3).permutation(len(rows))
        table = pa.Table.from_pylist([rows[at] | {"part": f"{at % 3}"} for at in order])
        for column in {"asked", "time"} & {*table.column_names}:
            times = pa.array(map(datetime.fromisoformat, table[column].to_pylist()))
            table = table.set_column(table.column_names.index(column), column, times)
        pq.write_to_dataset(table, tmp_path / name, partition_cols=["part"])
    plain = options(users=None, events=None, **files)
    folders = {name: tmp_path / name for name in files}
    mixed = options(users=None, events=None, spark=spark, **folders)
    one, other = (encode(build_model(each, lambda _what, _share: None)) for each in (plain, mixed))
    assert one == other


def test_a_model_has_all_of_table_1(tmp_path: Path) -> None:
    """With all values, also those of nobody; the people are those of the table, and no others."""
    files = written(tmp_path, log=LOG.replace("12.5", "35"))
    seen = observe(source_of(open_log(files)), options())
    found = {each.name: (each.title, each.scope, each.values) for each in seen.attributes}
    assert found.keys() == {each.name for each in TABLE_1}
    for each in TABLE_1:
        values = ("unspecified", *each.values) if each.values else found[each.name][2]
        assert found[each.name] == (each.title, each.scope, values)
    assert {*seen.users} == {"1", "2"}
    assert [query.text for query in seen.queries] == ["tea"]
