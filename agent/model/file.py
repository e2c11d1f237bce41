"""A model as a file: its digest, its tensors and what must hold for them (FORMAT.md)."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import safetensors
from numpy.typing import NDArray
from safetensors.numpy import save

from agent.errors import BuildError, DamagedModelError, ModelError, VersionError
from agent.files import PRIVATE, read_bytes, replace_bytes
from agent.model.attributes import Attribute, damaged
from agent.model.encoder import DIMENSIONS
from agent.model.metadata import (
    BLANK,
    FORMAT,
    check_attributes,
    check_encoder,
    check_queries,
    check_texts,
    from_header,
    to_text,
)
from agent.model.model import Model, Query
from agent.model.reading import LEAST
from agent.model.tables import COST_METRICS, Tables, read_only
from agent.tradeoff.utility import MOST_PRICE

Tensors = Mapping[str, NDArray[Any]]


_LENGTH = 8  # bytes that hold the length of the header
_START = _LENGTH + len(rb'{"__metadata__":{"reticent":"{\"digest\":\"')
_END = _START + len(BLANK)
_OPENING = re.compile(
    rb'\{"__metadata__":\{"reticent":"\{\\"digest\\":\\"([0-9a-f]{64})\\",\\"format\\":(\d{1,9}),'
)
OPTIONAL = {"attributes.prices", "pairs.costs", "pairs.utilities", "population.weights"}
_CODE, _UINT, _FLOAT, _HALF = ("U8",), ("U8", "U16", "U32"), ("F64",), ("F32",)
_LITTLE_ENDIAN = {"U8": "<u1", "U16": "<u2", "U32": "<u4", "F32": "<f4", "F64": "<f8"}
FIGURES = {
    *("attributes.costs", "attributes.utilities", "pairs.costs", "pairs.utilities"),
    *("reading.biases", "reading.weights"),
}
MIN_WEIGHT, MAX_WEIGHT = 1e-9, 1e9  # beyond, a sum of them loses the small ones or overflows
MIN_PEOPLE = 1  # that a row of the population stands for
_BLOCK = 64  # rows whose codes are compared at once
SHIPPED = ("atus", "so2017")  # the first is the one that is meant where none is named
MAX_BYTES = 2**30
SUFFIX = ".safetensors"


def verified(data: bytes) -> str:
    """Return the digest of a model file after testing that it is the file's own.

    Raises DamagedModelError if it is not, or if this is no model file or cut short; VersionError
    if the format is another one.
    """
    opening = _OPENING.match(data, _LENGTH)
    if opening is None and len(data) < _END:
        raise damaged(f"the file is cut short: it has {len(data)} bytes, too few for a model")
    if opening is None:
        what = "the file is not a model of reticent, or its first bytes are damaged"
        raise DamagedModelError(what, "a model is built with `reticent model build`")
    if int(opening[2]) != FORMAT:
        what = f"the model has format {int(opening[2])}, and this version reads format {FORMAT}"
        raise VersionError(what, "build it anew, or install the reticent that matches it")
    if _LENGTH + _header_length(data) > len(data):
        raise damaged("the model is cut short within its header")
    digest = opening[1].decode()
    if digest != _digest(data):
        raise damaged("the model does not match its digest: it was altered or cut short")
    return digest


def header(data: bytes) -> bytes:
    """Return the JSON header of a model file that was verified."""
    return data[_LENGTH : _LENGTH + _header_length(data)]


def stamped(data: bytes) -> bytes:
    """Return a model file, in which the digest is BLANK, with its digest."""
    return data[:_START] + _digest(data).encode() + data[_END:]


def _digest(data: bytes) -> str:
    """Return the SHA-256 of a model file with BLANK in place of its digest, in hexadecimal."""
    sha = hashlib.sha256(data[:_START])
    sha.update(BLANK.encode())
    sha.update(memoryview(data)[_END:])
    return sha.hexdigest()


def _header_length(data: bytes) -> int:
    return int.from_bytes(data[:_LENGTH], "little")


class _Form(NamedTuple):
    """The types that a tensor may have, and its shape."""

    types: tuple[str, ...]
    shape: tuple[int, ...]


def unpack(
    data: bytes, attributes: Sequence[Attribute], queries: Sequence[Query], *, reads: bool
) -> dict[str, NDArray[Any]]:
    """Return the tensors in a model file by name, read-only, of the right types and shapes.

    ``reads``: whether the model has a classifier of texts.
    Raises DamagedModelError if one is missing, unknown, or not of its type or shape.
    """
    try:
        entries = dict(safetensors.deserialize(data))  # type: ignore[no-untyped-call]  # of the library
    except safetensors.SafetensorError as error:
        raise damaged(f"the model is not a safetensors file: {error}") from error
    people = [*entries.get("population.codes", {"shape": []})["shape"], 0][0]
    forms = _forms(attributes, queries, max(people, 1))
    if reads:
        classes = len(queries) + 1
        forms["reading.weights"] = _Form(_HALF, (classes, DIMENSIONS))
        forms["reading.biases"] = _Form(_HALF, (classes,))
        forms["reading.calibration"] = _Form(_FLOAT, (2,))
    missing, unknown = forms.keys() - entries.keys() - OPTIONAL, entries.keys() - forms.keys()
    for name in sorted(missing | unknown):
        raise damaged(f"tensor {name!r} is {'missing' if name in missing else 'unknown'}")
    tensors = {}
    for name in (each for each in forms if each in entries):
        (types, shape), entry = forms[name], entries[name]
        if entry["dtype"] not in types or tuple(entry["shape"]) != shape:
            expected = f"{' or '.join(types)} of shape {list(shape)}"
            found = f"{entry['dtype']} of shape {entry['shape']}"
            raise damaged(f"tensor {name!r} is {found} instead of {expected}")
        flat = np.frombuffer(entry["data"], dtype=_LITTLE_ENDIAN[entry["dtype"]])
        tensors[name] = read_only(flat.reshape(shape))
    return tensors


def _forms(
    attributes: Sequence[Attribute], queries: Sequence[Query], people: int
) -> dict[str, _Form]:
    """Return the form of every tensor in a model; ``people``: how many it has."""
    persons = sum(each.scope == "person" for each in attributes)
    requests = [len(each.values) for each in attributes[persons:]]
    rows, users = sum(query.rows for query in queries), sum(query.users for query in queries)
    count = len(attributes)
    pairs = count * (count - 1) // 2
    return {
        "attributes.costs": _Form(_FLOAT, (len(COST_METRICS), count)),
        "attributes.prices": _Form(_FLOAT, (len(queries), count)),
        "attributes.utilities": _Form(_FLOAT, (len(queries), count)),
        "population.codes": _Form(_CODE, (people, persons)),
        "population.request_counts": _Form(_UINT, (people, sum(requests))),
        "queries.weights": _Form(_FLOAT, (len(queries),)),
        "rows.intent": _Form(_UINT, (rows,)),
        "rows.request": _Form(_CODE, (rows, len(requests))),
        "users.profile": _Form(_UINT, (users,)),
        "users.rows": _Form(_UINT, (users,)),
        "pairs.costs": _Form(_FLOAT, (len(COST_METRICS), pairs)),
        "pairs.utilities": _Form(_FLOAT, (len(queries), pairs)),
        "population.weights": _Form(_FLOAT, (people,)),
    }


def _narrow(tensor: NDArray[Any]) -> NDArray[Any]:
    """Return a tensor of floats as it is, else of the smallest unsigned type, in C order.

    Raises ValueError for a number below 0 among integers.
    """
    # safetensors copies memory from the first number on, whatever the strides are.
    if tensor.dtype.kind == "f":
        return np.ascontiguousarray(tensor)
    if tensor.min(initial=0) < 0:
        raise ValueError("a code or count is below 0")
    smallest = np.min_scalar_type(int(tensor.max(initial=0)))
    return np.ascontiguousarray(tensor, dtype=smallest)


def check_ranges(
    tensors: Tensors, attributes: Sequence[Attribute], queries: Sequence[Query]
) -> None:
    """Refuse tensors, by name and already of the right shape, with a number that cannot be."""
    persons = [attribute for attribute in attributes if attribute.scope == "person"]
    _check_codes(tensors, "population.codes", persons)
    _check_codes(tensors, "rows.request", attributes[len(persons) :])
    ends = np.cumsum([len(each.values) for each in attributes[len(persons) :]], dtype=np.intp)
    counts = np.split(tensors["population.request_counts"], ends, axis=1)
    for attribute, each in zip(attributes[len(persons) :], counts, strict=False):
        if not each.any():  # it would have no distribution
            raise damaged(f"tensor 'population.request_counts' has no row for {attribute.name!r}")
    people, highest = len(tensors["population.codes"]), int(tensors["users.profile"].max())
    if highest >= people:
        raise damaged(f"tensor 'users.profile' has {highest}, and the population {people} rows")
    _check_rows(tensors["rows.intent"], tensors["users.rows"], queries)
    for name in tensors.keys() & FIGURES:
        if not np.isfinite(tensors[name]).all():
            raise damaged(f"tensor {name!r} has a number that is not finite")
    if "reading.calibration" in tensors:
        temperature, threshold = tensors["reading.calibration"].tolist()
        if not (MIN_WEIGHT <= temperature <= MAX_WEIGHT and LEAST <= threshold <= 1):
            raise damaged("tensor 'reading.calibration' has a number that cannot be")
    for name, least, most in (
        ("attributes.prices", 0, MOST_PRICE),
        ("queries.weights", MIN_WEIGHT, MAX_WEIGHT),
        ("population.weights", MIN_PEOPLE, MAX_WEIGHT),
    ):
        numbers = tensors.get(name, np.ones(1))
        # Written so that NaN, of which every comparison is false, is refused too.
        if not ((numbers >= least) & (numbers <= most)).all():
            what = name.rpartition(".")[2].removesuffix("s")
            raise damaged(f"tensor {name!r} has a {what} outside {least:g} to {most:g}")


def _check_codes(tensors: Tensors, name: str, attributes: Sequence[Attribute]) -> None:
    """Refuse a code that is no value of its attribute.

    Rows are taken in blocks: a maximum along many short rows takes 20 times as long.
    """
    rows, columns = tensors[name].shape
    whole = rows - rows % _BLOCK
    blocks = tensors[name][:whole].reshape(whole // _BLOCK, _BLOCK * columns)
    rest = tensors[name][whole:].max(axis=0, initial=0)
    maxima = blocks.max(axis=0, initial=0).reshape(_BLOCK, columns).max(axis=0)
    for attribute, highest in zip(attributes, np.maximum(maxima, rest).tolist(), strict=True):
        if highest >= len(attribute.values):
            raise damaged(f"tensor {name!r} has code {highest} of attribute {attribute.name!r}")


def _check_rows(intents: NDArray[Any], sizes: NDArray[Any], queries: Sequence[Query]) -> None:
    """Refuse a row with an intent that its query lacks, and users with no rows or too many."""
    starts = list(accumulate((query.rows for query in queries[:-1]), initial=0))
    for query, highest in zip(queries, np.maximum.reduceat(intents, starts), strict=True):
        if highest >= len(query.intents):
            where = f"query {query.text!r} has {len(query.intents)}"
            raise damaged(f"tensor 'rows.intent' has {highest} where {where}")
    if not sizes.all():
        raise damaged("tensor 'users.rows' has a user without rows")
    starts = list(accumulate((query.users for query in queries[:-1]), initial=0))
    for query, rows in zip(queries, np.add.reduceat(sizes, starts, dtype=np.uint64), strict=True):
        if rows != query.rows:
            where = f"query {query.text!r} has {query.rows}"
            raise damaged(f"tensor 'users.rows' has {rows} rows where {where}")


def encode(model: Model) -> bytes:
    """Return the bytes of a model's file; the same model gives the same bytes.

    Raises ValueError if the metadata does not fit the format. Whether the parts fit together is
    found by `decode`.
    """
    tensors = {name: _narrow(tensor) for name, tensor in model.tables.tensors().items()}
    return stamped(save(tensors, {"reticent": to_text(model)}))


def decode(data: bytes) -> Model:
    """Return the model in the bytes of a file.

    Raises DamagedModelError or VersionError, in the order of "Opening" in FORMAT.md.
    """
    digest = verified(data)
    metadata = from_header(header(data))
    attributes, queries = metadata.attribute_values(), metadata.query_values()
    check_encoder(metadata.encoder)
    check_texts(metadata)
    check_attributes(attributes)
    check_queries(queries, metadata.estimator)
    tensors = unpack(data, attributes, queries, reads=metadata.encoder is not None)
    check_ranges(tensors, attributes, queries)
    request_cards = [len(each.values) for each in attributes if each.scope == "request"]
    return Model(
        id=metadata.id,
        source=metadata.source,
        licence=metadata.licence,
        stands_for=metadata.stands_for,
        estimator=metadata.estimator,
        attributes=attributes,
        queries=queries,
        tables=Tables.of_tensors(tensors, request_cards),
        options=metadata.options,
        validation=metadata.validation,
        digest=digest,
    )


def shipped_model(name: str = SHIPPED[0]) -> Path:
    """Return the path of a shipped model (shipped/NOTICE.md)."""
    return Path(str(files("agent.model") / "shipped")) / f"{name}{SUFFIX}"


def shipped_models() -> tuple[Path, ...]:
    """Return the paths of the shipped models, that of the default one first."""
    return tuple(map(shipped_model, SHIPPED))


def read(path: Path) -> Model:
    """Return the model in a file, its arrays read-only; the file is read once, whole.

    Raises UsageError if there is no such file or it may not be read; DamagedModelError or
    VersionError if it must not be used.
    """
    data = read_bytes(path, MAX_BYTES)
    try:
        return decode(data)
    except ModelError as error:
        raise type(error)(error.what, error.hint, str(path)) from error


def write(model: Model, path: Path) -> Model:
    """Write a model to a file, whole or not at all, and return it as it will be read.

    Only its owner can read it: it holds the rows of single people.
    Raises BuildError if the model does not fit the format, UsageError if it cannot be written.
    """
    try:
        data = encode(model)
        written = decode(data)
    except (ModelError, ValueError) as error:
        what = error.what if isinstance(error, ModelError) else str(error)
        raise BuildError(what, "correct the tables or options that it was built from") from error
    replace_bytes(data, path, PRIVATE)
    return written
