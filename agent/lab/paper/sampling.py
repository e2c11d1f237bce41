"""Sampled rows against full counts, beside exact evaluation (7.1, Lemmas 4.2 and 4.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agent.lab.charts import Chart, Claim, Finding, Panel, Series
from agent.lab.paper.along import prefixes
from agent.lab.paper.drawn import SampledCost, SampledUtility
from agent.lab.paper.subject import cost_alone
from agent.tradeoff.bounds import cost_error, utility_error
from agent.tradeoff.local_search import eager_pass
from agent.tradeoff.search import greedy_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.lab.paper.options import Options
    from agent.lab.paper.subject import Subject

DELTA = 0.05  # that an estimate is further off than its lemma says
Floats = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Estimates:
    """A function along an order: exact, sampled, and how far a lemma lets these be apart.

    ``error``: with probability 1 - DELTA for each set, in both directions, in the unit of the
    function.
    """

    name: str
    names: tuple[str, ...]
    exact: Floats
    sampled: Floats
    error: float

    @property
    def errors(self) -> Floats:
        """How far off each estimate is."""
        return tuple(abs(s - e) for s, e in zip(self.sampled, self.exact, strict=True))


def utility_estimates(subject: Subject, options: Options) -> Estimates:
    """Return U along its greedy order; the subject's estimator is ``plugin``, as Lemma 4.2 wants.

    A fresh sample is drawn for each set. The lemma takes the most intents that a query has.
    """
    objective = subject.utility_alone()
    order, _ = greedy_order(objective)
    sampled = SampledUtility(subject, options)
    sets = prefixes(order)
    intents = max(len(each.intents) for each in subject.model.queries)
    return Estimates(
        "utility, bits",
        subject.named(order),
        tuple(map(objective.utility, sets)),
        tuple(map(sampled.value, sets)),
        utility_error(intents, options.samples, DELTA, two_sided=True),
    )


def cost_estimates(subject: Subject, options: Options) -> tuple[Estimates, ...]:
    """Return the losses in [0, 1] along the greedy order of cost, over person attributes.

    Request attributes are left out: a class of people is then not what a sample falls into.
    """
    model = subject.model
    order, _ = greedy_order(cost_alone(model), eager_pass)
    persons = [each for each in order if each < model.persons]
    sets, sampled = prefixes(persons), SampledCost(model, options)
    crowd, error = model.crowd(), cost_error(options.samples, DELTA, two_sided=True)
    return tuple(
        Estimates(
            metric,
            subject.named(persons),
            tuple(crowd.identifiability(each, metric, options.k) for each in sets),
            tuple(sampled.value(each, metric) for each in sets),
            error,
        )
        for metric in ("maxprob", "k-anonymity")
    )


def finding(estimates: Sequence[Estimates], samples: int, note: str) -> Finding:
    """Return the figure: exact and sampled values, with the lemma's width around the exact."""
    panels = tuple(_panel(each) for each in estimates)
    title = f"Sampling: {samples:,} samples beside exact evaluation"
    chart = Chart("fig-14-sampling", title, note, panels)
    return Finding(chart, tuple(_claim(each, samples) for each in estimates))


def _panel(each: Estimates) -> Panel:
    places = tuple(float(place) for place in range(len(each.names)))
    exact = Series(
        "exact, with the width of the lemma",
        places,
        each.exact,
        low=tuple(value - each.error for value in each.exact),
        high=tuple(value + each.error for value in each.exact),
    )
    sampled = Series("sampled", places, each.sampled, "points")
    label = "attributes, in greedy order"
    return Panel(each.name, label, each.name, (exact, sampled), ticks=each.names)


def _claim(each: Estimates, samples: int) -> Claim:
    inside = float(np.mean([error <= each.error for error in each.errors]))
    lemma = "4.2" if "bits" in each.name else "4.3"
    return Claim(
        f"7.1, Lemma {lemma}",
        f"{samples} samples estimate it to {each.error:.3g} ({1 - DELTA:.0%}, two-sided)",
        f"{each.name}: off by {max(each.errors):.3g} at most and "
        f"{float(np.mean(each.errors)):.2g} in mean, over {len(each.errors)} sets; the values "
        f"reach {max(each.exact):.3g}",
        inside >= 1 - DELTA,
        f"same where at least {1 - DELTA:.0%} of the estimates are within the width"
        + (
            "; where the width exceeds the values the lemma promises nothing of use"
            if each.error > max(each.exact)
            else ""
        ),
    )
