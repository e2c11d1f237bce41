"""The service that everybody's requests go to: one of three kinds, chosen on the training half."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal
from warnings import catch_warnings, simplefilter

import numpy as np
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from agent import Model
from agent.decision.cache import Cache
from agent.lab import Progress
from agent.lab.attack.heldout import SILENT, Floats, Indexes, Received, Table, as_table
from agent.lab.paper.subject import groups_of
from agent.tradeoff import Utility
from agent.tradeoff.study import QueryRows, query_utility, row_columns, singleton

FLOOR = 0.01  # of the prior is mixed in: nothing is ever certain
STEPS, NEAR = 200, 1e-3  # where its search ends
TEMPER = 0.25
MOST = 8  # attributes of a set that is drawn
CLIMBS = 6  # orders of attributes that a search would add, each of some of all attributes
ANY, GROUPS = 0.3, 0.1  # of the sets are any attributes, or such as nobody decides about
Kind = Literal["smoothed counts", "factored, tempered", "logistic"]
QUERIES, FOLDS, COPIES = 25, 2, 3  # judged by so many; each row is learnt so many times
PULL = 20.0  # beta, in rows, where a model was built without
WORDS = {
    "smoothed counts": "β = {:g} times the model's",
    "factored, tempered": "t = n^-{:g}, n attributes sent",
    "logistic": "inverse penalty {:g} / β",
}


# What was learnt of a query: it returns P(x|.), float64, shape (n, K), all above 0, for what n
# requests say, as `received` has it, shape (n, attributes).
Learnt = Callable[[Received], Floats]


def prior(rows: QueryRows) -> Floats:
    """Return p0(x) = (c(x) + 1/2) / (M + K/2), float64, shape (K,) (DESIGN.md 2.1)."""
    counts = np.bincount(rows.intent, minlength=rows.intents)
    chances = (counts + 0.5) / (len(rows.intent) + rows.intents / 2)
    return chances.astype(np.float64)


def linear(
    bias: Floats, added: Sequence[Floats], prior: Floats, temper: float, received: Received
) -> Floats:
    """Return P(x|.) in proportion to exp(bias(x) + t times the sum of what each said value adds).

    t is the number of said values to the power of -``temper``, 0 to 1: attributes say the same
    twice, the more so the more there are. A FLOOR of p0 is mixed in.

    ``bias``: float64, shape (K,), natural logarithms, as ``added``, (values, K) per attribute;
    ``prior``: p0, float64, shape (K,).
    """
    total = np.zeros((len(received), len(prior)))
    for said, each in zip(received.T, added, strict=True):
        where = np.flatnonzero(said != SILENT)
        total[where] += each[said[where] - 1]
    logs = bias + tempered(received, temper)[:, None] * total
    masses = np.exp(logs - logs.max(axis=1, keepdims=True))
    shares = masses / masses.sum(axis=1, keepdims=True)
    chances: Floats = (1 - FLOOR) * shares + FLOOR * prior
    return chances


def tempered(received: Received, temper: float) -> Floats:
    """Return t for each request, float64, shape (n,)."""
    said = np.maximum(np.count_nonzero(received != SILENT, axis=1), 1)
    factors: Floats = said**-temper
    return factors


def factored(rows: QueryRows, cards: Sequence[int], pull: float, temper: float) -> Learnt:
    """Return the service of a query's rows.

    ``pull``: how strongly P(v|x,q) is drawn to P(v|q), in rows; ``temper``: as of `linear`.
    """
    added = []
    for codes, card in row_columns(rows, cards).each:
        cells = codes.astype(np.intp) * rows.intents + rows.intent
        counts = np.bincount(cells, minlength=card * rows.intents).reshape(card, rows.intents)
        of_value = (counts.sum(axis=1, keepdims=True) + 0.5) / (len(rows.intent) + card / 2)
        smoothed = (counts + pull * of_value) / (counts.sum(axis=0) + pull)
        added.append(np.log(smoothed / of_value))
    chances = prior(rows)
    return partial(linear, np.log(chances), added, chances, temper)


class Counts:
    """P(x|g) = (c(g,x) + beta P(x|g')) / (c(g) + beta), g all rows that agree with what is said.

    g' are those who agree with all but the least useful of it, and in the end p0: few people who
    agree in everything count for little. What no attribute alone tells is not listened to.
    """

    def __init__(self, rows: QueryRows, cards: Sequence[int], pull: float) -> None:
        """Take a query's rows; ``pull``: beta, in rows, above 0."""
        self._said = row_columns(rows, cards)
        self._intent, self._intents = rows.intent, rows.intents
        self._pull, self._prior = pull, prior(rows)
        alone = np.array(query_utility(rows, cards, "louo", pull).extensions(0, range(len(cards))))
        useful = np.flatnonzero(alone > 0)
        self._order: list[int] = useful[np.argsort(-alone[useful], kind="stable")].tolist()

    def chances(self, received: Received) -> Floats:
        """Return P(x|.) as a service does; each different request is counted once."""
        different, places = np.unique(received[:, self._order], axis=0, return_inverse=True)
        counted = [self._counted(each) for each in different]
        return np.array(counted).reshape(-1, self._intents)[places.reshape(-1)]

    def _counted(self, received: Received) -> Floats:
        """Return P(x|.) for what is said of the useful attributes, in their order."""
        chances, agree = self._prior, np.arange(self._said.items)
        for place in np.flatnonzero(received != SILENT).tolist():
            codes = self._said.each[self._order[place]].codes
            agree = agree[codes[agree] == received[place] - 1]
            counts = np.bincount(self._intent[agree], minlength=self._intents)
            chances = (counts + self._pull * chances) / (len(agree) + self._pull)
        return chances


def logistic(rows: QueryRows, cards: Sequence[int], received: Received, strength: float) -> Learnt:
    """Return the service of a query's rows.

    ``received``: what is said in each row, each row as many times as wished, all rows and then all
    again, as `received` has it; ``strength``: the inverse of the weight of the penalty on
    squared coefficients, for rows that are there once.
    """
    copies = len(received) // len(rows.intent)
    chances = prior(rows)
    wanted = np.unique(rows.intent)
    bias, added = np.log(chances), np.zeros((sum(cards), rows.intents))
    if len(wanted) > 1:
        fitted = LogisticRegression(C=strength / copies, max_iter=STEPS, tol=NEAR)
        with catch_warnings():
            simplefilter("ignore", ConvergenceWarning)  # a search that ends early fits less
            fitted.fit(one_hot(received, cards), np.tile(rows.intent, copies))
        bias[:] = -np.inf
        bias[wanted], added[:, wanted] = _spread(fitted.intercept_), _spread(fitted.coef_).T
    return partial(linear, bias, np.split(added, np.cumsum(cards)[:-1]), chances, TEMPER)


def one_hot(received: Received, cards: Sequence[int]) -> csr_array:
    """Return a table with a column for each value, and t of `linear` where it was said."""
    starts = np.append(0, np.cumsum(cards)[:-1])
    row, attribute = np.nonzero(received != SILENT)
    column = starts[attribute] + received[row, attribute] - 1
    return csr_array(
        (tempered(received, TEMPER)[row], (row, column)), shape=(len(received), int(sum(cards)))
    )


def _spread(fitted: Floats) -> Floats:
    """Return a line per intent: of two intents only the second has one of its own."""
    return np.concatenate([0 * fitted, fitted]) if len(fitted) == 1 else fitted


def practised(
    model: Model, query: int, count: int, draw: np.random.Generator, cache: Cache
) -> Table:
    """Return ``count`` sets of attributes for a query, bool, shape (count, attributes).

    Each has 0 to MOST attributes, each number as likely as another: of ANY of them whatever
    attributes, of the others those that greedy search adds first, for utility alone, out of about
    half of all. In place of GROUPS of them stands everything, or a group of `groups_of`.
    """
    size, kind = draw.integers(0, MOST + 1, (count, 1)), draw.random((count, 1))
    attributes = len(model.attributes)
    place = draw.random((count, attributes)).argsort(axis=1).argsort(axis=1)
    found = cache.get(
        model, (practised, query), lambda: _climbs(cache.utility(model, query), attributes)
    )
    climbed = found[draw.integers(0, CLIMBS, count)]
    sets = np.where(kind < ANY, place, climbed) < size
    masks = [(1 << attributes) - 1, *(each.mask for each in groups_of(model))]
    groups = as_table(masks, attributes)
    chosen = groups[draw.integers(0, len(groups), count)]
    return np.where(kind >= 1 - GROUPS, chosen, sets)


def _climbs(utility: Utility, attributes: int) -> Indexes:
    """Return where attributes stand in the order of each climb, MOST or more if nowhere."""
    offered = np.random.default_rng(attributes).random((CLIMBS, attributes)) < 1 / 2
    offered[0] = True
    places = np.full((CLIMBS, attributes), MOST)
    for place, each in zip(places, offered, strict=True):
        left, mask, reached = np.flatnonzero(each).tolist(), 0, 0.0
        while left and mask.bit_count() < MOST:
            utility.focus(mask)
            values = utility.extensions(mask, left)
            best = int(np.argmax(values))
            if values[best] <= reached:
                break
            reached, place[left[best]] = values[best], mask.bit_count()
            mask |= singleton(left.pop(best))
    return places


@dataclass(frozen=True, slots=True)
class Recipe:
    """A kind of service and its one number, which WORDS says what it is of."""

    kind: Kind
    number: float

    @property
    def setting(self) -> str:
        """The number in words."""
        return WORDS[self.kind].format(self.number)


RECIPES: tuple[Recipe, ...] = (
    *(Recipe("smoothed counts", each) for each in (8.0, 16.0)),
    *(Recipe("factored, tempered", each) for each in (0.0, 0.3, 0.4, 0.5)),
    *(Recipe("logistic", each) for each in (2.0, 6.0)),
)


@dataclass(frozen=True, slots=True)
class Trial:
    """What a recipe is worth to people that it has not seen: bits above the prior, a request."""

    recipe: Recipe
    bits: float


class Service:
    """Foretells what is wanted from a query and whatever is said; it remembers nobody."""

    def __init__(self, model: Model, recipe: Recipe, seed: int) -> None:
        """Take the training half; a query is learnt when it is first asked."""
        self._model, self.recipe, self._seed = model, recipe, seed
        self._known: dict[int, tuple[Floats, Learnt]] = {}

    def scores(self, query: int, received: Received) -> Floats:
        """Return log2 P(x|.) - log2 p0(x) of each intent, float64, shape (n, K), in bits.

        ``received``: of `received`, shape (n, attributes). Where nothing is said it is 0.
        """
        chances, service = self._of(query)
        return _scored(service, received, chances)

    def chances(self, query: int) -> Floats:
        """Return p0, float64, shape (K,)."""
        return self._of(query)[0]

    def _of(self, query: int) -> tuple[Floats, Learnt]:
        if query not in self._known:
            rows = self._model.rows(query)
            every = np.ones(len(rows.intent), dtype=bool)
            learner = _Learner(self._model, query, self._seed)
            self._known[query] = prior(rows), learner.learnt(self.recipe, every)
        return self._known[query]


def chosen(model: Model, seed: int, progress: Progress) -> tuple[Service, tuple[Trial, ...]]:
    """Return the service whose recipe foretells best, and what each of RECIPES was worth.

    Judged by up to QUERIES queries, the most frequent; half of the users of each foretell what the
    other half wanted, and then the other way round, with the sets of `practised`.
    """
    frequent = np.argsort(-model.tables.query_weights, kind="stable")[:QUERIES].tolist()
    found = np.zeros(len(RECIPES))
    for number, query in enumerate(frequent, 1):
        found += _Learner(model, query, seed).judged()
        progress("choosing a service", number / len(frequent))
    bits = (found / len(frequent)).tolist()
    trials = tuple(Trial(*each) for each in zip(RECIPES, bits, strict=True))
    best = max(trials, key=lambda each: each.bits)
    return Service(model, best.recipe, seed), trials


class _Learner:
    """Makes services out of rows of one query."""

    def __init__(self, model: Model, query: int, seed: int) -> None:
        self._model, self._query, self._seed, self._cache = model, query, seed, Cache()
        self._rows = model.rows(query)
        said = row_columns(self._rows, model.cards)
        self._whole: Received = np.stack([each.codes for each in said.each], axis=1) + np.intp(1)

    def judged(self) -> Floats:
        """Return the bits of each recipe for users that it has not seen."""
        draw = np.random.default_rng((self._seed, self._query))
        fold = draw.integers(0, FOLDS, len(self._rows.person))[self._rows.user]
        received = self._whole * practised(self._model, self._query, len(fold), draw, self._cache)
        bits = np.zeros((len(RECIPES), len(fold)))
        for each in range(FOLDS):
            held = fold == each
            if held.all() or not held.any():
                continue  # all of its few users are in the other half
            chances = prior(_part(self._rows, ~held))
            for number, recipe in enumerate(RECIPES):
                scores = _scored(self.learnt(recipe, ~held), received[held], chances)
                bits[number, held] = scores[np.arange(len(scores)), self._rows.intent[held]]
        means: Floats = bits.mean(axis=1)
        return means

    def learnt(self, recipe: Recipe, chosen: Table) -> Learnt:
        """Return the service that some of the rows make; ``chosen``: bool, shape (M,)."""
        rows, cards = _part(self._rows, chosen), self._model.cards
        pull = self._model.queries[self._query].shrinkage or PULL
        if recipe.kind == "smoothed counts":
            return Counts(rows, cards, recipe.number * pull).chances
        if recipe.kind == "factored, tempered":
            return factored(rows, cards, pull, recipe.number)
        draw = np.random.default_rng((self._seed, self._query, len(rows.intent)))
        sets = practised(self._model, self._query, COPIES * len(rows.intent), draw, self._cache)
        received = np.tile(self._whole[chosen], (COPIES, 1)) * sets
        return logistic(rows, cards, received, recipe.number / pull)


def _part(rows: QueryRows, chosen: Table) -> QueryRows:
    return replace(
        rows, user=rows.user[chosen], intent=rows.intent[chosen], request=rows.request[chosen]
    )


def _scored(service: Learnt, received: Received, chances: Floats) -> Floats:
    """Return log2 P(x|.) - log2 p0(x), 0 where nothing was said."""
    silent = (received == SILENT).all(axis=1)
    shares: Floats = np.where(silent[:, None], chances, service(received))
    return np.log2(shares / chances)
