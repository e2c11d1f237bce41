"""Tables to a model: read this file top to bottom and you have seen how one is made."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from agent.build.canonical import Observed
from agent.build.engines import connected
from agent.build.log.read import open_log
from agent.build.log.source import source_of
from agent.build.near import near
from agent.build.observe import VALIDATION_KEY, Observations, observe
from agent.build.options import BuildOptions, Progress, TableFiles
from agent.build.read import check_path, open_tables
from agent.build.shrinkage import fit
from agent.build.stages import IN_ENGINE, Stages
from agent.build.tables import Source
from agent.build.validate import Trial, figures, validate
from agent.model.lookup import normalise
from agent.model.model import Model, Query
from agent.model.tables import COST_METRICS, Singles, gather
from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.tables import QueryRows, pairs, singleton, union

Floats = NDArray[np.float64]
MOST_PAIRS = 2**24  # utilities of pairs in a model, 8 bytes each
NUMBERS = ("beta", "limit", "deviation")
LISTS = ("singles", "pairs", "prices")  # U of each attribute, and of each two; their prices
FITTED = pa.schema(
    [(name, pa.float64()) for name in NUMBERS] + [(name, pa.list_(pa.float64())) for name in LISTS]
)


def build_model(
    options: BuildOptions,
    progress: Progress,
    stages: Stages = IN_ENGINE,
    make: Callable[[Source, BuildOptions, Progress, Stages], Model] | None = None,
) -> Model:
    """Return the model of two tables, or of a log, in files; the same input gives the same model.

    ``progress`` is called with the name of a stage and which share of it is done, 0 to 1;
    ``stages``: what is done already; ``make``: makes the model of the tables, by default
    `model_of`.
    Raises UsageError for a file, title or number that cannot be; BuildError for tables that
    cannot make a model.
    """
    progress("reading", 0.0)
    files, texts = options.files, (options.phrasings, options.background)
    for path in (*files, *texts):  # before an engine starts, which may take a while
        if path is not None:
            check_path(path, "duckdb" if path in texts else options.engine)
    backend = connected(options.engine, options.master, stages.folder)
    if isinstance(files, TableFiles):
        unread = (options.weights or "", *options.without)
        source = open_tables(*files, backend, unread, stages)
    else:
        log = open_log(files, backend, stages)
        progress("reading", 0.5)
        source = source_of(log, stages)
    progress("reading", 1.0)
    made = (make or model_of)(source, options, progress, stages)
    progress("storing what decisions look at", 0.0)
    made = replace(made, tables=replace(made.tables, near=near(made)))
    progress("storing what decisions look at", 1.0)
    if options.phrasings is None or options.background is None:
        return made
    from agent.build.phrasings import with_phrasings  # scikit-learn takes a second

    progress("learning to read", 0.0)
    made = with_phrasings(made, options.phrasings, options.background)
    progress("learning to read", 1.0)
    return made


def model_of(
    source: Source, options: BuildOptions, progress: Progress, stages: Stages = IN_ENGINE
) -> Model:
    """Return the model of two tables on any backend; as `build_model`."""
    progress("counting", 0.0)
    seen = observe(source, options, stages, partial(progress, "counting"))
    progress("counting", 1.0)
    return model_from(seen, options, progress, stages=stages)


def model_from(
    seen: Observations,
    options: BuildOptions,
    progress: Progress,
    trials: Sequence[Trial | None] | None = None,
    stages: Stages = IN_ENGINE,
) -> Model:
    """Return the model of what the tables hold; ``trials``: of each query, by default by halves."""
    crowd = AnonymitySet(seen.population, seen.cards)
    rows = [query.rows for query in seen.queries]
    everything = range(len(crowd.cards))
    paired = len(rows) * len(pairs(len(everything))) <= MOST_PAIRS

    def row(each: QueryRows) -> dict[str, object]:
        found = fit(each, crowd, options.estimator, options.shrinkage)
        return found.row(len(everything), paired=paired)

    choosing = partial(progress, "choosing the shrinkage")
    fitted = stages.in_blocks("fitted", rows, row, FITTED, choosing)
    trials = by_halves(seen, options, progress, stages) if trials is None else trials
    singles = Singles(
        utilities=_matrix(fitted["singles"]),
        costs=_costs(crowd, 0, everything),
        pair_utilities=_matrix(fitted["pairs"]) if paired else None,
        pair_costs=np.concatenate(
            [_costs(crowd, singleton(each), everything[each + 1 :]) for each in everything], axis=1
        )
        if paired
        else None,
        prices=_matrix(fitted["prices"]) if options.estimator == "louo" else None,
    )
    chosen = [*zip(*(fitted[name].to_pylist() for name in NUMBERS), strict=True)]
    weights = np.array([each.events for each in seen.queries], dtype=np.float64)
    known = {normalise(text): note.title for text, note in options.queries.items()}
    titles = [known.get(each.text, "") for each in seen.queries]
    return Model(
        id=options.id,
        source=options.source,
        licence=options.licence,
        stands_for=options.stands_for,
        estimator=options.estimator,
        attributes=seen.attributes,
        queries=tuple(map(_query, seen.queries, chosen, trials, titles)),
        tables=gather(seen.population, rows, weights, singles),
        options={
            "half": options.half,
            "min_users": options.min_users,
            "shrinkage": "auto" if options.shrinkage is None else options.shrinkage,
            **({} if options.most_queries is None else {"most_queries": options.most_queries}),
            **({} if options.most_queries is None else {"share_of_events": seen.share}),
            **({} if seen.everybody is None else {"sampled_from": seen.everybody}),
            **{f"dropped_{reason}": count for reason, count in seen.dropped.items()},
        },
        validation=figures(trials),
    )


def _matrix(column: pa.ChunkedArray) -> Floats:
    """Return lists of equal length as the rows of a matrix."""
    return np.array(column.to_pylist(), dtype=np.float64)


def by_halves(
    seen: Observations, options: BuildOptions, progress: Progress, stages: Stages = IN_ENGINE
) -> Sequence[Trial | None]:
    """Return the trial of each query, None where there is to be no validation."""
    if not options.validation:
        return (None,) * len(seen.queries)
    advance = partial(progress, "validating")
    estimator, shrinkage = options.estimator, options.shrinkage
    return validate(seen, VALIDATION_KEY, estimator, shrinkage, advance, stages)


def _query(
    seen: Observed, chosen: tuple[float, float, float], trial: Trial | None, title: str
) -> Query:
    """Return what a model says of a query.

    ``chosen``: its shrinkage, its prior's entropy, and the largest standard deviation of a score.
    """
    rows = len(seen.rows.user)
    left_out = 1 - rows / seen.events
    return Query(
        text=seen.text,
        intents=seen.intents,
        shrinkage=chosen[0],
        rows=rows,
        users=len(seen.rows.person),
        prior_entropy_bits=chosen[1],
        predicted_bits=None if trial is None else trial.predicted_bits,
        heldout_bits=None if trial is None else trial.heldout_bits,
        events=seen.events if left_out else None,
        error_bits=chosen[2] * (left_out / rows) ** 0.5 if left_out else None,
        title=title,
    )


def _costs(crowd: AnonymitySet, mask: int, others: Sequence[int]) -> Floats:
    """Return I of a set with each other attribute, by each of COST_METRICS, shape (3, others)."""
    crowd.survey(mask, union(others), [(metric, 1) for metric in COST_METRICS])
    sets = [mask | singleton(each) for each in others]
    return np.array(
        [[crowd.identifiability(each, metric, 1) for each in sets] for metric in COST_METRICS]
    ).reshape(len(COST_METRICS), len(sets))
