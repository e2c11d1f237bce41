"""Which known query a text means."""

import unicodedata
from typing import Literal

from hypothesis import example, given
from hypothesis import strategies as st

from agent.model.file import read, shipped_model
from agent.model.reading import TextIndex, normalise, separated, singular, spelling

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]
FORMS: tuple[Form, ...] = ("NFC", "NFD", "NFKC", "NFKD")
ANY_TEXT = st.text(max_size=20)
# Letters that meet often, so that texts are alike now and then.
WORDS = st.text("abes _-.", max_size=8)


def index_of(texts: list[list[str]]) -> TextIndex:
    """Return the index of queries, each a name and phrasings."""
    phrasings = [(rest, [*map(spelling, rest)]) for _, *rest in texts]
    return TextIndex([name for name, *_ in texts], phrasings)


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


NORMAL = {
    "  Version\tControl\n": "version control",
    "Ｐｙｔｈｏｎ": "python",
    "STRASSE": "strasse",
    "Straße": "strasse",
    "soft\u00adware": "software",
    "\u202epython\u202c": "python",
    "zero\u200bwidth": "zerowidth",
    "a\u00a0b": "a b",
    "a\x00b": "a b",
    "version_control": "version_control",
    "\u200b \x07": "",
}


def test_examples_of_normalising() -> None:
    """What people type, paste and hide."""
    assert {text: normalise(text) for text in NORMAL} == NORMAL


@given(ANY_TEXT | WORDS)
@example("-..a.net b#.c")
def test_how_a_text_is_written_is_put_aside_once(text: str) -> None:
    """Punctuation and plural too; and each way of comparing sees no more than the one before."""
    for way in (separated, singular):
        assert way(way(text)) == way(text) == way(normalise(text))
    assert singular(separated(text)) == singular(text)


@given(ANY_TEXT | WORDS, ANY_TEXT | WORDS)
@example("jobs", "Job!")
@example("?!", "?")
def test_one_spelling_is_of_all_that_find_a_text(name: str, text: str) -> None:
    """And of no other, but for what is empty."""
    found = TextIndex([name]).find(text) is not None
    assert found == (spelling(text) == spelling(name) != "")


@given(st.lists(ANY_TEXT | WORDS, max_size=6))
def test_every_known_text_finds_the_first_that_is_the_same(texts: list[str]) -> None:
    """However alike others are; unless it is empty, which means nothing."""
    index = TextIndex(texts)
    normal = [normalise(text) for text in texts]
    for text in texts:
        expected = normal.index(normalise(text)) if normalise(text) else None
        assert index.find(f" {text}\t") == expected


@given(st.lists(WORDS, max_size=6), WORDS)
def test_a_text_means_the_one_query_that_is_the_same(texts: list[str], text: str) -> None:
    """The definition: as it is written, else without punctuation, else in the singular."""
    known = list(dict.fromkeys(map(normalise, texts)))
    found = TextIndex(known).find(text)
    for way in (normalise, separated, singular):
        same = [at for at, each in enumerate(known) if way(each) == way(text)]
        if same and way(text):
            assert found == (same[0] if len(same) == 1 else None)
            return
    assert found is None


@given(st.lists(st.lists(WORDS, min_size=1, max_size=4), max_size=4), WORDS)
def test_a_phrasing_means_its_query_unless_it_is_anothers(
    texts: list[list[str]], text: str
) -> None:
    """The definition again, with phrasings beside the names: a name comes before a phrasing."""
    found = index_of(texts).find(text)
    names = [normalise(name) for name, *_ in texts]
    meant: dict[str, int | None] = {}
    for query, (_, *rest) in enumerate(texts):
        for each in map(normalise, rest):
            meant[each] = query if meant.get(each, query) == query else None
    meant |= {name: names.index(name) for name in names}
    for way in (normalise, separated, singular):
        same = {query for each, query in meant.items() if way(each) == way(text)}
        if same and way(text):
            assert found == (same.pop() if len(same) == 1 else None)
            return
    assert found is None


@given(st.lists(st.lists(WORDS, min_size=1, max_size=4), max_size=4), WORDS)
def test_a_phrasing_takes_no_name_from_its_query(texts: list[list[str]], more: str) -> None:
    """Every name finds what it found without phrasings, whatever is added to another query."""
    plain = index_of([each[:1] for each in texts])
    rich = index_of([[*each, more] for each in texts])
    for name, *_ in texts:
        assert rich.find(name) == plain.find(name)


QUERIES = ["java", "javascript", "python", "postgresql", "version_control", "job/site"]
QUERIES += ["branches", "battery", "c", "net", "news", "windows"]
FINDS = {
    **dict.fromkeys(("version control", "Version-Control"), "version_control"),
    **dict.fromkeys(("version controls", "Version.Control?"), "version_control"),
    "job sites": "job/site",
    "branch": "branches",
    "batteries": "battery",
    "C?": "c",
    "javascript": "javascript",
    **dict.fromkeys(("the job site", "C++", "c#", ".net", "new", "window", "python 3"), None),
    **dict.fromkeys(("postgres", "javascript and its frameworks", "ruby", "_", ""), None),
}
RESEMBLES = (
    "photo editor",
    "child benefits",
    "hotel check in code",
    "framework laptop",
    "the learning channel",
)


def test_examples_of_finding() -> None:
    """Separators and a plural do not count; a longer question is another question."""
    index = TextIndex(QUERIES)
    places = {text: index.find(text) for text in FINDS}
    assert {text: None if at is None else QUERIES[at] for text, at in places.items()} == FINDS


def test_what_only_resembles_a_query_of_the_shipped_model() -> None:
    """It was read as one by the characters in common, and carried up to five facts."""
    model = read(shipped_model("so2017"))
    assert [
        text for text in (*RESEMBLES, "the learning channel") if model.match(text) is not None
    ] == []
    editor = model.match("editors")
    assert editor is not None
    assert model.queries[editor].text == "editor"
