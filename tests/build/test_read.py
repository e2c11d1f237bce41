"""Files that are tables, and files that are not."""

import gzip
from pathlib import Path

import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

from agent.build.build import build_model
from agent.build.observe import Observations, observe
from agent.build.tables import open_tables
from agent.errors import BuildError, ReticentError, UsageError
from tests.build.worlds import QUIET, options

pytestmark = QUIET

USERS = "user,region\n1,coast\n2,\n3,hills\n"
EVENTS = "user,query,intent,again\n1,tea,green,no\n2,tea,black,\n3,tea,green,yes\n4,tea,white,no\n"


def opened(folder: Path, users: str | bytes = USERS, events: str | bytes = EVENTS) -> Observations:
    """Write two files, read them, and return what they hold."""
    for name, text in (("users.csv", users), ("events.csv", events)):
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return read(folder / "users.csv", folder / "events.csv")


def read(users: Path, events: Path) -> Observations:
    """Return what two files hold."""
    return observe(open_tables(users, events), options())


def contents(seen: Observations) -> object:
    """Return everything that was read, to be compared."""
    (query,) = seen.queries
    rows = query.rows
    arrays = (rows.user, rows.intent, rows.person, rows.request, seen.population.codes)
    return seen.attributes, query.text, query.intents, seen.dropped, *(a.tolist() for a in arrays)


def test_a_value_is_composed_so_that_it_can_be_named(tmp_path: Path) -> None:
    """One word, typed on two machines (UAX 15, NFC)."""
    composed, apart = "Z\u00fcrich", "Zu\u0308rich"
    users = USERS.replace("coast", composed).replace("hills", apart)
    events = EVENTS.replace("green", composed).replace("white", apart).replace("yes", apart)
    seen = opened(tmp_path, users, events)
    region, again = seen.attributes
    assert region.values == ("unspecified", composed)
    assert again.values == ("unspecified", composed, "no")
    assert seen.queries[0].intents == (composed, "black")


@pytest.mark.parametrize(
    ("users", "events"),
    [
        (USERS.replace("\n", "\r\n"), EVENTS),
        ("\ufeff" + USERS, "\ufeff" + EVENTS),
        ('"user","region"\n1,"coast"\n2,""\n3,hills\n', EVENTS),
        ("region,user\ncoast,1\nunspecified,2\nhills,3\n", EVENTS),
        (USERS, EVENTS.replace("tea", "TEA ")),
        (USERS.replace("coast", " coast\t").replace("2,", " 2 ,"), EVENTS),
        (USERS.replace("coast", "\u2003coast\u3000").replace("2,", "2,\u2003"), EVENTS),
        (USERS, EVENTS.replace("black", "\u00a0black ").replace("yes", " yes")),
    ],
)
def test_the_same_table_written_otherwise(tmp_path: Path, users: str, events: str) -> None:
    """Line ends, byte-order mark, quotes, order of columns: all the same."""
    (tmp_path / "plain").mkdir()
    assert contents(opened(tmp_path, users, events)) == contents(opened(tmp_path / "plain"))


def test_every_format_reads_the_same(tmp_path: Path) -> None:
    """As csv, csv.gz and parquet; numbers in a parquet file count as text."""
    expected = contents(opened(tmp_path))
    for name, text in (("users", USERS), ("events", EVENTS)):
        (tmp_path / f"{name}.csv.gz").write_bytes(gzip.compress(text.encode()))
        pq.write_table(pc.read_csv(tmp_path / f"{name}.csv"), tmp_path / f"{name}.parquet")
    for suffix in ("csv.gz", "parquet"):
        assert contents(read(tmp_path / f"users.{suffix}", tmp_path / f"events.{suffix}")) == (
            expected
        )


def test_words_of_sql_are_names_like_others(tmp_path: Path) -> None:
    """And a value may hold quotes, commas and line ends of its own in the table."""
    users = 'user,select,p0\n1,"it\'s, ""so""",x\n2,b,y\n3,c,x\n'
    seen = opened(tmp_path, users, EVENTS.replace("again", "order"))
    assert [each.name for each in seen.attributes] == ["select", "p0", "order"]
    assert seen.attributes[0].values == ("unspecified", "b", "c", 'it\'s, "so"')


@pytest.mark.parametrize(
    ("users", "events", "what", "hint"),
    [
        ("", EVENTS, "the table is empty", "first row of names"),
        (USERS.replace("user", "users"), EVENTS, "no column 'user'", "rename column 'users'"),
        (EVENTS, USERS, "which belongs to events", "swapped"),
        ("user\n1\n", EVENTS, "the users table has no attribute", "add a column"),
        ("user,Home Region\n1,a\n", EVENTS, "called 'Home Region'", "to 'home_region' for"),
        ("user,\n1,a\n", EVENTS, "called ''", "to 'a' for"),
        ("user,again\n1,a\n", EVENTS, "'again' is a column of both tables", "else in events"),
        ("user,a,a\n1,a,b\n", EVENTS, "column 'a' twice", "rename or remove"),
        (USERS + "1,town\n", EVENTS, "the users table repeats users in 1 rows", "'1' for example"),
        (USERS + ",town\n", EVENTS, "1 rows without a user", "give every row an id"),
        ("user,region\n", EVENTS, "no users to build from", "more rows"),
        (USERS, "user,query,intent\n", "no query has events", "lower min-users"),
        ("user,region\n1,a\tb\n", EVENTS, "attribute 'region': the value 'a\\tb' has", "clean"),
        (USERS, 'user,query,intent\n1,tea,"a\nb"\n', "the intent 'a\\nb' has a control", "clean"),
        (USERS + "5,town,more\n", EVENTS, "line 5 is not a row", "in UTF-8"),
        (USERS.encode() + b"5,\xff\xfe\n", EVENTS, "not a table", "in UTF-8"),
        (bytes(range(256)) * 20, EVENTS, "not a table", "in UTF-8"),
    ],
)
def test_a_bad_table_gets_one_sentence(
    tmp_path: Path, users: str | bytes, events: str | bytes, what: str, hint: str
) -> None:
    """What is wrong, and how to mend it; one line each."""
    with pytest.raises(BuildError) as caught:
        opened(tmp_path, users, events)
    assert what in str(caught.value)
    assert hint in caught.value.hint
    assert "\n" not in str(caught.value) + caught.value.hint


def test_too_many_values(tmp_path: Path) -> None:
    """255 beside "unspecified" are the most."""
    table = "user,region\n" + "".join(f"{i},town {i}\n" for i in range(1, 256))
    seen = opened(tmp_path, table)
    assert len(seen.attributes[0].values) == 256
    with pytest.raises(BuildError, match="'region' has 256 different values") as caught:
        opened(tmp_path, table + "256,town 256\n")
    assert "255 are the most" in caught.value.hint


@pytest.mark.parametrize("suffix", ["csv.gz", "parquet"])
def test_every_truncation_is_refused_or_harmless(tmp_path: Path, suffix: str) -> None:
    """A file cut short is never a crash."""
    opened(tmp_path)
    whole = tmp_path / f"whole.{suffix}"
    if suffix == "parquet":
        pq.write_table(pc.read_csv(tmp_path / "users.csv"), whole)
    else:
        whole.write_bytes(gzip.compress(USERS.encode()))
    data, cut = whole.read_bytes(), tmp_path / f"cut.{suffix}"
    for length in range(0, len(data), 1 + len(data) // 40):
        cut.write_bytes(data[:length])
        with pytest.raises(BuildError):
            open_tables(cut, tmp_path / "events.csv")


@pytest.mark.parametrize(
    ("name", "kind", "what", "hint"),
    [
        ("user.csv", UsageError, "no such file", "users.csv"),
        ("nowhere/at/all.csv", UsageError, "no such file", "check the path"),
        ("folder.csv", BuildError, "no parquet file in the folder", "that end in .parquet"),
        ("users.xlsx", BuildError, "does not end like", ".csv, .csv.gz or .parquet"),
        ("use[r]s.csv", BuildError, "the path contains one of", "rename"),
    ],
)
def test_a_bad_path_gets_one_sentence(
    tmp_path: Path, name: str, kind: type[ReticentError], what: str, hint: str
) -> None:
    """With the place, and the nearest name where there is one."""
    opened(tmp_path)
    (tmp_path / "folder.csv").mkdir()
    for other in ("users.xlsx", "use[r]s.csv"):
        (tmp_path / other).write_text(USERS)
    with pytest.raises(kind) as caught:
        open_tables(tmp_path / name, tmp_path / "events.csv")
    assert what in caught.value.what
    assert hint in caught.value.hint
    assert caught.value.where == str(tmp_path / name)


@pytest.mark.parametrize("wrong", ["users", "events", "phrasings", "background"])
def test_it_does_so_before_an_engine_starts(
    tmp_path: Path, wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark takes ten seconds for that; and nothing but parquet is a table for it."""
    monkeypatch.setattr("agent.build.build.connected", None)
    texts, tables = ("phrasings", "background"), ("users", "events")
    names = {**dict.fromkeys(texts, "t.csv"), **dict.fromkeys(tables, "a.parquet")}
    paths = {name: tmp_path / path for name, path in names.items()}
    for path in (*paths.values(), tmp_path / "a.csv"):
        path.touch()
    given = options(spark="local", **paths | {wrong: tmp_path / "b.parquet"})
    with pytest.raises(UsageError, match="no such file"):
        build_model(given, lambda _what, _share: None)
    given = options(spark="local", users=tmp_path / "a.csv", events=paths["events"])
    with pytest.raises(UsageError, match="Spark reads parquet files only"):
        build_model(given, lambda _what, _share: None)
