"""Texts by known query, and texts that mean none of them, to the classifier that tells them apart.

Logistic regression over the vectors of the sentence encoder. How sure it is, and from where on a
text is read at all, is chosen on texts that it has not seen: a quarter of the phrasings at a
time, and a quarter of the background's intents as a whole, since other texts of an intent that
was seen promise too much. The title of a query is a text of it that is always seen.
For topics, the chance that anything personal helps a text is learnt besides, likewise; and a
second classifier, of the vectors of the encoder of relevance. That encoder was tuned on the very
phrasings, so none of them is left out, and the figures are those of the first classifier alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from hashlib import blake2b
from math import inf
from pathlib import Path
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from agent.build.engines import connected, header_of, reading, scanned
from agent.build.tables import check_keys, tidy
from agent.build.topics import Texts
from agent.errors import BuildError, normalise
from agent.model import encoder
from agent.model.model import Figure, Model
from agent.model.reading import (
    LEAST,
    LEAST_CHANCE,
    LEAST_TOPIC,
    Classifier,
    encode,
    features,
    softmax,
)
from agent.model.relevance import OWN, Vectors, vectors_of
from agent.tradeoff.tables import Floats, Indexes

FOLDS = 4
FALSE_ACCEPTS = 0.01  # at most this share of the texts of unknown intents is read
RIGHT = 0.93  # of phrasings that are read; harder than searches, they lie close to other queries
C = 10.0  # the inverse of the penalty; from 3 to 30, held-out texts hardly differ
TOPIC_C = 3.0  # the same of a model with a head: of 200 topics, strangers' texts are told so best
HEAD_C = 0.3  # the same of the head
# Of a model with a head: the part of the linear discriminant in its scores, and how far the
# covariance is drawn to a diagonal. One phrasing in 25 more is read rightly while left out.
DISCRIMINANT, SHRINKAGE = 0.1, 0.6
SECOND = 0.7  # the temperature of the second classifier, near what folds would say
ITERATIONS = 1_000
HOTTEST, STEPS = 7.0, 60  # a temperature is from 2^-7 to 2^7, and found to 1e-9


def with_texts(model: Model, texts: Texts) -> Model:
    """A model that learns to read from texts; what held-out texts say joins its validation.

    BuildError where there are too few of a kind to learn from.
    """
    intents = len({intent for intent, _ in texts.background})
    if intents < FOLDS:
        what = f"the background has texts of {intents} intents, and {FOLDS} are needed"
        raise BuildError(what, "give texts of many other topics")
    if len({*texts.helped.values()}) == 1:
        what = "something personal helps every text, or none"
        hint = "give topics with bits, and texts of requests that are alike for all"
        raise BuildError(what, hint)
    queries = model.queries
    classifier, figures = fit_classifier([query.title for query in queries], texts)
    pairs = zip(queries, texts.phrasings, strict=True)
    return replace(
        model,
        queries=tuple(replace(query, phrasings=each, spellings=()) for query, each in pairs),
        tables=replace(model.tables, classifier=classifier),
        validation={**model.validation, **figures},
    )


def read_texts(phrasings: Path, background: Path, queries: Sequence[str]) -> Texts:
    """The texts in two tables; ``queries``: the names of the model's queries, in order.

    Columns of the first: query and text; of the second: text, and intent, without which each text
    is one of its own. Others are ignored. Phrasings of a query that the model lacks join the
    background. Errors as `open_tables`.
    """
    place = {normalise(query): at for at, query in enumerate(queries)}
    phrased: list[set[str]] = [set() for _ in queries]
    others = {*_lines(background, "background", "intent")}
    for query, text in _lines(phrasings, "phrasings", "query"):
        at = place.get(normalise(query))
        if at is None:
            others.add((query, text))
        else:
            phrased[at].add(text)
    if not any(phrased):
        what = "no phrasing belongs to a query of the model"
        raise BuildError(what, "name the queries as the events do", str(phrasings))
    return Texts(tuple(tuple(sorted(each)) for each in phrased), tuple(sorted(others)))


def _lines(path: Path, name: str, key: str) -> Iterator[tuple[str, str]]:
    """The column ``key`` and text of a table, a line each, where there is a text."""
    connection = connected()
    header = header_of(connection, path)
    keyed = key in header or key == "query"
    check_keys(name, header, (key, "text") if keyed else ("text",))
    with reading(connection, path):
        table = tidy(scanned(connection, path, header))
        chosen = table.select(key=table[key if keyed else "text"], text=table.text)
        rows = chosen.to_pyarrow().to_pylist()
    for row in rows:
        text = " ".join(normalize("NFC", row["text"] or "").split())
        if normalise(text):
            yield row["key"] or row["text"], text


def fit_classifier(titles: Sequence[str], texts: Texts) -> tuple[Classifier, dict[str, Figure]]:
    """The classifier of texts, and its figures on texts and intents that it has not seen.

    ``titles``: of the queries, in order.

    The same texts give the same classifier, to the last bit on the same machine.
    """
    queries, others = len(titles), [intent for intent, _ in texts.background]
    phrasings = [text for each in texts.phrasings for text in each]
    intended = np.repeat(np.arange(queries), [len(each) for each in texts.phrasings])
    labels = np.concatenate([np.arange(queries), intended, np.full(len(others), queries)])
    intents, of_intent = np.unique(others, return_inverse=True)
    folds = np.concatenate([_folds(phrasings), _folds(intents.tolist())[of_intent]])
    scores, topics = np.empty((len(folds), queries + 1)), bool(texts.helped)
    with threadpool_limits(1):  # with more, the last bits depend on how many there are
        every = texts.every(titles)
        vectors = request_vectors(every)[:, OWN:] if topics else encode(every)
        for fold in range(FOLDS):
            training = np.concatenate([np.full(queries, fill_value=True), folds != fold])
            trained = _trained(vectors[training], labels[training], topics=topics)
            scores[folds == fold] = trained.scores(vectors[~training])
        classifier = _trained(vectors, labels, topics=topics)
    temperature = _temperature(scores, labels[queries:])
    shares = softmax(scores / temperature)[:, :-1]
    of_phrasings, unknown = np.split(shares.max(axis=1), [len(phrasings)])
    right = shares[: len(phrasings)].argmax(axis=1) == intended
    weights = 1 / np.bincount(of_intent)[of_intent] / len(intents)
    threshold = _threshold(of_phrasings, right, unknown, weights)
    of_head = dict[str, Figure]()
    if topics:
        threshold = LEAST_TOPIC
        head, of_head = _fit_head(every[queries:], vectors[queries:], folds, texts.helped)
        second, centres = _fit_second(every, labels)
        classifier = replace(classifier, head=head, second=second, centres=centres)
    read = of_phrasings >= threshold
    figures: dict[str, Figure] = {
        "reading_texts": len(phrasings),
        "reading_intents": len(intents),
        "reading_top1": float(right.mean()),
        "reading_accepted": float(read.mean()),
        "reading_right": float(right[read].mean()) if read.any() else None,
        "reading_false_accepts": float(weights[unknown >= threshold].sum()),
        **of_head,
    }
    return replace(classifier, temperature=temperature, threshold=threshold), figures


@lru_cache(maxsize=1)
def request_vectors(texts: tuple[str, ...]) -> Vectors:
    """The vectors of requests in both encoders, as `vectors_of` has them, computed once."""
    return vectors_of(texts, question=True)


def _fit_second(texts: tuple[str, ...], labels: Indexes) -> tuple[Vectors, Vectors]:
    """The second classifier and the centres of the queries, as `Classifier` has them."""
    with threadpool_limits(1):
        vectors = request_vectors(texts)[:, :OWN]
        fitted = LogisticRegression(C=TOPIC_C, max_iter=ITERATIONS).fit(vectors, labels)
    second = _rows(fitted) / SECOND
    sums = np.zeros((len(second) - 1, encoder.DIMENSIONS))
    some = labels < len(sums)
    np.add.at(sums, labels[some], vectors[some])
    centres = sums / np.linalg.norm(sums, axis=1, keepdims=True)
    return second.astype(np.float32), centres.astype(np.float32)


def _fit_head(
    texts: Sequence[str], vectors: Vectors, folds: Indexes, helped: Mapping[str, bool]
) -> tuple[Vectors, dict[str, Figure]]:
    """The head of a classifier, by the texts in ``helped``, and its figures on texts left out.

    Texts that something helps count as much as those that nothing does. Source: Platt,
    Probabilistic Outputs for Support Vector Machines (1999), for the calibration.
    """
    some = np.array([each in helped for each in texts])
    labels = np.array([helped[each] for each in texts if each in helped])
    rows, folds = features(texts, vectors)[some, :-1], folds[some]
    kind = LogisticRegression(C=HEAD_C, max_iter=ITERATIONS, class_weight="balanced")
    odds = np.empty((len(rows), 1))
    with threadpool_limits(1):
        for fold in range(FOLDS):
            kind.fit(rows[folds != fold], labels[folds != fold])
            odds[folds == fold, 0] = kind.decision_function(rows[folds == fold])
        calibrated = LogisticRegression(C=inf, class_weight="balanced").fit(odds, labels)
        kind.fit(rows, labels)
    slope, shift = float(calibrated.coef_[0, 0]), float(calibrated.intercept_[0])
    chances = calibrated.predict_proba(odds)[:, 1] >= LEAST_CHANCE
    head = np.append(slope * kind.coef_[0], slope * kind.intercept_[0] + shift)
    return head.astype(np.float32), {
        "head_texts": len(rows),
        "head_helped": float(chances[labels].mean()),
        "head_others": float(chances[~labels].mean()),
    }


def _folds(names: Sequence[str]) -> Indexes:
    """The fold of each name, all of one size, by chance that the names alone decide."""
    digests = [blake2b(name.encode()).digest() for name in names]
    folds = np.empty(len(names), dtype=np.intp)
    folds[sorted(range(len(names)), key=digests.__getitem__)] = np.arange(len(names)) % FOLDS
    return folds


def _trained(vectors: Vectors, labels: Indexes, *, topics: bool) -> Classifier:
    """A classifier that is not calibrated yet; ``topics``: whether for a model with a head."""
    inverse = TOPIC_C if topics else C
    rows = _rows(LogisticRegression(C=inverse, max_iter=ITERATIONS).fit(vectors, labels))
    if topics:
        even = np.full(len(rows), 1 / len(rows))
        kind = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=SHRINKAGE, priors=even)
        rows += DISCRIMINANT * _rows(kind.fit(vectors.astype(np.float64), labels))
    weights, biases = rows[:, :-1].astype(np.float32), rows[:, -1].astype(np.float32)
    return Classifier(weights, biases, temperature=1.0, threshold=1.0)


def _rows(fitted: LogisticRegression | LinearDiscriminantAnalysis) -> Floats:
    """The weights and, behind them, the bias of each class."""
    rows: Floats = np.column_stack([fitted.coef_, fitted.intercept_]).astype(np.float64)
    # Of two classes, there are the scores of the second against the first.
    return np.vstack([-rows, rows]) / 2 if len(rows) == 1 else rows


def _temperature(scores: Floats, labels: Indexes) -> float:
    """The temperature at which the labels are likeliest.

    The loss is convex in its inverse, so thirds of an interval that hold no minimum can go.
    """
    low, high = -HOTTEST, HOTTEST
    own = scores[np.arange(len(labels)), labels][:, None]
    for _ in range(STEPS):
        thirds = low + (high - low) / 3, high - (high - low) / 3
        losses = [np.log(np.exp((scores - own) * 2.0**each).sum(axis=1)).mean() for each in thirds]
        low, high = (low, thirds[1]) if losses[0] <= losses[1] else (thirds[0], high)
    return float(2.0 ** -((low + high) / 2))


def _threshold(
    of_phrasings: Floats, right: NDArray[np.bool_], unknown: Floats, weights: Floats
) -> float:
    """The least threshold that keeps FALSE_ACCEPTS and RIGHT, 1 if there is none.

    ``of_phrasings``, ``unknown``: the probability of the surest query for each text; ``weights``:
    of the unknown texts, such that every intent counts alike.
    """
    best = 1.0
    for threshold in np.unique(of_phrasings)[::-1].tolist():
        if threshold < LEAST or weights[unknown >= threshold].sum() > FALSE_ACCEPTS:
            break
        if right[of_phrasings >= threshold].mean() >= RIGHT:
            best = threshold
    return best
