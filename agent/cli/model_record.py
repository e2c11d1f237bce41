"""A model as one JSON object; the keys are an interface, so they only ever grow."""

from collections.abc import Mapping
from typing import Any

from agent.model.attributes import Attribute
from agent.model.model import Figure, Model, Query


def model_record(model: Model) -> dict[str, Any]:
    """Return what a model says of itself in JSON's own types, without its tables."""
    return {
        "id": model.id,
        "source": model.source,
        "licence": model.licence,
        "digest": model.digest,
        "estimator": model.estimator,
        "people": model.population.people,
        "person_level_rows": True,
        "attributes": [_attribute(each) for each in model.attributes],
        "queries": [_query(each) for each in model.queries],
        "options": _figures(model.options),
        "validation": _figures(model.validation),
    }


def _attribute(attribute: Attribute) -> dict[str, Any]:
    return {
        "name": attribute.name,
        "title": attribute.title,
        "scope": attribute.scope,
        "values": [*attribute.values],
        "refines": attribute.refines,
        "sensitivity": attribute.sensitivity,
    }


def _query(query: Query) -> dict[str, Any]:
    return {
        "text": query.text,
        "rows": query.rows,
        "users": query.users,
        "intents": [*query.intents],
        "shrinkage": query.shrinkage,
        "prior_entropy_bits": query.prior_entropy_bits,
        "predicted_bits": query.predicted_bits,
        "heldout_bits": query.heldout_bits,
    }


def _figures(figures: Mapping[str, Figure]) -> dict[str, Any]:
    return {
        name: [*figure] if isinstance(figure, tuple) else figure for name, figure in figures.items()
    }
