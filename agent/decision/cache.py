"""The one cache: results computed from models, which serve later requests."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from typing import Any, Generic, TypeVar

import numpy as np

from agent.decision.topics import Judgements
from agent.errors import UsageError
from agent.model.model import Model
from agent.model.reading import Interpretation, forget_vectors
from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.utility import Embedded, Mixture, Priced, Utility, query_utility

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
MODELS = 32
# How many are kept of each model; a utility that was counted with takes up to 5 MB.
SIZES = {"utilities": 32, "anonymity sets": 8, "results": 1024}


class Recent(Generic[K, V]):
    """Results by key; keeps the ``size`` most recently used."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._results: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K, make: Callable[[], V]) -> V:
        """The result for ``key``, made now if it is not kept."""
        if key in self._results:
            self._results.move_to_end(key)
            return self._results[key]
        result = self._results[key] = make()
        if len(self._results) > self._size:
            self._results.popitem(last=False)
        return result


class Cache:
    """Results of pure functions of a model; for one thread at a time.

    They show what was asked and what recipients hold, so whoever owns a cache clears it when the
    vault is locked. Without one of their own, functions compute anew.
    """

    def __init__(self) -> None:
        self._models: Recent[int, tuple[Model, dict[str, Recent[Hashable, Any]]]] = Recent(MODELS)

    def get(self, model: Model, key: Hashable, make: Callable[[], V], kind: str = "results") -> V:
        """The result for ``key``, a pure function of the model and the key."""
        _, results = self._models.get(  # with the model, so that its id stays its own
            id(model), lambda: (model, {each: Recent(size) for each, size in SIZES.items()})
        )
        result: V = results[kind].get(key, make)
        return result

    def read(self, model: Model, text: str) -> Interpretation:
        """Read which queries a text means to a model; raises as `Model.read`, and UsageError."""
        if not isinstance(text, str):
            raise UsageError(f"{text!r} is not text", "pass what is asked as a str")
        return self.get(model, (Model.read, text), lambda: model.read(text))

    def judgements(self, model: Model) -> Judgements:
        """What was judged of the topics of a model."""
        return self.get(model, Judgements, lambda: Judgements.of(model))

    def utility(self, model: Model, query: int) -> Utility:
        """The utility of sets of attributes for a query, less prices, in bits."""
        return self._utilities(model, query)[1]

    def mean_utility(self, model: Model) -> Utility:
        """The utility averaged over the queries by weight, the a-priori case (9.5.1).

        Before prices: over the rows of all queries, luck is small.
        """
        weights, judged = model.tables.query_weights, self.judgements(model)

        def compute() -> Utility:
            if len(judged.bits):
                return judged.mean()
            some = np.flatnonzero(weights).tolist()  # none of other models than that of the people
            utilities = [self._utilities(model, each)[0] for each in some]
            return Mixture(utilities, (weights[some] / weights.sum()).tolist())

        return self.get(model, "mean utility", compute)

    def anonymity_set(self, model: Model, known: Iterable[tuple[int, int]] = ()) -> AnonymitySet:
        """The people who agree with pairs of person attribute and code, in any order."""
        pairs = tuple(sorted(known))

        def compute() -> AnonymitySet:
            everybody = self.anonymity_set(model) if pairs else None
            people = AnonymitySet(model.population, model.cards, pairs, everybody=everybody)
            if not pairs and not model.members:
                people.learn(model.tables.costs())
            return people

        return self.get(model, pairs, compute, "anonymity sets")

    def clear(self) -> None:
        """Drop everything, the readings of the encoder, which all models share, included."""
        self._models = Recent(MODELS)
        forget_vectors()

    def _utilities(self, model: Model, query: int) -> tuple[Utility, Utility]:
        """The utility of a query before prices, and less prices."""
        judged = self.judgements(model)

        def compute() -> tuple[Utility, Utility]:
            if query < len(judged.bits):
                return (judged.coverage({query: 1.0}),) * 2
            if model.members:
                member, own = model.owners[query]
                both = self._utilities(member.model, own)
                before, less = (Embedded(each, member.places, member.unit) for each in both)
                return before, less
            shrinkage, prices = model.queries[query].shrinkage, model.tables.singles.prices
            utility = query_utility(model.rows(query), model.cards, model.estimator, shrinkage)
            return utility, utility if prices is None else Priced(utility, prices[query])

        return self.get(model, query, compute, "utilities")
