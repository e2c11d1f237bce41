"""Patterns of words in queries, and of the names of attributes."""

import re
from contextlib import suppress
from fnmatch import fnmatchcase
from time import process_time

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from agent.errors import UsageError
from agent.model.reading import normalise
from policy.rules import EXACT, NamePattern, Words, normal, spoken

ASCII = st.text("ab1_ +-.*", max_size=10)
MIXED = st.text("ab_ +*é\u0301\u093f\u094dहन漢字กิテ\u0340ß", max_size=10)
ANY_TEXT = st.text(max_size=20)
STAR = st.sampled_from(["", "*"])
UNSPACED = re.compile("[漢ก\u0e34テ]")


@st.composite
def words(draw: st.DrawFn) -> Words:
    """Draw a pattern of one to three words, each with or without ``*``, and punctuation."""
    letters = draw(st.sampled_from(["ab1", "abé\u0301\u093f\u094dह漢กิテß"]))
    word = st.builds(
        "{}{}{}".format,
        st.sampled_from([each for each in letters if each.isalnum()]),
        st.text(letters, max_size=2),
        STAR,
    )
    text = draw(st.sampled_from(["", "+", "."])) + draw(word)
    for _ in range(draw(st.integers(0, 2))):
        text += draw(st.sampled_from([" ", "+", ". "])) + draw(word)
    return Words.parse(text + draw(st.sampled_from(["", "+", " ."])))


QUERIES = (ASCII | MIXED | ANY_TEXT).map(spoken)


@given(ANY_TEXT | MIXED)
@example("\u1e9b\u0323")
@example("e\u200b\u0301 \u0390 İ ß Ǆ")
@example("\u200b a\x00b\u00a0c\u2028 \x07")
def test_a_text_is_compared_as_the_model_compares_it(text: str) -> None:
    """Or a policy would see another query than the model."""
    assert normal(text) == normalise(text)


def test_every_character_is_compared_as_the_model_compares_it() -> None:
    """All that normalising changes, between letters and before an accent."""
    everything = [each for each in map(chr, range(0x110000)) if normal(each) != each]
    for text in ("a".join(everything), "\u0301 ".join(everything)):
        assert normal(text) == normalise(text)


@given(ANY_TEXT | MIXED)
@example("-a_\u2010 b")
def test_how_words_are_written_does_not_matter(text: str) -> None:
    """Hyphens and ``_`` are spaces, and to say it twice changes nothing."""
    said = spoken(text)
    assert spoken(said) == said
    assert not set(said) & set("_-\u2010\u2019")
    assert spoken(text.replace(" ", "_")) == said


@given(words(), QUERIES)
@example(Words.parse("a*"), "ab")
@example(Words.parse("a* b"), "ab b")
@example(Words.parse("+a"), "b+a")
def test_matching_is_as_a_regular_expression_says(pattern: Words, query: str) -> None:
    """In ASCII, where it is easily said."""
    assume(pattern.text.isascii() and query.isascii())
    pieces = map(re.escape, pattern.text.split("*"))
    edge, rest = r"(?:(?<!\w)|(?!\w))", r"\w*(?!\w)"
    assert pattern.matches(query) == bool(re.search(edge + rest.join(pieces) + edge, query))


@given(words(), QUERIES, QUERIES, st.sampled_from(["", "b", "1b", "\u0301"]))
def test_words_are_found_wherever_they_stand_whole(
    pattern: Words, before: str, after: str, rest: str
) -> None:
    """Between other words, and with any rest where it may differ."""
    assume(not (rest and UNSPACED.search(pattern.text)))  # there a letter is no rest of a word
    standing = pattern.text.replace("*", rest)
    assert pattern.matches(standing)
    assert pattern.matches(f"{before} {standing} {after}")
    assert pattern.matches(f"+{standing}.")


@given(words(), st.sampled_from(["b", "1", "\u0301", "हि"]))
def test_a_word_that_goes_on_is_another(pattern: Words, more: str) -> None:
    """Unless ``*`` allows it, or its script has no spaces."""
    first, last = pattern.text[0], pattern.text[-1]
    assume("*" not in pattern.text)
    if re.match(r"[ab1é]", last):
        assert not pattern.matches(pattern.text + more)
        with suppress(UsageError):
            assert Words.parse(f"{pattern.text}*").matches(pattern.text + more)
    if re.match(r"[ab1é]", first) and more not in pattern.text:
        assert not pattern.matches(more + pattern.text)


@given(words())
def test_a_pattern_reads_its_own_text(pattern: Words) -> None:
    """It is canonical."""
    again = Words.parse(pattern.text)
    assert again == pattern
    assert hash(again) == hash(pattern)


@given(words())
def test_the_rank_is_how_much_is_fixed(pattern: Words) -> None:
    """Characters that are neither ``*`` nor white space."""
    assert pattern.rank == len(re.sub(r"[*\s]", "", pattern.text))


@given(st.text() | MIXED)
def test_every_text_is_a_pattern_or_a_usage_error(text: str) -> None:
    """Nothing else is raised."""
    with suppress(UsageError):
        pattern = Words.parse(text)
        assert pattern.matches(pattern.text.replace("*", ""))


EXAMPLES = {  # the queries that a pattern matches, and those that it does not
    "symptoms of": (["Symptoms  of flu"], ["symptoms often", "of symptoms", "symptoms, of"]),
    "pregnan*": (["am I pregnant", "pregnan"], ["impregnant"]),
    "Schwangerschaft*": (["SCHWANGERSCHAFTSTEST"], []),
    "pre*-natal care*": (["prenatal pre-natal cares"], []),
    "café": (["CAFE\u0301!"], []),
    "straße": (["STRASSE 5"], []),
    "c++": (["learn c++", "c++11"], ["c", "abc++"]),
    "c": (["c++"], []),
    "c#": (["C# or F#"], ["c"]),
    ".net": (["asp.net core"], [".network", "net"]),
    "don't": (["I don't know", "don\u2019t"], ["don t"]),
    "avortement": (["l'avortement"], []),
    "怀孕": (["我怀孕了"], ["怀了孕"]),
    "妊娠*": (["妊娠検査薬"], []),
    "ท้อง": (["ฉันท้องแล้ว"], []),
    "हिन्दी": (["हिन्दी में"], []),
    "임신*": (["임신은"], []),
    "debt＊": (["debts"], []),
    "version control": (["version_control"], []),
    "side effects": (["side-effects"], []),
    "ilaç": (["\u0130LAÇ"], []),
    "debt": (["debt\ufe0f"], ["indebted"]),
    "pregnant": (["preg\u034fnant"], []),
    "o'brien": (["O`Brien"], []),
    "side_effects": (["side\u2010effects"], []),
    "हिन": ([], ["हिन्दी"]),
    "ท": ([], ["ท้อง"]),
    "cafe": ([], ["café"]),
}


@pytest.mark.parametrize("pattern", EXAMPLES)
def test_examples_that_match_and_that_do_not(pattern: str) -> None:
    """Languages with and without spaces, names of programming languages; parts of words."""
    matching, others = EXAMPLES[pattern]
    assert all(Words.parse(pattern).matches(spoken(query)) for query in matching)
    assert not any(Words.parse(pattern).matches(spoken(query)) for query in others)


NO_PATTERN = {
    "no letter": ("", "++", "*", "_ _"),
    "more than 200": ("a" * 201, "\ufdfa" * 20),
    r"has a \*": ("*nancy", "preg*nancy", "a *", "a**", "c+*"),
}


@pytest.mark.parametrize(
    ("text", "why"), [(text, why) for why, texts in NO_PATTERN.items() for text in texts]
)
def test_examples_of_what_is_no_pattern(text: str, why: str) -> None:
    """Each says why."""
    with pytest.raises(UsageError, match=why):
        Words.parse(text)


@pytest.mark.parametrize("pattern", ["a* " * 60 + "b", "a a " * 49 + "b", ".a*" * 60 + ".b"])
def test_no_pattern_takes_long(pattern: str) -> None:
    """Not on the text that fits it best, and longer than any query."""
    query = spoken((pattern[:-1] * 20).replace("*", "aa"))
    began = process_time()
    assert not Words.parse(pattern).matches(query)
    assert process_time() - began < 10


PATTERNS = st.from_regex(r"[ab*][ab*]{0,8}", fullmatch=True)
NAMES = st.text("ab", min_size=1, max_size=10)


@settings(max_examples=4 * settings().max_examples)
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
