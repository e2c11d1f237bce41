"""The metadata of a model file: JSON, strictly decoded, and checked as a whole (FORMAT.md)."""

import re
from collections import Counter
from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from agent.errors import DamagedModelError, VersionError, misfit
from agent.model import encoder
from agent.model.attributes import Attribute, Scope, damaged, wrong_implication
from agent.model.lookup import normalise
from agent.model.model import Figure, Model, Query
from agent.tradeoff.utility import Estimator

FORMAT = 3
BLANK = "0" * 64  # stands for the digest while it is computed
Text = Annotated[str, Meta(min_length=1)]
Count = Annotated[int, Meta(ge=1, le=2**32)]
MIN_SHRINKAGE, MAX_SHRINKAGE = 1e-6, 1e9  # beyond, a product of many probabilities overflows
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class _AttributeEntry(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    name: str
    title: str
    scope: Scope
    values: tuple[str, ...]
    refines: str | None
    sensitivity: float
    concept: Text
    value_concepts: Annotated[tuple[str | None, ...], Meta(min_length=1)]
    implies: dict[str, dict[str, str]] = msgspec.field(default_factory=dict)
    words: dict[str, str] = msgspec.field(default_factory=dict)


class _QueryEntry(Struct, frozen=True, forbid_unknown_fields=True):
    text: str
    intents: Annotated[tuple[Text, ...], Meta(min_length=1)]
    shrinkage: float
    rows: Count
    users: Count
    prior_entropy_bits: float
    predicted_bits: float | None
    heldout_bits: float | None
    events: Count | None
    error_bits: float | None
    title: Text
    phrasings: tuple[Text, ...]


class Encoder(Struct, frozen=True, forbid_unknown_fields=True):
    """What turns texts into the vectors that the classifier of a model takes."""

    name: str
    version: str


ENCODER = Encoder(encoder.NAME, encoder.VERSION)


class Metadata(Struct, frozen=True, forbid_unknown_fields=True):
    """All of a model that is not a tensor; fields in the order of the file."""

    digest: str
    format: int
    blocks: str
    id: Text
    source: str
    licence: str
    stands_for: Text
    estimator: Estimator
    people: Count
    attributes: Annotated[tuple[_AttributeEntry, ...], Meta(min_length=1, max_length=1024)]
    queries: Annotated[tuple[_QueryEntry, ...], Meta(min_length=1)]
    encoder: Encoder | None
    options: dict[str, Figure]
    validation: dict[str, Figure]

    def attribute_values(self) -> tuple[Attribute, ...]:
        """Return the attributes; DamagedModelError if one of them cannot be."""
        try:
            return msgspec.convert(self.attributes, tuple[Attribute, ...], from_attributes=True)
        except msgspec.ValidationError as error:
            raise damaged(f"the model cannot be used: {misfit(error)}") from error

    def query_values(self) -> tuple[Query, ...]:
        """Return the queries."""
        return msgspec.convert(self.queries, tuple[Query, ...], from_attributes=True)


def to_text(model: Model, blocks: int) -> str:
    """Return the metadata of a model as JSON, with a blank digest, and blank hashes of blocks.

    Raises ValueError if it does not fit the format (msgspec.ValidationError is one), or has a
    number that is not finite.
    """
    plain = {each: getattr(model, each, FORMAT) for each in Metadata.__struct_fields__}
    figures = {"options": dict(model.options), "validation": dict(model.validation)}
    encoder = None if model.tables.classifier is None else ENCODER
    fixed: dict[str, object] = {"digest": BLANK, "blocks": BLANK * blocks, "encoder": encoder}
    fixed |= {"people": model.population.rows}
    metadata = msgspec.convert(plain | figures | fixed, Metadata, from_attributes=True)
    text = msgspec.json.encode(metadata, order="deterministic")
    if msgspec.json.decode(text, type=Metadata) != metadata:
        raise ValueError("a number in the metadata is not finite")
    return text.decode()


def metadata_of(text: str) -> Metadata:
    """Return the metadata from their JSON; DamagedModelError if they do not fit the format."""
    try:
        return msgspec.json.decode(text, type=Metadata)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise misfitting(error) from error


def misfitting(error: Exception) -> DamagedModelError:
    """Return the error for a header that does not fit the format."""
    return damaged(f"the metadata of the model does not fit the format: {misfit(error)}")


def check_encoder(encoder: Encoder | None) -> None:
    """Refuse a model whose classifier takes vectors of another encoder than ours."""
    if encoder not in {None, ENCODER}:
        what = f"the model reads texts with {encoder.name} {encoder.version}"
        ours = f"this version of reticent has {ENCODER.name} {ENCODER.version}"
        raise VersionError(f"{what}, and {ours}", "build it anew")


def check_texts(metadata: Metadata) -> None:
    """Refuse control characters: these texts will be shown on a terminal."""
    texts = [metadata.id, metadata.source, metadata.licence, metadata.stands_for]
    for attribute in metadata.attributes:
        texts += (attribute.title, *attribute.values, attribute.concept)
        texts += (each for each in attribute.value_concepts if each is not None)
    for query in metadata.queries:
        texts += (query.text, query.title, *query.intents, *query.phrasings)
    for figures in (metadata.options, metadata.validation):
        texts += (*figures, *(each for each in figures.values() if isinstance(each, str)))
    if "".join(texts).isprintable():  # as most are, and quicker to say of all at once
        return
    for text in texts:
        if _CONTROL.search(text):
            raise damaged(f"the model has a control character in the text {text[:40]!r}")


def check_attributes(attributes: Sequence[Attribute]) -> None:
    """Refuse attributes out of order, twice, refined in a circle, or with a wrong implication."""
    names = [attribute.name for attribute in attributes]
    concepts = [attribute.concept for attribute in attributes]
    scopes = [attribute.scope for attribute in attributes]
    if len(set(names)) < len(names):
        raise damaged(f"the model has two attributes named {_repeated(names)!r}")
    if len(set(concepts)) < len(concepts):
        raise damaged(f"the model has two attributes of the concept {_repeated(concepts)!r}")
    if scopes[0] != "person" or scopes != sorted(scopes):
        raise damaged("the model does not list its person attributes first")
    if problem := wrong_implication(attributes):
        raise damaged(problem)
    coarser = {each.name: each.refines for each in attributes if each.refines is not None}
    for name, refined in coarser.items():
        if refined not in names:
            raise damaged(f"attribute {name!r} refines {refined!r}, which does not exist")
    try:
        TopologicalSorter({name: [refined] for name, refined in coarser.items()}).prepare()
    except CycleError as error:
        raise damaged(f"attribute {error.args[1][0]!r} refines itself in a circle") from error


def check_queries(queries: Sequence[Query], estimator: str) -> None:
    """Refuse queries that look alike, and a shrinkage that cannot be computed with."""
    texts = [normalise(query.text) for query in queries]
    if not all(texts):
        raise damaged("the model has a query without text")
    if len(set(texts)) < len(texts):
        raise damaged(f"the model has the query {_repeated(texts)!r} twice")
    for query in queries:
        if len(set(query.intents)) < len(query.intents):
            raise damaged(f"query {query.text!r} has the intent {_repeated(query.intents)!r} twice")
        plain = estimator == "plugin" and query.shrinkage == 0
        if not (plain or MIN_SHRINKAGE <= query.shrinkage <= MAX_SHRINKAGE):
            raise damaged(f"query {query.text!r} has a shrinkage of {query.shrinkage:g}")


def _repeated(texts: Sequence[str]) -> str:
    """Return the first text that is there more than once."""
    counts = Counter(texts)
    return next(text for text in texts if counts[text] > 1)
