"""A passphrase is the same bytes however it was typed, and is never shown."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import UsageError
from agent.vault.secrets import MAX_BYTES, Secret, normalised

TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=60)


@given(TEXTS)
def test_forms_of_one_text_are_one_passphrase(text: str) -> None:
    """Composed or not, and whatever space the keyboard gives."""
    composed = unicodedata.normalize("NFC", text)
    spaced = text.replace(" ", "\u00a0")
    assert normalised(text) == normalised(unicodedata.normalize("NFD", text))
    assert normalised(spaced) == normalised(composed)


@given(TEXTS)
def test_normalising_again_changes_nothing(text: str) -> None:
    """So that a stored form would do as well."""
    once = normalised(text)
    assert normalised(once.decode()) == once


@pytest.mark.parametrize("text", ["", "\udc80", "x" * (MAX_BYTES + 1), "é" * 513])
def test_what_is_no_passphrase_is_refused(text: str) -> None:
    """Nothing, what is no text, and what is too long."""
    with pytest.raises(UsageError) as caught:
        normalised(text)
    assert text == "" or text not in str(caught.value)


def test_a_secret_is_not_shown() -> None:
    """Neither by repr nor by str."""
    secret = Secret("passphrase", "correct horse")
    assert "horse" not in f"{secret!r} {secret}"
