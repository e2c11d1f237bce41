"""The tensors of a model file: their names, types and shapes (FORMAT.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import safetensors

from agent.model.digest import damaged
from agent.model.tables import COST_METRICS, Tables, read_only

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from agent.model.attributes import Attribute
    from agent.model.model import Query

_CODE, _UINT, _FLOAT = ("U8",), ("U8", "U16", "U32"), ("F64",)
_LITTLE_ENDIAN = {"U8": "<u1", "U16": "<u2", "U32": "<u4", "F64": "<f8"}


class _Form(NamedTuple):
    """The types that a tensor may have, and its shape."""

    types: tuple[str, ...]
    shape: tuple[int, ...]


def pack(tables: Tables) -> dict[str, NDArray[Any]]:
    """Return every tensor by name: contiguous, integers in the smallest type that holds them."""
    return {name: _narrow(tensor) for name, tensor in tables.tensors().items()}


def unpack(
    data: bytes, attributes: Sequence[Attribute], queries: Sequence[Query]
) -> dict[str, NDArray[Any]]:
    """Return the tensors in a model file by name, read-only, of the right types and shapes.

    Raises DamagedModelError if one is missing, unknown, or not of its type or shape.
    """
    try:
        entries = dict(safetensors.deserialize(data))  # type: ignore[no-untyped-call]  # of the library
    except safetensors.SafetensorError as error:
        raise damaged(f"the model is not a safetensors file: {error}") from error
    people = [*entries.get("population.codes", {"shape": []})["shape"], 0][0]
    forms = _forms(attributes, queries, max(people, 1))
    optional = _optional(len(attributes), len(queries), max(people, 1))
    forms |= {name: form for name, form in optional.items() if name in entries}
    for name in sorted(entries.keys() ^ forms.keys()):
        raise damaged(f"tensor {name!r} is {'missing' if name in forms else 'unknown'}")
    return {name: _array(name, entries[name], form) for name, form in forms.items()}


def _array(name: str, entry: dict[str, Any], form: _Form) -> NDArray[Any]:
    """Return a tensor as an array, if it is of the right form."""
    if entry["dtype"] not in form.types or tuple(entry["shape"]) != form.shape:
        expected = f"{' or '.join(form.types)} of shape {list(form.shape)}"
        found = f"{entry['dtype']} of shape {entry['shape']}"
        raise damaged(f"tensor {name!r} is {found} instead of {expected}")
    flat = np.frombuffer(entry["data"], dtype=_LITTLE_ENDIAN[entry["dtype"]])
    return read_only(flat.reshape(form.shape))


def _forms(
    attributes: Sequence[Attribute], queries: Sequence[Query], people: int
) -> dict[str, _Form]:
    """Return the form of every tensor that must be there."""
    persons = sum(each.scope == "person" for each in attributes)
    requests = [len(each.values) for each in attributes[persons:]]
    rows, users = sum(query.rows for query in queries), sum(query.users for query in queries)
    count = len(attributes)
    return {
        "attributes.costs": _Form(_FLOAT, (len(COST_METRICS), count)),
        "attributes.utilities": _Form(_FLOAT, (len(queries), count)),
        "population.codes": _Form(_CODE, (people, persons)),
        "population.request_counts": _Form(_UINT, (people, sum(requests))),
        "queries.weights": _Form(_FLOAT, (len(queries),)),
        "rows.intent": _Form(_UINT, (rows,)),
        "rows.request": _Form(_CODE, (rows, len(requests))),
        "rows.user": _Form(_UINT, (rows,)),
        "users.person": _Form(_CODE, (users, persons)),
    }


def _optional(count: int, queries: int, people: int) -> dict[str, _Form]:
    """Return the form of every tensor that may be missing."""
    pairs = count * (count - 1) // 2
    return {
        "pairs.costs": _Form(_FLOAT, (len(COST_METRICS), pairs)),
        "pairs.utilities": _Form(_FLOAT, (queries, pairs)),
        "population.weights": _Form(_FLOAT, (people,)),
    }


def _narrow(tensor: NDArray[Any]) -> NDArray[Any]:
    """Return a tensor as float64 or in the smallest unsigned type; contiguous, in C order.

    Raises ValueError for a number below 0 among integers.
    """
    # safetensors copies memory from the first number on, whatever the strides are.
    if tensor.dtype.kind == "f":
        return np.ascontiguousarray(tensor, dtype=np.float64)
    if tensor.min(initial=0) < 0:
        raise ValueError("a code or count is below 0")
    smallest = np.min_scalar_type(int(tensor.max(initial=0)))
    return np.ascontiguousarray(tensor, dtype=smallest)
