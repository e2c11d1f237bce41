"""The metadata of a model file: JSON, strictly decoded (FORMAT.md)."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from agent.errors import misfit
from agent.model.attributes import Attribute, Scope
from agent.model.digest import BLANK, FORMAT, damaged
from agent.model.model import Figure, Model, Query
from agent.tradeoff.utility import Estimator

Text = Annotated[str, Meta(min_length=1)]
Count = Annotated[int, Meta(ge=1, le=2**32)]


class _AttributeEntry(Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    title: str
    scope: Scope
    values: tuple[str, ...]
    refines: str | None
    sensitivity: float


class _QueryEntry(Struct, frozen=True, forbid_unknown_fields=True):
    text: str
    intents: Annotated[tuple[Text, ...], Meta(min_length=1)]
    shrinkage: float
    rows: Count
    users: Count
    prior_entropy_bits: float
    predicted_bits: float | None
    heldout_bits: float | None


class Metadata(Struct, frozen=True, forbid_unknown_fields=True):
    """All of a model that is not a tensor; fields in the order of the file."""

    digest: str
    format: int
    id: Text
    source: str
    licence: str
    estimator: Estimator
    attributes: Annotated[tuple[_AttributeEntry, ...], Meta(min_length=1, max_length=1024)]
    queries: Annotated[tuple[_QueryEntry, ...], Meta(min_length=1)]
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


class _Header(Struct):
    metadata: dict[str, str] = msgspec.field(name="__metadata__")


def to_text(model: Model) -> str:
    """Return the metadata of a model as JSON, with a blank digest.

    Raises ValueError if it does not fit the format (msgspec.ValidationError is one), or has a
    number that is not finite.
    """
    plain = {
        "digest": BLANK,
        "format": FORMAT,
        "options": dict(model.options),
        "validation": dict(model.validation),
    }
    plain |= {
        name: getattr(model, name) for name in Metadata.__struct_fields__ if name not in plain
    }
    metadata = msgspec.convert(plain, Metadata, from_attributes=True)
    text = msgspec.json.encode(metadata, order="deterministic")
    if msgspec.json.decode(text, type=Metadata) != metadata:
        raise ValueError("a number in the metadata is not finite")
    return text.decode()


def from_header(header: bytes) -> Metadata:
    """Return the metadata from the header of a model file; DamagedModelError if it is wrong."""
    try:
        outer = msgspec.json.decode(header, type=_Header)
        return msgspec.json.decode(outer.metadata.get("reticent", ""), type=Metadata)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        what = f"the metadata of the model does not fit the format: {misfit(error)}"
        raise damaged(what) from error
