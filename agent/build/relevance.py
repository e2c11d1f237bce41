"""How likely facts in own words help, learnt from statements, sheets and profiles (DESIGN.md 2.12).

Statements say what they are about and in which topics they help. Sheets, facts by requests, were
judged pair by pair: by ridge regression they say which topics a fact must help with to help a
request. The encoder of relevance was tuned on all of these, and looks twice as good on them as on
anything new. So how much each sign counts is learnt from profiles, which that encoder never saw.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated

import numpy as np
from msgspec import Meta, Struct
from numpy.typing import NDArray
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from threadpoolctl import threadpool_limits

from agent.build.kinds import lines_of, read_file
from agent.build.options import TopicsNote
from agent.build.phrasings import ITERATIONS, request_vectors
from agent.build.topics import Texts
from agent.errors import BuildError, UsageError
from agent.model.attributes import kind_names
from agent.model.model import Figure, Model
from agent.model.relevance import FEATURES, Floats, Relevance, Vectors, helping, vectors_of

# How often a statement helps a request of a topic, by its level there: counted on the sheets.
CHANCES = np.array([0.06, 0.43, 0.64])
KIND_C, REQUEST_C, PAIR_C = 10.0, 3.0, 100.0  # inverses of penalties; thrice as much changes little
RIDGES = 0.002, 0.03  # of requests and of facts, beside their mean squares
NEVER = -30.0  # the bias of a kind without statements
Level = Annotated[int, Meta(ge=1, le=2)]  # helps; is decisive
# The features of all pairs of a profile, (requests, facts, FEATURES), and how much each fact helps.
Pairs = tuple[Floats, NDArray[np.intp]]


class StatementLine(Struct, frozen=True):
    """A fact as people say it, its kind, and how much it helps in which topics."""

    text: str
    kind: str
    topics: dict[str, Level]


class RequestLine(Struct, frozen=True):
    """A request, and how much the facts of its sheet help it, by their places."""

    text: str
    helps: dict[int, Level]


class Sheet(Struct, frozen=True):
    """Facts by requests."""

    facts: tuple[str, ...]
    questions: tuple[RequestLine, ...]

    def levels(self) -> NDArray[np.intp]:
        """How much each fact helps each request, 0 to 2, shape (requests, facts)."""
        some = range(len(self.facts))
        return np.array([[each.helps.get(at, 0) for at in some] for each in self.questions])


def with_relevance(model: Model, note: TopicsNote, texts: Texts) -> Model:
    """A model of topics that learns to tell which facts in own words help.

    UsageError for files that do not fit, BuildError where they hold too little to learn from.
    """
    statements = read_file(note.statements, partial(lines_of, kind=StatementLine))
    judged = read_file(note.judged, partial(lines_of, kind=Sheet))
    profiles = read_file(note.profiles, partial(lines_of, kind=Sheet))
    every = texts.every([each.title for each in model.queries])
    some = [at for at, text in enumerate(every) if text in texts.helped]
    with threadpool_limits(1):
        requests = request_vectors(every)
        facts = vectors_of([each.text for each in statements], question=False)
        relevance = _of_statements(model, statements, facts, note.merge)
        kind = LogisticRegression(C=REQUEST_C, max_iter=ITERATIONS, class_weight="balanced")
        kind.fit(requests[some], [texts.helped[every[at]] for at in some])
        signs = np.log(helping(relevance.topics(facts)))
        by_text = {each.text: row for each, row in zip(statements, signs, strict=True)}
        weights = bilinear_of(judged, dict(zip(every, requests, strict=True)), by_text)
        relevance = replace(relevance, request=_weights([kind])[0], bilinear=weights)
        pairs = [pairs_of(model, relevance, each) for each in profiles]
        relevance = replace(relevance, pair=pair_of(pairs))
        validation = {**model.validation, **_figures(pairs)}
    tables = replace(model.tables, relevance=relevance)
    return replace(model, tables=tables, validation=validation)


def _of_statements(
    model: Model, statements: Sequence[StatementLine], facts: Vectors, merge: Mapping[str, str]
) -> Relevance:
    """What statements say of kinds and topics; the rest is 0."""
    kinds = {name: at for at, name in enumerate(kind_names(model.attributes))}
    topics = {each.text: at for at, each in enumerate(model.queries)}
    topics |= {twin: topics[other] for twin, other in merge.items()}
    levels, own = np.zeros((len(statements), len(model.queries)), np.intp), list[int]()
    for line, each in zip(levels, statements, strict=True):
        for what, names, known in (("kind", {each.kind}, kinds), ("topic", {*each.topics}, topics)):
            for unknown in names - known.keys():
                raise UsageError.unknown(what, unknown, known)
        own.append(kinds[each.kind])
        np.maximum.at(line, [topics[name] for name in each.topics], [*each.topics.values()])
    if len({*own}) <= 2:  # noqa: PLR2004  (of two, there is one row of weights)
        raise BuildError("the statements are of fewer than three kinds", "give some of others")
    fitted, chances = LogisticRegression(C=KIND_C, max_iter=ITERATIONS), CHANCES[levels]
    fitted.fit(facts, own)
    size, common = facts.shape[1] + 1, chances.mean(axis=0)
    kind_weights, of_kinds = np.zeros((len(kinds), size)), np.tile(common, (len(kinds), 1))
    kind_weights[:, -1] = NEVER
    kind_weights[fitted.classes_] = np.column_stack([fitted.coef_, fitted.intercept_])
    of_kinds[fitted.classes_] = [chances[np.equal(own, e)].mean(axis=0) for e in fitted.classes_]
    scaled = facts / np.abs(facts).max(axis=1, keepdims=True)
    return Relevance(
        kind_names=(*kinds,),
        statements=np.round(scaled * 127 + 128).astype(np.uint8),
        helps_topics=np.round(chances * 255).astype(np.uint8),
        kind_weights=kind_weights.astype(np.float32),
        of_kinds=of_kinds.astype(np.float32),
        common=common.astype(np.float32),
        request=np.zeros(size, np.float32),
        bilinear=np.zeros((size, len(common) + 1), np.float32),
        pair=np.zeros((2, FEATURES), np.float32),
    )


def bilinear_of(
    judged: Sequence[Sheet], requests: Mapping[str, Vectors], signs: Mapping[str, Floats]
) -> Vectors:
    """Ridge regression of whether a fact helps on products of a request's vectors and its signs.

    ``requests``, ``signs``: by text; pairs with others are left out. The moments of products are
    those of a request times those of a fact, as if facts were put on sheets by chance.
    """
    lefts, rights, products = list[Floats](), list[Floats](), list[Floats]()
    for sheet in judged:
        rows = [at for at, each in enumerate(sheet.questions) if each.text in requests]
        columns = [at for at, each in enumerate(sheet.facts) if each in signs]
        if not rows or not columns:
            raise BuildError("a judged sheet has no phrasing, or no statement", "leave it out")
        lefts.append(np.array([[*requests[sheet.questions[at].text], 1] for at in rows]))
        rights.append(np.array([[*signs[sheet.facts[at]], 1] for at in columns]))
        helped = (sheet.levels()[np.ix_(rows, columns)] > 0) / (len(rows) * len(columns))
        products.append(lefts[-1].T @ helped @ rights[-1])
    fitted = np.mean(products, axis=0)
    for some, ridge in ((lefts, RIDGES[0]), (rights, RIDGES[1])):
        each = np.concatenate(some)
        fitted = np.linalg.solve(each.T @ each / len(each) + ridge * np.eye(len(fitted)), fitted).T
    return np.asarray(fitted, np.float32)


def pairs_of(model: Model, relevance: Relevance, profile: Sheet) -> Pairs:
    """The features of the pairs of a profile, and how much each fact helps each request."""
    facts, rows = vectors_of(profile.facts, question=False), list[Floats]()
    topics = relevance.topics(facts)
    for each in profile.questions:
        vector = vectors_of([each.text], question=True)
        rows.append(relevance.features(model.read(each.text), vector, facts, topics))
    return np.array(rows), profile.levels()


def pair_of(profiles: Sequence[Pairs]) -> Vectors:
    """Weights of features in the log-odds of helping and of being decisive, (2, FEATURES)."""
    if len({level for _, each in profiles for level in each.ravel().tolist()}) <= 2:  # noqa: PLR2004
        what = "in the profiles, no fact helps, none is decisive, or every one helps"
        raise BuildError(what, "judge more requests")
    features = np.concatenate([each.reshape(-1, FEATURES)[:, :-1] for each, _ in profiles])
    levels = np.concatenate([each.ravel() for _, each in profiles])
    kinds = (LogisticRegression(C=PAIR_C, max_iter=ITERATIONS) for _ in range(2))
    return _weights([each.fit(features, levels > least) for least, each in enumerate(kinds)])


def _weights(fitted: Sequence[LogisticRegression]) -> Vectors:
    return np.array([np.append(each.coef_, each.intercept_) for each in fitted], np.float32)


def by_others(every: Sequence[Pairs]) -> list[Floats]:
    """How likely the facts of each profile help and are decisive, by the weights of the others.

    float64, shape (requests, facts, 2).
    """
    odds = [own @ pair_of([*every[:at], *every[at + 1 :]]).T for at, (own, _) in enumerate(every)]
    return [np.exp(-np.logaddexp(0, -each)) for each in odds]


def _figures(profiles: Sequence[Pairs]) -> dict[str, Figure]:
    """How well the others' weights rank the pairs of each profile, and how sure they may be.

    Of chances in each tenth from 0 to 1, ``relevance_promised`` is the mean, ``relevance_kept`` how
    often the fact helps.
    """
    chances = np.concatenate([each.reshape(-1, 2) for each in by_others(profiles)])
    levels = np.concatenate([each.ravel() for _, each in profiles])
    kept, promised = calibration_curve(levels > 0, chances[:, 0], n_bins=10)
    return {
        "relevance_decisive": float(average_precision_score(levels > 1, chances[:, 1])),
        "relevance_helps": float(average_precision_score(levels > 0, chances[:, 0])),
        "relevance_promised": tuple(promised.tolist()),
        "relevance_kept": tuple(kept.tolist()),
    }
