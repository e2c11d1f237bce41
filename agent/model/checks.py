"""What must hold between the parts of a model's metadata; types alone do not say it."""

from __future__ import annotations

import re
from collections import Counter
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from agent.model.digest import damaged
from agent.model.lookup import normalise

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent.model.attributes import Attribute
    from agent.model.metadata import Metadata
    from agent.model.model import Query

MIN_SHRINKAGE, MAX_SHRINKAGE = 1e-6, 1e9  # beyond, a product of many probabilities overflows

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def check_texts(metadata: Metadata) -> None:
    """Refuse control characters: these texts will be shown on a terminal."""
    for text in _texts(metadata):
        if _CONTROL.search(text):
            raise damaged(f"the model has a control character in the text {text[:40]!r}")


def check_attributes(attributes: Sequence[Attribute]) -> None:
    """Refuse attributes that are out of order, there twice, or refined in a circle."""
    names = [attribute.name for attribute in attributes]
    scopes = [attribute.scope for attribute in attributes]
    if len(set(names)) < len(names):
        raise damaged(f"the model has two attributes named {_repeated(names)!r}")
    if scopes[0] != "person" or scopes != sorted(scopes):
        raise damaged("the model does not list its person attributes first")
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


def _texts(metadata: Metadata) -> Iterator[str]:
    """Yield every text of a model that is not checked otherwise."""
    yield from (metadata.id, metadata.source, metadata.licence)
    for attribute in metadata.attributes:
        yield from (attribute.title, *attribute.values)
    for query in metadata.queries:
        yield from (query.text, *query.intents)
    for figures in (metadata.options, metadata.validation):
        yield from figures
        yield from (each for each in figures.values() if isinstance(each, str))


def _repeated(texts: Sequence[str]) -> str:
    """Return the first text that is there more than once."""
    counts = Counter(texts)
    return next(text for text in texts if counts[text] > 1)
