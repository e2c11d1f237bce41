"""What the theorems assume and promise, on data: submodularity, and the error of samples."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import log2, sqrt

import numpy as np

from agent.lab.charts import Chart, Panel, Series, StudyFinding
from agent.lab.paper.orders import METRICS, Along, along
from agent.lab.paper.subject import Options, Subject, claim, cost_alone, people_of, prose
from agent.model.model import Model
from agent.tradeoff import study
from agent.tradeoff.grouping import Columns
from agent.tradeoff.local_search import eager_pass
from agent.tradeoff.measures import Metric
from agent.tradeoff.search import greedy_order
from agent.tradeoff.utility import PlugIn

LARGEST = 10  # attributes in a set: a disclosure has few
COST_TRIPLES, UTILITY_TRIPLES = 2000, 60
_Z = 1.96  # of a 95 % interval
FEW = 0.05  # of the triples: so few may violate
DELTA = 0.05  # that an estimate is further off than its lemma says
EXACT, SAMPLED = "exact", "sampled"


@dataclass(frozen=True, slots=True)
class Shape:
    """How often what an attribute adds grows (U), or shrinks (C), with the set, and by how much.

    ``mean_gain``: of what attributes add to the smaller sets, in the function's unit.
    """

    name: str
    violations: study.Violations
    mean_gain: float


def utility_shape(subject: Subject, seed: int) -> Shape:
    """Test U on random triples, in bits."""
    objective = subject.utility_alone()
    triples = study.random_pairs(objective, UTILITY_TRIPLES, LARGEST, np.random.default_rng(seed))
    violations = study.submodularity(objective.utility, triples)
    return Shape(f"U, {subject.estimator}", violations, _mean_gain(objective.utility, triples))


def cost_shapes(model: Model, k: int, seed: int) -> tuple[Shape, ...]:
    """Test each metric on the same random triples, in its own unit."""
    draw = np.random.default_rng(seed)
    triples = study.random_pairs(cost_alone(model), COST_TRIPLES, LARGEST, draw)
    costs = {metric: cost_alone(model, metric, k).identifiability_cost for metric in METRICS}
    return tuple(
        Shape(f"C, {metric}", study.supermodularity(cost, triples), _mean_gain(cost, triples))
        for metric, cost in costs.items()
    )


def _mean_gain(function: Callable[[int], float], triples: Sequence[study.Pair]) -> float:
    gains = [
        function(each.smaller | 1 << each.attribute) - function(each.smaller) for each in triples
    ]
    return float(np.mean(np.abs(gains))) if gains else 0.0


def shape_finding(shapes: Sequence[Shape], note: str) -> StudyFinding:
    """Draw the share of triples that violate, and by how much, by function."""
    bars = {
        ("triples that violate", "share of the triples"): [
            each.violations.share for each in shapes
        ],
        ("by how much, where they do", "mean excess / mean gain"): [
            each.violations.mean / each.mean_gain if each.mean_gain else 0.0 for each in shapes
        ],
    }
    names = tuple(each.name for each in shapes)
    panels = tuple(
        Panel(title, "", label, (Series.ranked(label, values),), ticks=names)
        for (title, label), values in bars.items()
    )
    title = "Whether utility is submodular and cost supermodular"
    chart = Chart("fig-13-shape", title, note, panels)
    claims = []
    for each in shapes:
        found, letter = each.violations, each.name[0]
        low, high = interval(found.violating, found.pairs)
        wanted = "supermodular" if letter == "C" else "submodular"
        of = {"letter": letter, "wanted": wanted, "low": low, "high": high, "few": FEW}
        claims.append(claim("shape", found.share <= FEW, shape=each, found=found, **of))
    return StudyFinding(chart, tuple(claims), (prose("triples"),))


def shape_sentence(shapes: Sequence[Shape]) -> str:
    """Say how often U is not submodular, and what that takes from what is proven."""
    found = ", ".join(
        f"{each.violations.share:.0%} of the triples under {each.name.removeprefix('U, ')}"
        for each in shapes
    )
    return prose("proofs", found=found)


def interval(some: int, many: int) -> tuple[float, float]:
    """Compute the 95 % interval of a share, ``some`` of ``many`` (Wilson 1927); 0 to 1 of none."""
    if not many:
        return 0.0, 1.0
    share, weight = some / many, _Z**2 / many
    middle = (share + weight / 2) / (1 + weight)
    half = sqrt(weight * (share * (1 - share) + weight / 4)) / (1 + weight)
    # rounding must not leave the share of none, or of all, outside
    return min(share, max(0.0, middle - half)), max(share, min(1.0, middle + half))


def sampled_utility(subject: Subject, options: Options) -> Callable[[int], float]:
    """Make an estimate of U by ``plugin``, in bits: the mean of the entropy that answers remove.

    A row is drawn by its query's weight, then uniformly; all rows of the query count, so that the
    expectation is U itself. Each set has a sample of its own, from the seed and the set. ValueError
    where the estimator is not ``plugin``: no other has a lemma.
    """
    utilities = [each for each in subject.utilities if isinstance(each, PlugIn)]
    if len(utilities) < len(subject.utilities):
        raise ValueError(f"the paper samples plugin, not {subject.estimator}")
    weights = subject.model.tables.query_weights

    def value(mask: int) -> float:
        draw = np.random.default_rng([options.seed, mask])
        counts = draw.multinomial(options.samples, weights / weights.sum())
        total = 0.0
        for query in np.flatnonzero(counts).tolist():
            picked = draw.integers(0, subject.model.queries[query].rows, int(counts[query]))
            total += float(utilities[query].removed(mask, picked).sum())
        return total / options.samples

    return value


def sampled_cost(model: Model, options: Options) -> Callable[[int, Metric], float]:
    """Make an estimate of I over person attributes, by maxprob or k-anonymity.

    That is the mean loss over drawn people, each class counted in full.
    """
    population = model.population
    share = np.full(population.rows, 1.0) if population.weights is None else population.weights
    share = share / share.sum()
    groups = Columns(population.columns, model.cards[: model.persons])

    def value(mask: int, metric: Metric) -> float:
        draw = np.random.default_rng([options.seed, mask])
        picked = draw.choice(len(share), options.samples, p=share)
        labels, count = groups.dense[mask]
        peak = np.zeros(count)
        np.maximum.at(peak, labels, share)
        chance = (peak / np.bincount(labels, share, count))[labels[picked]]
        if metric == "maxprob":
            return float(chance.mean())
        return float((chance > (1 + 1e-12) / options.k).mean())

    return value


@dataclass(frozen=True, slots=True)
class Estimates:
    """A function along an order: exact, sampled, and how far a lemma lets these be apart.

    ``values``: under EXACT and SAMPLED; ``error``: with probability 1 - DELTA for each set, in both
    directions, in the unit of the function.
    """

    name: str
    values: Along
    error: float

    @property
    def errors(self) -> tuple[float, ...]:
        """How far off each estimate is."""
        pairs = zip(self.values.curves[SAMPLED], self.values.curves[EXACT], strict=True)
        return tuple(abs(sampled - exact) for sampled, exact in pairs)


def utility_estimates(subject: Subject, options: Options) -> Estimates:
    """Estimate U along its greedy order; the subject's estimator is ``plugin``, as Lemma 4.2 wants.

    A fresh sample is drawn for each set. The lemma takes the most intents that a query has.
    """
    objective, sampled = subject.utility_alone(), sampled_utility(subject, options)
    order, _ = greedy_order(objective)
    intents = max(len(each.intents) for each in subject.model.queries)
    return Estimates(
        "utility, bits",
        along(subject.model, order, {EXACT: objective.utility, SAMPLED: sampled}),
        study.sampling_error(options.samples, DELTA, log2(intents), two_sided=True),
    )


def cost_estimates(model: Model, options: Options) -> tuple[Estimates, ...]:
    """Estimate the losses in [0, 1] along the greedy order of cost, over person attributes.

    Request attributes are left out: a class of people is then not what a sample falls into.
    """
    order, _ = greedy_order(cost_alone(model), eager_pass)
    persons = [each for each in order if each < model.persons]
    crowd, sampled = people_of(model), sampled_cost(model, options)
    error = study.sampling_error(options.samples, DELTA, two_sided=True)

    def estimates(metric: Metric) -> Estimates:
        measures = {
            EXACT: lambda mask: crowd.identifiability(mask, metric, options.k),
            SAMPLED: lambda mask: sampled(mask, metric),
        }
        return Estimates(metric, along(model, persons, measures), error)

    return estimates("maxprob"), estimates("k-anonymity")


def sampling_finding(estimates: Sequence[Estimates], samples: int, note: str) -> StudyFinding:
    """Draw exact and sampled values, with the lemma's width around the exact."""
    panels, claims = [], []
    for each in estimates:
        exact = Series.ranked("exact, with the width of the lemma", each.values.curves[EXACT])
        width = replace(
            exact,
            style="line",
            low=tuple(value - each.error for value in exact.y),
            high=tuple(value + each.error for value in exact.y),
        )
        sampled = Series.ranked("sampled", each.values.curves[SAMPLED], "points")
        label = "attributes, in greedy order"
        panels.append(Panel(each.name, label, each.name, (width, sampled), ticks=each.values.names))
        errors, most = each.errors, max(each.values.curves[EXACT])
        within = float(np.mean([error <= each.error for error in errors])) >= 1 - DELTA
        lemma = "4.2" if "bits" in each.name else "4.3"
        off = {"largest": max(errors), "mean": float(np.mean(errors)), "count": len(errors)}
        of: dict[str, object] = {
            "lemma": lemma,
            "samples": samples,
            "sure": 1 - DELTA,
            "most": most,
        }
        of |= {"useless": prose("useless") if each.error > most else ""}
        claims.append(claim("samples", within, each=each, **off, **of))
    title = f"Sampling: {samples:,} samples beside exact evaluation"
    chart = Chart("fig-14-sampling", title, note, tuple(panels))
    return StudyFinding(chart, tuple(claims))
