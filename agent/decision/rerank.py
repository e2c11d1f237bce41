"""Results of a search, ordered on the user's own machine, so that no fact leaves (paper 9.2)."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache, partial

import numpy as np

from agent.decision.context import Context, on_words
from agent.decision.own_facts import chances_of
from agent.decision.values import LONGEST_SNIPPET, LONGEST_TITLE, MOST_RESULTS, Fact, Result
from agent.errors import UsageError
from agent.model.encoder import encode
from agent.model.model import Model
from agent.model.reading import LEAST_CHANCE, separated
from agent.model.relevance import OWN, SIZE
from agent.tradeoff.tables import Floats, Indexes, QueryRows, members, union
from agent.tradeoff.utility import Utility, query_utility
from policy.rules import FACT

PULL = 20.0  # beta, in rows, where a model was built without
WITHHELD = {"never", "guarded"}


def rerank(
    results: Sequence[Result], context: Context, codes: Callable[[Model], Mapping[str, int]]
) -> tuple[int, ...]:
    """The order of results for one person: their indexes, best first, each of them once.

    It is for the person's eyes alone: unlike a decision it depends on values. For a query with rows
    the results whose titles name its intents change places with each other, by P(intent | facts);
    others stay. For topics all are ordered by the sum over facts of how likely each helps the query
    times its nearness to the result in the encoder of relevance. Equal ones keep their order, and
    so do all where no fact helps. What is ruled never, or guarded, has no part: clicks would tell.

    ``codes``: returns the person's codes of a model, by attribute. UsageError for more than
    MOST_RESULTS, and for one that is too long. Source: paper 9.2.
    """
    long = any(len(one) > LONGEST_TITLE or len(two) > LONGEST_SNIPPET for one, two in results)
    if long or len(results) > MOST_RESULTS:
        what = "a result is too long" if long else f"{len(results):,} results are too many"
        most = f"{MOST_RESULTS}, titles of {LONGEST_TITLE} and snippets of {LONGEST_SNIPPET:,}"
        raise UsageError(what, f"send at most {most} characters")
    model, query = context.model, context.meaning.query
    if query is None or query < len(context.cache.judgements(model).bits):
        scores = _nearness(results, context, _usable(codes(model), model, context))
        return tuple(np.argsort(-scores, kind="stable").tolist())
    if model.members:
        owner, query = model.owners[query]
        model = owner.model
    choices: Choices = context.cache.get(model, (Choices, query), partial(Choices.of, model, query))
    facts = choices.helping(_usable(codes(model), model, context))
    names = [separated(each.replace("_", " ")) for each in model.queries[query].intents]
    named = [_named(title, names) for title, _ in results]
    order, places = [*range(len(results))], [at for at, each in enumerate(named) if each >= 0]
    chances = choices.chances(facts)
    for place, at in zip(places, sorted(places, key=lambda at: -chances[named[at]]), strict=True):
        order[place] = at if facts else place
    return tuple(order)


class Choices:
    """What people chose for one query, laid out for counting."""

    def __init__(self, rows: QueryRows, cards: Sequence[int], pull: float) -> None:
        """Take the rows; ``cards``: how many values each attribute has; ``pull``: beta, in rows."""
        self._rows, self._cards, self._pull = rows, cards, pull
        self.greedy = lru_cache(1 << 16)(self._greedy)
        self.best = lru_cache(1 << 16)(self._best)
        self._codes = np.concatenate([rows.person[rows.user], rows.request], axis=1)
        self._prior = (self._count(rows.intent) + 0.5) / (len(rows.intent) + rows.intents / 2)

    @classmethod
    def of(cls, model: Model, query: int) -> "Choices":
        """Take a model's query, by its index; UsageError, DamagedModelError as `Model.rows`."""
        return cls(model.rows(query), model.cards, model.queries[query].shrinkage or PULL)

    @cached_property
    def utility(self) -> Utility:
        """The utility of sets, each row scored by everybody else."""
        return query_utility(self._rows, self._cards, "louo", self._pull)

    def _greedy(self, given: int) -> tuple[int, ...]:
        """Attributes of a set, one by one, the best first, while that raises the utility."""
        chosen, reached, left = list[int](), 0.0, [*members(given)]
        while left:
            values = self.utility.extensions(union(chosen), left)
            best = int(np.argmax(values))  # of equals the first
            if values[best] <= reached:
                break
            reached = values[best]
            chosen.append(left.pop(best))
        return tuple(chosen)

    def _best(self, given: int) -> int:
        """The greedy subset of a set of attributes, or the set itself where it has more utility.

        With many attributes hardly anybody is left to count, so only some are used.
        """
        chosen = union(self.greedy(given))
        return given if self.utility.value(given) > self.utility.value(chosen) else chosen

    def helping(self, codes: Mapping[int, int]) -> dict[int, int]:
        """Those codes, by attribute, with which the query is best ordered."""
        return {each: codes[each] for each in members(self.best(union(codes)))}

    def chances(self, codes: Mapping[int, int]) -> Floats:
        """P(x|g) = (c(g,x) + beta p0(x)) / (c(g) + beta) by intent, float64, shape (K,).

        p0 for no codes.
        """
        if not codes:
            return self._prior
        agree = np.logical_and.reduce([self._codes[:, at] == code for at, code in codes.items()])
        counts = self._count(self._rows.intent[agree])
        chances: Floats = (counts + self._pull * self._prior) / (counts.sum() + self._pull)
        return chances

    def _count(self, intents: Indexes) -> Floats:
        return np.bincount(intents, minlength=self._rows.intents).astype(np.float64)


def _named(title: str, names: Sequence[str]) -> int:
    """The intent whose name stands in a title, the longest of several; -1 for none."""
    said = f" {separated(title)} "
    found = [at for at, name in enumerate(names) if name and f" {name} " in said]
    return max(found, key=lambda at: len(names[at]), default=-1)


def _usable(codes: Mapping[str, int], model: Model, context: Context) -> dict[int, int]:
    """The codes by index, of facts that are specified and that the terms do not withhold."""
    named, own, terms = context.model.by_concept, context.own, context.terms
    behind = {e.kind: e.id for e, has in zip(own.facts, own.valued, strict=True) if has}
    return {
        at: codes[each.name]
        for at, each in enumerate(model.attributes[: model.persons])
        if codes.get(each.name) and each.concept in named
        if terms.disclose(named[each.concept].name, behind.get(each.concept)) not in WITHHELD
    }


def _free(context: Context) -> list[bool]:
    """Whether the words of each fact may have a part, by rules on it, its kind and own words."""
    terms, single = context.terms, dict(context.terms.facts)
    verdicts = {} if terms.ruling is None else terms.ruling.attributes

    def may(fact: Fact, name: str) -> bool:
        ruled = terms.disclose(name, fact.id)
        if name in verdicts and fact.id not in single and ruled not in WITHHELD:
            return on_words(verdicts[name], FACT + fact.id).value not in WITHHELD
        return ruled not in WITHHELD

    names = (context.model.attributes[at].name for at in context.own.attributes)
    return [*map(may, context.own.facts, names)]


def _nearness(results: Sequence[Result], context: Context, codes: Mapping[int, int]) -> Floats:
    """How near each result is to the facts that help, float64, shape (results,); 0 without any."""
    model, reading, own = context.model, context.meaning, context.own
    judged, attributes = context.cache.judgements(model), model.attributes
    likely, valued = judged.probable(reading), {*np.array(own.attributes, int)[own.valued].tolist()}
    some = [at for at in codes if likely[at] >= judged.least[at] and at not in valued]
    some = some if reading.chance >= LEAST_CHANCE else []
    texts = [f"{attributes[at].title}: {attributes[at].values[codes[at]]}" for at in some]
    helps = np.zeros(0)
    if own.facts:
        helps = chances_of(own, context.request.query, reading, model, context.judged)[:, 0]
    weights = np.append(likely[some], helps * _free(context))
    if not weights.any():
        return np.zeros(len(results))
    vectors = own.vectors.reshape(-1, SIZE)[:, :OWN] * 2**0.5  # one half of what has length 1
    direction = weights @ np.concatenate([encode(texts, question=False), vectors])
    every = [f"{title}. {snippet}" for title, snippet in results]
    nearness: Floats = encode(every, question=True) @ direction
    return nearness.round(4)  # beside others the last bits of a vector differ
