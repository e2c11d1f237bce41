"""Patterns for the names of attributes."""

from fnmatch import fnmatchcase

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.errors import UsageError
from policy.rules import EXACT, NamePattern

PATTERNS = st.from_regex(r"[ab*][ab*]{0,8}", fullmatch=True)
NAMES = st.text("ab", min_size=1, max_size=10)


@settings(max_examples=1000)
@given(PATTERNS, NAMES)
def test_a_star_stands_for_any_characters_or_none(text: str, name: str) -> None:
    """As in names of files; and a name stands for itself alone."""
    pattern = NamePattern.parse(text)
    assert pattern.matches(name) == fnmatchcase(name, text)
    assert pattern.rank == (len(text.replace("*", "")) + 1 if "*" in text else EXACT)


def test_many_stars_end() -> None:
    """Each part is looked for once, so this returns: nothing is tried again."""
    pattern = NamePattern.parse("*a" * 40 + "*b")
    assert not pattern.matches("a" * 4000)
    assert pattern.matches("a" * 4000 + "b")


@pytest.mark.parametrize(
    "text", ["", "A", "a b", "1a", "_a", "a-b", "a.b", "é", "a\n", "a?", "[a]"]
)
def test_what_no_attribute_is_called(text: str) -> None:
    """It is refused, not taken for a pattern that never matches."""
    with pytest.raises(UsageError, match="is not an attribute name"):
        NamePattern.parse(text)
