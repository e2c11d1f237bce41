"""How likely a fact in a person's own words helps a text (DESIGN.md 2.12).

Texts are compared as vectors of two encoders: that of relevance, and that of topics. A fact is
taken to help where the statements nearest to it do, of which judges said it topic by topic.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from agent.model import encoder, reading
from agent.model.reading import Interpretation, softmax

Vectors = NDArray[np.float32]
Floats = NDArray[np.float64]

OWN, SIZE = encoder.DIMENSIONS, encoder.DIMENSIONS + reading.DIMENSIONS
NEAREST = 20  # statements
WARMTH = 0.08  # by which cosines are divided where nearer statements weigh more
BY_KIND = 0.3  # the part of a fact's kind in where it helps; the rest is that of the statements
# What is less probable is not worth keeping with a fact, and counts as what most statements have.
LEAST_HELP, RARE = 0.08, 0.06
DEEPEST = -6.0  # a logarithm of a probability
SUREST = 4.0  # log-odds that anything personal helps
FEATURES = 7  # of a text and a fact


def vectors_of(texts: Sequence[str], *, question: bool) -> Vectors:
    """The vectors of texts in both encoders, side by side: float32, shape (texts, SIZE).

    The first OWN numbers are those of the encoder of relevance, of length 1, and so are the others.
    ``question``: whether the texts are requests; else they are facts. About 6 ms for each text,
    but a request that was read just before.
    """
    own = reading.encode_requests(texts) if question else encoder.encode(texts, question=False)
    return np.concatenate([own, reading.encode(texts)], axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class Relevance:
    """What a model knows of facts in own words; K kinds, T topics, S statements that were judged.

    ``kind_names``: of each kind the name of its attribute. ``statements``: uint8, shape (S, SIZE),
    the vectors, each from 1 for its lowest possible number to 255, 128 for 0; ``helps``: uint8,
    shape (S, T), the probability that such a statement helps a request of each topic, in 255ths.
    ``kinds``: float32, shape (K, SIZE + 1), weights and bias of each kind in logistic regression
    over vectors; ``of_kinds``: float32, shape (K, T), how often a statement of each kind helps;
    ``common``: float32, shape (T,), how often any does. ``request``: float32, shape (SIZE + 1,),
    weights and bias of a request's vectors in the log-odds that anything personal helps it;
    ``bilinear``: float32, shape (SIZE + 1, T + 1), weights of a request's vectors, and 1, times the
    logarithms of where a fact helps, and 1, in the probability that it helps this one; ``pair``:
    float32, shape (2, FEATURES), weights of `features` in the log-odds that a fact helps and that
    it is decisive.
    """

    kind_names: tuple[str, ...] = field(compare=False)
    statements: NDArray[np.uint8] = field(repr=False)
    helps_topics: NDArray[np.uint8] = field(repr=False)
    kind_weights: Vectors = field(repr=False)
    of_kinds: Vectors = field(repr=False)
    common: Vectors = field(repr=False)
    request: Vectors = field(repr=False)
    bilinear: Vectors = field(repr=False)
    pair: Vectors = field(repr=False)

    def kinds(self, vectors: Vectors) -> Vectors:
        """The probability of each kind for facts, float32, shape (F, K).

        ``vectors``: of the facts, as `vectors_of` has them.
        """
        scores = vectors.astype(np.float64) @ self.kind_weights[:, :-1].T + self.kind_weights[:, -1]
        return softmax(scores).astype(np.float32)

    def topics(self, vectors: Vectors) -> Vectors:
        """The probability that facts help a request of each topic, float32, shape (F, T).

        By the NEAREST statements, which `WARMTH` weighs, and by the kind. Only what is at least
        LEAST_HELP is worth keeping. ``vectors``: as in `kinds`.
        """
        cosines = _even(vectors) @ _even(self.statements.astype(np.float32) - 128).T
        nearest = np.argpartition(-cosines, min(NEAREST, len(cosines.T)) - 1)[:, :NEAREST]
        weights = np.exp(np.take_along_axis(cosines, nearest, axis=1) / WARMTH)
        weights /= weights.sum(axis=1, keepdims=True)
        near = self.helps_topics[nearest].astype(np.float32) / 255
        by_statements = np.einsum("fn,fnt->ft", weights, near)
        change = np.float32(BY_KIND) * (self.kinds(vectors) @ self.of_kinds - by_statements)
        return np.asarray(by_statements + change).clip(0, 1)

    def helps(
        self, read: Interpretation, question: Vectors, vectors: Vectors, topics: Vectors
    ) -> Floats:
        """How likely each fact helps a request, and is decisive: float64, shape (F, 2).

        The second never exceeds the first. ``read``: what the request means, by candidates that
        are topics of this model; others are ignored. ``question``: its vectors, shape (SIZE,) or
        (1, SIZE); ``vectors``, ``topics``: of the facts, as `vectors_of` and `topics` have them;
        of what is 0 in the latter only that it is below LEAST_HELP counts.
        """
        odds = self.features(read, question, vectors, topics) @ self.pair.T.astype(np.float64)
        chances: Floats = np.exp(-np.logaddexp(0, -odds))
        return np.minimum(chances, chances[:, :1])

    def features(
        self, read: Interpretation, question: Vectors, vectors: Vectors, topics: Vectors
    ) -> Floats:
        """What `helps` depends on, float64, shape (F, FEATURES); parameters as there.

        The cosine in the encoder of relevance; the logarithms of how likely the fact helps at the
        topics of the request, of how likely any fact does, of how likely the fact helps at all, and
        of how likely it helps by ``bilinear``; the log-odds that anything personal helps the
        request; and 1.
        """
        of_topics = np.zeros(len(self.common))
        for each in read.candidates:
            if each.query < len(of_topics):
                of_topics[each.query] = each.probability
        chances, own = helping(topics), _even(question.reshape(1, SIZE))
        biased = np.append(own * 2**0.5, 1)
        crossed = biased @ self.bilinear.astype(np.float64)
        rows = np.ones((len(vectors), FEATURES))
        rows[:, 0] = 2 * _even(vectors)[:, :OWN] @ own[0, :OWN]
        rows[:, 1] = _logarithms(chances @ of_topics)
        rows[:, 2] = _logarithms(of_topics @ self.common)
        rows[:, 3] = _logarithms(chances.mean(axis=1))
        rows[:, 4] = _logarithms(np.log(chances) @ crossed[:-1] + crossed[-1])
        rows[:, 5] = np.clip(biased @ self.request.astype(np.float64), -SUREST, SUREST)
        return rows


def helping(topics: Vectors) -> Floats:
    """The probabilities of `Relevance.topics`, where those below LEAST_HELP need not be kept."""
    return np.where(topics < LEAST_HELP, RARE, topics.astype(np.float64))


def _even(vectors: Vectors) -> Vectors:
    """Vectors of length 1, to which both encoders contribute alike; 0 stays 0."""
    halves = np.split(vectors, [OWN], axis=1)
    parts = [each / np.linalg.norm(each, axis=1, keepdims=True).clip(1e-9) for each in halves]
    return np.concatenate(parts, axis=1) * np.float32(0.5**0.5)


def _logarithms(chances: Floats) -> Floats:
    return np.asarray(np.log(np.maximum(chances, np.exp(DEEPEST))))
