"""The service that everybody's requests go to: logistic regression on what a request says."""

from collections.abc import Sequence
from dataclasses import dataclass
from warnings import catch_warnings, simplefilter

import numpy as np
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from agent.lab.attack.simulation import SILENT, Received, Table, as_table
from agent.lab.paper.subject import groups_of
from agent.model.model import Model
from agent.tradeoff.grouping import row_columns
from agent.tradeoff.tables import Floats

FLOOR = 0.01  # of the prior is mixed in: nothing is ever certain
STEPS, NEAR = 200, 1e-3  # where the search for coefficients ends
TEMPER = 0.25
MOST = 8  # attributes of a practice set that is drawn
GROUPS = 0.1  # share of the practice sets that are everything, or a group of attributes
COPIES = 3  # times that each row is learnt, each time with another practice set
STRENGTH = 2.0  # inverse weight of the penalty on squared coefficients, times the model's beta
PULL = 20.0  # beta, in rows, of a model that was built without


@dataclass(frozen=True, slots=True, eq=False)
class Learnt:
    """P(x|.) of one query, in proportion to exp(bias(x) + t times the sum of what is said).

    ``prior``: p0, float64, shape (K,); ``bias``: natural logarithms, shape (K,); ``added``: for
    each attribute, shape (values, K). t is the number of attributes that are said to the power of
    -TEMPER: the more there are, the more of it they say twice.
    """

    prior: Floats
    bias: Floats
    added: Sequence[Floats]

    def chances(self, received: Received) -> Floats:
        """Foretell intents: float64, shape (n, K), all above 0.

        ``received``: intp, shape (n, attributes). The prior, where nothing is said.
        """
        total = np.zeros((len(received), len(self.prior)))
        for codes, each in zip(received.T, self.added, strict=True):
            where = np.flatnonzero(codes != SILENT)
            total[where] += each[codes[where] - 1]
        logs = self.bias + tempered(received)[:, None] * total
        masses = np.exp(logs - logs.max(axis=1, keepdims=True))
        shares = masses / masses.sum(axis=1, keepdims=True)
        silent = (received == SILENT).all(axis=1)[:, None]
        return np.where(silent, self.prior, (1 - FLOOR) * shares + FLOOR * self.prior)


def tempered(received: Received) -> Floats:
    """Compute t for each request, float64, shape (n,)."""
    return np.asarray(np.maximum(np.count_nonzero(received != SILENT, axis=1), 1) ** -TEMPER)


def practice_sets(model: Model, count: int, draw: np.random.Generator) -> Table:
    """Draw ``count`` sets of attributes, bool, shape (count, attributes).

    Each has 0 to MOST attributes, each number as likely as another; in place of GROUPS of them
    stands everything, or a group of `groups_of`.
    """
    attributes = len(model.attributes)
    size, kind = draw.integers(0, MOST + 1, (count, 1)), draw.random((count, 1))
    sets = draw.random((count, attributes)).argsort(axis=1).argsort(axis=1) < size
    masks = [(1 << attributes) - 1, *(each.mask for each in groups_of(model))]
    groups = as_table(masks, attributes)
    return np.where(kind < GROUPS, groups[draw.integers(0, len(groups), count)], sets)


def learn(model: Model, query: int, seed: int) -> Learnt:
    """Fit a query's intents to what its rows say; ``seed``: of the practice sets.

    Where nothing is said the chances are p0(x) = (c(x) + 1/2) / (M + K/2) (DESIGN.md 2.1).
    """
    rows, cards = model.rows(query), model.cards
    whole: Received = row_columns(rows, cards).codes.T.astype(np.intp)
    sets = practice_sets(model, COPIES * len(whole), np.random.default_rng((seed, query)))
    received = np.tile(whole + np.intp(1), (COPIES, 1)) * sets
    counts, wanted = np.bincount(rows.intent, minlength=rows.intents), np.unique(rows.intent)
    prior = ((counts + 0.5) / (len(rows.intent) + rows.intents / 2)).astype(np.float64)
    bias, added = np.log(prior), np.zeros((sum(cards), rows.intents))
    if len(wanted) > 1:
        # A column for each value, and t where it was said.
        row, attribute = np.nonzero(received != SILENT)
        column = np.append(0, np.cumsum(cards)[:-1])[attribute] + received[row, attribute] - 1
        entries = (tempered(received)[row], (row, column))
        strength = STRENGTH / (model.queries[query].shrinkage or PULL) / COPIES
        fitted = LogisticRegression(C=strength, max_iter=STEPS, tol=NEAR)
        with catch_warnings():
            simplefilter("ignore", ConvergenceWarning)  # a search that ends early fits less
            fitted.fit(
                csr_array(entries, shape=(len(received), sum(cards))), np.tile(rows.intent, COPIES)
            )
        bias[:] = -np.inf
        bias[wanted], added[:, wanted] = _spread(fitted.intercept_), _spread(fitted.coef_).T
    return Learnt(prior, bias, np.split(added, np.cumsum(cards)[:-1]))


def _spread(fitted: Floats) -> Floats:
    """Give each intent a line: of two intents only the second has one of its own."""
    return np.concatenate([0 * fitted, fitted]) if len(fitted) == 1 else fitted


class Service:
    """Foretells what is wanted from a query and whatever is said; it remembers nobody."""

    def __init__(self, model: Model, seed: int) -> None:
        """Take the training half; a query is learnt when it is first asked."""
        self._model, self._seed = model, seed
        self._learnt: dict[int, Learnt] = {}

    def scores(self, query: int, received: Received) -> Floats:
        """Compute log2 P(x|.) - log2 p0(x) of each intent, float64, shape (n, K), in bits.

        ``received``: intp, shape (n, attributes). Where nothing is said it is 0.
        """
        if query not in self._learnt:
            self._learnt[query] = learn(self._model, query, self._seed)
        learnt = self._learnt[query]
        return np.asarray(np.log2(learnt.chances(received) / learnt.prior))
