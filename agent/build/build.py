"""Tables to a model: read this file top to bottom and you have seen how one is made."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent.build.canonical import Observed
from agent.build.engines import check_path, connected, reading
from agent.build.fitting import Fitted, HalfTrial, each_of, figures, fit, validate
from agent.build.log import open_log, source_of
from agent.build.observe import VALIDATION_KEY, Observations, observe
from agent.build.options import BuildOptions, Progress, TableFiles
from agent.build.precomputed import precomputed
from agent.build.tables import Source, open_tables
from agent.build.topics import topics_model
from agent.errors import BuildError, UsageError, normalise
from agent.model.attributes import Query
from agent.model.model import BUDGET, Figure, Model, masks_of
from agent.model.tables import gather
from agent.tradeoff.agreement import pair_people
from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.tables import pairs
from agent.tradeoff.utility import COST_METRICS, Singles

Floats = NDArray[np.float64]
MOST_PAIRS = 2**26  # utilities of pairs, 8 bytes each: half of what a model's file may hold


def build_model(options: BuildOptions, progress: Progress) -> Model:
    """Build a model from files, two tables or a log; the same input gives the same model.

    ``progress`` is called with the name of a stage and the share of it that is done, 0 to 1.
    Raises UsageError for a file, title or number that cannot be used; BuildError for tables that
    cannot make a model.
    """
    progress("reading", 0.0)
    files = options.files
    # Before an engine starts, which may take a while.
    for path in filter(None, (*files, options.phrasings, options.background)):
        check_path(path, spark=options.spark is not None and path in files)
    backend = connected(options.spark)
    if isinstance(files, TableFiles):
        unread = (options.description.weights, *options.description.without)
        source = open_tables(*files, backend, unread)
    else:
        log = open_log(files, backend)
        progress("reading", 0.5 if options.spark is None else 0.35)
        with reading(backend):
            source = source_of(log)
    progress("reading", 1.0)
    if options.description.topics is not None and options.private is None:
        if options.events is not None or options.phrasings is not None:
            what = "a model of topics has no events, and no phrasings but those of its topics"
            raise UsageError(what, "give --users and --describe only")
        progress("counting", 0.0)
        model, texts = topics_model(source, options.description.topics, options)
        costs = _costs(AnonymitySet(model.population, model.cards), 0, range(len(model.attributes)))
        singles = Singles(np.zeros((0, len(model.attributes))), costs)
        model = replace(model, tables=replace(model.tables, singles=singles))
        progress("counting", 1.0)
    else:
        make = model_of if options.private is None else private_model
        model = make(source, options, progress)
        near = precomputed(model, progress)
        model = replace(model, tables=replace(model.tables, near=near))
        if options.phrasings is None or options.background is None:
            return model
        from agent.build.phrasings import read_texts  # scikit-learn takes a second

        names = [query.text for query in model.queries]
        texts = read_texts(options.phrasings, options.background, names)
    from agent.build.phrasings import with_texts

    progress("learning to read", 0.0)
    model = with_texts(model, texts)
    progress("learning to read", 1.0)
    if options.description.topics is not None:
        from agent.build.relevance import with_relevance

        return with_relevance(model, options.description.topics, texts)
    return model


def model_of(source: Source, options: BuildOptions, progress: Progress) -> Model:
    """Build a model from two tables on any engine; parameters and errors as `build_model`."""
    progress("counting", 0.0)
    observations = observe(source, options, partial(progress, "counting"))
    progress("counting", 1.0)
    return model_from(observations, options, progress)


def private_model(source: Source, options: BuildOptions, progress: Progress) -> Model:
    """Build a model under differential privacy for people, with the extra `private`.

    Its rows are drawn, and nobody's: its estimator is `plugin`, and no utility is owed to luck.
    The same input does not give the same model. UsageError where the description does not list all
    values, queries and intents, BuildError as `observe`.
    """
    from agent.build import private

    progress("counting", 0.0)
    attributes = private.public_schema(source, options)
    exact = private.exact_counts(source, attributes, options)
    counts = private.measured(exact, private.Purse(private.rho_of(options)))
    progress("counting", 1.0)
    beta = private.SHRINKAGE if options.shrinkage is None else options.shrinkage
    plain = replace(options, estimator="plugin", validation=False, shrinkage=beta)
    asked = private.asked_enough(counts, options.min_users)
    people, off = private.everybody(counts)
    if people < private.SURE * off:
        raise BuildError("too few people for so much noise", "raise epsilon, or lower most_weight")
    if not asked:
        hint = "write queries and intents in the description as in the tables, or lower --min-users"
        raise BuildError("too few people ask for anything", hint)
    model = model_from(private.drawn(counts, attributes, options), plain, progress)
    budget = options.private, options.delta, options.per_person, private.PAIRS + private.PEOPLE
    stated = dict(zip(BUDGET, budget, strict=True))
    tables = replace(model.tables, query_weights=np.array([*asked.values()]))
    return replace(model, options={**model.options, **stated}, tables=tables)


def model_from(observations: Observations, options: BuildOptions, progress: Progress) -> Model:
    """Build a model from the contents of two tables; parameters as `build_model`."""
    queries, described = observations.queries, options.description
    people, cards = observations.population, observations.cards
    if people.weights is not None:
        people = replace(people, pairs=pair_people(people, cards))
    blocks = masks_of(observations.blocks, observations.attributes)
    people = replace(people, donors=observations.donors, blocks=blocks)
    anonymity_set, rows = AnonymitySet(people, cards), [query.rows for query in queries]
    everything = range(len(anonymity_set.cards))
    paired = len(rows) * len(pairs(len(everything))) <= MOST_PAIRS

    trials: Sequence[HalfTrial | None] = (None,) * len(queries)
    if options.validation:
        settings = options.estimator, options.shrinkage
        trials = validate(observations, VALIDATION_KEY, *settings, partial(progress, "validating"))
    titles = {normalise(text): note.title for text, note in described.queries.items()}

    def fitted(pair: tuple[Observed, HalfTrial | None]) -> tuple[Any, ...]:
        query, trial = pair
        own = fit(query.rows, anonymity_set, options.estimator, options.shrinkage)
        bits = own.utility.extensions(0, everything), own.pairs(len(everything)) if paired else None
        return _query(query, own, trial, titles.get(query.text, "")), own.prices, *bits

    both, sizes = [*zip(queries, trials, strict=True)], [len(each.user) for each in rows]
    every = each_of(both, fitted, sizes, partial(progress, "choosing the shrinkage"))
    made, prices, utilities, of_pairs = zip(*every, strict=True)
    singles = Singles(
        utilities=np.array(utilities),
        costs=_costs(anonymity_set, 0, everything),
        pair_utilities=np.array(of_pairs) if paired else None,
        pair_costs=_pair_costs(anonymity_set, people.rows) if paired else None,
        prices=np.array(prices) if options.estimator == "louo" else None,
    )
    weights = np.array([each.events for each in queries], dtype=np.float64)
    sample: dict[str, Figure] = {}
    if options.most_queries is not None:
        sample |= {"most_queries": options.most_queries, "share_of_events": observations.share}
    if observations.sampled_from is not None:
        sample["sampled_from"] = observations.sampled_from
    return Model(
        id=options.id,
        source=described.source,
        licence=described.licence,
        stands_for=described.stands_for,
        estimator=options.estimator,
        attributes=observations.attributes,
        queries=made,
        tables=gather(people, rows, weights, singles),
        options={
            "half": options.half,
            "min_users": options.min_users,
            "shrinkage": "auto" if options.shrinkage is None else options.shrinkage,
            **sample,
            **{f"dropped_{reason}": count for reason, count in observations.dropped.items()},
        },
        validation=figures(trials),
        donors=observations.blocks,
    )


def _query(query: Observed, fitted: Fitted, trial: HalfTrial | None, title: str) -> Query:
    rows = len(query.rows.user)
    left_out = 1 - rows / query.events
    return Query(
        text=query.text,
        intents=query.intents,
        shrinkage=fitted.shrinkage,
        rows=rows,
        users=len(query.rows.person),
        prior_entropy_bits=fitted.utility.limit,
        predicted_bits=None if trial is None else trial.predicted_bits,
        heldout_bits=None if trial is None else trial.heldout_bits,
        events=query.events if left_out else None,
        error_bits=fitted.deviation * (left_out / rows) ** 0.5 if left_out else None,
        title=title,
    )


def _costs(people: AnonymitySet, mask: int, others: Sequence[int]) -> Floats:
    """I of a set with each other attribute, by each of COST_METRICS: shape (3, others)."""
    people.survey(mask)
    sets = [mask | 1 << each for each in others]
    return np.array(
        [[people.identifiability(each, metric, 1) for each in sets] for metric in COST_METRICS]
    ).reshape(len(COST_METRICS), len(sets))


def _pair_costs(people: AnonymitySet, rows: int) -> Floats:
    """I of every two attributes, by each of COST_METRICS: shape (3, pairs); ``rows``: of people."""
    every = range(len(people.cards))

    def with_others(first: int) -> Floats:
        return _costs(people, 1 << first, every[first + 1 :])

    parts = each_of(every, with_others, [rows] * len(every), lambda _share: None)
    return np.concatenate(parts, axis=1)
