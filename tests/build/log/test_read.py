"""Files that are a search log, and files that are not."""

import gc
import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings

from agent.build.log.read import Log, open_log
from agent.build.log.schema import TABLES
from agent.build.options import LogFiles
from agent.errors import BuildError
from tests.build.log.logs import SmallLog, frames, logs, tables
from tests.build.worlds import QUIET

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
    """Return what the tables hold, in any order."""
    return {
        name: sorted(map(repr, table.to_pyarrow().to_pylist()))
        for name, table in log._asdict().items()
    }


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet"])
@settings(max_examples=5)
@given(log=logs())
def test_what_was_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, log: SmallLog
) -> None:
    """In every format, but for the space around a text."""
    folder = tmp_path_factory.mktemp("log")
    for name, frame in frames(log).items():
        if suffix == "parquet":
            frame.write_parquet(folder / f"{name}.parquet")
        else:
            frame.write_csv(
                folder / f"{name}.{suffix}",
                datetime_format="%Y-%m-%dT%H:%M:%S%.6f",
                compression="gzip" if suffix == "csv.gz" else "uncompressed",
            )
    read = contents(open_log(LogFiles(*(folder / f"{name}.{suffix}" for name in TABLES))))
    stripped = (p._replace(query=(p.query or "").strip() or None) for p in log.pages)
    assert read == contents(tables(replace(log, pages=tuple(stripped))))


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


@pytest.mark.parametrize(
    ("changed", "what", "hint"),
    [
        ({"log": LOG.replace("dwell", "dwel")}, "the log table has no column 'dwell'", "'dwel'"),
        ({"log": LOG.replace("zip", "zap")}, "has an unknown column 'zap'", "did you mean 'zip'"),
        ({"log": LOG.replace("tld", "zip")}, "the log table has the column 'zip' twice", "remove"),
        ({"people": PEOPLE.replace("gender", "shoe_size")}, "unknown column 'shoe_size'", "known"),
        ({"people": SITES}, "the people table has no column 'user'", "needs user"),
        ({"sites": PEOPLE}, "the sites table has no column 'host'", "needs host, topic"),
        ({"log": ""}, "the table is empty", "first row of names"),
        (
            {"log": LOG.replace("2006-03-01T09:30:00", "01/03/06")},
            "the log table has 1 rows in which 'asked' is not a time: '01/03/06', for example",
            "write times as 2006-03-01T09:30:00",
        ),
        ({"log": LOG.replace("09:30:05", "09:30:05Z")}, "'time' is not a time", "without a zone"),
        (
            {"log": LOG.replace("03-01T09:30:00", "02-30T09:30:00")},
            "'asked' is not a time",
            "write",
        ),
        ({"log": LOG.replace("2006-03-01T09:30:05", "")}, "1 rows without 'time'", "write times"),
        ({"log": LOG.replace("\n2,", "\n,")}, "1 rows without 'user'", "fill it"),
        ({"log": LOG.replace("12.5", "long")}, "not a number of seconds: 'long'", "from 0"),
        ({"log": LOG.replace("12.5", "-1")}, "not a number of seconds: '-1'", "from 0"),
        ({"log": LOG.replace("12.5", "inf")}, "not a number of seconds: 'inf'", "from 0"),
        ({"log": LOG.replace("12.5", "nan")}, "not a number of seconds: 'nan'", "from 0"),
        ({"log": LOG.replace("09:30:05", "09:29:59")}, "1 pages that were opened", "swapped"),
        ({"people": PEOPLE.replace("female", "femal")}, "unknown gender 'femal'", "'female'"),
        ({"people": PEOPLE.replace("over_55", "old")}, "unknown age_group 'old'", "18_to_55"),
        ({"people": PEOPLE + "2,male,,\n"}, "repeats users in 1 rows", "one row per user"),
        (
            {"people": "user,occupation\n" + "".join(f"{i},job {i}\n" for i in range(8))},
            "column 'occupation' of the people table has 8 different values",
            "7 are the most",
        ),
        ({"sites": SITES.replace("arts", "art")}, "unknown topic 'art'", "did you mean 'arts'?"),
        ({"sites": SITES + ",news\n"}, "the sites table has 1 rows without 'host'", "fill it"),
        ({"sites": SITES + "c,news,more\n"}, "line 4 is not a row", "in UTF-8"),
        ({"log": LOG.encode("utf-16")}, "not a table", "in UTF-8"),
    ],
)
def test_a_bad_table_gets_one_sentence(
    tmp_path: Path, changed: dict[str, str | bytes], what: str, hint: str
) -> None:
    """What is wrong, and how to mend it; one line each."""
    with pytest.raises(BuildError) as caught:
        open_log(written(tmp_path, **changed))
    assert what in str(caught.value)
    assert hint in caught.value.hint
    assert "\n" not in str(caught.value) + caught.value.hint


@pytest.mark.parametrize(
    ("column", "values", "what"),
    [
        ("asked", pl.Series([1]), "column 'asked' of the log table holds int64"),
        ("asked", pl.Series([0]).cast(pl.Datetime("us", "UTC")), "holds timestamp('UTC'"),
        ("dwell", pl.Series([True]), "column 'dwell' of the log table holds boolean"),
        ("user", pl.Series([1.5]), "column 'user' of the log table holds float64"),
    ],
)
def test_a_type_that_cannot_be_meant_is_named(
    tmp_path: Path, column: str, values: pl.Series, what: str
) -> None:
    """Parquet has types, and they are not guessed at."""
    files = written(tmp_path)
    frame = pl.read_csv(files.log, infer_schema=False)[:1]
    frame.with_columns(values.alias(column)).write_parquet(tmp_path / "log.parquet")
    with pytest.raises(BuildError) as caught:
        open_log(files._replace(log=tmp_path / "log.parquet"))
    assert what in str(caught.value)


def test_whole_numbers_are_ids_and_seconds_too(tmp_path: Path) -> None:
    """As a database writes them."""
    files = written(tmp_path)
    frame = pl.read_csv(files.log, infer_schema=False)[:1]
    numbers = frame.with_columns(user=pl.Series([1]), zip=pl.Series([98052]), dwell=pl.Series([12]))
    numbers.write_parquet(tmp_path / "log.parquet")
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
