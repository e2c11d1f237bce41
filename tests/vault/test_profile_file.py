"""The profile as a file: there and back, and with the user's own mistakes in it."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import UsageError
from agent.vault.profile import parse, profile_toml, read_profile, read_values
from tests.strategies import TEXTS
from tests.vault.values import model_of

AGE = ("unspecified", "young", "old")
REGION = ("unspecified", "uk", "france")
HOURS = {"hours": ("unspecified", "no", "yes")}
ONE = model_of({"age": AGE, "region": REGION}, HOURS, name="one")
TWO = model_of({"region": (*REGION, "spain")}, HOURS, name="two.2027")
BOTH = (ONE, TWO)
ANY = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)


@given(st.dictionaries(ANY, st.dictionaries(ANY, ANY, max_size=4), max_size=4))
def test_what_is_exported_is_all_there(values: dict[str, dict[str, str]]) -> None:
    """Whatever models, attributes and values are called."""
    assert parse(profile_toml(values).encode()).tables == values


@given(TEXTS.filter(lambda text: text != "unspecified"), TEXTS)
def test_what_is_exported_can_be_imported(value: str, name: str) -> None:
    """By all models together, and by each for itself, as `decide --profile` does."""
    model = model_of({"region": ("unspecified", value)}, name=name)
    values = {name: {"region": value}, "one " + name: {"age": "old"}}
    other = model_of({"age": AGE}, name="one " + name)
    text = profile_toml(values).encode()
    assert read_profile(text, [model, other]) == values
    assert read_values(text, model) == values[name]
    assert read_values(text, other) == values["one " + name]


def test_it_says_what_it_is() -> None:
    """On top, before any value; and the same values are the same text."""
    text = profile_toml({"one": {"region": "uk", "age": "old"}, "a": {}})
    assert text.startswith("# Your profile")
    assert "plain text" in text[: text.index("uk")]
    assert text == profile_toml({"a": {}, "one": {"age": "old", "region": "uk"}})


def test_nothing_is_a_file_too() -> None:
    """An empty profile is exported and read as one."""
    assert read_profile(profile_toml({}).encode(), BOTH) == {"one": {}, "two.2027": {}}
    assert read_values(b"", ONE) == {}


def test_what_stands_above_is_for_all_models_and_a_table_for_its_own() -> None:
    """A table counts more; a model that lacks an attribute is not told."""
    text = b'\xef\xbb\xbfage = "old"\nregion = "uk"\n["two.2027"]\nregion = "spain"\n'
    expected = {"one": {"age": "old", "region": "uk"}, "two.2027": {"region": "spain"}}
    assert read_profile(text, BOTH) == expected
    assert read_values(text, ONE) == expected["one"]


@pytest.mark.parametrize(
    ("text", "what", "hint"),
    [
        (b"region = ", "this is no TOML", "write lines such as"),
        (b"\xff", "this is no TOML", "write lines such as"),
        (b"a = " + b"[" * 50_000, "this is no TOML", "write lines such as"),
        (b'regoin = "uk"', "unknown attribute 'regoin'", "'region'?"),
        (b'region = "UK"', "unknown value of region 'UK'", "'uk'?"),
        (b'region = "spain"', "unknown value of region 'spain'", "known: "),
        (b"region = true", "the value of region is not text", 'region = "france"'),
        (b'[region]\nx = "uk"', "the value of region is not text", "quotes"),
        (b'hours = "yes"', "hours is set anew for every request", "leave it out"),
        (b'[one]\nhours = "yes"', "hours is set anew for every request", "leave it out"),
        (b'[one]\nregoin = "uk"', "unknown attribute 'regoin'", "'region'?"),
        (b"[one]\nage = {}", "the value of age is not text", "quotes"),
        (b'[On]\nage = "old"', "unknown model 'On'", "'one'?"),
    ],
)
def test_a_mistake_is_named(text: bytes, what: str, hint: str) -> None:
    """By who reads it for all models, and by who reads it for one."""
    for read in (lambda: read_profile(text, BOTH), lambda: read_values(text, ONE)):
        with pytest.raises(UsageError) as caught:
            read()
        assert what in caught.value.what
        assert hint in caught.value.hint


def test_tables_of_others_are_passed_over_beside_values() -> None:
    """A file of one model's user, in which there is more."""
    text = b'age = "old"\n[elsewhere]\nage = "ancient"\n'
    assert read_values(text, ONE) == {"age": "old"}
    with pytest.raises(UsageError, match="unknown model 'elsewhere'"):
        read_profile(text, BOTH)


def test_a_file_is_toml() -> None:
    """As another reader has it."""
    values = {"one": {"age": 'o"l\\d', "region": "\x7f\x00\n"}}
    assert tomllib.loads(profile_toml(values)) == values
