"""Files that are tables, and what is counted in them: of everybody, or of half of the users."""

import gzip
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agent.build import canonical
from agent.build import observe as observe_module
from agent.build.build import build_model
from agent.build.observe import HALF_KEY, Observations, in_half_a, observe, user_hashes
from agent.build.options import AttributeNote
from agent.build.tables import open_tables
from agent.errors import BuildError, ReticentError, UsageError
from tests.build import naive
from tests.build.worlds import QUIET, World, few, observed, options, worlds

pytestmark = QUIET
FEW = few(2)
NAMES = st.lists(st.text(max_size=6), max_size=30, unique=True)


@FEW
@given(world=worlds(), most=st.integers(1, 6))
def test_a_large_query_keeps_all_rows_of_some_users(world: World, most: int) -> None:
    """Not more than there is room for, whoever they are, and the same ones every time."""
    assume(naive.queries(world, 1))
    whole = observed(world, min_users=1)
    with pytest.MonkeyPatch.context() as patch:
        for module in (canonical, observe_module):
            patch.setattr(module, "MOST_ROWS", most)
        seen = [observed(world, min_users=1) for _ in range(2)]
    for query, again, full in zip(*(each.queries for each in (*seen, whole)), strict=True):
        rows = query.rows
        assert np.array_equal(rows.user, again.rows.user)
        assert query.events == len(full.rows.user)
        assert len(rows.user) <= most or len(rows.person) == 1
        alone = len(full.rows.person) == 1
        assert (len(rows.user) == len(full.rows.user)) == (query.events <= most or alone)
        sizes = dict(zip(full.people.tolist(), np.bincount(full.rows.user).tolist(), strict=True))
        kept = dict(zip(query.people.tolist(), np.bincount(rows.user).tolist(), strict=True))
        assert kept.items() <= sizes.items()
        found = naive.users_of(query, seen[0])
        assert Counter(found) <= Counter(naive.users_of(full, whole))


def restricted(world: World, users: set[str], *, strangers: bool) -> World:
    """The world of some users; ``strangers``: with the events of all who are none of its users."""
    everybody = {row[0] for row in world.users[1:]}
    others = {row[0] for row in world.events[1:]} - everybody if strangers else set[str]()
    return World(
        (world.users[0], *(row for row in world.users[1:] if row[0] in users)),
        (world.events[0], *(row for row in world.events[1:] if row[0] in users | others)),
    )


def same_rows(seen: Observations, expected: Observations) -> None:
    """Compare people and queries, but for weights and how many events there were."""
    assert seen.users == expected.users
    assert np.array_equal(seen.population.codes, expected.population.codes)
    for kinds, others in zip(seen.population.requests, expected.population.requests, strict=True):
        assert np.array_equal(kinds.counts[kinds.of_row], others.counts[others.of_row])
    for query, other in zip(seen.queries, expected.queries, strict=True):
        assert (query.text, query.intents) == (other.text, other.intents)
        for name in ("user", "intent", "person", "request"):
            assert np.array_equal(getattr(query.rows, name), getattr(other.rows, name))


def noted(world: World) -> dict[str, AttributeNote]:
    """Notes by which every attribute has the same values, whoever is left out."""
    names = (*world.users[0][1:], *world.events[0][3:])
    return dict.fromkeys(names, AttributeNote(values=("a", "b")))


@FEW
@given(world=worlds(), most=st.integers(1, 6))
def test_of_too_many_people_some_stand_for_all(world: World, most: int) -> None:
    """As if those who drew the smallest hashes were the users, and each stood for as many."""
    names = [row[0] for row in world.users[1:]]
    assume(len(names) > most)
    chosen = {names[each] for each in np.argsort(user_hashes(names))[:most]}
    part = restricted(world, chosen, strangers=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(observe_module, "MOST_PEOPLE", most)
        if not naive.queries(part, 1):
            with pytest.raises(BuildError, match="no query has events from at least"):
                observed(world)
            return
        seen = observed(world, attributes=noted(world))
    same_rows(seen, observed(part, attributes=noted(world)))
    assert seen.sampled_from == len(names)
    assert seen.population.weights is not None
    assert seen.population.weights.tolist() == [len(names) / most] * most
    everything = {query.text: query.events for query in observed(world).queries}
    assert {query.text: query.events for query in seen.queries}.items() <= everything.items()


@FEW
@given(world=worlds(), most=st.integers(1, 4))
def test_the_most_frequent_queries_are_kept(world: World, most: int) -> None:
    """Of equals the first by their texts; what the others had is dropped, and their share said."""
    assume(naive.queries(world, 1))
    whole, seen = observed(world), observed(world, most_queries=most)
    order = sorted(whole.queries, key=lambda query: (-query.events, query.text))
    kept, rare = order[:most], order[most:]
    assert [query.text for query in seen.queries] == sorted(query.text for query in kept)
    assert seen.dropped["rare_queries"] == len(rare)
    assert seen.dropped["rare_rows"] == sum(query.events for query in rare)
    everything = sum(query.events for query in order)
    assert seen.share == sum(query.events for query in kept) / everything
    assert whole.share == 1


@FEW
@given(world=worlds(), min_users=st.integers(1, 3))
def test_what_is_counted_is_what_the_tables_hold(world: World, min_users: int) -> None:
    """Every row of every query with enough users, linked by user; everybody; and what is dropped.

    The links that validation uses lead to the same codes, and are one to one.
    """
    expected = naive.queries(world, min_users)
    if not expected:
        with pytest.raises(BuildError, match="no query has events from at least"):
            observed(world, min_users=min_users)
        return
    seen = observed(world, min_users=min_users)
    assert [query.text for query in seen.queries] == sorted(expected)
    for query in seen.queries:
        assert naive.users_of(query, seen) == expected[query.text]
        assert list(query.intents) == sorted(set(query.intents))
        assert np.array_equal(seen.population.codes[query.people], query.rows.person)
        assert len(set(query.people)) == len(query.people)
    assert naive.people_of(seen) == naive.population(world)
    profiles = {row[0]: tuple(map(naive.value, row[1:])) for row in world.users[1:]}
    for user, codes in zip(seen.users, seen.population.codes, strict=True):
        assert naive.words(codes, seen, 0) == profiles[user]
    assert sorted(seen.users) == sorted(profiles)
    dropped = dict(seen.dropped)
    assert dropped.pop("thin_queries") == len(naive.queries(world, 1)) - len(seen.queries)
    kept = sum(len(query.rows.user) for query in seen.queries)
    assert kept + sum(dropped.values()) == len(world.events) - 1


@FEW
@given(world=worlds())
def test_the_halves_part_the_users(world: World) -> None:
    """Every user is in one of two models, and neither knows of the other's rows."""
    names = [row[0] for row in world.users[1:]]
    in_a = in_half_a(names, HALF_KEY)
    for half, mine in (("A", in_a), ("B", ~in_a)):
        own = {name for name, is_own in zip(names, mine.tolist(), strict=True) if is_own}
        alone = restricted(world, own, strangers=True)
        if not naive.queries(alone, 1):
            with pytest.raises(BuildError):
                observed(world, half=half)
            continue
        seen = observed(world, half=half, attributes=noted(world))
        expected = observed(alone, attributes=noted(world))
        same_rows(seen, expected)
        assert seen.dropped == expected.dropped


@given(users=NAMES, more=NAMES)
def test_a_user_stays_in_the_half(users: list[str], more: list[str]) -> None:
    """Whoever else is there, and in whatever order."""
    together = [*more, *(user for user in users if user not in more)]
    half = dict(zip(together, in_half_a(together, HALF_KEY), strict=True))
    assert [half[user] for user in users] == in_half_a(users, HALF_KEY).tolist()


def test_keys_split_independently() -> None:
    """A model of half A can be validated by splitting half A."""
    users = [str(number) for number in range(10_000)]
    one, other = in_half_a(users, b"one"), in_half_a(users, b"other")
    for share in (one.mean(), other.mean(), (one == other).mean()):
        assert abs(share - 0.5) < 0.025  # five standard deviations
    assert np.array_equal(one, in_half_a(users, b"one"))


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
    (USERS.encode() + b"5,\xff\xfe\n", EVENTS, "a text is not in UTF-8", "in UTF-8"),
    (USERS.encode() + b"\n" * 9_000 + b"5,\xff\xfe\n", EVENTS, "line 9005 is not in", "in UTF-8"),
    (bytes(range(256)) * 20, EVENTS, "a text is not in UTF-8", "in UTF-8"),
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
    return observe(open_tables(folder / "users.csv", folder / "events.csv"), options())


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
    expected = contents(opened(tmp_path))
    for users, events in OTHERWISE:
        assert contents(opened(tmp_path, users, events)) == expected, (users, events)
    opened(tmp_path)
    for name, text in (("users", USERS), ("events", EVENTS)):
        (tmp_path / f"{name}.csv.gz").write_bytes(gzip.compress(text.encode()))
        pq.write_table(pc.read_csv(tmp_path / f"{name}.csv"), tmp_path / f"{name}.parquet")
    for suffix in ("csv.gz", "parquet"):
        again = open_tables(tmp_path / f"users.{suffix}", tmp_path / f"events.{suffix}")
        assert contents(observe(again, options())) == expected


def test_values_are_texts_whatever_they_hold(tmp_path: Path) -> None:
    """Composed where typed on two machines (UAX 15, NFC); any names; quotes and line ends."""
    composed, apart = "Z\u00fcrich", "Zu\u0308rich"
    users = USERS.replace("region", "known_text").replace("coast", composed).replace("hills", apart)
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
        with pytest.raises(ReticentError) as raised:
            open_tables(tmp_path / name, tmp_path / "events.csv")
        assert isinstance(raised.value, kind)
        assert what in raised.value.what
        assert hint in raised.value.hint
        assert raised.value.where == str(tmp_path / name)


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
