"""Kinds of facts in place of columns: who has which, what is drawn, and how people are weighted."""

import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from agent.build.kinds import in_kinds, raked, read_kinds
from agent.build.matching import Coded
from agent.build.observe import users_by_attributes
from agent.build.options import KindsNote, TopicsNote, read_description
from agent.build.shared_kinds import shared_kinds
from agent.build.tables import open_tables
from agent.errors import BuildError, ReticentError, UsageError
from agent.model.attributes import Attribute, check_attributes, check_kinds
from tests.build.worlds import QUIET, World, options, source, write_everyday

pytestmark = QUIET
COLUMNS = (
    Attribute("home", "home", "person", ("unspecified", "own", "rent", "other")),
    Attribute("age", "age", "person", ("unspecified", "young", "old")),
)
CROSSWALK = """
[tenure]
how = "column"
source = "a survey"
columns = ["home", "age"]
split = { owns = { "owns outright" = 0.3, "with a mortgage" = 0.5, "with family" = 0.2 } }
among = { "owns outright" = { age = ["old"] } }
shares = { owns = 0.6, rents = 0.4 }
[tenure.values]
owns = { home = ["own"] }
rents = { home = ["rent", "other"] }

[traits]
how = "multi"
source = "estimate"
columns = ["survey.age"]
values = { "of age" = { "survey.age" = ["old"] } }
prevalence = { "of age" = 0.55, tall = 0.1 }

[diet]
how = "share"
source = "estimate"
shares = { anything = 0.9, vegan = 0.1 }
"""

PARENTS = [
    {"kind": "traits", "parent": "column:age", "rows": {"old": {"tall": 0.12}}},
    {"kind": "diet", "parent": "traits", "rows": {"tall": {"vegan": 0.3}}},
]


def kinds(
    folder: Path,
    crosswalk: str = CROSSWALK,
    parents: Sequence[Mapping[str, object]] | None = None,
    **changes: object,
) -> KindsNote:
    """The files of a few kinds; ``changes``: of the line of each kind."""
    names = ("tenure", "traits", "diet")
    lines = [{"id": each, "title": each, "sensitivity": 4} | changes for each in names]
    for name, rows in (("kinds", lines), ("parents", PARENTS if parents is None else parents)):
        text = "\n".join(json.dumps(each) for each in rows)
        (folder / f"{name}.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    (folder / "crosswalk.toml").write_text(crosswalk)
    files = (folder / "kinds.jsonl.gz", folder / "crosswalk.toml", folder / "parents.jsonl.gz")
    return KindsNote(*files, ("age",))


def village(seed: int, rows: int = 400) -> Coded:
    """People who mostly say where they live and how old they are."""
    random = np.random.default_rng(seed)
    codes = np.stack([random.integers(0, 4, rows), random.integers(1, 3, rows)], 1).astype(np.uint8)
    weights = random.choice([50.0, 400.0, 900.0], rows)
    return Coded(COLUMNS, codes, weights, random.integers(0, 2**64, rows, dtype=np.uint64))


@given(seed=st.integers(0, 2**32))
def test_everybody_has_the_kinds_that_their_columns_say(
    seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Row by row; what is not known is some value, and finer values have their shares."""
    people, note = village(seed), kinds(tmp_path_factory.mktemp("kinds"))
    _, values, codes, weights, marks = in_kinds(people, note)
    assert [*values] == [*codes] == ["tenure"]
    finer, tenure = values["tenure"], codes["tenure"]
    assert finer == ("owns outright", "with a mortgage", "with family", "rents")
    for (home, age), code in zip(people.codes.tolist(), tenure, strict=True):
        value = finer[code - 1]
        assert (value == "rents") == (home in (2, 3)) or home == 0
        assert value != "owns outright" or age == 2
    by_value = np.bincount(tenure, weights, 5)[1:] / weights.sum()
    assert by_value[:3].sum() == pytest.approx(0.6, abs=1e-6)
    heaviest = weights.max() / weights.sum()
    assert by_value[:3] == pytest.approx([0.18, 0.3, 0.12], abs=3 * heaviest)
    assert weights.sum() == pytest.approx(people.people.sum())
    assert marks == {"drawn_where_unknown": "tenure", "drawn_by_share": "tenure"}
    _, _, again, same, _ = in_kinds(people, note)
    assert np.array_equal(again["tenure"], tenure)
    assert np.array_equal(same, weights)


@given(seed=st.integers(0, 2**32))
def test_what_is_not_known_is_as_it_is_among_those_alike(
    seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """All who are old and say so own: so do those who do not say, and no others need to."""
    people, note = village(seed), kinds(tmp_path_factory.mktemp("kinds"))
    people.codes[(people.codes[:, 1] == 2) & (people.codes[:, 0] > 0), 0] = 1
    people.codes[(people.codes[:, 1] == 1) & (people.codes[:, 0] > 0), 0] = 2
    tenure = in_kinds(people, note).codes["tenure"]
    assert np.array_equal(tenure == 4, people.codes[:, 1] == 1)


@given(seed=st.integers(0, 2**32), cards=st.tuples(st.integers(2, 4), st.integers(2, 4)))
def test_raking_meets_the_shares_and_keeps_the_interaction(
    seed: int, cards: tuple[int, int]
) -> None:
    """Weights change by a factor for each code, and in all stand for as many people."""
    random = np.random.default_rng(seed)
    codes = [random.integers(0, card, 300) for card in cards]
    weights = random.uniform(1e3, 1e5, 300)
    shares = [random.dirichlet([5.0] * card) for card in cards]
    scaled = raked(weights, [*zip(codes, shares, strict=True)])
    for each, wanted in zip(codes, shares, strict=True):
        assert np.bincount(each, scaled) / scaled.sum() == pytest.approx(wanted, abs=1e-6)
    assert scaled.sum() == pytest.approx(weights.sum())
    factors = np.full(cards, np.nan)
    for one, other, factor in zip(*codes, np.log(scaled / weights), strict=True):
        factors[one, other] = factor if np.isnan(factors[one, other]) else factors[one, other]
        assert factor == pytest.approx(factors[one, other], abs=1e-9)
    apart = factors - factors[:, :1] - factors[:1] + factors[0, 0]
    assert apart[~np.isnan(apart)] == pytest.approx(0, abs=1e-9)
    assert raked(np.ones(4), [(np.array([0, 0, 0, 1]), np.array([0.9, 0.1]))]).min() >= 1


def test_people_have_kinds_in_place_of_columns(tmp_path: Path) -> None:
    """With their titles and prices; behind the columns come kinds by shares, several as slots."""
    users = tuple(
        (str(user), "own" if user % 3 else "", "old" if user % 2 else "young", str(user + 90))
        for user in range(60)
    )
    users = (("user", "home", "age", "weight"), *users, ("60", "rent", "old", "90"))
    world = World(users, (("user", "query", "intent"),))
    note = kinds(tmp_path, CROSSWALK.replace(', "other"', ""))
    topics = TopicsNote(tmp_path, tmp_path, tmp_path, tmp_path, tmp_path)
    given = options(kinds=note, topics=topics, weights="weight", events=None)
    people, attributes = users_by_attributes(source(world), given)
    assert [(each.name, each.title, each.shared) for each in attributes] == [
        ("tenure", "tenure", ""),
        ("traits", "traits", "traits"),
        ("traits_2", "traits (second)", "traits"),
        ("traits_3", "traits (third)", "traits"),
        ("diet", "diet", "diet"),
    ]
    assert {each.sensitivity for each in attributes} == {0.3}
    assert attributes[2].values == ("unspecified", "of age", "tall")
    check_attributes(attributes)
    check_kinds(people.kinds, attributes)
    rows = {row[0]: row for row in users}
    for user, (code,) in zip(people.ids, people.codes.tolist(), strict=True):
        assert (code == 4) == (rows[user][1] == "rent") or not rows[user][1]
    assert people.weights is not None
    assert people.weights.sum() == pytest.approx(sum(range(90, 150)) + 90)


def test_kinds_beyond_the_columns_depend_on_one_other(tmp_path: Path) -> None:
    """On an attribute in place of its column, or on a kind; other values are as overall."""
    people, note = village(3), kinds(tmp_path)
    traits, diet = shared_kinds(people, note, in_kinds(people, note))
    assert (traits.name, traits.several) == ("traits", True)
    assert (traits.parent, traits.values) == ("tenure", ("of age", "tall"))
    assert traits.given["owns outright"] == (0.55, 0.12)  # all of whom are old
    assert all(0.1 <= tall <= 0.12 for _, tall in traits.given.values())
    assert (diet.parent, diet.given) == ("traits", {"tall": (0.7, 0.3)})
    assert diet.shares == (0.9, 0.1)


@given(seed=st.integers(0, 2**32))
def test_shares_under_a_column_are_averages_over_its_people(
    seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Of those with each value of the attribute, by weight, counted one by one."""
    rows = {"own": {"vegan": 0.12}, "rent": {"vegan": 0.1}, "other": {"vegan": 0.09}}
    parents = [{"kind": "diet", "parent": "column:home", "rows": rows}]
    people, note = village(seed), kinds(tmp_path_factory.mktemp("kinds"), parents=parents)
    in_columns = in_kinds(people, note)
    *_, diet = shared_kinds(people, note, in_columns)
    assert diet.parent == "tenure"
    for code, value in enumerate(in_columns.values["tenure"], 1):
        inside = (in_columns.codes["tenure"] == code) & (people.codes[:, 0] > 0)
        vegan = [rows[COLUMNS[0].values[home]]["vegan"] for home in people.codes[inside, 0]]
        wanted = np.average(vegan, weights=in_columns.people[inside])
        assert diet.given[value][1] == pytest.approx(wanted, abs=1e-6)
        assert sum(diet.given[value]) == pytest.approx(1, abs=1e-5)


WRONG: Mapping[str, tuple[str, str]] = {
    "not sum to 1": ("vegan = 0.1", "vegan = 0.2"),
    "'vegn' is not one of its kind": ("vegan = 0.1 }", "vegan = 0.1 }\nexcludes = { vegn = [] }"),
    "shares or columns of other values": ('prevalence = { "of age" = 0.55, ', "prevalence = { "),
    "unknown member": ('how = "share"', 'how = "share"\nshare = 1'),
    "not one of the allowed values": ('how = "share"', 'how = "shares"'),
    "unknown kind 'diet'": ("[diet]", "[diets]"),
    "unknown column 'hom'": ('{ home = ["own"] }', '{ hom = ["own"] }'),
    "unknown value of home 'owned'": ('{ home = ["own"] }', '{ home = ["owned"] }'),
    "has 'rents' and another": ('["rent", "other"]', '["rent", "own"]'),
    "it is damaged": ("[diet]", "[diet"),
}


def test_tables_of_kinds_that_do_not_fit(tmp_path: Path) -> None:
    """One sentence names what is wrong."""
    for what, (old, new) in WRONG.items():
        assert old in CROSSWALK
        with pytest.raises(ReticentError, match=what):
            in_kinds(village(1), kinds(tmp_path, CROSSWALK.replace(old, new)))
    for changes, what in (({"sensitivity": 6}, "over 5"), ({"id": "A b"}, "unknown kind")):
        with pytest.raises(UsageError, match=what):
            read_kinds(kinds(tmp_path, **changes))
    nobody, note = village(1), kinds(tmp_path)
    nobody.codes[:, 0] = 0
    with pytest.raises(BuildError, match="nobody has a value of kind 'tenure'"):
        in_kinds(nobody, note)
    (tmp_path / "kinds.jsonl.gz").write_bytes(b"\x1f\x8b")
    with pytest.raises(UsageError, match="damaged"):
        read_kinds(structs.replace(note, file=tmp_path / "kinds.jsonl.gz"))


def test_the_shipped_tables_fit_each_other(tmp_path: Path) -> None:
    """A few people get every kind that a column holds, with values as common as they should be."""
    write_everyday(tmp_path)
    described = read_description(tmp_path / "model.toml")
    assert described.kinds is not None
    assert len(read_kinds(described.kinds)) == 107
    tables = open_tables(tmp_path / "users.csv.gz", None, numbers=("weight", "year"))
    given = options(events=None, **structs.asdict(described))
    people, attributes = users_by_attributes(tables, given)
    assert people.codes.shape[1] == sum(not each.shared for each in attributes) == 22
    assert len(attributes) == 22 + 39 + 3 * 46
    assert people.codes.all()
    assert [each.name for each in people.blocks] == ["health", "homes"]
    assert people.blocks[0].attributes == ("body", "fitness")
    assert people.blocks[1].keys == ("tenure", "place", "household", "income", "age")
    assert people.blocks[1].attributes == ("urbanity", "dwelling")
    assert len(people.kinds) == 85
    assert sum(each.parent is not None for each in people.kinds) == 81
    check_kinds(people.kinds, attributes)
    assert all(min(row) > 0 for each in people.kinds for row in each.given.values())
    values, weights = attributes[0].values, people.weights
    assert weights is not None
    shares = np.bincount(people.codes[:, 0], weights) / weights.sum()
    assert shares[values.index("65-74")] == pytest.approx(0.126, rel=0.05)


def test_parents_that_do_not_fit(tmp_path: Path) -> None:
    """One sentence names what is wrong; a column that no kind has is no parent."""
    rows: dict[str, object] = {"tall": {"vegan": 0.1}}
    people = village(1)
    lines: tuple[tuple[Mapping[str, object], str], ...] = (
        ({"kind": "deit", "parent": "traits", "rows": rows}, "unknown kind 'deit'"),
        ({"kind": "diet", "parent": "trait", "rows": rows}, "unknown kind 'trait'"),
        ({"kind": "diet", "parent": "traits", "rows": {"tal": {}}}, "value of traits 'tal'"),
        ({"kind": "diet", "parent": "traits", "rows": {"tall": {"vgan": 0.1}}}, "value 'vgan'"),
        ({"kind": "diet", "parent": "traits", "rows": {"tall": {"vegan": 2}}}, "over 1"),
        ({"kind": "diet", "parent": "column:age", "rows": {"old": {"vegan": 0.9}}}, "within a"),
    )
    for line, what in lines:
        note = kinds(tmp_path, parents=[line])
        with pytest.raises(UsageError) as caught:
            [*shared_kinds(people, note, in_kinds(people, note))]
        assert what in f"{caught.value.what} {caught.value.hint}"
    note = kinds(tmp_path, parents=[{"kind": "diet", "parent": "column:moons", "rows": {}}])
    found = shared_kinds(people, note, in_kinds(people, note))
    assert [each.parent for each in found] == [None, None]
