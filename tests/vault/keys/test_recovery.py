"""A recovery code comes back from paper, or the mistake in it is noticed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import WrongSecretError
from agent.vault.secrets import CODE_BYTES, parsed, written

CODES = st.binary(min_size=CODE_BYTES, max_size=CODE_BYTES)
DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


@given(CODES)
def test_a_code_that_was_written_is_read(code: bytes) -> None:
    """In six groups of six."""
    text = written(code)
    assert [len(group) for group in text.split("-")] == [6] * 6
    assert parsed(text) == code


@given(CODES)
def test_how_it_is_typed_does_not_matter(code: bytes) -> None:
    """Case, spaces, lines, and letters that look like digits."""
    text = written(code)
    assert parsed(text.lower().replace("-", " ")) == code
    assert parsed(text.replace("-", "\n").replace("0", "O").replace("1", "l")) == code
    assert parsed(text.replace("-", "").replace("0", "o").replace("1", "i")) == code


@given(CODES, st.integers(0, 35), st.sampled_from(DIGITS))
def test_one_wrong_digit_is_noticed(code: bytes, where: int, digit: str) -> None:
    """Of 2**20 mistakes one passes; the examples drawn here are none of those."""
    plain = written(code).replace("-", "")
    wrong = plain[:where] + digit + plain[where + 1 :]
    if wrong == plain:
        assert parsed(wrong) == code
        return
    with pytest.raises(WrongSecretError, match="mistyped"):
        parsed(wrong)


@given(st.text(max_size=60))
def test_any_text_is_a_code_or_refused(text: str) -> None:
    """In one sentence, never otherwise."""
    said = None
    try:
        parsed(text)
    except WrongSecretError as error:
        said = error
    assert said is None or (said.what + said.hint).isprintable()


def test_length_and_digits_are_told() -> None:
    """What was typed is not repeated but for the one character that cannot be."""
    with pytest.raises(WrongSecretError, match="5 digits instead of 36"):
        parsed("ABCDE")
    with pytest.raises(WrongSecretError, match="no 'U'"):
        parsed("U" * 36)
