"""The service that everybody's requests go to: one of three, chosen on the training half."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from agent.lab.attack.services.counts import Counts
from agent.lab.attack.services.factored import factored
from agent.lab.attack.services.hearing import SILENT, prior
from agent.lab.attack.services.logistic import logistic
from agent.lab.attack.services.practice import practised
from agent.tradeoff.grouping import row_columns

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from agent.lab.attack.services.hearing import Floats, Heard, QueryService
    from agent.model.model import Model
    from agent.tradeoff.tables import QueryRows

    Mask = NDArray[np.bool_]

Kind = Literal["smoothed counts", "factored, tempered", "logistic"]
QUERIES, FOLDS, COPIES = 25, 2, 3  # judged by so many; each row is learnt so many times
PULL = 20.0  # beta, in rows, where a model was built without
WORDS = {
    "smoothed counts": "β = {:g} times the model's",
    "factored, tempered": "t = n^-{:g}, n attributes told",
    "logistic": "inverse penalty {:g} / β",
}


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
        self._known: dict[int, tuple[Floats, QueryService]] = {}

    def scores(self, query: int, heard: Heard) -> Floats:
        """Return log2 P(x|.) - log2 p0(x) of each intent, float64, shape (n, K), in bits.

        ``heard``: of `hearing.heard`, shape (n, attributes). Where nothing is said it is 0.
        """
        chances, service = self._of(query)
        return _scored(service, heard, chances)

    def chances(self, query: int) -> Floats:
        """Return p0, float64, shape (K,)."""
        return self._of(query)[0]

    def _of(self, query: int) -> tuple[Floats, QueryService]:
        if query not in self._known:
            rows = self._model.rows(query)
            every = np.ones(len(rows.intent), dtype=bool)
            learner = _Learner(self._model, query, self._seed)
            self._known[query] = prior(rows), learner.learnt(self.recipe, every)
        return self._known[query]


def chosen(
    model: Model, seed: int, progress: Callable[[str, float], None]
) -> tuple[Service, tuple[Trial, ...]]:
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
        self._model, self._query, self._seed = model, query, seed
        self._rows = model.rows(query)
        said = row_columns(self._rows, model.cards)
        self._whole: Heard = np.stack([each.codes for each in said.all()], axis=1) + np.intp(1)

    def judged(self) -> Floats:
        """Return the bits of each recipe for users that it has not seen."""
        draw = np.random.default_rng((self._seed, self._query))
        fold = draw.integers(0, FOLDS, len(self._rows.person))[self._rows.user]
        heard = self._whole * practised(self._model, self._query, len(fold), draw)
        bits = np.zeros((len(RECIPES), len(fold)))
        for each in range(FOLDS):
            held = fold == each
            if held.all() or not held.any():
                continue  # all of its few users are in the other half
            chances = prior(_part(self._rows, ~held))
            for number, recipe in enumerate(RECIPES):
                scores = _scored(self.learnt(recipe, ~held), heard[held], chances)
                bits[number, held] = scores[np.arange(len(scores)), self._rows.intent[held]]
        means: Floats = bits.mean(axis=1)
        return means

    def learnt(self, recipe: Recipe, chosen: Mask) -> QueryService:
        """Return the service that some of the rows make; ``chosen``: bool, shape (M,)."""
        rows, cards = _part(self._rows, chosen), self._model.cards
        pull = self._model.queries[self._query].shrinkage or PULL
        if recipe.kind == "smoothed counts":
            return Counts(rows, cards, recipe.number * pull)
        if recipe.kind == "factored, tempered":
            return factored(rows, cards, pull, recipe.number)
        draw = np.random.default_rng((self._seed, self._query, len(rows.intent)))
        sets = practised(self._model, self._query, COPIES * len(rows.intent), draw)
        heard = np.tile(self._whole[chosen], (COPIES, 1)) * sets
        return logistic(rows, cards, heard, recipe.number / pull)


def _part(rows: QueryRows, chosen: Mask) -> QueryRows:
    return replace(
        rows, user=rows.user[chosen], intent=rows.intent[chosen], request=rows.request[chosen]
    )


def _scored(service: QueryService, heard: Heard, chances: Floats) -> Floats:
    """Return log2 P(x|.) - log2 p0(x), 0 where nothing was said."""
    silent = (heard == SILENT).all(axis=1)
    told: Floats = np.where(silent[:, None], chances, service.chances(heard))
    return np.log2(told / chances)
