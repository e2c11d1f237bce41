"""Columns of another survey, drawn onto users: from whom, how often, and what is refused."""

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.build.matching import FEWEST, Sample, matched, read_survey
from agent.build.options import DonorsNote, KeyNote
from agent.errors import ReticentError
from tests.build.worlds import QUIET, World, observed

pytestmark = QUIET


@st.composite
def samples(draw: st.DrawFn) -> tuple[Sample, np.ndarray, Sample, list[np.ndarray]]:
    """Draw rows and donors with up to three keys, and which of their codes agree."""
    keys, random = draw(st.integers(1, 3)), np.random.default_rng(draw(st.integers(0, 2**32)))
    rows, donors = draw(st.integers(1, 60)), draw(st.integers(1, 80))
    cards = [(draw(st.integers(1, 4)), draw(st.integers(1, 4))) for _ in range(keys)]
    ours = np.array([random.integers(0, card, rows) for card, _ in cards], np.uint8).T
    theirs = np.array([random.integers(0, card, donors) for _, card in cards]).T
    drawing = Sample(ours, random.choice([1.0, 2.5, 1331.2], rows))
    drawn = Sample(theirs, random.choice([1.0, 40.0, 12090.0], donors))
    agrees = [random.random(shape) < draw(st.sampled_from([0.3, 0.7, 1.0])) for shape in cards]
    return drawing, random.integers(0, 2**64, rows, dtype=np.uint64), drawn, agrees


def candidates(
    keys: np.ndarray, donors: Sample, agrees: list[np.ndarray]
) -> tuple[tuple[bytes, ...], list[int]]:
    """The donors of one row, one by one: those who agree in as many of the first keys as can be.

    With them which donors' codes agree in these keys.
    """
    inside, path = list(range(len(donors.keys))), list[bytes]()
    for key, table in enumerate(agrees):
        fewer = [each for each in inside if table[keys[key], donors.keys[each, key]]]
        if len(fewer) < FEWEST:
            break
        inside, path = fewer, [*path, table[keys[key]].tobytes()]
    return tuple(path), inside


@given(world=samples())
def test_a_donor_agrees_and_is_used_as_often_as_its_people_ask(
    world: tuple[Sample, np.ndarray, Sample, list[np.ndarray]],
) -> None:
    """Of the weight of the rows that draw from the same donors, to within a row."""
    rows, hashes, donors, agrees = world
    chosen = matched(rows, hashes, donors, agrees)
    together = defaultdict[tuple[bytes, ...], list[int]](list)
    drawn_from = dict[tuple[bytes, ...], list[int]]()
    for row, keys in enumerate(rows.keys):
        path, some = candidates(keys, donors, agrees)
        assert chosen[row] in some
        together[path].append(row)
        drawn_from[path] = some
    for path, own in together.items():
        some = drawn_from[path]
        whole, people = rows.people[own].sum(), sum(donors.people[each] for each in some)
        for each in some:
            drawn = rows.people[[row for row in own if chosen[row] == each]].sum()
            wanted = whole * donors.people[each] / people
            assert abs(drawn - wanted) <= rows.people[own].max() * (1 + 1e-9)
    assert np.array_equal(matched(rows, hashes, donors, agrees), chosen)
    order = np.random.default_rng(1).permutation(len(hashes))  # rows in another order, same donors
    turned = matched(Sample(rows.keys[order], rows.people[order]), hashes[order], donors, agrees)
    assert np.array_equal(turned, chosen[order])


VILLAGE = World(
    users=(
        ("user", "age", "weight"),
        *((str(user), "old" if user % 2 else "", str(1 + user % 3)) for user in range(40)),
    ),
    events=(("user", "query", "intent"), *((str(user), "walks", "far") for user in range(40))),
)
WEIGHTED = {"weights": "people", "counts": ""}
HEALTH = "age,stroke,people\n" + "".join(
    f"{age},{'yes' if age > 50 else ''},{people}\n" for age in (20, 70) for people in (1, 12)
)


def health(folder: Path, text: str = HEALTH, **changes: Any) -> DonorsNote:  # noqa: ANN401
    """A survey in which everybody over 50 had a stroke, and nobody else says."""
    (folder / "health.csv").write_text(text)
    keys = {"age": KeyNote("age", {"old": ("50..99",)})}
    path = folder / changes.pop("file", "health.csv")
    plain = {"source": "a survey", "columns": ("stroke",), "keys": keys, "counts": "people"}
    return DonorsNote(path, **plain | changes)


def test_what_is_drawn_becomes_an_attribute_with_its_donors(tmp_path: Path) -> None:
    """In the order of the population; who does not say how old they are may get any donor."""
    note = health(tmp_path)
    survey = read_survey(note)
    assert survey.people.tolist() == [1.0] * 26  # a row of 12 is 12 donors
    seen = observed(VILLAGE, weights="weight", donors={"health": note})
    assert [each.name for each in seen.attributes] == ["age", "stroke"]
    assert seen.donors is not None
    own = survey.codes["stroke"][seen.donors[0]]
    assert np.array_equal(seen.population.codes[:, 1], own)
    old = seen.population.codes[:, 0] == 1
    assert old.sum() == 20
    assert own[old].all()
    assert 5 <= own[~old].sum() <= 15
    plain = observed(VILLAGE, weights="weight")
    ages = {user: code for user, (code,) in zip(plain.users, plain.population.codes, strict=True)}
    assert [ages[user] for user in seen.users] == seen.population.codes[:, 0].tolist()
    again = observed(VILLAGE, weights="weight", donors={"health": note})
    assert np.array_equal(again.donors[0], seen.donors[0])  # type: ignore[index]
    assert again.users == seen.users


def test_donors_that_cannot_be_used(tmp_path: Path) -> None:
    """One sentence says what is wrong, and the nearest that exists."""
    unknown = KeyNote("age", {"old": ("71",)})
    for what, hint, changes in (
        ("unknown column 'strok'", "'stroke'", {"columns": ("strok",)}),
        ("unknown column 'ages'", "'age'", {"keys": {"age": KeyNote("ages", {})}}),
        ("unknown column 'peopel'", "'people'", {"counts": "peopel"}),
        ("unknown column 'agee'", "'age'", {"keys": {"agee": unknown}}),
        ("unknown value of age '71'", "", {"keys": {"age": unknown}}),
        ("unknown value of age 'odl'", "'old'", {"keys": {"age": KeyNote("age", {"odl": ()})}}),
        ("'people' has no count", "from 1", {"text": HEALTH + "20,,1.5\n"}),
        ("'people' has no count", "from 1", {"text": HEALTH + "20,,0\n"}),
        ("'people' has no weight", "from 1", {"text": HEALTH + "20,,x\n", **WEIGHTED}),
        ("no rows", "from 1", {"text": "age,stroke,people\n"}),
        ("'age' cannot be drawn", "rename it", {"columns": ("age",)}),
        ("'Stroke' cannot", "rename", {"columns": ("Stroke",), "text": HEALTH.replace("st", "St")}),
        ("both weights and counts", "keep", {"weights": "people"}),
        ("no such file", "did you mean", {"file": "healht.csv"}),
    ):
        with pytest.raises(ReticentError) as caught:
            observed(VILLAGE, donors={"health": health(tmp_path, **changes)})
        assert what in caught.value.what
        assert hint in caught.value.hint
