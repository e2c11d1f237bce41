"""What a text means: up to three known queries, each with a probability (DESIGN 2.9)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from agent.model.encoder import encode

MOST = 3  # candidates
LEAST = 0.1  # the probability of a candidate


@dataclass(frozen=True, slots=True)
class Candidate:
    """A known query that a text may mean; ``query``: its index, ``probability``: 0.1 to 1."""

    query: int
    probability: float


@dataclass(frozen=True, slots=True)
class Interpretation:
    """What a text means, by the text alone.

    ``candidates``: at most three, the surest first, of probabilities that sum to at most 1; the
    rest is the probability that the text means something else. ``query``: the surest of them
    where it is sure enough, else None: nothing is disclosed for such a text. ``threshold``: the
    least probability that is sure enough.
    """

    query: int | None = None
    candidates: tuple[Candidate, ...] = ()
    threshold: float = field(default=1.0, compare=False)

    @property
    def certain(self) -> int | None:
        """The query where there is no doubt, as for its own text; else None."""
        alone = len(self.candidates) == 1 and self.candidates[0].probability == 1
        return self.query if alone else None

    @property
    def probability(self) -> float:
        """That of ``query``; 0 where there is none."""
        return 0.0 if self.query is None else self.candidates[0].probability

    @property
    def meant(self) -> tuple[Candidate, ...]:
        """All candidates where one of them is sure enough, the surest first; else none."""
        return () if self.query is None else self.candidates

    def without(self, queries: Collection[int]) -> "Interpretation":
        """Return what is left once the text is known not to mean these queries.

        The other candidates keep their probabilities, so that the next is meant only where it was
        sure enough by itself.
        """
        left = tuple(each for each in self.candidates if each.query not in queries)
        if left == self.candidates:
            return self
        sure = bool(left) and left[0].probability >= self.threshold
        return Interpretation(left[0].query if sure else None, left, self.threshold)

    @classmethod
    def exact(cls, query: int) -> "Interpretation":
        """Return the reading of a known query's own text, or of one of its phrasings."""
        return cls(query, (Candidate(query, 1.0),))

    @classmethod
    def of(cls, probabilities: Sequence[float], threshold: float) -> "Interpretation":
        """Return the reading by the probability of each query; the first of equals comes first.

        ``threshold``: the least probability of the surest for the text to mean it.
        """
        surest = sorted(range(len(probabilities)), key=lambda query: -probabilities[query])[:MOST]
        candidates = tuple(
            Candidate(query, probabilities[query])
            for query in surest
            if probabilities[query] >= LEAST
        )
        sure = bool(candidates) and candidates[0].probability >= threshold
        return cls(candidates[0].query if sure else None, candidates, threshold)


NOTHING = Interpretation()


def softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability of each class for each row of scores."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: NDArray[np.float64] = powers / powers.sum(axis=1, keepdims=True)
    return shares


@dataclass(frozen=True, slots=True, eq=False)
class Classifier:
    """Logistic regression over the vectors of texts: a class for each query, one for all else.

    ``weights``: float32, shape (Q + 1, 512); ``biases``: float32, shape (Q + 1,); the last is of
    what is no known query. ``temperature``: above 0, by which scores are divided, so that
    probabilities are neither too sure nor too unsure; ``threshold``: 0.1 to 1, the least
    probability of the surest query for a text to mean it.
    Source: Guo et al., On Calibration of Modern Neural Networks (2017), for the temperature.
    """

    weights: NDArray[np.float32] = field(repr=False)
    biases: NDArray[np.float32] = field(repr=False)
    temperature: float
    threshold: float

    __hash__: ClassVar[None]  # type: ignore[assignment]  # as Python has it where there is none

    def probabilities(self, vectors: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the probability of each query for each text, shape (texts, Q)."""
        return softmax(self.scores(vectors) / self.temperature)[:, :-1]

    def scores(self, vectors: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the logarithm of what each class is worth to each text, shape (texts, Q + 1)."""
        scores: NDArray[np.float64] = vectors.astype(np.float64) @ self.weights.T + self.biases
        return scores

    def read(self, texts: Sequence[str]) -> list[Interpretation]:
        """Return the reading of each text; 1 ms for each, and more to load the encoder."""
        shares = self.probabilities(encode(texts)).tolist()
        return [Interpretation.of(each, self.threshold) for each in shares]
