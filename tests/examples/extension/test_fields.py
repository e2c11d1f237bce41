"""`Accept-Shared-Attributes` is read as http_sf reads it, and refused where that refuses."""

from typing import Any

import http_sf
import pytest
from http_sf.errors import StructuredFieldError
from hypothesis import example, given
from hypothesis import strategies as st

from tests.examples.extension.modules import Modules

ALPHABET = 'ab*A09_-.:/,; \t="\\()?@%f!\0é'
pieces = st.sampled_from(
    [
        *("region", "a", "*", "A:b/c", "int_python", ",", ", ", " ,\t", ";", "; ", "=", " ", "\t"),
        *("1", "-1", "1.5", "-0.125", "1.1234", "9" * 15, "9" * 16, "1" * 13 + ".5", "1.", "-"),
        *('"', '"x"', '"a\\"b"', '"\\a"', "?1", "?2", "@1", "@-5", "@1.5", ":YQ==:", ":YQ:", ":Y:"),
        *('%"f%c3%bc"', '%"%ff"', '%"%C3"', "(a b)", "()", "k", "*k-.9", "K", "é"),
    ]
)


def read(text: str) -> list[str] | None:
    """Return the tokens of a list as http_sf has them, None where it is not one of tokens."""
    try:
        members: Any = http_sf.parse(text.encode("latin-1"), tltype="list")
    except (StructuredFieldError, OverflowError):
        return None
    items = [member[0] for member in members]
    return (
        [str(each) for each in items] if all(isinstance(i, http_sf.Token) for i in items) else None
    )


@given(st.lists(pieces, max_size=10).map("".join))
@example("a;x=:YQ=:")
@example("a;x=::, b")
@example("a;b;b=1")
@example("a ;b")
def test_lists_out_of_pieces(modules: Modules, text: str) -> None:
    """Tokens with parameters, and what looks like them."""
    assert modules("lib/fields.js", "tokens", text) == read(text)


@given(st.text(ALPHABET))
def test_any_text(modules: Modules, text: str) -> None:
    """Nothing breaks it."""
    assert modules("lib/fields.js", "tokens", text) == read(text)


@pytest.mark.parametrize("text", ["a" * 100_000, "a," * 50_000, "a" + ";b" * 50_000, ";" * 100_000])
def test_long_ones_take_no_time(modules: Modules, text: str) -> None:
    """An expression that looks back would not come to an end."""
    assert modules("lib/fields.js", "tokens", text) == read(text)
