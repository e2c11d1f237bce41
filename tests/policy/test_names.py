"""Names of attributes, and patterns for them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import UsageError
from policy.names import EXACT, NamePattern

NAMES = st.from_regex(r"[a-c][a-c_]{0,7}", fullmatch=True)
PATTERNS = st.from_regex(r"[a-c*][a-c_*]{0,7}", fullmatch=True)


@given(PATTERNS, NAMES)
def test_a_star_stands_for_any_characters_or_none(text: str, name: str) -> None:
    """As a regular expression says."""
    expected = re.fullmatch(re.escape(text).replace(r"\*", ".*"), name) is not None
    assert NamePattern.parse(text).matches(name) == expected


@given(PATTERNS)
def test_a_name_is_more_specific_than_any_pattern(text: str) -> None:
    """And a pattern the more, the more characters it fixes."""
    rank = NamePattern.parse(text).rank
    assert rank == (EXACT if "*" not in text else 1 + len(text.replace("*", "")))
    assert 0 < rank <= EXACT


def test_no_pattern_takes_long() -> None:
    """Not one that a regular expression would try in millions of ways."""
    assert not NamePattern.parse("*a" * 40 + "*b").matches("a" * 4000)


@pytest.mark.parametrize("text", ["", "Age", "1st", "_a", "a-b", "a b", "é", "a\n"])
def test_what_no_attribute_is_called(text: str) -> None:
    """Says what a name looks like."""
    with pytest.raises(UsageError, match="no name of an attribute"):
        NamePattern.parse(text)
