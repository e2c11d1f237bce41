"""Models under differential privacy beside the exact one: what they keep, and what they tell."""

from dataclasses import replace
from math import exp
from pathlib import Path

import numpy as np

from agent.build import private
from agent.build.fitting import fit
from agent.build.observe import HALF_KEY, Observations, in_half_a, observe
from agent.build.private import ExactCounts, Noisy
from agent.build.tables import open_tables
from agent.lab import Progress, StudyOptions
from agent.lab.attack.criteria import multiple, percent
from agent.lab.attack.material import tables
from agent.lab.attack.outcome import Resamples, between
from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.counts import heldout_bits
from agent.tradeoff.grouping import row_columns
from agent.tradeoff.search import maximise
from agent.tradeoff.tables import Floats, Population
from agent.words.layout import numeric, table

BUDGETS = 1.0, 4.0  # epsilon
HEAD = ("epsilon", "utility kept", "risk by the model", "guesses right", "allowed")


def private_page(data: Path | None, options: StudyOptions, progress: Progress) -> str:
    """Build private models of half of the people in a folder; a table in text of what they do.

    ``options``: ``people`` models with somebody, and as many without; of each person ``requests``
    count. Every row is one person. Errors as `build.build.private_model`.
    """
    given = tables(data)
    source, described = open_tables(*given.files[:2]), given.description
    without = (*described.without, *filter(None, [described.weights]))
    given = given.described(weights="", most_weight=None, without=without)
    half = replace(given, half="A", per_person=options.requests)
    attributes = private.public_schema(source, half)
    everybody, rows = observe(source, replace(given, min_users=1)), list[tuple[str, ...]]()
    side = in_half_a(everybody.users, HALF_KEY)
    asked = np.sum([np.bincount(e.people, minlength=len(side)) for e in everybody.queries], axis=0)
    busy = everybody.users[int((asked * side).argmax())]
    others = replace(source, users=source.users.filter(source.users.user != busy))
    there, absent = (private.exact_counts(each, attributes, half) for each in (source, others))
    for at, epsilon in enumerate(BUDGETS):
        progress("attacking", at / len(BUDGETS))
        rho = private.rho_of(replace(half, private=epsilon))
        model = private.drawn(private.measured(there, private.Purse(rho)), attributes, half)
        scores = compared(everybody, model)
        right = [
            found(private.measured(there, private.Purse(rho)), there, absent)
            - found(private.measured(absent, private.Purse(rho)), there, absent)
            for _ in range(options.people)
        ]
        resamples = Resamples(len(scores), options.seed)
        means, sums = resamples.means(scores), scores.sum(axis=0)
        bits, risk = (
            between(sums[of] / sums[whole], means[:, of] / means[:, whole])
            for of, whole in ((1, 0), (2, 3))
        )
        guess = percent(Resamples(len(right), options.seed).mean((1 + np.array(right)) / 2), 0)
        allowed = f"{1 / (1 + exp(-epsilon)):.1%}"
        rows.append((f"{epsilon:g}", percent(bits, 0), multiple(risk), guess, allowed))
    return table([*map(numeric, HEAD)], rows)


def found(told: Noisy, there: ExactCounts, absent: ExactCounts) -> int:
    """1 where the counts are likelier with somebody than without, else 0; both are known.

    The noise is Gaussian and its size public: no shadow models are needed to learn how the
    likelihood ratio is distributed (Carlini et al. 2022).
    """
    worlds = [(there.tables[key], absent.tables[key], *each) for key, each in told.items()]
    return int(sum(((e - (a + b) / 2) * (a - b)).sum() / s**2 for a, b, e, s in worlds) > 0)


def compared(everybody: Observations, model: Observations) -> Floats:
    """By query: bits held out by the exact model and by another, its I as predicted and realised.

    Of the set that is best at trade-off 1. A service predicts by the log of half A, whatever the
    model; who looks alike is realised among everybody.
    """
    side, cards, rows = in_half_a(everybody.users, HALF_KEY), everybody.cards, list[list[float]]()
    half = Population(everybody.population.codes[side], np.full(side.sum(), 2.0))
    whole, exact_half, theirs = (
        AnonymitySet(each, cards) for each in (everybody.population, half, model.population)
    )
    drawn_rows = {each.text: each.rows for each in model.queries}
    for query in everybody.queries:
        training = query.part(side)
        if training is None or query.text not in drawn_rows:
            continue
        exact = fit(training.rows, exact_half, "louo", None)
        other = fit(drawn_rows[query.text], theirs, "plugin", private.SHRINKAGE)
        masks = [maximise(each.objective, "lls").mask for each in (exact, other)]
        columns, trained = row_columns(query.rows, cards), side[query.people][query.rows.user]
        labels = (columns.dense[mask].labels for mask in masks)
        bits = [heldout_bits(query.rows.intent, trained, exact.shrinkage, e) or 0.0 for e in labels]
        risks = (each.identifiability(masks[1], "maxprob", 1) for each in (theirs, whole))
        rows.append([*bits, *risks])
    return np.array(rows)
