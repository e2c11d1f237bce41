"""The encoder of relevance: requests lie near the facts that help them (DESIGN.md 2.12).

A transformer of six layers over the pieces of words, English only, whose weights ship with the
package (shipped/NOTICE.md). Sources: Devlin et al., BERT (2019), for the network and the pieces;
Wang et al., MiniLM (2020), for the weights that it was tuned from; Abramowitz & Stegun, 7.1.26,
for the error function, to 1.5e-7.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from unicodedata import category, normalize

import msgspec
import numpy as np
from numpy.typing import NDArray

NAME, VERSION = "reticent-minilm", "1"
DIMENSIONS = 384
LONGEST = 62  # pieces that are read, the marks at both ends among them
CHARACTERS = 1_000  # that are read
LONGEST_WORD = 100  # characters; a longer word is unknown
BATCH = 8  # texts of one length at a time: what is computed of more leaves the cache
THREADS = 2  # that read many texts; other requests want the other cores
HEADS, LAYERS = 12, 6
UNKNOWN, START, END = 100, 101, 102  # lines of the vocabulary, from 0
FOLDER = Path(__file__).with_name("shipped") / "encoder"

_TYPES = {"F32": "<f4", "I8": "<i1"}
_WORDS = "embeddings.word_embeddings.weight"
# Characters that are words of their own, with the punctuation of Unicode.
_ALONE = re.compile(
    "[!-/:-@[-`{-~\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002ceaf\U0002f800-\U0002fa1f]"
)
_TAIL = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)  # by Horner's scheme


def encode(texts: Sequence[str], *, question: bool) -> NDArray[np.float32]:
    """The vectors of texts, float32, shape (texts, 384), of length 1; about 5 ms for each text.

    ``question``: whether they are requests; else they are facts. The cosine of a request and a
    fact says how likely the one helps the other. The vector of one text alone is the same every
    time; among others it may differ in the last bits. Many texts are read by two threads.
    """
    pieces = [pieces_of(each) for each in texts]
    vectors, sizes = np.empty((len(texts), DIMENSIONS), np.float32), [*map(len, pieces)]
    order = sorted(range(len(texts)), key=sizes.__getitem__)
    alike = ([*some] for _, some in groupby(order, sizes.__getitem__))
    batches = [some[at : at + BATCH] for some in alike for at in range(0, len(some), BATCH)]

    def read(batch: Sequence[int]) -> None:
        vectors[batch] = _forward(np.array([pieces[each] for each in batch]), question=question)

    if len(batches) == 1:
        read(batches[0])
        return vectors
    from concurrent.futures import ThreadPoolExecutor  # a text alone does without

    with ThreadPoolExecutor(THREADS) as pool:  # NumPy lets go of the interpreter's lock
        [*pool.map(read, batches)]
    return vectors


def pieces_of(text: str) -> list[int]:
    """The pieces of a text as lines of the vocabulary: for each word the longest that begin it.

    Neither case nor accents count, nor do control characters.
    """
    spaced = []
    for each in normalize("NFD", " ".join(text[:CHARACTERS].lower().split())):
        kind = category(each)
        if kind[0] == "P" or _ALONE.match(each):
            spaced.append(f" {each} ")
        elif kind != "Mn" and kind[0] != "C":
            spaced.append(each)
    vocabulary, pieces = _vocabulary(), [START]
    for word in "".join(spaced).split()[:LONGEST]:
        at, parts = 0, list[int]()
        while at < len(word) <= LONGEST_WORD:
            mark = "##" if at else ""
            ends = range(len(word), at, -1)
            end = next((e for e in ends if mark + word[at:e] in vocabulary), None)
            if end is None:
                break
            parts.append(vocabulary[mark + word[at:end]])
            at = end
        pieces += parts if at == len(word) else [UNKNOWN]
    return [*pieces[: LONGEST - 1], END]


def _forward(pieces: NDArray[np.intp], *, question: bool) -> NDArray[np.float32]:
    """The vectors of texts of equally many pieces, shape (texts, DIMENSIONS)."""
    weights, (texts, count) = _weights(), pieces.shape
    states = weights[f"{_WORDS}.q"][pieces] * weights[f"{_WORDS}.s"][pieces]
    for line, name in ((slice(count), "position"), (int(question), "token_type")):
        states += weights[f"embeddings.{name}_embeddings.weight"][line]
    states = _normalised(states, "embeddings.LayerNorm")
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        query, key, value = (
            _linear(states, f"{name}.attention.self.{each}")
            .reshape(texts, count, HEADS, DIMENSIONS // HEADS)
            .transpose(0, 2, 1, 3)
            for each in ("query", "key", "value")
        )
        scores = query @ key.swapaxes(2, 3) / np.float32((DIMENSIONS / HEADS) ** 0.5)
        shares = np.exp(scores - scores.max(axis=3, keepdims=True))
        shares /= shares.sum(axis=3, keepdims=True)
        drawn = (shares @ value).transpose(0, 2, 1, 3).reshape(texts, count, DIMENSIONS)
        drawn = states + _linear(drawn, f"{name}.attention.output.dense")
        states = _normalised(drawn, f"{name}.attention.output.LayerNorm")
        inner = _linear(states, f"{name}.intermediate.dense")
        for each in inner:  # of all texts at once, it would leave the cache
            np.multiply(each, _below(each), out=each)
        inner = states + _linear(inner, f"{name}.output.dense")
        states = _normalised(inner, f"{name}.output.LayerNorm")
    means = states.mean(axis=1)
    if question:
        means = _linear(means, "p")
    return np.asarray(means / np.linalg.norm(means, axis=1, keepdims=True))


def _linear(states: NDArray[np.float32], name: str) -> NDArray[np.float32]:
    """States times the weights of a layer, plus its bias, if it has one."""
    weights = _weights()
    # Cast anew each time, they take a quarter of the memory, and no longer: fewer bytes are read.
    cast = weights[f"{name}.weight.q"].astype(np.float32)
    # One product of all texts: of three dimensions NumPy makes one for each.
    drawn: NDArray[np.float32] = states.reshape(-1, states.shape[-1]) @ cast
    drawn *= weights[f"{name}.weight.s"]
    drawn += weights.get(f"{name}.bias", np.zeros(1, np.float32))
    return drawn.reshape(*states.shape[:-1], -1)


def _normalised(states: NDArray[np.float32], name: str) -> NDArray[np.float32]:
    """States of mean 0 and variance 1, times the weights of a layer, plus its bias."""
    weights, centred = _weights(), states - states.mean(axis=-1, keepdims=True)
    variances = np.square(centred).mean(axis=-1, keepdims=True)
    centred *= weights[f"{name}.weight"] / np.sqrt(variances + np.float32(1e-12))
    return np.asarray(centred + weights[f"{name}.bias"])


def _below(numbers: NDArray[np.float32]) -> NDArray[np.float32]:
    """The probability that a standard normal number is below each, to 1e-7."""
    sizes = np.abs(numbers) * np.float32(0.5**0.5)
    steps = 1 / (1 + np.float32(0.3275911) * sizes)
    tails = np.zeros_like(steps)
    for each in _TAIL:
        tails = (tails + np.float32(each)) * steps
    tails *= np.exp(-np.square(sizes)) / 2
    return np.where(numbers < 0, tails, 1 - tails)


@cache
def _vocabulary() -> Mapping[str, int]:
    lines = (FOLDER / "vocabulary.txt").read_text(encoding="utf-8").splitlines()
    return {piece: line for line, piece in enumerate(lines)}


@cache
def _weights() -> Mapping[str, NDArray[np.float32]]:
    """The weights by name, those of layers transposed; those of words stay in the file until used.

    Of int8 weights (``.q``), those of each output are to be multiplied by one number (``.s``).
    """
    path, weights = FOLDER / "weights.safetensors", dict[str, NDArray[np.float32]]()
    with path.open("rb") as file:
        start = 8 + int.from_bytes(file.read(8), "little")
        header = msgspec.json.decode(file.read(start - 8))
    for key, entry in header.items():
        name, begin, shape = key.removeprefix("b."), entry["data_offsets"][0], entry["shape"]
        mapped = np.memmap(path, _TYPES[entry["dtype"]], "r", start + begin, tuple(shape))
        of_words = name.startswith("embeddings.")
        weights[name] = mapped if of_words else np.array(mapped.T, order="C")
    position = "embeddings.position_embeddings.weight"
    weights[position] = weights[f"{position}.q"] * weights[f"{position}.s"]
    return weights
