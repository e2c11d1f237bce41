"""Topics: what facts are judged to bring, and which of them a text is let near (DESIGN.md 2.9)."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agent.model.attributes import PRICES
from agent.model.model import Model
from agent.model.reading import Interpretation
from agent.tradeoff.coverage import Coverage, resolved
from agent.tradeoff.tables import Floats

THRESHOLDS = np.array([0.15, 0.2, 0.3, 0.4, 0.5])  # of sensitivity 1 to 5: `Judgements.least`


@dataclass(frozen=True, slots=True, eq=False)
class Judgements:
    """What was judged of the topics of a model, for each of its n attributes.

    ``bits``: float64, shape (T,), b_t, 0 to 64; ``weights``: likewise, how often each topic is
    asked, of sum 1; ``parts``: float64, shape (T, n), x_tf, 0 to 1; ``likely``: likewise, that the
    attribute makes an answer clearly better; ``least``: float64, shape (n,), how likely that is to
    be for a text to carry the attribute. Source: DESIGN.md 2.9, 2.11.
    """

    bits: Floats
    weights: Floats
    parts: Floats
    likely: Floats
    least: Floats

    @classmethod
    def of(cls, model: Model) -> "Judgements":
        """The judgements of a model, none of a model without topics."""
        judged, count = model.tables.judged, len(model.attributes)
        if judged is None:
            none = np.zeros((0, count))
            return cls(np.zeros(0), np.zeros(0), none, none, np.zeros(count))
        topics, own = judged.weights.shape
        parts, likely = np.zeros((2, topics, count))
        parts[:, :own] = resolved(judged.weights.astype(float), judged.totals.astype(float))
        likely[:, :own] = judged.likely
        levels = np.searchsorted(PRICES, [e.sensitivity for e in model.attributes], side="right")
        return cls(
            np.array([each.bits for each in model.queries[:topics]]),
            model.tables.query_weights[:topics] / model.tables.query_weights[:topics].sum(),
            parts,
            likely,
            THRESHOLDS[levels.clip(1) - 1],
        )

    @property
    def gains(self) -> Floats:
        """The bits that each attribute alone may be expected to bring each topic, shape (T, n).

        As likely as it makes the answer better; 0 where a text on the topic may not carry it.
        """
        carried = np.where(self.likely < self.least, 0.0, self.likely)
        return np.asarray(self.bits[:, None] * self.parts * carried)

    def coverage(
        self, shares: Mapping[int, float], helpful: NDArray[np.bool_] | None = None
    ) -> Coverage:
        """The judged utility of topics: sum of pi_t U_t.

        ``shares``: pi_t by topic; ``helpful``: of each attribute, or of each for each topic,
        whether it counts; None for all.
        """
        parts = self.parts[[*shares]]
        bits = self.bits[[*shares]] * [*shares.values()]
        return Coverage(bits, parts if helpful is None else np.where(helpful, parts, 0.0))

    def mean(self, *, filtered: bool = False) -> Coverage:
        """The same of the mean topic; ``filtered``: of each counts what it may carry alone."""
        helpful = self.likely >= self.least if filtered else None
        return self.coverage(dict(enumerate(self.weights.tolist())), helpful)

    def helpful(self, reading: Interpretation) -> NDArray[np.bool_]:
        """Whether a text may carry each attribute, bool, shape (n,): the static filter.

        It depends on the text and the model alone: on the topics among what the text may mean.
        """
        judged = [(e.query, e.probability) for e in reading.candidates if e.query < len(self.bits)]
        topics, shares = zip(*sorted(judged), strict=True)
        enough: NDArray[np.bool_] = np.array(shares) @ self.likely[[*topics]] >= self.least
        return enough
