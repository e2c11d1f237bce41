"""A model as a file: reading, writing, trusting, and the checks of its content (FORMAT.md)."""

import csv
from collections.abc import Collection, Sequence
from dataclasses import fields
from itertools import combinations
from math import comb, inf, isclose, prod
from mmap import mmap
from pathlib import Path
from types import EllipsisType

import numpy as np
from msgspec import UNSET

from agent.errors import BuildError, ModelError, SignatureError, VersionError
from agent.files import PRIVATE, mapped_bytes, read_bytes, replace_bytes
from agent.model import encoder, relevance
from agent.model.attributes import (
    Attribute,
    check_attributes,
    check_blocks,
    check_kinds,
    check_queries,
    columns_of,
    damaged,
    kind_names,
)
from agent.model.content import Content, Encoder, Metadata, check_key, signer, written
from agent.model.model import BUDGET, Model
from agent.model.reading import DIMENSIONS, ENCODER, ENCODER_VERSION, FEATURES, LEAST_TOPIC
from agent.model.tables import Tables, Tensors, check_below
from agent.tradeoff.tables import Population, smallest
from agent.tradeoff.utility import COST_METRICS, MOST_PRICE, NEAR_MEASURES

# In tensors.csv, by section and name: the types that a tensor may have, and its shape. A letter is
# a size: N rows of the population, P columns of it, t pairs of their values, a attributes of
# persons, R of requests, n of both, p pairs, Q queries, q of them with rows, M rows and U users of
# all queries, m metrics, D numbers of a text's vector, E of its other vector and V with a bias, C
# of the class "something else" too, F features of a text, s bytes of a set, c measures of near
# costs, b blocks of donors, k kinds, S statements, v numbers of a text's vectors in both encoders,
# w with a bias, f features of a text and a fact. The sizes that the metadata do not say are those
# of the first tensor that has them.
_, *_ROWS = csv.reader(Path(__file__).with_name("tensors.csv").read_text("utf-8").splitlines())
_FORMS = {
    section: {name: (types.split(), shape) for of, name, types, shape in _ROWS if of == section}
    for section, *_ in _ROWS
} | {"kinds": {}}  # which has no tensors
_ELSEWHERE = ("tables", "digest", "members", "own", "as_in")
_IN_METADATA = [each.name for each in fields(Model) if each.name not in _ELSEWHERE]
_STATED = ("donors", "kinds")  # sections with a list in the metadata
# By section: the use of an encoder, and whose vectors it takes.
ENCODERS = {
    "mixture": ("relevance", Encoder(encoder.NAME, encoder.VERSION)),
    "reading": ("topics", Encoder(ENCODER, ENCODER_VERSION)),
}
MIN_WEIGHT, MAX_WEIGHT = 1e-9, 1e9  # beyond, a sum of them loses the small ones or overflows
MIN_PEOPLE = 1  # that a row of the population stands for
# The least and the most of a tensor's numbers, of all or of one.
_RANGES: Sequence[tuple[str, int | EllipsisType, float, float]] = (
    ("attributes.prices", ..., 0, MOST_PRICE),
    ("judged.likely", ..., 0, 1),
    ("judged.totals", ..., 0, MAX_WEIGHT),
    ("judged.weights", ..., 0, MAX_WEIGHT),
    ("population.pairs", ..., 0, inf),
    ("population.weights", ..., MIN_PEOPLE, MAX_WEIGHT),
    ("queries.weights", ..., MIN_WEIGHT, MAX_WEIGHT),
    ("reading.calibration", 0, MIN_WEIGHT, MAX_WEIGHT),  # the temperature
    ("reading.calibration", 1, LEAST_TOPIC, 1),  # the threshold
    ("relevance.common", ..., 0, 1),
    ("relevance.of_kinds", ..., 0, 1),
)
SHIPPED = ("everyday", "so2017")  # in use where no other is named; the first where one is needed
MAX_BYTES = 2**30
WHOLE = 2**24  # bytes; of a larger file the rows of a query are verified when they are needed
SUFFIX = ".safetensors"
MAX_SIGNATURE_BYTES = 4_096


def encode(model: Model) -> bytes:
    """The bytes of a model's file; the same model gives the same bytes.

    Raises ValueError if the metadata does not fit the format. Whether the parts fit together is
    checked by `decode`.
    """
    tensors = {name: smallest(tensor) for name, tensor in model.tables.tensors().items()}
    stated = {each: getattr(model, each) or UNSET for each in _STATED}
    sections = [
        each
        for each in _FORMS
        if each and (tensors.keys() & _FORMS[each].keys() or stated.get(each, UNSET))
    ]
    plain = {name: getattr(model, name) for name in _IN_METADATA} | {
        "sections": tuple(sections),
        "people": model.population.rows,
        "encoders": dict(ENCODERS[each] for each in sections if each in ENCODERS),
        "options": dict(model.options),
        "validation": dict(model.validation),
    }
    return written(tensors, plain | stated)


def decode(data: bytes | mmap, *, whole: bool = False) -> Model:
    """The model in the bytes of a file.

    ``whole``: whether to verify the rows of every query of a file of more than WHOLE bytes, and
    the spellings of phrasings. Raises DamagedModelError or VersionError, in the order of "Opening"
    in FORMAT.md.
    """
    content = Content(data, _FORMS.keys() - {""})
    metadata = content.metadata
    _check_encoders(metadata)
    if ("judged" in metadata.sections) != (metadata.estimator == "judged"):
        raise damaged("the estimator of the model does not fit its sections")
    budget = [type(metadata.options.get(each)) in {int, float} for each in BUDGET]
    if any(each in metadata.options for each in BUDGET) and not all(budget):
        raise damaged("the options of the model do not state a whole budget of privacy")
    check_attributes(metadata.attributes)
    check_queries(metadata.queries, metadata.estimator, whole=whole)
    stated = {each: getattr(metadata, each) or () for each in _STATED}
    for section, lines in stated.items():
        if bool(lines) != (section in metadata.sections):
            raise damaged(f"the {section} of the model do not fit its sections")
    check_blocks(stated["donors"], metadata.attributes)
    check_kinds(stated["kinds"], metadata.attributes)
    _check_forms(content)
    _check_ranges(content.tensors)
    cards = [len(each.values) for each in metadata.attributes]
    kinds = kind_names(metadata.attributes)
    tables = Tables.of_tensors(content.tensors, cards, kinds, content.verify)
    _check_people(tables.population, metadata.attributes)
    plain = {name: getattr(metadata, name) for name in _IN_METADATA} | stated
    model = Model(**plain, tables=tables, digest=content.digest)
    for query in range(len(model.queries)) if whole or len(data) <= WHOLE else ():
        model.check_rows(query)
    return model


def _check_encoders(metadata: Metadata) -> None:
    """Refuse a model whose encoders differ from those of this version."""
    for section in ("head", "mixture") if "reading" not in metadata.sections else ():
        if section in metadata.sections:
            raise damaged(f"the model has the section {section!r} without the section 'reading'")
    if "relevance" in metadata.sections and not {"judged", "mixture"} <= {*metadata.sections}:
        raise damaged("the model has the section 'relevance' without 'judged' or 'mixture'")
    wanted = dict(ENCODERS[each] for each in metadata.sections if each in ENCODERS)
    if metadata.encoders.keys() != wanted.keys():
        raise damaged("the encoders of the model are not those of its sections")
    for use, ours in wanted.items():
        if (theirs := metadata.encoders[use]) != ours:
            what = f"the model reads texts with {theirs.name} {theirs.version}"
            have = f"this version of reticent has {ours.name} {ours.version}"
            raise VersionError(f"{what}, and {have}", "build it again")


def _check_forms(content: Content) -> None:
    """Refuse tensors that are missing, unknown, of another type or shape, or altered.

    Those of the rows may be altered: `Model.check_rows` verifies them.
    """
    metadata, tensors, sizes = content.metadata, content.tensors, _sizes(content.metadata)
    forms = {
        name: form for section in ("", *metadata.sections) for name, form in _FORMS[section].items()
    }
    for name in sorted(forms.keys() ^ tensors.keys()):
        raise damaged(f"tensor {name!r} is {'missing' if name in forms else 'unknown'}")
    for name, (types, letters) in forms.items():
        tensor = tensors[name]
        for letter, size in zip(letters, tensor.shape, strict=False):
            sizes.setdefault(letter, size)
        expected = tuple(sizes.get(letter, 0) for letter in letters)
        dtype = f"{tensor.dtype.kind.upper()}{8 * tensor.itemsize}"
        if dtype not in types or tensor.shape != expected:
            what = f"tensor {name!r} is {dtype} of shape {[*tensor.shape]}"
            raise damaged(f"{what} instead of {' or '.join(types)} of shape {[*expected]}")
        if not name.startswith("rows."):
            content.verify(tensor)


def _sizes(metadata: Metadata) -> dict[str, int]:
    """The sizes in _FORMS that follow from the metadata."""
    count, columns = len(metadata.attributes), columns_of(metadata.attributes)
    persons = sum(each.scope == "person" for each in metadata.attributes)
    queries = len(metadata.queries)
    return {
        "2": 2,
        "m": len(COST_METRICS),
        "c": len(NEAR_MEASURES) if "weights" in metadata.sections else 1,
        "N": metadata.people,
        "P": len(columns),
        "a": persons,
        "R": count - persons,
        "n": count,
        "p": count * (count - 1) // 2,
        "t": sum(map(prod, combinations((len(each.values) for each in columns), 2))),
        "s": -(-count // 8),
        "b": len(metadata.donors or ()),
        "Q": queries,
        "q": 0 if "judged" in metadata.sections else queries,
        "C": queries + 1,
        "D": DIMENSIONS,
        "E": encoder.DIMENSIONS,
        "V": encoder.DIMENSIONS + 1,
        "F": FEATURES,
        "k": len(kind_names(metadata.attributes)),
        "v": relevance.SIZE,
        "w": relevance.SIZE + 1,
        "f": relevance.FEATURES,
        "M": sum(each.rows for each in metadata.queries),
        "U": sum(each.users for each in metadata.queries),
    }


def _check_people(people: Population, attributes: Sequence[Attribute]) -> None:
    """Refuse people with a code or a kind that does not exist, or a kind without any rows."""
    for each, codes in zip(attributes, people.columns, strict=False):
        check_below("population.codes", codes, len(each.values), f"attribute {each.name!r}")
    if people.pairs and not isclose(people.pairs[0].sum(), people.people * comb(people.tabled, 2)):
        raise damaged("tensor 'population.pairs' does not sum up to the people")
    requests = attributes[len(attributes) - len(people.requests) :]
    for each, kinds in zip(requests, people.requests, strict=True):
        where = f"attribute {each.name!r}"
        check_below("population.requests", kinds.of_row, len(kinds.counts), where)
        if not kinds.counts[kinds.of_row].any():  # it would have no distribution
            raise damaged(f"tensor 'requests.counts' has no row for {each.name!r}")


def _check_ranges(tensors: Tensors) -> None:
    """Refuse figures, already of the right shape, that are out of range."""
    for name, tensor in tensors.items():
        if tensor.dtype.kind == "f" and not np.isfinite(tensor).all():
            raise damaged(f"tensor {name!r} has a number that is not finite")
    for name, place, least, most in (each for each in _RANGES if each[0] in tensors):
        numbers = tensors[name][place]
        if not ((numbers >= least) & (numbers <= most)).all():
            raise damaged(f"tensor {name!r} has a number outside {least:g} to {most:g}")
    queries = len(tensors["queries.weights"])
    near = tensors.get("near.queries", np.zeros(0, np.uint8)).astype(np.intp)
    if (near >= queries).any():
        raise damaged(f"tensor 'near.queries' has a query beyond the {queries} of the model")
    if (np.diff(near) < 0).any():
        raise damaged("tensor 'near.queries' is not in ascending order")


def shipped_model(name: str = SHIPPED[0]) -> Path:
    """The path of a shipped model (shipped/NOTICE.md)."""
    return Path(__file__).with_name("shipped") / f"{name}{SUFFIX}"


def shipped_models() -> tuple[Path, ...]:
    """The paths of the shipped models, the first one first."""
    return tuple(map(shipped_model, SHIPPED))


def read(path: Path, *, whole: bool = False) -> Model:
    """The model in a file, its arrays read-only.

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

    Only its owner can read it: it holds the rows of individual people.
    Raises BuildError if the model does not fit the format, UsageError if it cannot be written.
    """
    try:
        data = encode(model)
        decoded = decode(data, whole=True)
    except (ModelError, ValueError) as error:
        what = error.what if isinstance(error, ModelError) else str(error)
        raise BuildError(what, "correct the tables or options that it was built from") from error
    replace_bytes(data, path, PRIVATE)
    return decoded


def trusted(model: Path, keys: Collection[str], *, whole: bool = False) -> Model:
    """The model in a file, if one of these keys signed it, where any is given.

    ``whole``: whether to verify all of a large file now, and not its rows when they are needed.

    Raises SignatureError if none of them did; UsageError if one of them is no key, or the model
    cannot be read; ModelError if it cannot be used.
    """
    opened = read(model, whole=whole)
    if keys:
        maker(model, opened, keys)
    return opened


def maker(model: Path, opened: Model, keys: Collection[str] = ()) -> str:
    """The public key that signed a model, by NAME.sig beside it; ``opened``: the model in the file.

    The key: ``ed25519:`` and 64 hexadecimal digits; ``keys``: those that may have, none for any.
    Raises SignatureError if the signature is missing, damaged or of another file, if none of these
    keys made it, or if the file has another name than the id that was signed; UsageError if it
    cannot be read, or one of them is no key.
    """
    for each in keys:
        check_key(each)
    source = signature_of(model)
    if not source.exists():
        what = f"the model is not signed: there is no file {str(source)!r}"
        raise SignatureError(what, "get the signature from its maker", str(model))
    try:
        public = signer(opened, read_bytes(source, MAX_SIGNATURE_BYTES))
    except SignatureError as error:
        raise SignatureError(error.what, error.hint, str(source)) from error
    if opened.id != model.stem:
        hint = f"name the file {opened.id}{SUFFIX}: a signature is for one id"
        what = f"the model was signed as {opened.id!r} and is named {model.stem!r}"
        raise SignatureError(what, hint, str(model))
    if keys and public not in keys:
        hint = "add it to trusted_keys only if you trust its owner"
        raise SignatureError(f"the policy does not trust its maker, {public}", hint, str(model))
    return public


def signature_of(model: Path) -> Path:
    """The path of the signature that belongs to a model."""
    return model.with_suffix(".sig")
