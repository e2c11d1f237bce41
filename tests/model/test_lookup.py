"""Which known query a text means."""

import unicodedata
from typing import Literal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent.model.lookup import MIN_SIMILARITY, Match, QueryIndex, normalise

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]
FORMS: tuple[Form, ...] = ("NFC", "NFD", "NFKC", "NFKD")
ANY_TEXT = st.text(max_size=20)
# Letters that meet often, so that texts are alike now and then.
WORDS = st.text("abc _-", max_size=8)


@given(ANY_TEXT)
@example("\u1e9b\u0323")
@example("e\u200b\u0301")
@example("\u0390 İ ß Ǆ")
def test_normalising_twice_changes_nothing(text: str) -> None:
    """Otherwise a known text might not find itself."""
    assert normalise(normalise(text)) == normalise(text)


def test_normalising_twice_changes_no_character() -> None:
    """All of Unicode that normalising changes, alone and before an accent."""
    everything = map(chr, range(0x110000))
    characters = [each for each in everything if normalise(each) != each]
    for text in (" ".join(characters), " ".join(each + "\u0301" for each in characters)):
        assert normalise(normalise(text)) == normalise(text)


@given(ANY_TEXT, st.sampled_from(FORMS))
def test_the_form_of_unicode_does_not_matter(text: str, form: Form) -> None:
    """Keyboards and systems differ in it."""
    assert normalise(unicodedata.normalize(form, text)) == normalise(text)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("  Version\tControl\n", "version control"),
        ("Ｐｙｔｈｏｎ", "python"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("soft\u00adware", "software"),
        ("\u202epython\u202c", "python"),
        ("zero\u200bwidth", "zerowidth"),
        ("a\u00a0b", "a b"),
        ("a\x00b", "a b"),
        ("version_control", "version_control"),
        ("\u200b \x07", ""),
    ],
)
def test_examples_of_normalising(text: str, normal: str) -> None:
    """What people type, paste and hide."""
    assert normalise(text) == normal


@given(st.lists(WORDS, max_size=6))
def test_every_known_text_finds_the_first_that_is_the_same(texts: list[str]) -> None:
    """Unless it is empty, which means nothing."""
    index = QueryIndex(texts)
    normal = [normalise(text) for text in texts]
    for text in texts:
        if normalise(text):
            expected = Match(normal.index(normalise(text)), "exact", 1.0)
        else:
            expected = Match(None, "unknown", 0.0)
        assert index.find(f" {text.upper()} ") == expected


@given(st.lists(WORDS, max_size=6), WORDS)
def test_the_nearest_is_the_best_of_a_plain_comparison(texts: list[str], text: str) -> None:
    """The definition, one pair after the other; the first of equals wins."""
    found = QueryIndex(texts).find(text)
    if found.kind == "exact" or not normalise(text):
        return
    best = max([dice(each, text) for each in texts], default=0.0)
    assert found.similarity == best
    if best >= MIN_SIMILARITY:
        assert found.kind == "nearest"
        assert found.query == [dice(each, text) for each in texts].index(best)
    else:
        assert (found.kind, found.query) == ("unknown", None)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("version control", "version_control"),
        ("Version-Control", "version_control"),
        ("python 3", "python"),
        ("postgres", "postgresql"),
        ("javascript", "javascript"),
        ("javascript and its frameworks", None),
        ("java server faces", None),
        ("ruby", None),
        ("_", None),
        ("", None),
    ],
)
def test_examples_of_finding(text: str, query: str | None) -> None:
    """Separators do not count; a longer question is another question."""
    texts = ["java", "javascript", "python", "postgresql", "version_control"]
    found = QueryIndex(texts).find(text).query
    assert (None if found is None else texts[found]) == query


def dice(one: str, other: str) -> float:
    """Return Dice's coefficient of the trigrams of two texts, from its definition."""
    sets = []
    for text in (one, other):
        words = normalise(text).replace("_", " ").replace("-", " ").split()
        padded = f" {' '.join(words)} " if words else ""
        sets.append({padded[at : at + 3] for at in range(len(padded) - 2)})
    total = len(sets[0]) + len(sets[1])
    return 2 * len(sets[0] & sets[1]) / total if total else 0.0
