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
OTHERWISE = (
    (USERS.replace("\n", "\r\n"), EVENTS),
    ("\ufeff" + USERS, "\ufeff" + EVENTS),
    ('"user","region"\n1,"coast"\n2,""\n3,hills\n', EVENTS),
    ("region,user\ncoast,1\nunspecified,2\nhills,3\n", EVENTS),
    (USERS.replace("coast", " coast\t").replace("2,", " 2 ,"), EVENTS.replace("tea", "TEA ")),
    (USERS.replace("coast", "\u2003coast\u3000").replace("2,", "2,\u2003"), EVENTS),
    (USERS, EVENTS.replace("black", "\u00a0black ").replace("yes", " yes")),
)
BAD: tuple[tuple[str | bytes, str, str, str], ...] = (
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
)
BAD_PATHS = (
    ("user.csv", UsageError, "no such file", "users.csv"),
    ("nowhere/at/all.csv", UsageError, "no such file", "check the path"),
    ("folder.csv", BuildError, "no parquet file in the folder", "that end in .parquet"),
    ("users.xlsx", BuildError, "does not end like", ".csv, .csv.gz or .parquet"),
    ("use[r]s.csv", BuildError, "the path contains one of", "rename"),
)


def opened(folder: Path, users: str | bytes = USERS, events: str = EVENTS) -> Observations:
    """Write two files, and read what they hold."""
    (folder / "users.csv").write_bytes(users if isinstance(users, bytes) else users.encode())
    (folder / "events.csv").write_bytes(events.encode())
    return read(folder / "users.csv", folder / "events.csv")


def read(users: Path, events: Path) -> Observations:
    """What two files hold."""
    return observe(open_tables(users, events), options())


def contents(seen: Observations) -> object:
    """Everything that was read, to be compared."""
    (query,) = seen.queries
    rows = query.rows
    arrays = (rows.user, rows.intent, rows.person, rows.request, seen.population.codes)
    return seen.attributes, query.text, query.intents, seen.dropped, *(a.tolist() for a in arrays)


def test_the_same_table_written_otherwise(tmp_path: Path) -> None:
    """Line ends, byte-order mark, quotes, order of columns; csv, csv.gz and parquet: all the same.

    Numbers in a parquet file count as text.
    """
    for users, events in OTHERWISE:
        found = contents(opened(tmp_path, users, events))
        assert found == contents(opened(tmp_path)), (users, events)
    for name, text in (("users", USERS), ("events", EVENTS)):
        (tmp_path / f"{name}.csv.gz").write_bytes(gzip.compress(text.encode()))
        pq.write_table(pc.read_csv(tmp_path / f"{name}.csv"), tmp_path / f"{name}.parquet")
    for suffix in ("csv.gz", "parquet"):
        again = read(tmp_path / f"users.{suffix}", tmp_path / f"events.{suffix}")
        assert contents(again) == contents(opened(tmp_path))


def test_values_are_texts_whatever_they_hold(tmp_path: Path) -> None:
    """Composed where typed on two machines (UAX 15, NFC); words of SQL, quotes and line ends."""
    composed, apart = "Z\u00fcrich", "Zu\u0308rich"
    users = USERS.replace("coast", composed).replace("hills", apart)
    events = EVENTS.replace("green", composed).replace("white", apart).replace("yes", apart)
    seen = opened(tmp_path, users, events)
    assert [each.values for each in seen.attributes] == [
        ("unspecified", composed),
        ("unspecified", composed, "no"),
    ]
    assert seen.queries[0].intents == (composed, "black")
    users = 'user,select,p0\n1,"it\'s, ""so""",x\n2,b,y\n3,c,x\n'
    seen = opened(tmp_path, users, EVENTS.replace("again", "order"))
    assert [each.name for each in seen.attributes] == ["select", "p0", "order"]
    assert seen.attributes[0].values == ("unspecified", "b", "c", 'it\'s, "so"')
    table = "user,region\n" + "".join(f"{i},town {i}\n" for i in range(1, 256))
    assert len(opened(tmp_path, table).attributes[0].values) == 256
    with pytest.raises(BuildError, match="'region' has 256 different values") as caught:
        opened(tmp_path, table + "256,town 256\n")
    assert "255 are the most" in caught.value.hint


def test_what_is_no_table_gets_one_sentence(tmp_path: Path) -> None:
    """What is wrong, where, the nearest name, and how to mend it; one line each."""
    for users, events, what, hint in BAD:
        with pytest.raises(BuildError) as caught:
            opened(tmp_path, users, events)
        assert what in str(caught.value)
        assert hint in caught.value.hint
        assert "\n" not in str(caught.value) + caught.value.hint
    opened(tmp_path)
    (tmp_path / "folder.csv").mkdir()
    for other in ("users.xlsx", "use[r]s.csv"):
        (tmp_path / other).write_text(USERS)
    for name, kind, what, hint in BAD_PATHS:
        refusal: ReticentError
        with pytest.raises(kind) as raised:
            open_tables(tmp_path / name, tmp_path / "events.csv")
        refusal = raised.value
        assert what in refusal.what
        assert hint in refusal.hint
        assert refusal.where == str(tmp_path / name)


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
    for length in range(0, len(data), 1 + len(data) // 20):
        cut.write_bytes(data[:length])
        with pytest.raises(BuildError):
            open_tables(cut, tmp_path / "events.csv")


def test_a_path_is_refused_before_an_engine_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark takes ten seconds for that; and nothing but parquet is a table for it."""
    monkeypatch.setattr("agent.build.build.connected", None)
    texts, tables = ("phrasings", "background"), ("users", "events")
    names = {**dict.fromkeys(texts, "t.csv"), **dict.fromkeys(tables, "a.parquet")}
    paths = {name: tmp_path / path for name, path in names.items()}
    for path in (*paths.values(), tmp_path / "a.csv"):
        path.touch()
    for wrong in names:
        given = options(spark="local", **paths | {wrong: tmp_path / "b.parquet"})
        with pytest.raises(UsageError, match="no such file"):
            build_model(given, lambda _what, _share: None)
    given = options(spark="local", users=tmp_path / "a.csv", events=paths["events"])
    with pytest.raises(UsageError, match="Spark reads parquet files only"):
        build_model(given, lambda _what, _share: None)
