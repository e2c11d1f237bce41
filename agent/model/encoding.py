"""A model as the bytes of its file, and back (FORMAT.md)."""

from __future__ import annotations

from safetensors.numpy import save

from agent.model.checks import check_attributes, check_queries, check_texts
from agent.model.digest import header, stamped, verified
from agent.model.metadata import from_header, to_text
from agent.model.model import Model
from agent.model.ranges import check_ranges
from agent.model.tables import Tables
from agent.model.tensors import pack, unpack


def encode(model: Model) -> bytes:
    """Return the bytes of a model's file; the same model gives the same bytes.

    Raises ValueError if the metadata does not fit the format. Whether the parts fit together is
    found by `decode`.
    """
    return stamped(save(pack(model.tables), {"reticent": to_text(model)}))


def decode(data: bytes) -> Model:
    """Return the model in the bytes of a file.

    Raises DamagedModelError or VersionError, in the order of "Opening" in FORMAT.md.
    """
    digest = verified(data)
    metadata = from_header(header(data))
    attributes, queries = metadata.attribute_values(), metadata.query_values()
    check_texts(metadata)
    check_attributes(attributes)
    check_queries(queries, metadata.estimator)
    tensors = unpack(data, attributes, queries)
    check_ranges(tensors, attributes, queries)
    request_cards = [len(each.values) for each in attributes if each.scope == "request"]
    return Model(
        id=metadata.id,
        source=metadata.source,
        licence=metadata.licence,
        estimator=metadata.estimator,
        attributes=attributes,
        queries=queries,
        tables=Tables.of_tensors(tensors, request_cards),
        options=metadata.options,
        validation=metadata.validation,
        digest=digest,
    )
