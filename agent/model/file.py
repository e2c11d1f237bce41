"""A model as a file: its digest, its tensors and what must hold for them (FORMAT.md)."""

from collections.abc import Mapping, Sequence
from importlib.resources import files
from mmap import mmap
from operator import mul
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save

from agent.errors import BuildError, ModelError
from agent.files import PRIVATE, mapped_bytes, replace_bytes
from agent.model.attributes import Attribute, damaged
from agent.model.content import BLOCK, Content, stamped
from agent.model.encoder import DIMENSIONS
from agent.model.metadata import (
    Metadata,
    check_attributes,
    check_encoder,
    check_queries,
    check_texts,
    to_text,
)
from agent.model.model import Model
from agent.model.packing import size
from agent.model.reading import LEAST
from agent.model.tables import COST_METRICS, NEAR_MEASURES, Part, Tables
from agent.tradeoff.tables import Population
from agent.tradeoff.utility import MOST_PRICE

Tensors = Mapping[str, NDArray[Any]]
Shapes = Mapping[str, tuple[str, tuple[int, ...]]]  # types and shapes in a file
OPTIONAL = {"attributes.prices", "pairs.costs", "pairs.utilities", "population.weights"}
_BYTES, _UINT, _FLOAT, _HALF = ("U8",), ("U8", "U16", "U32"), ("F64",), ("F32",)
OF_ROWS = {"rows.intent", "rows.request", "users.rows", "users.step"}
FIGURES = {
    *("attributes.costs", "attributes.utilities", "pairs.costs", "pairs.utilities"),
    *("near.costs", "near.utilities", "reading.biases", "reading.weights"),
}
MIN_WEIGHT, MAX_WEIGHT = 1e-9, 1e9  # beyond, a sum of them loses the small ones or overflows
MIN_PEOPLE = 1  # that a row of the population stands for
SHIPPED = ("atus", "so2017")  # the first is the one that is meant where none is named
MAX_BYTES = 2**30
WHOLE = 2**24  # bytes; of a larger file the rows of a query are verified when they are needed
SUFFIX = ".safetensors"


class _Form(NamedTuple):
    """The types that a tensor may have, and its shape."""

    types: tuple[str, ...]
    shape: tuple[int, ...]


def tensors_of(content: Content) -> dict[str, NDArray[Any]]:
    """Return the tensors in a model file by name, read-only, of the right types and shapes.

    All but those of the rows of queries are verified. Raises DamagedModelError if one is missing,
    unknown, or not of its type or shape, or if it was altered.
    """
    found, metadata = content.shapes, content.metadata
    forms = _forms(metadata, found)
    tensors = dict[str, NDArray[Any]]()
    missing, unknown = forms.keys() - found.keys() - OPTIONAL, found.keys() - forms.keys()
    for name in sorted(missing | unknown):
        raise damaged(f"tensor {name!r} is {'missing' if name in missing else 'unknown'}")
    for name in (each for each in forms if each in found):
        (types, shape), (dtype, is_shape) = forms[name], found[name]
        if name == "requests.counts":  # how many kinds there are is said by the tensor before
            cards = [len(each.values) for each in metadata.attributes if each.scope == "request"]
            shape = (sum(map(mul, tensors["requests.kinds"].tolist(), cards)),)
        if dtype not in types or is_shape != shape:
            expected = f"{' or '.join(types)} of shape {list(shape)}"
            raise damaged(
                f"tensor {name!r} is {dtype} of shape {[*is_shape]} instead of {expected}"
            )
        if name not in OF_ROWS:
            content.verify(name)
        tensors[name] = content.tensor(name)
    return tensors


def _forms(
    metadata: Metadata, found: Mapping[str, tuple[str, tuple[int, ...]]]
) -> dict[str, _Form]:
    """Return the form of every tensor in a model; how many sets are near is said by the file."""
    cards = [len(each.values) for each in metadata.attributes]
    persons = sum(each.scope == "person" for each in metadata.attributes)
    people, queries, count = metadata.people, len(metadata.queries), len(cards)
    pairs, requests = count * (count - 1) // 2, count - persons
    parts = [(each.rows, len(each.intents)) for each in metadata.queries]
    users = sum(each.users for each in metadata.queries)
    forms = {
        "attributes.costs": _Form(_FLOAT, (len(COST_METRICS), count)),
        "attributes.prices": _Form(_FLOAT, (queries, count)),
        "attributes.utilities": _Form(_FLOAT, (queries, count)),
        "population.codes": _Form(_BYTES, (sum(size(people, card) for card in cards[:persons]),)),
        "population.requests": _Form(_UINT, (requests, people)),
        "queries.weights": _Form(_FLOAT, (queries,)),
        "requests.kinds": _Form(_UINT, (requests,)),
        "requests.counts": _Form(_UINT, ()),
        "rows.intent": _Form(_BYTES, (sum(size(rows, intents) for rows, intents in parts),)),
        "rows.request": _Form(
            _BYTES, (sum(size(rows, card) for rows, _ in parts for card in cards[persons:]),)
        ),
        "users.rows": _Form(_UINT, (users,)),
        "users.step": _Form(_UINT, (users,)),
        "pairs.costs": _Form(_FLOAT, (len(COST_METRICS), pairs)),
        "pairs.utilities": _Form(_FLOAT, (queries, pairs)),
        "population.weights": _Form(_FLOAT, (people,)),
    }
    if metadata.encoder is not None:
        forms["reading.weights"] = _Form(_HALF, (queries + 1, DIMENSIONS))
        forms["reading.biases"] = _Form(_HALF, (queries + 1,))
        forms["reading.calibration"] = _Form(_FLOAT, (2,))
    if "near.sets" in found:
        size_of, costs = size(count, 2), len(NEAR_MEASURES) if "population.weights" in found else 1
        near, priced = (found.get(each, ("", (0,)))[1][0] for each in ("near.sets", "near.priced"))
        forms["near.sets"] = _Form(_BYTES, (near, size_of))
        forms["near.queries"] = _Form(_UINT, (near,))
        forms["near.utilities"] = _Form(_FLOAT, (near, count))
        forms["near.priced"] = _Form(_BYTES, (priced, size_of))
        forms["near.costs"] = _Form(_FLOAT, (costs, priced, count))
    return forms


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


def check_people(people: Population, attributes: Sequence[Attribute]) -> None:
    """Refuse people with a code or a kind that does not exist, or a kind without any rows."""
    for attribute, column in zip(attributes, people.columns, strict=False):
        if (highest := int(column.max())) >= len(attribute.values):
            what = f"code {highest} of attribute {attribute.name!r}"
            raise damaged(f"tensor 'population.codes' has {what}")
    for attribute, kinds in zip(attributes[people.persons :], people.requests, strict=True):
        if (highest := int(kinds.of_row.max())) >= len(kinds.counts):
            what = f"{highest} for {attribute.name!r}, of {len(kinds.counts)}"
            raise damaged(f"tensor 'population.requests' has {what}")
        if not kinds.counts[kinds.of_row].any():  # it would have no distribution
            raise damaged(f"tensor 'requests.counts' has no row for {attribute.name!r}")


def check_ranges(tensors: Tensors) -> None:
    """Refuse figures, by name and already of the right shape, with one that cannot be."""
    for name in tensors.keys() & FIGURES:
        if not np.isfinite(tensors[name]).all():
            raise damaged(f"tensor {name!r} has a number that is not finite")
    queries = len(tensors["queries.weights"])
    if "near.queries" in tensors and (tensors["near.queries"] >= queries).any():
        raise damaged(f"tensor 'near.queries' has a query beyond the {queries} of the model")
    if "near.queries" in tensors and (np.diff(tensors["near.queries"].astype(np.intp)) < 0).any():
        raise damaged("tensor 'near.queries' is not in ascending order")
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


def encode(model: Model) -> bytes:
    """Return the bytes of a model's file; the same model gives the same bytes.

    Raises ValueError if the metadata does not fit the format. Whether the parts fit together is
    found by `decode`.
    """
    found = model.tables.tensors(model.cards)
    tensors = {name: _narrow(tensor) for name, tensor in found.items()}
    blocks = -(-sum(each.nbytes for each in tensors.values()) // BLOCK)
    return stamped(save(tensors, {"reticent": to_text(model, blocks)}))


def decode(data: bytes | mmap, *, whole: bool = False) -> Model:
    """Return the model in the bytes of a file.

    ``whole``: whether to verify the rows of every query of a file of more than WHOLE bytes too.
    Raises DamagedModelError or VersionError, in the order of "Opening" in FORMAT.md.
    """
    content = Content(data)
    metadata = content.metadata
    attributes, queries = metadata.attribute_values(), metadata.query_values()
    check_encoder(metadata.encoder)
    check_texts(metadata)
    check_attributes(attributes)
    check_queries(queries, metadata.estimator)
    tensors = tensors_of(content)

    def verify(part: Part) -> None:
        for name, some in (("intent", part.intent), ("request", part.request)):
            content.verify(f"rows.{name}", some.start, some.stop - some.start)
        for name in ("users.rows", "users.step"):
            content.verify(name, part.users.start, part.users.stop - part.users.start)

    cards = [len(each.values) for each in attributes]
    tables = Tables.of_tensors(tensors, cards, metadata.people, verify)
    check_people(tables.population, attributes)
    check_ranges(tensors)
    model = Model(
        id=metadata.id,
        source=metadata.source,
        licence=metadata.licence,
        stands_for=metadata.stands_for,
        estimator=metadata.estimator,
        attributes=attributes,
        queries=queries,
        tables=tables,
        options=metadata.options,
        validation=metadata.validation,
        digest=content.digest,
    )
    for query in range(len(queries)) if whole or len(data) <= WHOLE else ():
        model.rows(query)
    return model


def shipped_model(name: str = SHIPPED[0]) -> Path:
    """Return the path of a shipped model (shipped/NOTICE.md)."""
    return Path(str(files("agent.model") / "shipped")) / f"{name}{SUFFIX}"


def shipped_models() -> tuple[Path, ...]:
    """Return the paths of the shipped models, that of the default one first."""
    return tuple(map(shipped_model, SHIPPED))


def read(path: Path, *, whole: bool = False) -> Model:
    """Return the model in a file, its arrays read-only.

    A file of more than WHOLE bytes is mapped, and the rows of a query are verified when they are
    needed; with ``whole``, all now.
    Raises UsageError if there is no such file or it may not be read; DamagedModelError or
    VersionError if it must not be used.
    """
    data = mapped_bytes(path, MAX_BYTES, above=WHOLE)
    try:
        return decode(data, whole=whole)
    except ModelError as error:
        raise type(error)(error.what, error.hint, str(path)) from error


def write(model: Model, path: Path) -> Model:
    """Write a model to a file, whole or not at all, and return it as it will be read.

    Only its owner can read it: it holds the rows of single people.
    Raises BuildError if the model does not fit the format, UsageError if it cannot be written.
    """
    try:
        data = encode(model)
        written = decode(data, whole=True)
    except (ModelError, ValueError) as error:
        what = error.what if isinstance(error, ModelError) else str(error)
        raise BuildError(what, "correct the tables or options that it was built from") from error
    replace_bytes(data, path, PRIVATE)
    return written
