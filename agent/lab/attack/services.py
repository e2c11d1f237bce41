"""The service that everybody's requests go to: logistic regression on what a request says."""

from collections.abc import Sequence
from dataclasses import dataclass
from warnings import catch_warnings, simplefilter

import numpy as np
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from agent.lab.attack.heldout import SILENT, Floats, Received, Table, as_table
from agent.lab.paper.subject import groups_of
from agent.model.model import Model
from agent.tradeoff.study import QueryRows, row_columns

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
        for said, each in zip(received.T, self.added, strict=True):
            where = np.flatnonzero(said != SILENT)
            total[where] += each[said[where] - 1]
        logs = self.bias + tempered(received)[:, None] * total
        masses = np.exp(logs - logs.max(axis=1, keepdims=True))
        shares = masses / masses.sum(axis=1, keepdims=True)
        silent = (received == SILENT).all(axis=1)[:, None]
        found: Floats = np.where(silent, self.prior, (1 - FLOOR) * shares + FLOOR * self.prior)
        return found


def prior_of(rows: QueryRows) -> Floats:
    """Compute p0(x) = (c(x) + 1/2) / (M + K/2), float64, shape (K,) (DESIGN.md 2.1)."""
    counts = np.bincount(rows.intent, minlength=rows.intents)
    chances = (counts + 0.5) / (len(rows.intent) + rows.intents / 2)
    return chances.astype(np.float64)


def tempered(received: Received) -> Floats:
    """Compute t for each request, float64, shape (n,)."""
    said = np.maximum(np.count_nonzero(received != SILENT, axis=1), 1)
    factors: Floats = said**-TEMPER
    return factors


def one_hot(received: Received, cards: Sequence[int]) -> csr_array:
    """Make a table with a column for each value, and t where it was said."""
    starts = np.append(0, np.cumsum(cards)[:-1])
    row, attribute = np.nonzero(received != SILENT)
    column = starts[attribute] + received[row, attribute] - 1
    return csr_array(
        (tempered(received)[row], (row, column)), shape=(len(received), int(sum(cards)))
    )


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
    """Fit a query's intents to what its rows say; ``seed``: of the practice sets."""
    rows, cards = model.rows(query), model.cards
    said = row_columns(rows, cards)
    whole: Received = np.stack([each.codes for each in said.each], axis=1) + np.intp(1)
    draw = np.random.default_rng((seed, query))
    sets = practice_sets(model, COPIES * len(whole), draw)
    received = np.tile(whole, (COPIES, 1)) * sets
    chances, wanted = prior_of(rows), np.unique(rows.intent)
    bias, added = np.log(chances), np.zeros((sum(cards), rows.intents))
    if len(wanted) > 1:
        strength = STRENGTH / (model.queries[query].shrinkage or PULL) / COPIES
        fitted = LogisticRegression(C=strength, max_iter=STEPS, tol=NEAR)
        with catch_warnings():
            simplefilter("ignore", ConvergenceWarning)  # a search that ends early fits less
            fitted.fit(one_hot(received, cards), np.tile(rows.intent, COPIES))
        bias[:] = -np.inf
        bias[wanted], added[:, wanted] = _spread(fitted.intercept_), _spread(fitted.coef_).T
    return Learnt(chances, bias, np.split(added, np.cumsum(cards)[:-1]))


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

        ``received``: of `received`, shape (n, attributes). Where nothing is said it is 0.
        """
        scores: Floats = np.log2(self.learnt(query).chances(received) / self.prior(query))
        return scores

    def prior(self, query: int) -> Floats:
        """Look up p0, float64, shape (K,)."""
        return self.learnt(query).prior

    def learnt(self, query: int) -> Learnt:
        """Look up what was learnt of a query, or learn it."""
        if query not in self._learnt:
            self._learnt[query] = learn(self._model, query, self._seed)
        return self._learnt[query]
