"""How likely a fact helps a text: the arrays against plain loops, and what a model keeps."""

from dataclasses import replace
from math import exp, log
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from agent.model.file import decode, encode, read, shipped_model
from agent.model.reading import Candidate, Interpretation
from agent.model.relevance import (
    BY_KIND,
    DEEPEST,
    LEAST_HELP,
    NEAREST,
    OWN,
    RARE,
    SIZE,
    SUREST,
    WARMTH,
    Relevance,
    Vectors,
    vectors_of,
)
from tests.model.examples import own_words_model

MODEL = own_words_model()
RELEVANCE = MODEL.tables.relevance or pytest.fail("it has none")
SEEDS = st.integers(0, 2**32 - 1)
READINGS = st.lists(
    st.builds(Candidate, st.integers(0, 4), st.floats(0.02, 0.3)),
    max_size=3,
    unique_by=lambda each: each.query,
).map(lambda some: Interpretation(tuple(some)))


def halves(vector: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The vectors of the two encoders, each of length 1."""
    one, two = vector[:OWN].astype(float), vector[OWN:].astype(float)
    return one / np.linalg.norm(one), two / np.linalg.norm(two)


def cosines(one: NDArray[Any], other: NDArray[Any]) -> tuple[float, float]:
    (a, b), (c, d) = halves(one), halves(other)
    return float(a @ c), float(b @ d)


def naive_topics(relevance: Relevance, vector: Vectors) -> list[float]:
    """Where one fact helps, statement by statement."""
    scores = relevance.kind_weights.astype(float) @ np.append(vector, 1)
    odds = [exp(each - scores.max()) for each in scores]
    near = [sum(cosines(vector, each.astype(float) - 128)) / 2 for each in relevance.statements]
    best = sorted(range(len(near)), key=lambda at: -near[at])[:NEAREST]
    weights = {at: exp(near[at] / WARMTH) for at in best}
    topics = []
    for topic in range(len(relevance.common)):
        some = sum(w * relevance.helps_topics[at, topic] / 255 for at, w in weights.items())
        by_kind = sum(o * relevance.of_kinds[k, topic] for k, o in enumerate(odds)) / sum(odds)
        topics.append((1 - BY_KIND) * some / sum(weights.values()) + BY_KIND * by_kind)
    return topics


def naive_helps(
    relevance: Relevance, read: Interpretation, question: Vectors, vector: Vectors, topics: Vectors
) -> list[float]:
    """How likely one fact helps, and is decisive."""
    of_topics = {each.query: each.probability for each in read.candidates}
    of_topics = {at: each for at, each in of_topics.items() if at < len(topics)}
    kept = [float(each) if each >= LEAST_HELP else RARE for each in topics]
    here = sum(each * kept[at] for at, each in of_topics.items())
    any_fact = sum(each * float(relevance.common[at]) for at, each in of_topics.items())
    asks = np.array([*np.concatenate(halves(question)), 1])
    signs = np.array([*map(log, kept), 1])
    crossed = float(asks @ relevance.bilinear.astype(float) @ signs)
    chances = here, any_fact, sum(kept) / len(kept), crossed
    logs = [log(each) if each > exp(DEEPEST) else DEEPEST for each in chances]
    odds = max(-SUREST, min(SUREST, float(asks @ relevance.request.astype(float))))
    row = [cosines(question, vector)[0], *logs, odds, 1]
    helping, decisive = (1 / (1 + exp(-float(each @ row))) for each in relevance.pair.astype(float))
    return [helping, min(helping, decisive)]


@given(seed=SEEDS, read=READINGS)
def test_it_is_what_plain_loops_say(seed: int, read: Interpretation) -> None:
    """Whatever the length of the vectors, and in the precision in which they are kept."""
    random = np.random.default_rng(seed)
    vectors = random.normal(size=(3, SIZE)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    question = (random.normal(size=SIZE) / 30).astype(np.float32)
    topics = RELEVANCE.topics(vectors)
    for each, row in zip(vectors, topics, strict=True):
        assert row == pytest.approx(naive_topics(RELEVANCE, each), abs=1e-4)
    rare = random.random(topics.shape, np.float32) / 6
    shown: Vectors = np.where(random.random(topics.shape) < 0.5, topics, rare).astype(np.float32)
    helps = RELEVANCE.helps(read, question, vectors, shown)
    for at, row in enumerate(helps):
        expected = naive_helps(RELEVANCE, read, question, vectors[at], shown[at])
        assert row == pytest.approx(expected, abs=1e-4)
    kept = shown * (shown >= LEAST_HELP)
    short = (3 * vectors).astype(np.float16).astype(np.float32)
    assert RELEVANCE.helps(read, question, short, kept) == pytest.approx(helps, abs=0.01)


def test_it_needs_what_reads_requests() -> None:
    alone = replace(MODEL, tables=replace(MODEL.tables, classifier=None))
    with pytest.raises(Exception, match="without 'judged' or 'mixture'"):
        decode(encode(alone))


FACTS = {
    "I'm allergic to peanuts": "allergies",
    "mostly Rust": "programming",
    "we rent, fourth floor, no lift": "tenure",
    "I'm on warfarin": "medication",
    "hiking every weekend": "outdoors",
}
BEST = {
    "birthday cake for my son's class": "I'm allergic to peanuts",
    "can I take ibuprofen for my back": "I'm on warfarin",
    "fix a compile error in my program": "mostly Rust",
    "how do I get a sofa up the stairs": "we rent, fourth floor, no lift",
}


def test_the_shipped_model_tells_what_helps() -> None:
    """Of five facts the right one first, and none for what is the same for everybody."""
    model, facts = read(shipped_model()), [*FACTS]
    relevance = model.tables.relevance
    assert relevance is not None
    vectors = vectors_of(facts, question=False)
    kinds = [relevance.kind_names[each] for each in relevance.kinds(vectors).argmax(axis=1)]
    assert kinds == [*FACTS.values()]
    topics = relevance.topics(vectors)
    for text in (*BEST, "capital of Mongolia", "180 C in Fahrenheit"):
        question = vectors_of([text], question=True)
        helps = relevance.helps(model.read(text), question, vectors, topics)
        assert (helps[:, 1] <= helps[:, 0]).all()
        assert text not in BEST or facts[int(helps[:, 1].argmax())] == BEST[text]
        assert text in BEST or helps.max() < 0.1
    promised, kept = model.validation["relevance_promised"], model.validation["relevance_kept"]
    assert isinstance(promised, tuple)
    assert isinstance(kept, tuple)
    assert kept == pytest.approx(promised, abs=0.12)
