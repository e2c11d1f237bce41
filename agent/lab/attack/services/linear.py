"""A service whose log chances are sums: one number per intent for each thing that is said."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from agent.lab.attack.services.hearing import SILENT

if TYPE_CHECKING:
    from agent.lab.attack.services.hearing import Floats, Heard

FLOOR = 0.01  # of the prior is mixed in: nothing is ever certain


class Terms(NamedTuple):
    """Natural logarithms: ``bias``, float64, shape (K,); ``added``, (values, K) per attribute."""

    bias: Floats
    added: tuple[Floats, ...]


class Linear:
    """P(x|.) in proportion to exp(bias(x) + t times the sum of what each said value adds).

    t is the number of said values to the power of -``temper``: attributes say the same twice, the
    more so the more there are. A FLOOR of p0 is mixed in.
    """

    def __init__(self, terms: Terms, prior: Floats, temper: float) -> None:
        """Take the terms; ``prior``: p0, float64, shape (K,); ``temper``: 0 to 1."""
        self._terms, self._prior, self._temper = terms, prior, temper

    def chances(self, heard: Heard) -> Floats:
        """Return P(x|.) as a service does."""
        total = np.zeros((len(heard), len(self._prior)))
        for said, added in zip(heard.T, self._terms.added, strict=True):
            where = np.flatnonzero(said != SILENT)
            total[where] += added[said[where] - 1]
        logs = self._terms.bias + tempered(heard, self._temper)[:, None] * total
        masses = np.exp(logs - logs.max(axis=1, keepdims=True))
        shares = masses / masses.sum(axis=1, keepdims=True)
        chances: Floats = (1 - FLOOR) * shares + FLOOR * self._prior
        return chances


def tempered(heard: Heard, temper: float) -> Floats:
    """Return t for each request, float64, shape (n,)."""
    said = np.maximum(np.count_nonzero(heard != SILENT, axis=1), 1)
    factors: Floats = said**-temper
    return factors
