"""The objective F = U - lambda C, for any utility and cost, and for a disclosure to a recipient."""

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cache, partial
from math import inf
from typing import Literal, NamedTuple

import numpy as np

from agent.errors import UsageError
from agent.tradeoff.anonymity_set import COMBINATIONS, AnonymitySet
from agent.tradeoff.costs import Cost, Identifiability, Polynomial, curvature_of
from agent.tradeoff.local_search import SetFunction
from agent.tradeoff.measures import METRICS, Curvature, Measure, Metric, check_prices
from agent.tradeoff.plan import QueryPlanner
from agent.tradeoff.tables import Floats, Indexes, Population, flagged, mask_arrays, members, union
from agent.tradeoff.utility import Function, Utility

Limit = Literal[
    "attributes_per_request", "new_facts_per_week", "new_facts_per_day", "risk", "k", "people"
]


# Attributes that may take the place of one in a set, the best by stored pairs (DESIGN.md 2.5). By
# 2, 4, 8 and all the same sets are found (make bench PARTS=sets); by all, a decision of so2017 with
# three facts known takes a third longer.
OUTSIDERS = 4


@dataclass(frozen=True, slots=True)
class Settings:
    """What one person demands of a disclosure to one recipient.

    ``candidates``: mask of the attributes that may be disclosed; ``trade_off``: lambda, bits
    per unit of ``metric``; ``sensitivity``: bits, one per attribute; ``guards``: (attribute,
    weight) pairs; ``together``: sets, as masks, each with the bits that it costs where all of it
    is told or held; ``metric_k``: the k of the metric k-anonymity. Hard limits: ``k`` people with a
    tolerated share ``max_violations`` of people in smaller classes, a limit of the name
    ``k_key``; ``max_risk``, the expected success of one guess; ``most`` >= 0 attributes in a set,
    and ``most_new`` >= 0 person attributes in it that the recipient does not hold, a limit of the
    name ``most_new_key``.
    """

    candidates: int
    sensitivity: tuple[float, ...]
    trade_off: float = 5.12
    metric: Metric = "maxprob"
    metric_k: int = 100
    guards: tuple[tuple[int, float], ...] = ()
    together: tuple[tuple[int, float], ...] = ()
    k: int | None = None
    k_key: Literal["k", "people"] = "k"
    max_violations: float = 0.0
    max_risk: float | None = None
    most: int | None = None
    most_new: int | None = None
    most_new_key: Limit = "new_facts_per_week"

    def __post_init__(self) -> None:
        """Refuse an unknown metric and a negative price: UsageError."""
        if self.metric not in METRICS:
            raise UsageError.unknown("metric", self.metric, METRICS)
        weighted = (weight for _, weight in (*self.guards, *self.together))
        check_prices(self.trade_off, *self.sensitivity, *weighted)


class Parts(NamedTuple):
    """The terms of F for one set, all in bits but ``identifiability_cost`` (unit of the metric)."""

    utility: float
    identifiability_cost: float
    guard: float
    sensitivity: float
    objective: float


class Objective(SetFunction):
    """F(A) = U(A) - lambda C(A), for a utility and a cost of your own.

    A set is an integer whose bit i says that attribute i is in it; every set is computed once.
    `maximise` finds the best set, `curve` the best set at each lambda.
    """

    def __init__(
        self,
        utility: Utility | Callable[[int], float],
        cost: Cost | Callable[[int], float] | Population,
        attributes: int,
        trade_off: float = 1.0,
        *,
        most: int | None = None,
        submodular: bool = False,
    ) -> None:
        """Choose from ``attributes`` attributes.

        ``utility``: U in bits, 0 for the empty set; ``cost``: C up to a constant, one of those in
        `agent.tradeoff.costs` or any other, or the people among whom to hide (``maxprob``);
        ``trade_off``: lambda, bits per unit of cost; ``most``: the most attributes in a set;
        ``submodular``: whether F is known to be, also where utility and cost do not tell, so that a
        search may prove bounds from it. UsageError where lambda is negative, or the people have
        other attributes.
        """
        width = cost.codes.shape[1] if isinstance(cost, Population) else attributes
        if not isinstance(attributes, int) or attributes < 0 or attributes != width:
            raise UsageError(f"{attributes} attributes cannot be", "give as many as people have")
        if isinstance(cost, Population):
            cards = (cost.codes.max(axis=0).astype(int) + 1).tolist()
            cost = Identifiability(AnonymitySet(cost, cards))
        self._curvature: Callable[[int], Curvature]
        self._curvature = getattr(cost, "curvature", lambda _: "unknown")
        self.candidates, self.trade_off = (1 << attributes) - 1, trade_off
        check_prices(trade_off)
        if not isinstance(utility, QueryPlanner):
            plain = Function(utility) if callable(utility) else utility
            utility = QueryPlanner(lambda: plain, attributes)
        self._utility = utility
        self._loss, self._most, self._ground = cache(cost), most, cost(0)
        self._submodular = submodular

    @property
    def claims_submodularity(self) -> bool:
        """Whether F is known to be submodular, and every set of candidates is feasible.

        U is to be submodular and the cost not to bend down, or both were declared to be so. Source:
        DESIGN.md 2.11.
        """
        by_form = self.curvature() != "unknown" and self._utility.submodular
        return (self._submodular or by_form) and self.feasible(self.candidates)

    def curvature(self) -> Curvature:
        """How what F takes off U bends over the sets of candidates: what is certain of it."""
        return self._curvature(self.candidates) if self.trade_off else "modular"

    def at(self, trade_off: float) -> "Objective":
        """The same at another lambda; utilities computed are shared."""
        check_prices(trade_off)
        other = copy(self)
        other.trade_off = trade_off
        return other

    def value(self, mask: int) -> float:
        """F(A) in bits."""
        return self.utility(mask) - self.cost(mask)

    def utility(self, mask: int) -> float:
        """U(A) in bits."""
        return self._utility.value(mask)

    def extensions(self, mask: int, attributes: Sequence[int]) -> list[float]:
        """F(A u {V}) in bits for each V in ``attributes``; minus infinity if infeasible."""
        sets = {each: mask | 1 << each for each in attributes}
        allowed = [each for each in attributes if self.feasible(sets[each])]
        bits = dict(zip(allowed, self._utility.extensions(mask, allowed), strict=True))
        return [bits[e] - self.cost(sets[e]) if e in bits else -inf for e in attributes]

    def cost(self, mask: int) -> float:
        """What F takes off U(A), in bits: lambda C(A), and what a disclosure adds to it."""
        guard, sensitivity = self.disclosed(mask)
        return self.trade_off * (self._loss(mask) - self._ground) + guard + sensitivity

    def identifiability_cost(self, mask: int) -> float:
        """C(A), the part of F that lambda weighs, in its own unit."""
        return self._loss(mask) - self._ground

    def disclosed(self, mask: int) -> tuple[float, float]:
        """What a disclosure tells about guarded attributes, and the user's dislike of it, in bits.

        Without a disclosure, 0 and 0.
        """
        del mask
        return 0.0, 0.0

    def parts(self, mask: int) -> Parts:
        """The terms of F(A)."""
        utility, lost = self.utility(mask), self._loss(mask) - self._ground
        guard, sensitivity = self.disclosed(mask)
        bits = utility - (self.trade_off * lost + guard + sensitivity)
        return Parts(utility, lost, guard, sensitivity, bits)

    def feasible(self, mask: int, *, larger: bool = False) -> bool:
        """Whether A has few enough attributes; where it has too many, larger sets have too."""
        del larger
        return self._most is None or mask.bit_count() <= self._most


class DisclosureObjective(Objective):
    """F(A) = U(A) - lambda (I(A u D|d) - I(0|d)) - sum of w_v G_v(A|d) - S(A|d), in bits.

    S is the sum of sensitivities, and of the prices of what is told or held together. What only the
    query decides comes from ``utility``, what only the population and knowledge decide from
    ``people``, which remembers it across requests. Source: DESIGN.md 2.4.
    """

    def __init__(self, utility: Utility, people: AnonymitySet, settings: Settings) -> None:
        """Join the two."""
        loss = partial(people.identifiability, metric=settings.metric, k=settings.metric_k)
        super().__init__(utility, loss, len(people.cards), settings.trade_off)
        self._people, self._settings = people, settings
        self.candidates = settings.candidates
        self._countable = people.persons & ~people.disclosed
        self._curvature = partial(people.curvature, settings.metric)
        # Of each limit on a loss: the measure, its k, and the most that it may be.
        self._limits = limits = list[tuple[Limit, Measure, int, float]]()
        if settings.max_risk is not None:
            limits.append(("risk", "maxprob", 1, settings.max_risk))
        if settings.k is not None and people.sampled and not settings.max_violations:
            # That nobody's class is too small, the worst one tells for every k at once.
            limits.append((settings.k_key, "worst", 1, (1 + 1e-12) / settings.k))
        elif settings.k is not None:
            limits.append((settings.k_key, "k-anonymity", settings.k, settings.max_violations))
        self._measures: list[tuple[Measure, int]] = [(settings.metric, settings.metric_k)]
        self._measures += [(measure, k) for _, measure, k, _ in limits]
        self._success = any(measure == "maxprob" for measure, _ in self._measures)
        special = people.closed or settings.guards or settings.candidates & ~people.persons
        self._by_rows = not special
        self._sensitive = flagged(np.array(settings.sensitivity) > 0) & ~people.disclosed
        count = len(people.cards)
        # By attribute: if it is a candidate, and new to the recipient; its sensitivity in bits, and
        # what it costs beside a set.
        sets = settings.candidates, people.disclosed, people.leaves
        self._open, disclosed, self._leaves = mask_arrays(sets, count)
        self._new = ~disclosed
        dislike = np.where(self._new, settings.sensitivity, 0.0)
        self._dislike_beside: Callable[[int], Floats] = lambda _: dislike
        self._together: Polynomial | None = None
        if settings.together:
            self._together = together = Polynomial(settings.together, people.disclosed)
            self._dislike_beside = lambda mask: dislike + together.beside(mask, count)

    @property
    def claims_submodularity(self) -> bool:
        """Whether F is known to be submodular, and every set of candidates is feasible.

        Where the largest keeps a limit, smaller ones do if the loss only rises with the set.
        """
        measures = (measure for _, measure, _, _ in self._limits)
        rising = all(self._people.monotone(each, self.candidates) for each in measures)
        return rising and super().claims_submodularity

    @property
    def useful(self) -> int:
        """The candidates that bring something by themselves, a mask."""
        some = np.array([*members(self.candidates)], np.intp)
        return union(some[np.array(self._utility.extensions(0, some.tolist())) > 0].tolist())

    def curvature(self) -> Curvature:
        """How what F takes off U bends; of guarded attributes that is not known."""
        own: Curvature = "unknown" if self._settings.guards else super().curvature()
        if self._together is None:
            return own
        return curvature_of((own, self._together.curvature(self.candidates)))

    def given(self, people: AnonymitySet, settings: Settings) -> "DisclosureObjective":
        """The objective for other people and demands; utilities computed are shared."""
        return DisclosureObjective(self._utility, people, settings)

    def at(self, trade_off: float) -> "DisclosureObjective":
        """The same at another lambda; utilities computed are shared."""
        return self.given(self._people, replace(self._settings, trade_off=trade_off))

    def at_hand(self, mask: int) -> Floats | None:
        """F(A u {V}) for each V, where U is stored and the costs are, or are soon counted.

        Minus infinity for a V outside A that may not be chosen beside it. Only where all candidates
        are attributes of the person, and nothing is guarded.
        """
        bits = self._utility.stored.get(mask)
        if bits is None or not self._by_rows or mask & ~self._people.persons:
            return None
        rows = list[Floats]()
        for each in self._measures:
            if (row := self._people.at_hand(mask, *each)) is None:
                return None
            rows.append(row)
        (costs, *limited), demands = rows, self._settings
        new, allowed = self._new, self._open
        own = bits - demands.trade_off * (costs - self._ground) - sum(self.disclosed(mask))
        adds = new | bool(mask & ~self._people.disclosed)
        for (*_, most), losses in zip(self._limits, limited, strict=True):
            allowed = allowed & (~adds | (losses <= most))
        if demands.most is not None and mask.bit_count() >= demands.most:
            allowed = np.zeros_like(allowed)
        if demands.most_new is not None:
            allowed = allowed & ((mask & self._countable).bit_count() + new <= demands.most_new)
        [inside] = mask_arrays([mask], len(new))
        others = np.where(allowed, own - self._dislike_beside(mask), -inf)
        levels: Floats = np.where(inside, own, others)
        return levels

    def extensions(self, mask: int, attributes: Sequence[int]) -> list[float]:
        """F(A u {V}) in bits for each V in ``attributes``; minus infinity if infeasible."""
        if self._success:
            self._people.survey(mask)
        return super().extensions(mask, attributes)

    def survey(self, mask: int) -> None:
        """Compute F(A ^ {V}) for every candidate V of the person, feasible or not, at once."""
        self._utility.extensions(mask, [*members(self.candidates & self._people.persons & ~mask)])
        self.extensions(mask, ())

    def costs_beside(self, mask: int, attributes: Indexes) -> Floats:
        """What F takes off U(A u {V}) at the least, in bits, for each V, none in A.

        Where I(A u {V}) is not at hand, I(A) stands for it, or what no larger set falls below.
        """
        measure, people = self._measures[0], self._people
        least, own = people.least(mask, *measure, self.candidates), self._loss(mask)
        losses = np.where(self._leaves[attributes], max(own, least), least)
        counted = not people.sampled and not mask & ~people.persons
        if counted and (row := people.at_hand(mask, *measure)) is not None:
            losses = np.fmax(row[attributes], losses)  # of a request it may be no number
        dislike = self._dislike_beside(mask)[attributes]
        costs: Floats = self.trade_off * (losses - self._ground) + dislike
        return costs + sum(self.disclosed(mask, least=True))

    def helps(self, mask: int, attributes: Indexes, *, count: bool = True) -> Floats | None:
        """U(A u {V}) in bits for each V in ``attributes``; None where that is to be counted."""
        if (row := self._utility.at_hand(mask)) is not None:
            return row[attributes]
        return np.array(self._utility.extensions(mask, attributes.tolist())) if count else None

    def bounds(self, mask: int, attributes: Sequence[int]) -> list[float]:
        """For each V in ``attributes`` a bound, in bits, on F of every set with A u {V}."""
        bounds = self._utility.potentials(mask, attributes)
        costs = (self.cost_floor(mask | 1 << each) for each in attributes)
        return [bits - cost for bits, cost in zip(bounds, costs, strict=True)]

    def above(self, mask: int, options: int) -> float:
        """A bound, in bits, on F of A with any of ``options``, a mask.

        With a submodular U none of them adds more than beside A alone. Of too many combinations
        none is a candidate.
        """
        if self._people.combinations(mask) > COMBINATIONS:
            return -inf
        row = self._utility.at_hand(mask) if self._utility.quick else None
        if row is None or not self._utility.submodular:  # to tell, others are made
            return self._utility.limit - self.cost_floor(mask)
        level, most = self.utility(mask), self._settings.most
        [open_] = mask_arrays([options], len(row))
        more = np.maximum(row - level - self._dislike_beside(mask), 0.0)[open_]
        if most is not None:
            more = np.sort(more)[::-1][: max(0, most - mask.bit_count())]
        return level + float(more.sum()) - self.cost_floor(mask)

    def promising(self, mask: int, options: int) -> int:
        """The attributes of a mask that add most to A as far as singles and pairs of U tell it."""
        utility, new = self._utility, np.array([*members(options)], np.intp)
        if utility.at_hand(mask) is not None or utility.by_pairs is utility:
            return options
        gains = np.array(utility.by_pairs.extensions(mask, new.tolist()))
        gains -= self._dislike_beside(mask)[new]
        return union(new[np.argsort(-gains, kind="stable")[:OUTSIDERS]].tolist())

    def cost_floor(self, mask: int) -> float:
        """A bound, in bits, that lambda C of no candidate superset of A goes below."""
        demands = self._settings
        least = self._people.least(mask, demands.metric, demands.metric_k, self.candidates)
        return demands.trade_off * (least - self._ground) + sum(self.disclosed(mask, least=True))

    def disclosed(self, mask: int, *, least: bool = False) -> tuple[float, float]:
        """The sum of w_v G_v(A|d), and S(A|d), in bits: what is held already costs nothing.

        ``least``: of any larger set. Several facts by shares tell less beside a column on which
        they depend, so that what they tell is no part of it.
        """
        bits, new = self._settings.sensitivity, mask & self._sensitive
        told = mask & ~self._people.shared if least else mask
        guards = (weight * self._people.guard_bits(v, told) for v, weight in self._settings.guards)
        dislike = sum((bits[each] for each in members(new)), 0.0) if new else 0.0
        return sum(guards, 0.0), dislike + self._together(mask) if self._together else dislike

    def feasible(self, mask: int, *, larger: bool = False) -> bool:
        """Whether A keeps every hard limit.

        Nothing at all always does, and what adds nothing new breaks at most ``most``: a limit
        on what is sent, not on what is learned (DESIGN.md 2.4). Caps only get harder to keep in
        ``larger`` sets, and k and the risk do where losses only rise with the set.
        """
        people = self._people
        if mask & ~people.disclosed and (people.closed or people.combinations(mask) > COMBINATIONS):
            return False  # nothing new can be added, or the set has too many combinations
        return self.broken(mask, for_good=larger) is None

    def broken(self, mask: int, *, for_good: bool = False) -> Limit | None:
        """The first hard limit that A breaks; None where it keeps all that there are.

        ``for_good``: only limits that every set with A breaks too.
        """
        demands, people = self._settings, self._people
        if demands.most is not None and mask.bit_count() > demands.most:
            return "attributes_per_request"
        most_new = demands.most_new
        if most_new is not None and (mask & self._countable).bit_count() > most_new:
            return demands.most_new_key
        if not self._limits or not mask & ~people.disclosed:
            return None
        loss = partial(people.least, others=self.candidates) if for_good else people.identifiability
        broken = (limit for limit, of, k, most in self._limits if loss(mask, of, k) > most)
        return next(broken, None)


def forced(objective: SetFunction, attributes: Iterable[int]) -> int:
    """What of ``attributes`` can be in the set without breaking a limit, as a mask.

    Each is added where the set with it is feasible, as the first mask always is: the one with the
    largest F of its own first, of equals the smaller.
    """
    taken = 0
    for each in sorted({*attributes}, key=lambda each: (-objective.value(1 << each), each)):
        if objective.feasible(taken | 1 << each):
            taken |= 1 << each
    return taken
