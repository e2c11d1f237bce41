"""One small model for examples, and the same with all that a file may have."""

from dataclasses import fields, replace

import numpy as np

from agent.model.attributes import Attribute, Block, Query, SharedKind
from agent.model.encoder import encode
from agent.model.model import Model
from agent.model.reading import Classifier
from agent.model.relevance import FEATURES, SIZE, Relevance
from agent.model.tables import NO_ROWS, gather
from agent.tradeoff.agreement import pair_people
from agent.tradeoff.coverage import Judged
from agent.tradeoff.tables import Kinds, Population, QueryRows
from agent.tradeoff.utility import Near, Singles

# RFC 8032, 7.1, test 1: the private key is published, so nobody signs with it.
STRANGER = "ed25519:d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"

REGION = Attribute("region", "Region", "person", ("unspecified", "north", "south"))
TOWN = Attribute("town", "Town", "person", ("unspecified", "n1", "n2", "s1"), refines="region")
HOUR = Attribute("working_hours", "At work", "request", ("unspecified", "no", "yes"), None, 0.5)


def small_model() -> Model:
    """A model of three attributes, two queries and four people."""
    python = QueryRows(
        user=np.array([0, 0, 1, 2]),
        intent=np.array([0, 1, 0, 1]),
        person=np.array([[1, 1], [1, 2], [2, 3]], np.uint8),
        request=np.array([[1], [2], [2], [0]], np.uint8),
        intents=2,
    )
    c = QueryRows(
        user=np.array([0, 1]),
        intent=np.array([0, 2]),
        person=np.array([[2, 3], [0, 0]], np.uint8),
        request=np.array([[2], [2]], np.uint8),
        intents=3,
    )
    population = Population(
        codes=np.array([[1, 1], [1, 2], [2, 3], [0, 0]], np.uint8),
        weights=np.array([2.0, 4.0, 2.0, 1.0]),
        requests=(Kinds.of(np.array([[0, 1, 300], [0, 0, 2], [1, 0, 0], [0, 0, 0]], np.uint16)),),
    )
    singles = Singles(
        utilities=np.arange(6.0).reshape(2, 3) / 8,
        costs=np.arange(9.0).reshape(3, 3) / 16,
        pair_utilities=np.arange(6.0).reshape(2, 3) / 4,
        pair_costs=np.arange(9.0).reshape(3, 3) / 8,
        prices=np.arange(6.0).reshape(2, 3) / 32,
    )
    return Model(
        id="small",
        source="invented",
        licence="CC0-1.0",
        estimator="louo",
        attributes=(REGION, TOWN, HOUR),
        queries=(
            Query("python", ("snake", "language"), 20.0, 4, 3, 1.0, 0.25, 0.2),
            Query("c", ("letter", "note", "language"), 5.0, 2, 2, 1.5),
        ),
        tables=gather(population, [python, c], np.array([2.0, 1.0]), singles),
        options={"min_users": 2, "half": None, "shrinkages": (5.0, 10.0)},
        validation={"predicted_bits": 0.25},
    )


def reading_model() -> Model:
    """The small model with a classifier, which was taught nothing, and all else there is."""
    model = small_model()
    random = np.random.default_rng(0)
    classifier = Classifier(
        weights=random.normal(size=(3, 512)).astype(np.float32),
        biases=np.array([0.5, 0.0, -0.5], np.float32),
        temperature=1.5,
        threshold=0.4,
        head=(random.normal(size=514) / 16).astype(np.float32),
        second=random.normal(size=(3, 385)).astype(np.float32),
        centres=encode(["a snake in a tree", "the shape of a letter"], question=True),
    )
    python, c = model.queries
    queries = replace(python, phrasings=("big snake", "c")), replace(c, phrasings=("third letter",))
    near = Near(
        sets=np.array([[0b001], [0b110]], np.uint8),
        queries=np.array([0, 1]),
        utilities=np.arange(6.0).reshape(2, 3) / 8,
        priced=np.array([[0b010]], np.uint8),
        costs=np.arange(6.0).reshape(2, 1, 3) / 16,
    )
    donors = np.array([[7, 0, 7, 300]], np.uint16)
    people = replace(
        model.population, pairs=pair_people(model.population, model.cards), donors=donors
    )
    tables = replace(model.tables, population=people, classifier=classifier, near=near)
    block = Block("towns", "survey of towns", ("town",), ("region",))
    return replace(model, queries=queries, tables=tables, donors=(block,))


TRAITS = SharedKind(
    "traits", "traits", "estimate", 4, True, ("tall", "calm"), (0.25, 0.5), "town", {"n1": (0, 0.5)}
)
VALUES, GIVEN = ("vegan", "other"), {"tall": (0.3, 0.7)}
DIET = SharedKind("diet", "diet", "a survey", 2, False, VALUES, (0.1, 0.9), "traits", GIVEN)
DIET = replace(DIET, excludes={"vegan": ("other",)})


def judged_model() -> Model:
    """A model of two topics, with two columns of the small model and two kinds by shares."""
    small = small_model()
    attributes = tuple(
        Attribute(name, each.title, "person", ("unspecified", *each.values), shared=each.name)
        for each in (TRAITS, DIET)
        for name in each.slots
    )
    judged = Judged(
        weights=np.array([[0, 0.1, 1, 1, 1, 0.33], [0] * 6], np.float32),
        totals=np.array([1.43, 0], np.float32),
        likely=np.array([[0, 0.1, 1, 1, 1, 0.5], [0] * 6], np.float32),
    )
    singles = Singles(np.zeros((0, 6)), np.arange(18.0).reshape(3, 6) / 32)
    tables = replace(
        small.tables,
        population=replace(small.population, requests=()),
        rows=NO_ROWS,
        singles=singles,
        judged=judged,
    )
    return replace(
        small,
        id="judged",
        estimator="judged",
        attributes=(REGION, TOWN, *attributes),
        queries=(
            Query("dinner", title="what to cook", bits=1.5, phrasings=("quick dinner",)),
            Query("sums"),
        ),
        tables=tables,
        kinds=(TRAITS, DIET),
    )


def own_words_model() -> Model:
    """The model of two topics, which reads and tells what helps, by chance alone."""
    judged, random = judged_model(), np.random.default_rng(1)
    reader = reading_model().tables.classifier
    relevance = Relevance(
        kind_names=("region", "town", "traits", "diet"),
        statements=random.integers(1, 256, (30, SIZE), np.uint8),
        helps_topics=random.integers(0, 256, (30, 2), np.uint8),
        kind_weights=random.normal(size=(4, SIZE + 1)).astype(np.float32),
        of_kinds=random.random((4, 2), np.float32),
        common=random.random(2, np.float32),
        request=random.normal(size=SIZE + 1).astype(np.float32),
        bilinear=(random.normal(size=(SIZE + 1, 3)) / 9).astype(np.float32),
        pair=random.normal(size=(2, FEATURES)).astype(np.float32),
    )
    tables = replace(judged.tables, classifier=reader, relevance=relevance)
    return replace(judged, tables=tables)


def same(one: Model, other: Model) -> bool:
    """Whether two models are equal in every number, and in all else but their digests."""
    mine, theirs = one.tables.tensors(), other.tables.tensors()
    names = (each.name for each in fields(Model) if each.name not in ("tables", "digest"))
    return (
        mine.keys() == theirs.keys()
        and all(np.array_equal(mine[name], theirs[name]) for name in mine)
        and all(getattr(one, name) == getattr(other, name) for name in names)
    )
