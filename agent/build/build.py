"""Tables to a model: read this file top to bottom and you have seen how one is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from agent.build.log.read import open_log
from agent.build.log.source import source_of
from agent.build.observe import VALIDATION_KEY, observe
from agent.build.options import TableFiles
from agent.build.read import open_tables
from agent.build.shrinkage import fit
from agent.build.validate import MANY_ROWS, Validation, validate
from agent.model.model import Model, Query
from agent.model.tables import COST_METRICS, Singles, gather
from agent.tradeoff.anonymity_set import Crowd
from agent.tradeoff.sets import pairs, singleton

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from agent.build.canonical import Observed
    from agent.build.observe import Observations
    from agent.build.options import BuildOptions, LogFiles, Progress
    from agent.build.tables import Source
    from agent.model.model import Figure
    from agent.model.tables import Tables

    Floats = NDArray[np.float64]


class _Summary(NamedTuple):
    """What a model says of a query beside its rows."""

    shrinkage: float
    prior_entropy_bits: float
    single_utilities: tuple[float, ...]
    pair_utilities: tuple[float, ...] | None


def build_model(options: BuildOptions, progress: Progress) -> Model:
    """Return the model of two tables, or of a log, in files; the same input gives the same model.

    ``progress`` is told what is being done, and which share of that is done, 0 to 1.
    Raises UsageError for a file, title or number that cannot be; BuildError for tables that
    cannot make a model.
    """
    progress("reading", 0.0)
    source = _opened(options.files, progress)
    progress("reading", 1.0)
    return model_of(source, options, progress)


def _opened(files: TableFiles | LogFiles, progress: Progress) -> Source:
    if isinstance(files, TableFiles):
        return open_tables(*files)
    log = open_log(files)
    progress("reading", 0.5)
    return source_of(log)


def model_of(source: Source, options: BuildOptions, progress: Progress) -> Model:
    """Return the model of two tables on any backend; as `build_model`."""
    progress("counting", 0.0)
    seen = observe(source, options)
    progress("counting", 1.0)
    crowd = Crowd(seen.population, seen.cards)
    pairs_too = sum(len(query.rows.user) for query in seen.queries) < MANY_ROWS
    summaries = []
    for query in seen.queries:
        summaries.append(_summary(query, crowd, options, pairs_too=pairs_too))
        progress("choosing the shrinkage", len(summaries) / len(seen.queries))
    validation = _validation(seen, options, progress)
    return Model(
        id=options.id,
        source=options.source,
        licence=options.licence,
        estimator=options.estimator,
        attributes=seen.attributes,
        queries=_queries(seen, summaries, validation),
        tables=_tables(seen, summaries, crowd),
        options=_stated(seen, options),
        validation=validation.figures(),
    )


def _validation(seen: Observations, options: BuildOptions, progress: Progress) -> Validation:
    """Return what became of each query on the other half, of none where it is not wanted."""
    if not options.validation:
        return Validation((None,) * len(seen.queries))
    return validate(
        seen,
        VALIDATION_KEY,
        options.estimator,
        options.shrinkage,
        lambda share: progress("validating", share),
    )


def _summary(query: Observed, crowd: Crowd, options: BuildOptions, *, pairs_too: bool) -> _Summary:
    """Choose beta for a query, and compute what follows from it."""
    fitted = fit(query.rows, crowd, options.estimator, options.shrinkage)
    count = len(crowd.cards)
    singles = (fitted.objective.utility(singleton(each)) for each in range(count))
    paired = None
    if pairs_too:
        paired = tuple(
            bits
            for each in range(count)
            for bits in fitted.utility.extensions(singleton(each), range(each + 1, count))
        )
        fitted.utility.forget()
    return _Summary(fitted.shrinkage, fitted.utility.limit, tuple(singles), paired)


def _queries(
    seen: Observations, summaries: Sequence[_Summary], validation: Validation
) -> tuple[Query, ...]:
    return tuple(
        Query(
            text=query.text,
            intents=query.intents,
            shrinkage=summary.shrinkage,
            rows=len(query.rows.user),
            users=len(query.rows.person),
            prior_entropy_bits=summary.prior_entropy_bits,
            predicted_bits=None if trial is None else trial.predicted_bits,
            heldout_bits=None if trial is None else trial.heldout_bits,
        )
        for query, summary, trial in zip(seen.queries, summaries, validation.queries, strict=True)
    )


def _tables(seen: Observations, summaries: Sequence[_Summary], crowd: Crowd) -> Tables:
    rows = [query.rows for query in seen.queries]
    count = len(crowd.cards)
    paired = all(summary.pair_utilities is not None for summary in summaries)
    singles = Singles(
        utilities=np.array([summary.single_utilities for summary in summaries]),
        costs=_costs(crowd, [singleton(each) for each in range(count)]),
        pair_utilities=np.array([each.pair_utilities for each in summaries]) if paired else None,
        pair_costs=_costs(crowd, pairs(count)) if paired else None,
    )
    weights = np.array([len(each.user) for each in rows], dtype=np.float64)
    return gather(seen.population, rows, weights, singles)


def _costs(crowd: Crowd, sets: Sequence[int]) -> Floats:
    """Return I of each set by each of COST_METRICS, shape (3, sets)."""
    return np.array(
        [[crowd.identifiability(each, metric, 1) for each in sets] for metric in COST_METRICS]
    ).reshape(len(COST_METRICS), len(sets))


def _stated(seen: Observations, options: BuildOptions) -> dict[str, Figure]:
    """Return with what a model was built, and how much of the tables it does not hold."""
    return {
        "half": options.half,
        "min_users": options.min_users,
        "shrinkage": "auto" if options.shrinkage is None else options.shrinkage,
        **{f"dropped_{reason}": count for reason, count in seen.dropped.items()},
    }
