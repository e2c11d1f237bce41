"""The profile, and the file that it is exported to."""

import json
import tomllib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import DamagedVaultError, UsageError, VaultError
from agent.model.model import Model
from agent.vault.profile import ITEM, Profile, profile_toml, read_profile
from tests.strategies import TEXTS
from tests.vault.doubles import MemoryStore
from tests.vault.values import change, model_of, sexes

AGE = ("unspecified", "young", "old")
REGION = ("unspecified", "uk", "france")
HOURS = {"hours": ("unspecified", "no", "yes")}
ONE = model_of({"age": AGE, "region": REGION}, HOURS, name="one")
TWO = model_of({"region": (*REGION, "spain"), "job": ("unspecified", "clerk")}, HOURS, name="two")
BOTH = (ONE, TWO)
NAMES = ("age", "region", "job")
VALUES = {"age": AGE, "region": REGION, "job": ("unspecified", "clerk")}
GIVEN = st.fixed_dictionaries({}, optional={n: st.sampled_from(v) for n, v in VALUES.items()})
FAULTS: tuple[tuple[dict[str, str], tuple[str, ...], str], ...] = (
    ({"region": "italy"}, (), "unknown value of region 'italy'"),
    ({"region": "UK"}, (), "did you mean 'uk'?"),
    ({"regoin": "uk"}, (), "did you mean 'region'?"),
    ({"hours": "yes"}, (), "hours changes with every request"),
    ({}, ("hours",), "hours changes with every request"),
    ({}, ("ag",), "did you mean 'age'?"),
    ({"age": "old"}, ("age",), "age is both set and unset"),
)
SECOND = model_of({"region": (*REGION, "spain")}, HOURS, name="two.2027")
PAIR = (ONE, SECOND)
ANY = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)


def profile_of(**values: str) -> Profile:
    """Return a profile with these values for both models."""
    profile = Profile(MemoryStore())
    change(profile, values, (), BOTH)
    return profile


def alone(text: bytes, model: Model) -> dict[str, str]:
    """Return the values in a file for one model, whatever it says of others."""
    return read_profile(text, [model], others=True)[model.id]


def values_of(values: dict[str, str], model: Model) -> dict[str, str]:
    """Return those of a model."""
    own = {each.name for each in model.attributes}
    return {n: v for n, v in values.items() if n in own}


@given(GIVEN, GIVEN, st.sets(st.sampled_from(NAMES)))
def test_a_change_changes_what_it_names(
    before: dict[str, str], given_: dict[str, str], unset: set[str]
) -> None:
    """In every model that has it, and whoever opens the vault later finds the same."""
    store = MemoryStore()
    profile = Profile(store)
    change(profile, before, (), BOTH)
    gone = sorted(unset - given_.keys())
    changed = change(profile, given_, gone, BOTH)
    after = {n: v for n, v in before.items() if n not in unset} | given_
    by_model = {model.id: values_of(after, model) for model in BOTH}
    assert profile.values() == {name: own for name, own in by_model.items() if own}
    assert Profile(store).values() == profile.values()
    assert changed == {n: after.get(n) for n in NAMES if before.get(n) != after.get(n)}


@given(GIVEN, GIVEN)
def test_replacing_leaves_only_what_is_given(
    before: dict[str, str], given_: dict[str, str]
) -> None:
    """Of the models that are named; the others keep what they have."""
    profile = profile_of(**before)
    own = {n: v for n, v in given_.items() if n in ("age", "region")}
    changed = change(profile, own, (), [ONE], replace=True)
    assert profile.values().get("one", {}) == values_of(own, ONE)
    assert profile.values().get("two", {}) == values_of(before, TWO)
    assert all(changed[name] == own.get(name) for name in changed)


def test_values_of_a_model_that_is_gone_stay_until_everything_is_meant() -> None:
    """They are not in the way, and can be removed."""
    profile = profile_of(region="uk", job="clerk")
    change(profile, {"region": "france"}, (), [ONE])
    assert profile.values()["two"] == {"job": "clerk", "region": "uk"}
    change(profile, {}, ["region"], [ONE])
    assert profile.values() == {"two": {"job": "clerk", "region": "uk"}}
    assert change(profile, {}, ["job"], [ONE], everywhere=True) == {"job": None}
    assert profile.values() == {"two": {"region": "uk"}}
    changed = change(profile, {"region": "france"}, (), [ONE], replace=True, everywhere=True)
    assert profile.values() == {"one": {"region": "france"}}
    assert changed == {"region": "france"}


@pytest.mark.parametrize(("given_", "unset", "said"), FAULTS)
@pytest.mark.parametrize("replace", [False, True])
def test_all_or_nothing(
    given_: dict[str, str], unset: tuple[str, ...], said: str, replace: bool
) -> None:
    """One thing that does not fit, and nothing is changed."""
    profile = profile_of(age="young")
    with pytest.raises(UsageError) as caught:
        change(profile, {"job": "clerk"} | given_, unset, BOTH, replace=replace)
    assert said in f"{caught.value.what} {caught.value.hint}"
    assert profile.values() == {"one": {"age": "young"}}


def test_a_full_disk_changes_nothing() -> None:
    """What is in memory is what is in the file."""
    store = MemoryStore()
    profile = Profile(store)
    change(profile, {"age": "old"}, (), BOTH)
    store.full = True
    with pytest.raises(VaultError):
        change(profile, {"age": "young"}, (), BOTH)
    assert profile.values() == Profile(store).values() == {"one": {"age": "old"}}


@given(GIVEN, GIVEN, st.permutations((*NAMES, "hours", "height")))
def test_what_is_revealed_is_what_was_asked(
    mine: dict[str, str], theirs: dict[str, str], names: list[str]
) -> None:
    """The same names in the same order for everybody, whatever is set, and a value for each."""
    found = profile_of(**mine).reveal(names, ONE)
    assert list(found) == list(profile_of(**theirs).reveal(names, ONE)) == names
    assert found == {name: values_of(mine, ONE).get(name, "unspecified") for name in names}


def test_a_model_that_lost_a_value_is_told_nothing() -> None:
    """Its file was replaced by another of the same id: revealing still cannot fail."""
    profile = profile_of(age="old", region="uk")
    later = model_of({"age": ("unspecified", "young"), "region": REGION}, name="one")
    assert profile.reveal(["age", "region"], later) == {"age": "unspecified", "region": "uk"}
    assert profile.codes(later) == {"region": 1}
    assert profile.misfits(later) == ("age",)
    assert profile.misfits(ONE) == ()


@given(GIVEN)
def test_codes_are_those_of_the_values(values: dict[str, str]) -> None:
    """Of what is set, "unspecified" too; the others are not in it."""
    expected = {n: VALUES[n].index(v) for n, v in values_of(values, ONE).items()}
    assert profile_of(**values).codes(ONE) == expected


@given(GIVEN, GIVEN)
def test_which_attributes_are_set_says_nothing_of_their_values(
    mine: dict[str, str], theirs: dict[str, str]
) -> None:
    """A value "unspecified" is one, and so is one that the model has no more."""
    names = profile_of(**mine).names(ONE)
    assert names == values_of(mine, ONE).keys()
    other = profile_of(**{n: theirs.get(n, v) for n, v in mine.items()})
    assert other.names(ONE) == names
    later = model_of({"age": ("unspecified", "new"), "region": REGION}, name="one")
    assert other.names(later) == names


def test_what_is_handed_out_is_a_copy() -> None:
    """Nobody changes the profile by changing an answer."""
    profile = profile_of(age="old")
    profile.values()["one"]["age"] = "young"
    profile.reveal(["age"], ONE)["age"] = "young"
    assert profile.reveal(["age"], ONE) == {"age": "old"}


def test_nothing_private_is_shown() -> None:
    """Neither a value nor a name."""
    assert repr([profile_of(age="old", region="uk")]) == "[Profile(2 models)]"


@pytest.mark.parametrize(
    "payload", [b"", b"{", b"[]", b'{"one": {"age": 1}}', b'{"one": "uk"}', b"\xff", b"[" * 99_999]
)
def test_a_profile_that_cannot_be_read_is_damage(payload: bytes) -> None:
    """It is said at once, without a quotation."""
    store = MemoryStore()
    store.put(ITEM, payload)
    with pytest.raises(DamagedVaultError, match=r": the profile cannot be read$"):
        Profile(store)


@given(GIVEN)
def test_the_same_values_are_the_same_bytes(values: dict[str, str]) -> None:
    """In whatever order they were set."""
    written = []
    for names in (values, reversed(values)):
        store = MemoryStore()
        for name in names:
            change(Profile(store), {name: values[name]}, (), BOTH)
        written.append(store.get(ITEM) or b"{}")
    assert written[0] == written[1]
    assert json.loads(written[0]) == profile_of(**values).values()


@given(st.dictionaries(ANY, st.dictionaries(ANY, ANY, max_size=4), max_size=4))
def test_what_is_exported_is_all_there(values: dict[str, dict[str, str]]) -> None:
    """Whatever models, attributes and values are called."""
    assert tomllib.loads(profile_toml(values)) == values


@given(TEXTS.filter(lambda text: text != "unspecified"), TEXTS)
def test_what_is_exported_can_be_imported(value: str, name: str) -> None:
    """By all models together, and by each for itself, as `decide --profile` does."""
    model = model_of({"region": ("unspecified", value)}, name=name)
    values = {name: {"region": value}, "one " + name: {"age": "old"}}
    other = model_of({"age": AGE}, name="one " + name)
    text = profile_toml(values).encode()
    assert read_profile(text, [model, other]) == values
    assert alone(text, model) == values[name]
    assert alone(text, other) == values["one " + name]


def test_it_says_what_it_is() -> None:
    """On top, before any value; and the same values are the same text."""
    text = profile_toml({"one": {"region": "uk", "age": "old"}, "a": {}})
    assert text.startswith("# Your profile")
    assert "plain text" in text[: text.index("uk")]
    assert text == profile_toml({"a": {}, "one": {"age": "old", "region": "uk"}})


def test_what_stands_above_is_for_all_models_and_a_table_for_its_own() -> None:
    """A table counts more; a model that lacks an attribute is not told."""
    text = b'\xef\xbb\xbfage = "old"\nregion = "uk"\n["two.2027"]\nregion = "spain"\n'
    expected = {"one": {"age": "old", "region": "uk"}, "two.2027": {"region": "spain"}}
    assert read_profile(text, PAIR) == expected
    assert alone(text, ONE) == expected["one"]


@pytest.mark.parametrize(
    ("text", "what", "hint"),
    [
        (b"region = ", "this is not valid TOML", "write lines such as"),
        (b"\xff", "this is not valid TOML", "write lines such as"),
        (b"a = " + b"[" * 50_000, "this is not valid TOML", "write lines such as"),
        (b'regoin = "uk"', "unknown attribute 'regoin'", "'region'?"),
        (b'region = "UK"', "unknown value of region 'UK'", "'uk'?"),
        (b'region = "italy"', "unknown value of region 'italy'", "known: "),
        (b"region = true", "the value of region is not text", 'region = "france"'),
        (b'[region]\nx = "uk"', "the value of region is not text", "quotes"),
        (b'hours = "yes"', "hours changes with every request", "leave it out"),
        (b'[one]\nhours = "yes"', "hours changes with every request", "leave it out"),
        (b'[one]\nregoin = "uk"', "unknown attribute 'regoin'", "'region'?"),
        (b"[one]\nage = {}", "the value of age is not text", "quotes"),
        (b'[On]\nage = "old"', "unknown model 'On'", "'one'?"),
    ],
)
def test_a_mistake_is_named(text: bytes, what: str, hint: str) -> None:
    """By who reads it for all models, and by who reads it for one."""
    for read in (lambda: read_profile(text, PAIR), lambda: alone(text, ONE)):
        with pytest.raises(UsageError) as caught:
            read()
        assert what in caught.value.what
        assert hint in caught.value.hint


def test_tables_of_others_are_passed_over_beside_values() -> None:
    """A file of one model's user, in which there is more."""
    text = b'age = "old"\n[elsewhere]\nage = "ancient"\n'
    assert alone(text, ONE) == {"age": "old"}
    with pytest.raises(UsageError, match="unknown model 'elsewhere'"):
        read_profile(text, PAIR)


@given(
    st.sampled_from(["female", "male", "other", "unspecified"]),
    st.sampled_from(["gender", "sex", "one.gender", "two.sex"]),
    st.permutations(sexes()),
)
def test_a_fact_is_asked_once(value: str, name: str, models: list[Model]) -> None:
    """Whatever it is called, every model has it; one that lacks the value has it unspecified."""
    profile = Profile(MemoryStore())
    change(profile, {name: value}, (), models)
    sex = "unspecified" if value == "other" else value
    assert profile.values() == {"one": {"gender": value}, "two": {"sex": sex}}
    assert profile.follow(models) == ()
    change(profile, {}, [name], models)
    assert profile.values() == {}


def test_a_fact_that_one_model_is_told_follows_in_the_others() -> None:
    """Also where only one of them was named, and when one is installed later."""
    one, two = sexes()
    profile = Profile(MemoryStore())
    change(profile, {"gender": "female"}, (), [one])
    assert profile.values() == {"one": {"gender": "female"}}
    assert profile.follow([two, one]) == ()
    assert profile.values()["two"] == {"sex": "female"}
    change(profile, {"sex": "male"}, (), [two], others=[one])
    assert profile.values() == {"one": {"gender": "male"}, "two": {"sex": "male"}}


def test_what_contradicts_is_said_and_the_first_model_counts() -> None:
    """A profile of a time when each model had its own values; it is said once."""
    one, two = sexes()
    profile = Profile(MemoryStore())
    profile.keep({"one": {"gender": "female"}, "two": {"sex": "male"}, "gone": {"age": "old"}})
    assert profile.follow([two, one]) == ("sex",)
    assert profile.follow([two, one]) == ()
    assert profile.values() == {
        "gone": {"age": "old"},
        "one": {"gender": "male"},
        "two": {"sex": "male"},
    }


def test_two_facts_of_one_name_are_told_apart() -> None:
    """By MODEL.NAME; the name alone is refused with both, and neither changes the other."""
    world, states = (
        model_of({"region": ("unspecified", *values)}, name=name)
        for name, values in (("world", ("asia", "west")), ("states", ("south", "west")))
    )
    states = replace(states, attributes=(replace(states.attributes[0], concept="states.region"),))
    profile = Profile(MemoryStore())
    with pytest.raises(UsageError, match="region may be 2 different facts") as caught:
        change(profile, {"region": "west"}, (), [world, states])
    assert "states.region (region) or world.region (region)" in caught.value.hint
    change(profile, {"world.region": "west"}, (), [world, states])
    assert profile.values() == {"world": {"region": "west"}}
    change(profile, {"states.region": "south"}, ["world.region"], [world, states])
    assert profile.values() == {"states": {"region": "south"}}
