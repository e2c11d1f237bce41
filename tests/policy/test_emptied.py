"""A file that says nothing is told from every other, and remarked on."""

import tomllib

import pytest
from hypothesis import given

from policy.audit import audit
from policy.read import PRESETS, is_empty_policy, preset, read
from tests.policy.strategies import NAMES, TODAY, Document, documents, rendered


@given(documents())
def test_what_has_a_value_says_something(document: Document) -> None:
    """Each of the keys alone, whatever else is left out."""
    for key, value in tomllib.loads(rendered(document)).items():
        alone = rendered({key: value})
        assert is_empty_policy(alone) == (key == "format" or value in ({}, []))


@pytest.mark.parametrize("text", ["", "\n", "# preset = 'strict'\n", "format = 1\n[groups]\n"])
def test_a_file_that_says_nothing_is_remarked_on(text: str) -> None:
    """It is valid, and it opens everything."""
    assert is_empty_policy(text)
    (remark,) = audit(read(text, "test", preset), NAMES, TODAY)
    assert "says nothing" in remark.what
    assert "preset" in remark.hint


@pytest.mark.parametrize("text", [*(f"preset = '{name}'" for name in PRESETS), "nothing = false"])
def test_one_key_is_enough(text: str) -> None:
    """Also one that says what would hold without it: somebody has written it."""
    assert not is_empty_policy(text)
    assert all("says nothing" not in each.what for each in audit(read(text, "", preset), (), TODAY))
