"""How likely facts in own words help, learnt from statements, sheets and profiles (DESIGN.md 2.12).

Statements say by themselves what they are about and where they help. How often that is so of a
single request is counted on sheets: facts by requests, judged pair by pair. The encoder of
relevance was tuned on all of these, and looks far better on them than on anything new. So how much
each feature of a pair counts is learnt from profiles, which it never saw.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from typing import Annotated, NamedTuple

import numpy as np
from msgspec import Meta, Struct
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from agent.build.kinds import lines_of, read_file
from agent.build.options import TopicsNote
from agent.build.phrasings import ITERATIONS, class_weights, request_vectors
from agent.build.topics import Texts
from agent.errors import BuildError, UsageError
from agent.model.attributes import kind_names
from agent.model.model import Figure, Model
from agent.model.relevance import FEATURES, Floats, Relevance, Vectors, vectors_of

FOLDS = 5
KIND_C, REQUEST_C, PAIR_C = 10.0, 3.0, 1.0  # inverses of penalties; thrice as much changes little
PRECISION = 0.6  # of facts that help, at which recall is measured
NEVER = -30.0  # the bias of a kind without statements
BINS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
Level = Annotated[int, Meta(ge=1, le=2)]  # helps; is decisive
Levels = NDArray[np.intp]


class StatementLine(Struct, frozen=True):
    """A fact as people say it, its kind, and how much it helps in which topics."""

    text: str
    kind: str
    topics: dict[str, Level]


class RequestLine(Struct, frozen=True):
    """A request, and how much the facts of its sheet help it, by their places; maybe its topic."""

    text: str
    helps: dict[int, Level]
    topic: str = ""


class Sheet(Struct, frozen=True):
    """Facts by requests."""

    facts: tuple[str, ...]
    questions: tuple[RequestLine, ...]

    def levels(self) -> Levels:
        """How much each fact helps each request, 0 to 2, shape (requests, facts)."""
        levels = np.zeros((len(self.questions), len(self.facts)), np.intp)
        for line, each in enumerate(self.questions):
            for fact, level in each.helps.items():
                if not 0 <= fact < len(self.facts):
                    raise UsageError(f"a sheet has no fact {fact}", "count its facts from 0")
                levels[line, fact] = level
        return levels


class Pairs(NamedTuple):
    """The pairs of some profiles: features (P, FEATURES), levels, requests and profiles (P,)."""

    features: Floats
    levels: Levels
    requests: Levels
    folds: Levels


def with_relevance(model: Model, note: TopicsNote, texts: Texts) -> Model:
    """A model of topics that learns to tell which facts in own words help.

    Unchanged where the description names no statements. UsageError for files that do not fit,
    BuildError where they hold too little to learn from.
    """
    if note.statements is None or note.judged is None or note.profiles is None:
        return model
    statements = read_file(note.statements, partial(lines_of, kind=StatementLine))
    sheets = read_file(note.judged, partial(lines_of, kind=Sheet))
    place = {each.text: at for at, each in enumerate(model.queries)}
    place |= {twin: place[other] for twin, other in note.merge.items()}
    with threadpool_limits(1):
        relevance = _of_statements(model, statements, sheets, place)
        relevance = replace(relevance, request=_of_requests(model, texts))
        pairs = _pairs(model, relevance, read_file(note.profiles, partial(lines_of, kind=Sheet)))
        relevance = replace(relevance, pair=_fit(pairs.features, pairs.levels))
        figures = _figures(pairs)
    tables = replace(model.tables, relevance=relevance)
    return replace(model, tables=tables, validation={**model.validation, **figures})


def _of_statements(
    model: Model,
    statements: Sequence[StatementLine],
    sheets: Sequence[Sheet],
    place: Mapping[str, int],
) -> Relevance:
    """What statements say of kinds and topics; the rest is 0. ``place``: of each topic, by name."""
    names = kind_names(model.attributes)
    kinds, topics = {name: at for at, name in enumerate(names)}, len(model.queries)
    levels = np.zeros((len(statements), topics), np.intp)
    for line, each in enumerate(statements):
        for name, some in (("kind", {each.kind: 0}), ("topic", each.topics)):
            for unknown in some.keys() - (kinds if name == "kind" else place).keys():
                raise UsageError.unknown(name, unknown, kinds if name == "kind" else place)
        for topic, level in each.topics.items():
            levels[line, place[topic]] = max(levels[line, place[topic]], level)
    own = np.array([kinds[each.kind] for each in statements])
    vectors = vectors_of([each.text for each in statements], question=False)
    chances = _chances(statements, levels, sheets, place)[levels]
    of_kinds = np.tile(chances.mean(axis=0), (len(kinds), 1))
    weights = np.zeros((len(kinds), vectors.shape[1] + 1))
    weights[:, -1] = NEVER
    if len(given := np.unique(own)) == 1:
        raise BuildError("the statements are all of one kind", "give some of other kinds")
    fitted = LogisticRegression(C=KIND_C, max_iter=ITERATIONS).fit(vectors, own)
    weights[given] = class_weights(fitted)
    for kind in given:
        of_kinds[kind] = chances[own == kind].mean(axis=0)
    scaled = vectors / np.abs(vectors).max(axis=1, keepdims=True)
    return Relevance(
        kind_names=names,
        statements=np.round(scaled * 127 + 128).astype(np.uint8),
        helps_topics=np.round(chances * 255).astype(np.uint8),
        kind_weights=weights.astype(np.float32),
        of_kinds=of_kinds.astype(np.float32),
        common=chances.mean(axis=0).astype(np.float32),
        request=np.zeros(vectors.shape[1] + 1, np.float32),
        pair=np.zeros((2, FEATURES), np.float32),
    )


def _chances(
    statements: Sequence[StatementLine],
    levels: Levels,
    sheets: Sequence[Sheet],
    place: Mapping[str, int],
) -> Floats:
    """How often a statement helps a single request of a topic by its level there, shape (3,)."""
    lines = {each.text: at for at, each in enumerate(statements)}
    helped, every = np.zeros(3), np.full(3, 1e-9)
    for sheet in sheets:
        facts = [(at, lines[each]) for at, each in enumerate(sheet.facts) if each in lines]
        named = ((at, each.topic) for at, each in enumerate(sheet.questions))
        requests = [(at, place[topic]) for at, topic in named if topic in place]
        if not facts or not requests:
            continue
        (columns, some), (rows, topics) = np.array(facts).T, np.array(requests).T
        expected = levels[np.ix_(some, topics)].T
        helps = sheet.levels()[np.ix_(rows, columns)] > 0
        every += np.bincount(expected.ravel(), minlength=3)
        helped += np.bincount(expected[helps], minlength=3)
    chances: Floats = helped / every
    return chances


def _of_requests(model: Model, texts: Texts) -> Vectors:
    """Weights and bias of a request's vectors in the log-odds that anything personal helps it."""
    every = texts.every([each.title for each in model.queries])
    some = [at for at, text in enumerate(every) if text in texts.helped]
    helped = [texts.helped[every[at]] for at in some]
    fitted = LogisticRegression(C=REQUEST_C, max_iter=ITERATIONS, class_weight="balanced")
    fitted.fit(request_vectors(every)[some], helped)
    return np.append(fitted.coef_[0], fitted.intercept_[0]).astype(np.float32)


def _pairs(model: Model, relevance: Relevance, profiles: Sequence[Sheet]) -> Pairs:
    """All pairs of profiles, each request in a fold that its text decides."""
    features, levels, requests, folds = list[Floats](), list[Levels](), list[Levels](), []
    for profile in profiles:
        facts = vectors_of(profile.facts, question=False)
        topics = relevance.topics(facts)
        texts = [each.text for each in profile.questions]
        for text, own in zip(texts, profile.levels(), strict=True):
            vector = vectors_of([text], question=True)
            features.append(relevance.features(model.read(text), vector, facts, topics))
            levels.append(own)
            requests.append(np.full(len(own), len(requests)))
            folds.append(np.full(len(own), blake2b(text.encode()).digest()[0] % FOLDS))
    return Pairs(*(np.concatenate(each) for each in (features, levels, requests, folds)))


def _fit(features: Floats, levels: Levels) -> Vectors:
    """Weights of features in the log-odds of helping and of being decisive, (2, FEATURES)."""
    some = features[:, :-1]
    means, deviations = some.mean(axis=0), some.std(axis=0).clip(1e-9)
    rows = []
    for least in (1, 2):
        if len({*(levels >= least)}) == 1:
            what = "the profiles have too few facts that help, or that do not"
            raise BuildError(what, "judge more requests")
        fitted = LogisticRegression(C=PAIR_C, max_iter=ITERATIONS)
        fitted.fit((some - means) / deviations, levels >= least)
        weights = fitted.coef_[0] / deviations
        rows.append(np.append(weights, fitted.intercept_[0] - means @ weights))
    return np.array(rows, np.float32)


def _figures(pairs: Pairs) -> dict[str, Figure]:
    """What the weights of four folds make of the fifth, fold by fold."""
    odds = np.empty((len(pairs.levels), 2))
    for fold in range(FOLDS):
        of_fold = pairs.folds == fold
        weights = _fit(pairs.features[~of_fold], pairs.levels[~of_fold])
        odds[of_fold] = pairs.features[of_fold] @ weights.T.astype(np.float64)
    helping, decisive = (1 / (1 + np.exp(-odds))).T
    bins = np.digitize(helping, BINS[1:-1])
    counts = np.bincount(bins, minlength=len(BINS) - 1)
    promised = np.bincount(bins, helping, len(counts)) / counts.clip(1)
    kept = np.bincount(bins, pairs.levels > 0, len(counts)) / counts.clip(1)
    return {
        **quality(helping, decisive, pairs.levels, pairs.requests),
        "relevance_pairs": tuple(counts.astype(float).tolist()),
        "relevance_promised": tuple(promised.tolist()),
        "relevance_kept": tuple(kept.tolist()),
    }


def quality(
    helping: Floats, decisive: Floats, levels: Levels, requests: Levels
) -> dict[str, Figure]:
    """How well pairs are ranked: average precision, recall, the first fact, and none at all.

    Where PRECISION of the facts above a chance help: the share of decisive ones among them
    (``relevance_recall``), and of the requests that nothing helps those that get a fact all the
    same (``relevance_none``). ``relevance_first``: requests whose likeliest decisive fact is so.
    """
    order = np.argsort(-helping, kind="stable")
    right = np.cumsum(levels[order] > 0) / np.arange(1, len(order) + 1)
    enough = np.flatnonzero(right >= PRECISION)
    chosen = np.zeros(len(order), bool)
    chosen[order[: enough[-1] + 1 if len(enough) else 0]] = True
    first, empty = [], []
    for at in range(int(requests.max()) + 1):
        own = requests == at
        if (levels[own] == 2).any():  # noqa: PLR2004  (decisive)
            first.append(levels[own][decisive[own].argmax()] == 2)  # noqa: PLR2004
        if not levels[own].any():
            empty.append(chosen[own].any())
    return {
        "relevance_helps": _average_precision(helping, levels > 0),
        "relevance_decisive": _average_precision(decisive, levels > 1),
        "relevance_recall": float(chosen[levels > 1].mean()),
        "relevance_first": float(np.mean(first)),
        "relevance_none": float(np.mean(empty)),
    }


def _average_precision(scores: Floats, right: NDArray[np.bool_]) -> float:
    """The mean, over what is right, of how much is right among all that ranks as high."""
    ranked = right[np.argsort(-scores, kind="stable")]
    return float((np.cumsum(ranked) / np.arange(1, len(ranked) + 1))[ranked].mean())
