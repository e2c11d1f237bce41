"""The encoder of relevance: pieces of words, and the forward pass beside its reference."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent.model import encoder
from agent.model.encoder import CHARACTERS, DIMENSIONS, END, FOLDER, LONGEST, START, UNKNOWN

# 100 requests and facts with their cosines, by PyTorch and the tokenizer that the weights had.
REFERENCE = Path(__file__).with_name("cosines.jsonl")
VOCABULARY = (FOLDER / "vocabulary.txt").read_text(encoding="utf-8").splitlines()


def naive_pieces(word: str) -> list[str]:
    """The pieces of a word, each the longest of the whole vocabulary that fits there."""
    pieces, rest = list[str](), word
    while rest:
        mark = "##" if pieces else ""
        starts = [mark + rest[:end] for end in range(1, len(rest) + 1)]
        pieces.append(max((each for each in VOCABULARY if each in starts), key=len))
        rest = rest[len(pieces[-1]) - len(mark) :]
    return pieces


def test_cosines_are_those_of_the_reference() -> None:
    """To 1e-4, requests and facts each as a batch."""
    lines = [json.loads(line) for line in REFERENCE.read_text().splitlines()]
    requests = encoder.encode([each["question"] for each in lines], question=True)
    facts = encoder.encode([each["fact"] for each in lines], question=False)
    wanted = [each["cosine"] for each in lines]
    assert (requests * facts).sum(axis=1) == pytest.approx(wanted, abs=1e-4)


def test_texts_of_a_batch_keep_their_order() -> None:
    """Whatever their lengths are; each vector has length 1, and is the text's own."""
    texts = ["a knee that hurts", "", "tea", "a knee that aches", "\ud800\0", "tea " * 999, "子供"]
    vectors = encoder.encode(texts, question=True)
    assert (vectors.shape, vectors.dtype.name) == ((len(texts), DIMENSIONS), "float32")
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(texts)), abs=1e-5)
    for text, vector in zip(texts, vectors, strict=True):
        assert encoder.encode([text], question=True)[0] == pytest.approx(vector, abs=1e-5)
    assert (vectors[0] @ vectors[3]) > 0.8 > (vectors[0] @ vectors[2])
    assert encoder.encode([], question=False).shape == (0, DIMENSIONS)


@given(st.text(max_size=40))
@example("don't pay €5 at 50°C: naïve café, 日本 — İstanbul\u200b! #1")
@example("x" * 101)
def test_pieces_are_the_longest_that_begin_each_word(text: str) -> None:
    """A word is what white space or punctuation ends; accents and case do not count."""
    start, *pieces, end = encoder.pieces_of(text)
    assert (start, end) == (START, END)
    assert all(encoder.pieces_of(each) == [start, *pieces, end] for each in (f" {text}\t", text))
    shown = [VOCABULARY[each] for each in pieces]
    words = "".join(" " + each if not each.startswith("##") else each[2:] for each in shown)
    if UNKNOWN not in pieces:
        joined = [each for word in words.split() for each in naive_pieces(word)]
        assert joined == shown


def test_how_texts_become_pieces() -> None:
    """By example, as the tokenizer of the weights has it."""
    for text, pieces in (
        *(("Café-Thé?", "cafe - the ?"), ("unaffordable", "una ##ff ##ord ##able")),
        *(("$5+5", "$ 5 + 5"), ("日本", "日 本"), ("a\0b\u200bc\td", "abc d")),
        *(("x" * 101, "[UNK]"), ("😀 tea", "[UNK] tea")),
    ):
        assert [VOCABULARY[each] for each in encoder.pieces_of(text)[1:-1]] == pieces.split()
    teas = [VOCABULARY.index("tea")] * (LONGEST - 2)
    assert encoder.pieces_of("tea " * 99) == [START, *teas, END]
    assert encoder.pieces_of(" " * CHARACTERS + "tea") == [START, END]
