"""What has changed from one model to the next: queries, attributes, and the standing set."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from agent.decision.cache import Cache
from agent.decision.context import Context
from agent.decision.decide import Figures, decide_context
from agent.decision.request import Knowledge, Request
from agent.decision.terms import Terms
from agent.model.model import Model
from agent.model.reading import NOTHING, Reading


class Best(NamedTuple):
    """What a recipient that knows nothing is best told; ``names`` in the order chosen."""

    names: tuple[str, ...]
    figures: Figures


@dataclass(frozen=True, slots=True)
class Side:
    """A model at one lambda: the best set for each query, by its text, and the standing set.

    ``uses``: for how many queries the best set has an attribute, by name.
    """

    model: Model
    best: Mapping[str, Best]
    standing: Best
    uses: Counter[str]

    @classmethod
    def of(cls, model: Model, trade_off: float) -> "Side":
        """Return the side of a model; UsageError for a lambda that cannot be."""
        terms, cache = Terms(trade_off=trade_off, unknown_queries="standing"), Cache()

        def best(text: str, reading: Reading) -> Best:
            request = Request(text)
            context = Context(request, terms, Knowledge(), model, reading=reading, cache=cache)
            decision = decide_context(context, brief=True)
            return Best(decision.disclosed, decision.figures)

        each = {
            query.text: best(query.text, Reading.exact(at))
            for at, query in enumerate(model.queries)
        }
        uses = Counter(name for found in each.values() for name in found.names)
        return cls(model, each, best("", NOTHING), uses)
