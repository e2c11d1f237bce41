"""The rough count of guesses: what adds to it, what does not, and what is said of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.cli.prompts import Strength, strength

TEXT = st.text(st.characters(codec="utf-8"), max_size=60)


@given(TEXT, TEXT)
def test_more_is_never_weaker(text: str, more: str) -> None:
    """Whatever is added at the end, and by no more than a sign could."""
    longer = strength(text + more).bits
    assert strength(text).bits <= longer + 1e-9
    assert longer <= 5 * len(text + more)


@given(st.text("abcdefghij", min_size=4, max_size=12), st.integers(2, 9))
def test_a_word_again_adds_little(word: str, times: int) -> None:
    """A bit at the most, with the space before it."""
    once = strength(word).bits
    assert strength(" ".join([word] * times)).bits <= once + times


@pytest.mark.parametrize(
    ("weaker", "stronger"),
    [
        ("aaaaaaaaaaaa", "password"),
        ("12345678", "73915042"),
        ("abcdefgh", "kwpxqmzt"),
        ("password", "Password1!"),
        ("hunter hunter hunter", "correct horse battery staple"),
    ],
)
def test_what_follows_by_itself_is_weaker(weaker: str, stronger: str) -> None:
    """Repetition and sequences, at the same length or a greater one."""
    assert strength(weaker).bits < strength(stronger).bits


@pytest.mark.parametrize("text", ["", "password", "12345678", "Password1!", "iloveyou2"])
def test_what_many_people_choose_is_not_enough(text: str) -> None:
    """Nor is nothing."""
    assert not strength(text).enough


@pytest.mark.parametrize("text", ["correct horse battery staple", "xK9#fL2qWv$7", "x7f3kd82hd9s"])
def test_words_and_random_signs_are_enough(text: str) -> None:
    """Four words, or twelve signs."""
    assert strength(text).enough


@pytest.mark.parametrize(
    ("bits", "said"),
    [
        (0.0, "less than a minute"),
        (17.0, "1 minute"),
        (26.0, "9 hours"),
        (30.0, "6 days"),
        (36.0, "1 year"),
        (40.0, "17 years"),
        (90.0, "more than 1,000,000 years"),
    ],
)
def test_the_number_is_said_as_a_time(bits: float, said: str) -> None:
    """In its largest unit."""
    assert Strength(bits).sentence.endswith(f" guess it in {said}.")
