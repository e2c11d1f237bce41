"""What a model reads: from two tables of texts to a classifier, and what it promises."""

import csv
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from agent.build import phrasings
from agent.build.phrasings import (
    FALSE_ACCEPTS,
    FOLDS,
    RIGHT,
    _folds,
    _temperature,
    _threshold,
    fit_classifier,
    read_texts,
    with_texts,
)
from agent.build.topics import Texts
from agent.errors import BuildError
from agent.model import encoder
from agent.model.file import decode, encode
from agent.model.model import Model
from agent.model.reading import LEAST, LEAST_CHANCE, LEAST_TOPIC, softmax
from tests.build.worlds import QUIET
from tests.model.examples import same, small_model

pytestmark = QUIET
SNAKES = (
    *("how long is a python", "what does a python eat", "python or boa", "snake as a pet"),
    *("where do pythons live", "feeding a young snake", "is this snake dangerous"),
)
LETTERS = (
    *("write a capital c", "the letter c in cursive", "words that begin with c", "letter c song"),
    *("how do you draw the letter c", "alphabet song for kids", "third letter of the alphabet"),
)
OTHERS = {
    "weather": ("will it rain tomorrow", "weather in rome", "how warm is it"),
    "bank": ("my card was declined", "open an account", "transfer money abroad"),
    "music": ("play some jazz", "turn up the volume", "next song please"),
    "talk": ("how are you", "tell me a joke", "who made you"),
    "trains": ("next train to basel", "is the train late", "buy a train ticket"),
}


def table(path: Path, rows: Iterable[tuple[str, ...]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def learned(tables: tuple[Path, Path]) -> Model:
    """The small model, when it has learnt to read by two tables."""
    return with_texts(small_model(), read_texts(*tables, ["python", "c"]))


@pytest.fixture
def tables(tmp_path: Path) -> tuple[Path, Path]:
    """Texts for the two queries of the small model, and of five other intents."""
    pairs = [("Python", each) for each in SNAKES] + [("c", each) for each in LETTERS]
    others = [(intent, each) for intent, texts in OTHERS.items() for each in texts]
    known = table(tmp_path / "p.csv", [("query", "text"), *pairs])
    return known, table(tmp_path / "b.csv", [("intent", "text"), *others])


def test_a_model_learns_to_read(tables: tuple[Path, Path], tmp_path: Path) -> None:
    """It fits the format, and is the same to the bit if the rows come in another order."""
    model = learned(tables)
    assert same(decode(encode(model)), model)
    assert model.queries[0].phrasings == tuple(sorted(SNAKES))
    assert model.validation["predicted_bits"] == 0.25
    assert model.read(SNAKES[0]).candidates[0].probability == 1
    surest = [model.read(text).candidates[0].query for text in ("a snake in my garden", "letter b")]
    assert surest == [0, 1]
    mixed = []
    for path in tables:
        with path.open(encoding="utf-8", newline="") as file:
            head, *rows = csv.reader(file)
        more = [(*row, "en") for row in [*rows[::-1], *rows[:3]]]
        mixed.append(table(tmp_path / f"mixed-{path.name}", [(*head, "language"), *more]))
    assert encode(learned((mixed[0], mixed[1]))) == encode(model)


@given(st.data())
def test_the_threshold_keeps_both_promises(data: st.DataObject) -> None:
    """And is the least that does, among the probabilities of the texts that it shall read."""
    share = st.floats(0, 1)
    known = np.array(data.draw(st.lists(share, min_size=1, max_size=30)))
    right = np.array(data.draw(st.lists(st.booleans(), min_size=len(known), max_size=len(known))))
    unknown = np.array(data.draw(st.lists(share, min_size=1, max_size=30)))
    weights = np.full(len(unknown), 1 / len(unknown))

    def holds(at: float) -> bool:
        read = known >= at
        return bool(weights[unknown >= at].sum() <= FALSE_ACCEPTS and right[read].mean() >= RIGHT)

    found = _threshold(known, right, unknown, weights)
    candidates = [at for at in known.tolist() if at >= LEAST and holds(at)]
    assert found == min(candidates, default=1.0)


@given(st.integers(0, 2**32 - 1), st.floats(0.2, 8))
@example(0, 1.0)
def test_the_temperature_is_the_likeliest(seed: int, spread: float) -> None:
    """No other on a fine grid makes the labels likelier."""
    random = np.random.default_rng(seed)
    scores = random.normal(size=(40, 4)) * spread
    labels = random.integers(0, 4, 40)

    def loss(temperature: float) -> float:
        return float(-np.log(softmax(scores / temperature)[np.arange(40), labels] + 1e-300).mean())

    found = loss(_temperature(scores, labels))
    assert found <= min(loss(at) for at in np.geomspace(2**-7, 2**7, 200)) + 1e-9


@given(st.lists(st.text(max_size=4), unique=True))
def test_the_fold_of_a_text_does_not_depend_on_where_it_stands(texts: list[str]) -> None:
    """And folds are as large as each other, give or take one."""
    folds = dict(zip(texts, _folds(texts).tolist(), strict=True))
    assert dict(zip(texts[::-1], _folds(texts[::-1]).tolist(), strict=True)) == folds
    sizes = np.bincount([*folds.values()], minlength=FOLDS)
    assert sizes.max() - sizes.min() <= 1


def test_what_is_promised_is_measured_on_intents_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each background intent is one vector that no other resembles: seen, it would be safe."""

    def vectors(texts: list[str]) -> NDArray[np.float32]:
        rows = []
        for text in texts:
            kind = np.random.default_rng([*text.split()[0].encode()]).normal(size=512)
            rows.append(kind + np.random.default_rng([*text.encode()]).normal(size=512) / 4)
        return (np.array(rows) / 16).astype(np.float32)

    monkeypatch.setattr(phrasings, "encode", vectors)
    known = tuple(tuple(f"{query} {n}" for n in range(30)) for query in ("one", "two"))
    others = tuple((f"i{i}", f"i{i} {n}") for i in range(40) for n in range(3))
    classifier, figures = fit_classifier(["one", "two"], Texts(known, others))
    assert figures["reading_top1"] == 1
    assert isinstance(figures["reading_false_accepts"], float)
    assert figures["reading_false_accepts"] <= FALSE_ACCEPTS
    assert (figures["reading_texts"], figures["reading_intents"]) == (60, 40)
    shares = classifier.probabilities(vectors([f"j{i}" for i in range(400)])).max(axis=1)
    assert (shares >= classifier.threshold).mean() <= 4 * FALSE_ACCEPTS
    own = classifier.probabilities(vectors([f"two more {n}" for n in range(50)]))
    assert (own[:, 1] >= classifier.threshold).mean() >= 0.5


def test_phrasings_of_another_models_query_mean_none(tables: tuple[Path, Path]) -> None:
    """A table may serve a model that lacks some of its queries; empty texts are none."""
    rows = [("query", "text"), ("basic", "goto 10"), ("python", " "), ("PYTHON", "big\tsnake")]
    found = read_texts(table(tables[0], rows), tables[1], ["python", "c"])
    assert found.phrasings == (("big snake",), ())
    assert ("basic", "goto 10") in found.background
    assert len(found.background) == 16


def test_topics_teach_where_nothing_personal_helps() -> None:
    """Texts of which it is not known teach it nothing; both kinds weigh the same."""
    background = tuple((kind, text) for kind, some in OTHERS.items() for text in some)
    helped = dict.fromkeys(SNAKES, True) | dict.fromkeys(LETTERS, False)
    model = with_texts(small_model(), Texts((SNAKES, LETTERS), background, helped))
    assert same(decode(encode(model)), model)
    assert model.validation["head_texts"] == len(SNAKES + LETTERS)
    helped_share, others_share = map(model.validation.get, ("head_helped", "head_others"))
    assert isinstance(helped_share, float)
    assert isinstance(others_share, float)
    assert helped_share > others_share
    of_snakes, other = model.read("a snake in my garden"), model.read("the letter d")
    assert of_snakes.chance > 0.5 > LEAST_CHANCE > other.chance
    assert (of_snakes.query, other.query) == (0, None)
    assert other.candidates[0].query == 1
    assert of_snakes.threshold == LEAST_TOPIC
    classifier = model.tables.classifier
    assert classifier is not None
    second, centres = classifier.second, classifier.centres
    assert second is not None
    assert centres is not None
    others = [text for _, text in background]
    for texts, query in ((SNAKES, 0), (LETTERS, 1), (others, 2)):
        scores = encoder.encode(texts, question=True) @ second[:, :-1].T + second[:, -1]
        assert (scores.argmax(axis=1) == query).mean() > 0.8
    for query, texts in enumerate((SNAKES, LETTERS)):
        titled = [model.queries[query].title, *texts]
        mean = encoder.encode(titled, question=True).mean(axis=0)
        assert centres[query] == pytest.approx(mean / np.linalg.norm(mean), abs=1e-4)
    with pytest.raises(BuildError, match="helps every text, or none"):
        with_texts(model, Texts((SNAKES, LETTERS), background, dict.fromkeys(SNAKES, True)))


NOTHING: tuple[tuple[int, list[tuple[str, ...]], str], ...] = (
    (0, [("query",), ("c",)], "the phrasings table has no column 'text'"),
    (0, [("text",), ("c",)], "the phrasings table has no column 'query'"),
    (0, [("query", "text"), ("basic", "x")], "no phrasing belongs to a query"),
    (1, [("intent",), ("c",)], "the background table has no column 'text'"),
    (1, [("text",), ("a",), ("b",)], "the background has texts of 2 intents"),
)


def test_tables_that_teach_nothing_are_refused(tables: tuple[Path, Path]) -> None:
    """In one sentence."""
    whole = [path.read_bytes() for path in tables]
    for place, rows, sentence in NOTHING:
        table(tables[place], rows)
        with pytest.raises(BuildError) as caught:
            learned(tables)
        assert sentence in caught.value.what
        tables[place].write_bytes(whole[place])


def test_one_query_is_told_from_the_rest() -> None:
    """Of two classes the library keeps one row of weights; the model has one for each."""
    known = (tuple(f"walk the dog {each}" for each in range(20)),)
    others = tuple((f"topic {each % 8}", f"capital of country {each}") for each in range(40))
    classifier, figures = fit_classifier(["dogs"], Texts(known, others))
    assert classifier.weights.shape == (2, 512)
    assert figures["reading_top1"] == figures["reading_accepted"] == 1.0
