"""What a description says of tables, and what it cannot say."""

import tomllib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.build import options as stated
from agent.build.build import model_of
from agent.build.kinds import Crossing
from agent.build.options import AttributeNote, BuildOptions, concepts, read_description
from agent.errors import BuildError, ReticentError, UsageError
from agent.model.attributes import Block
from agent.model.file import decode, encode
from agent.model.model import Model
from tests.build.worlds import QUIET, World, few, observed, options, source, worlds
from tests.house.tree import ROOT

pytestmark = QUIET
PAGE = Path(stated.__file__).with_name("FORMAT_DESCRIPTION.md").read_text(encoding="utf-8")
EXAMPLE = PAGE.split("```toml\n", 1)[1].split("```", 1)[0]
VILLAGE = World(
    users=(
        ("user", "weight", "year", "quarter", "street", "gender", "size"),
        ("1", "1", "2001", "east", "elm", "woman", "m"),
        ("2", "2.5", "2002", "east", "oak", "man", "l"),
        ("3", "1000", "2003", "west", "ash", "other", ""),
    ),
    events=(("user", "query", "intent"), *((user, "Days  off", "walk") for user in "1123")),
)


def described(text: str, folder: Path) -> BuildOptions:
    """Options for small tables with what a description says."""
    path = folder / "model.toml"
    path.write_text(text, encoding="utf-8")
    return replace(options(), description=read_description(path))


def built(world: World, given_options: BuildOptions) -> Model:
    """The model of small tables, as it is read back."""
    return decode(encode(model_of(source(world), given_options, lambda _what, _share: None)))


def test_the_page_is_what_a_model_is_built_by(tmp_path: Path) -> None:
    """Its example, with every key."""
    homes = [f"{side},{code},2,{side} gas" for side in "EW" for code in range(10, 30)]
    (tmp_path / "homes.csv").write_text("\n".join(["side,code,homes,heating", *homes]))
    model = built(VILLAGE, described(EXAMPLE, tmp_path))
    assert (model.id, model.licence) == ("village", "CC0-1.0")
    assert model.source == "survey of the village, 2026"
    assert (model.stands_for, model.people) == ("people of the village", 1003.5)
    quarter, street, gender, size, heating = model.attributes
    assert (street.refines, street.title) == ("quarter", "street")
    assert (gender.values, gender.concept) == (("unspecified", "man", "other", "woman"), "sex")
    assert gender.value_concepts == ("unspecified", "male", None, "female")
    assert (size.values, size.sensitivity) == (("unspecified", "s", "m", "l"), 0.2)
    assert (size.concept, size.value_concepts) == ("mine.size", size.values)
    assert size.implies == {"s": {"street": "oak"}}
    assert size.words == {"s": "small", "l": "large"}
    assert (quarter.concept, quarter.title) == ("village.quarter", "quarter")
    assert (heating.scope, heating.values) == ("person", ("unspecified", "E gas", "W gas"))
    codes = {(people[0], people[-1]) for people in model.population.codes.tolist()}
    assert codes == {(1, 1), (2, 2)}  # a donor is of the user's quarter
    (block,) = model.donors
    assert block == Block("homes", "survey of homes, 2025", ("heating",), ("quarter", "gender"))
    assert model.population.donors is not None
    assert model.population.donors.shape == (1, 3)
    (query,) = model.queries
    assert (query.text, query.title) == ("days off", "what to do on a day off")
    example = tomllib.loads(EXAMPLE)
    assert [*example, "kinds", "topics", "most_weight"] == [*stated.Description.__struct_fields__]
    keys = {key for note in example["attributes"].values() for key in note}
    assert keys == {*AttributeNote.__struct_fields__}
    keys |= {*stated.DonorsNote.__struct_fields__, *stated.KindsNote.__struct_fields__}
    keys |= {*Crossing.__struct_fields__}
    assert all(f"| `{key}`" in PAGE for key in keys | {"weights", "without", "stands_for"})


@few(12)
@given(data=st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_any_bytes_are_a_description_or_refused(
    data: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Never another error."""
    path = tmp_path_factory.mktemp("any") / "model.toml"
    path.write_bytes(data)
    with suppress(UsageError):
        read_description(path)


SEX = "[attributes.gender]\nconcept = 'sex'\nsame_as"
SAME = "[attributes.gender]\nconcept = 'a.b'\n[attributes.size]\nconcept = 'a.b'"
TWICE = "attributes.street.implies.elm.gender = 'woman'\nattributes"
UNREADABLE = (
    ("licens = 'x'", "unknown description key 'licens'", "did you mean 'licence'?"),
    ("[attributes.size]\ntitel = 'x'", "unknown description key 'titel'", "did you mean 'title'?"),
    ("id = 1", "the description does not fit: id is not text", "FORMAT_DESCRIPTION"),
    ("[attributes.a]\nsensitivity = -1", "sensitivity is below 0", "FORMAT_DESCRIPTION"),
    ("id = 'a'\nid\n", "line 2 is not TOML", "FORMAT_DESCRIPTION"),
    ("id = 'a", "not a file in TOML", "FORMAT_DESCRIPTION"),
)
UNFIT = (
    ("[attributes.sise]", "unknown attribute 'sise'", "'size'"),
    ("[attributes.gender]\nconcept = 'sexx'", "unknown concept 'sexx'", "'sex'"),
    (f"{SEX}.women = 'female'", "unknown value 'women'", "'woman'"),
    (f"{SEX}.woman = 'femal'", "unknown value of concept 'sex' 'femal'", "'female'"),
    (f"{SEX} = {{ man = 'male', other = 'male' }}", "values have the concept 'male'", "fits"),
    ("[queries.'day off']\ntitle = 'x'", "unknown query 'day off'", "'days off'"),
    ("without = ['yaer']", "unknown column 'yaer'", "'year'"),
    ("weights = 'weigth'", "unknown column 'weigth'", "'weight'"),
    ("stands_for = ' '", "stands_for is empty", "plural"),
    ("[attributes.size]\ntitle = '''a\nb'''", "control character", "shown"),
    ("[attributes.quarter]\nrefines = 'street'", "does not refine 'street'", "'east' lies in"),
    (SAME, "two attributes of the concept 'a.b'", ""),
    ("[attributes.size]\nimplies.xl.gender = 'man'", "unknown value 'xl'", "'l'"),
    ("[attributes.size]\nwords.l = 'site:a'", "'site:a' is not a plain word", "`words`"),
    ("[attributes.size]\nimplies.m.gender = 'men'", "'gender' is 'men', which is not", "what"),
    (f"{TWICE}.size.implies.m.gender = 'woman'", "of 'gender', and so does", "what"),
    (f"{TWICE}.gender.implies.woman.size = 'm'", "which implies others itself", "what"),
)


def test_what_a_description_cannot_say(tmp_path: Path) -> None:
    """One sentence names what is wrong, where, and the nearest that exists."""
    for text, what, hint in (*UNREADABLE, *UNFIT):
        with pytest.raises(ReticentError) as caught:
            built(VILLAGE, described(text, tmp_path))
        assert what in caught.value.what
        assert hint in caught.value.hint
        if (text, what, hint) in UNREADABLE:
            assert caught.value.where == str(tmp_path / "model.toml")


def test_a_weight_below_one_is_refused() -> None:
    """By its column, the number and the row."""
    for text in ("0.99", "", "-5", "nan", "many"):
        users = [[*row] for row in VILLAGE.users]
        users[2][1] = text
        with pytest.raises(BuildError) as caught:
            observed(World(tuple(map(tuple, users)), VILLAGE.events), weights="weight")
        shown = repr(text) if text else "no weight"
        assert caught.value.what == f"column 'weight' has {shown} in the row of user '2'"
        assert "from 1 to" in caught.value.hint


WEIGHTS = st.sampled_from([1.0, 1.5, 7.0, 1331.2])


@few(2)
@given(world=worlds(), data=st.data())
def test_weights_stay_with_their_rows(world: World, data: st.DataObject) -> None:
    """In the population's order; rows, utilities and the order of codes are as without them."""
    header, *users = world.users
    weights = data.draw(st.lists(WEIGHTS, min_size=len(users), max_size=len(users)))
    rows = [(*row, str(weight)) for row, weight in zip(users, weights, strict=True)]
    weighted = World(((*header, "heavy"), *rows), world.events)
    plain, seen = observed(world), observed(weighted, weights="heavy")
    assert seen.attributes == plain.attributes
    assert np.array_equal(seen.population.codes, plain.population.codes)
    assert seen.population.weights is not None
    by_user = {row[0]: weight for row, weight in zip(users, weights, strict=True)}
    assert seen.population.weights.tolist() == [by_user[each] for each in seen.users]
    for one, other in zip(plain.queries, seen.queries, strict=True):
        assert np.array_equal(one.rows.person, other.rows.person)
    for half in "AB":  # half of a sample is a sample of the same people
        with suppress(BuildError):  # none of this half asked anything
            part = observed(weighted, weights="heavy", half=half).population.weights
            assert part is not None
            assert part.sum() == pytest.approx(sum(weights))
            assert (part >= 1).all()
    # The order is a function of codes, counts and weights alone.
    shuffled = World(((*header, "heavy"), *data.draw(st.permutations(rows))), world.events)
    again = observed(shuffled, weights="heavy").population
    assert np.array_equal(again.weights, seen.population.weights)  # type: ignore[arg-type]


def test_unlisted_facts_of_two_models_are_never_one(tmp_path: Path) -> None:
    """Unless both say so; the same model built anew keeps its facts."""

    def facts(name: str) -> set[str]:
        return {each.concept for each in built(VILLAGE, options(id=name)).attributes}

    assert not facts("one") & facts("other")
    assert facts("one") == facts("one")
    mine = described("[attributes.size]\nconcept = 'mine.size'", tmp_path)
    assert "mine.size" in {each.concept for each in built(VILLAGE, mine).attributes}


def test_the_shipped_descriptions_fit_the_format() -> None:
    """Every concept that they name is in the list, and no title has codes left."""
    for name in ("atus", "so2017"):
        description = read_description(ROOT / "examples/data" / name / "model.toml")
        assert description.id == name
        notes = [*description.attributes.values()]
        assert {note.concept for note in notes} - {""} <= {*concepts()}
        titles = [each.title for each in notes]
        titles += [each.title or text for text, each in description.queries.items()]
        assert not [title for title in titles if "_" in title or not title]


def test_an_implication_may_have_few_exceptions(tmp_path: Path) -> None:
    """One of a hundred, no more; who does not say is not counted."""
    users = [("yes", "none")] * 99 + [("yes", ""), ("yes", "some"), ("no", "some")]
    rows = [(str(user), *both) for user, both in enumerate(users)]
    events = tuple((user, "q", "walk") for user, *_ in rows)
    text = "[attributes.alone]\nimplies.yes.children = 'none'"

    def village(kept: Sequence[tuple[str, ...]]) -> Model:
        world = World(
            (("user", "alone", "children"), *kept), (("user", "query", "intent"), *events)
        )
        return built(world, described(text, tmp_path))

    assert village(rows).attributes[0].implies == {"yes": {"children": "none"}}
    with pytest.raises(BuildError, match="alone 'yes' does not imply children 'none'") as caught:
        village(rows[1:])
    assert caught.value.hint == "1 of 99 people say otherwise: remove it"
