"""Topics, and what policies call them and facts; what facts are judged to bring (DESIGN.md 2.9)."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
from numpy.typing import NDArray

from agent.model.attributes import NAME, PRICES, Query
from agent.model.model import Model
from agent.model.reading import Interpretation
from agent.tradeoff.coverage import Coverage, resolved
from agent.tradeoff.tables import Floats
from policy.audit import Remark, audit, priced_sets
from policy.families import TopicProbabilities, families, told_by
from policy.match import Known, Ruling
from policy.rules import Policy, spoken

Read = Callable[[Model, str], Interpretation]
THRESHOLDS = np.array([0.15, 0.2, 0.3, 0.4, 0.5])  # of sensitivity 1 to 5: `Judgements.least`


@dataclass(frozen=True, slots=True, eq=False)
class Judgements:
    """What was judged of the topics of a model, for each of its n attributes.

    ``bits``: float64, shape (T,), b_t, 0 to 64; ``weights``: likewise, how often each topic is
    asked, of sum 1; ``parts``: float64, shape (T, n), x_tf, 0 to 1; ``likely``: likewise, that the
    attribute makes an answer clearly better; ``least``: float64, shape (n,), how likely that is to
    be for a text to carry the attribute; ``totals``: float64, shape (T,), the sum by which x_tf is
    a part. A place for a fact in own words has no part by itself. Source: DESIGN.md 2.9, 2.11.
    """

    bits: Floats
    weights: Floats
    parts: Floats
    likely: Floats
    least: Floats
    totals: Floats

    @classmethod
    def of(cls, model: Model) -> "Judgements":
        """The judgements of a model, none of a model without topics."""
        judged, count = model.tables.judged, len(model.attributes)
        if judged is None:
            none = np.zeros((0, count))
            return cls(np.zeros(0), np.zeros(0), none, none, np.zeros(count), np.zeros(0))
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
            judged.totals.astype(float),
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
        parts, bits = self.parts[[*shares]], self.bits[[*shares]] * [*shares.values()]
        return Coverage(bits, parts if helpful is None else np.where(helpful, parts, 0.0))

    def mean(self, *, filtered: bool = False) -> Coverage:
        """The same of the mean topic; ``filtered``: of each counts what it may carry alone."""
        helpful = self.likely >= self.least if filtered else None
        return self.coverage(dict(enumerate(self.weights.tolist())), helpful)

    def helpful(self, reading: Interpretation) -> NDArray[np.bool_]:
        """Whether a text may carry each attribute, bool, shape (n,): the static filter.

        It depends on the text and the model alone: on the topics among what the text may mean.
        """
        return self.probable(reading) >= self.least

    def probable(self, reading: Interpretation) -> Floats:
        """How likely each attribute makes the answer clearly better, float64, shape (n,)."""
        judged = [(e.query, e.probability) for e in reading.candidates if e.query < len(self.bits)]
        topics, shares = zip(*sorted(judged), strict=True) if judged else ((), ())
        return np.asarray(np.array(shares) @ self.likely[[*topics]])


def topic_names(policy: Policy, models: Iterable[Model]) -> list[str]:
    """All that a rule may call a topic or a family, as `spoken` returns it; none if none does."""
    queries = [each for model in models for each in model.queries] if policy.names_topics else []
    named = [spoken(text) for each in queries for text in (each.text, each.title)]
    return [*dict.fromkeys((*families(), *named))] if queries else []


def called_in_rules(topic: Query) -> frozenset[str]:
    """All that a rule may call a topic, as `spoken` returns it."""
    return frozenset({spoken(topic.text), spoken(topic.title)})


def topics_of(
    policy: Policy | None, models: Iterable[Model], read: Read, query: str
) -> TopicProbabilities:
    """What a query may be about, by every model; nothing if no rule names a topic.

    ``read``: reads a text by a model. Raises as that does.
    """
    found = dict[frozenset[str], float]()
    every = (part for model in models for part in model.every)  # a world reads by the surest alone
    for model in every if policy is not None and policy.names_topics else ():
        for each in read(model, query).candidates:
            called = called_in_rules(model.queries[each.query])
            found[called] = max(found.get(called, 0.0), each.probability)
    return found


def attributes_of(models: Iterable[Model], deciding: Iterable[Model]) -> dict[str, Known]:
    """The attributes of the deciding models, each by all that any model calls it.

    With what each tells, by any model: what hangs on a fact tells that, and so does what refines
    it, and what is judged to nearly tell it.
    """
    names, concepts, follows = (defaultdict[str, set[str]](set) for _ in range(3))
    for part in (part for model in models for part in (model, *model.every)):
        by_name = {each.name: each.concept for each in part.attributes}
        for each in part.attributes:
            # MODEL.NAME is in no rule.
            called = filter(NAME.fullmatch, (each.name, each.concept, each.shared))
            names[each.concept].update(called)
            follows[each.concept].update([by_name[each.refines]] if each.refines else [])
            for name in each.decides:
                follows[by_name[name]].add(each.concept)
    told = told_by(names, follows)
    for model in deciding:
        for at, each in enumerate(model.attributes):
            concepts[each.name].add(each.concept)
            if at in model.own:  # a rule on its kind, or on a family of that, is on a place
                kind = model.attributes[model.own[at]].concept
                names[each.concept] |= names[kind]
                told[each.concept] = told[kind]

    def known(some: set[str]) -> Known:
        tells = {other: frozenset(names[other]) for each in some for other in told[each]}
        called = frozenset(other for each in some for other in names[each])
        return Known(frozenset(some), called, tells)

    return {name: known(some) for name, some in concepts.items()}


def together_in(ruling: Ruling, model: Model) -> tuple[tuple[tuple[str, ...], float], ...]:
    """The names of attributes that cost more together, each with the bits, as `Terms` has it.

    A fact is each attribute of the model that has its name, its further facts and places for own
    words among them: each of one is priced with each of the others.
    """
    prices = Counter[tuple[str, ...]]()
    some = {e.name: ruling.known[e.name] for e in model.attributes if e.name in ruling.known}
    for rule in ruling.together:
        bits = float(rule.settings["price"])
        prices.update(dict.fromkeys(priced_sets(rule, some), bits))
    return tuple(sorted(prices.items()))


def audited(policy: Policy, models: Sequence[Model], today: date) -> tuple[Remark, ...]:
    """Remarks on a policy for these models."""
    return audit(policy, attributes_of(models, models), today, topic_names(policy, models))
