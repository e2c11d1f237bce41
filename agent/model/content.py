"""The bytes of a model file: digest, hashes, metadata and places of the tensors (FORMAT.md)."""

import hashlib
import re
from collections.abc import Mapping
from math import prod
from mmap import mmap
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta, Raw, Struct
from numpy.typing import NDArray
from safetensors.numpy import save

from agent.errors import DamagedModelError, VersionError, misfit
from agent.model.attributes import Attribute, Count, Query, Text, damaged
from agent.model.model import Figure
from agent.model.tables import Tensors
from agent.tradeoff.utility import Estimator

FORMAT = 4
BLANK = "0" * 64  # stands for the digest while it is computed
BLOCK = 1 << 16  # bytes of the tensors with a hash of their own
TYPES = {"U8": "<u1", "U16": "<u2", "U32": "<u4", "F32": "<f4", "F64": "<f8"}
Place = Annotated[int, Meta(ge=0, le=2**40)]

_LENGTH = 8  # bytes that hold the length of the header
_START = _LENGTH + len(rb'{"__metadata__":{"reticent":"{\"digest\":\"')
_END = _START + len(BLANK)
_OPENING = re.compile(
    rb'\{"__metadata__":\{"reticent":"\{\\"digest\\":\\"([0-9a-f]{64})\\",\\"format\\":(\d{1,9}),'
)
_HASHES = re.compile(rb'\\"blocks\\":\\"([0-9a-f]*)\\"')
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_ESCAPE = re.compile(r"\\(?:([bfnrt]|u00(?:[01]|7[fF]|[89]))|.)")  # group 1: of a control character
_ALTERED = "the model does not match its digest: it was altered or cut short"


class Encoder(Struct, frozen=True, forbid_unknown_fields=True):
    """The network whose vectors a section of the model takes."""

    name: str
    version: str


class Metadata(Struct, frozen=True, forbid_unknown_fields=True):
    """All of a model that is not a tensor; fields in the order of the file."""

    digest: str
    format: int
    sections: tuple[str, ...]
    blocks: str
    id: Text
    source: str
    licence: str
    stands_for: Text
    estimator: Estimator
    people: Count
    attributes: Annotated[tuple[Attribute, ...], Meta(min_length=1, max_length=1024)]
    queries: Annotated[tuple[Query, ...], Meta(min_length=1)]
    encoders: dict[str, Encoder]
    options: dict[str, Figure]
    validation: dict[str, Figure]


class _Outline(Struct, frozen=True):
    """What is read first: whether the rest can be."""

    sections: tuple[str, ...]


class _TensorEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """The type and shape of a tensor, and the bytes that it takes."""

    dtype: str
    shape: tuple[Place, ...]
    data_offsets: tuple[Place, Place]


class Content:
    """A model file whose header fits its digest; the tensors are verified part by part.

    ``sections``: those that this version reads. Raises DamagedModelError if the header does not
    fit, or if this is not a model file or cut short; VersionError if the format or a section is
    one that this version does not read.
    """

    def __init__(self, data: bytes | mmap, sections: frozenset[str]) -> None:
        opening = _OPENING.match(data, _LENGTH)
        if opening is None and len(data) < _END:
            raise damaged(f"the file is cut short: it has {len(data)} bytes, too few for a model")
        if opening is None:
            what = "the file is not a model of reticent, or its first bytes are damaged"
            raise DamagedModelError(what, "a model is built with `reticent model build`")
        if (version := int(opening[2])) != FORMAT:
            what = f"the model has format {version}, and this version reads format {FORMAT}"
            old = "build it again from its tables; shipped models come in the new format"
            raise VersionError(what, old if version < FORMAT else "install a newer reticent")
        start = _LENGTH + _header_length(data)
        if start > len(data):
            raise damaged("the model is cut short within its header")
        self.digest = opening[1].decode()
        if self.digest != _digest(data):
            raise damaged(_ALTERED)
        self._bytes = memoryview(data)[start:]
        self.metadata, entries = _decoded(data[_LENGTH:start], sections)
        self._entries = _checked(entries, len(self._bytes))
        self._hashes = self.metadata.blocks
        if len(self._hashes) != len(BLANK) * -(-len(self._bytes) // BLOCK):
            raise damaged(_ALTERED)
        self._verified = bytearray(len(self._hashes) // len(BLANK))

    @property
    def shapes(self) -> Mapping[str, tuple[str, tuple[int, ...]]]:
        """The type and the shape of each tensor, by its name."""
        return {name: (each.dtype, each.shape) for name, each in self._entries.items()}

    def tensor(self, name: str) -> NDArray[Any]:
        """A tensor, read-only, of a type in TYPES; its numbers are not verified yet."""
        entry = self._entries[name]
        part = np.frombuffer(self._bytes, dtype=np.uint8)[slice(*entry.data_offsets)]
        return part.view(TYPES[entry.dtype]).reshape(entry.shape)

    def verify(self, name: str, first: int = 0, count: int | None = None) -> None:
        """Verify a tensor, or ``count`` of its numbers; DamagedModelError if they were altered."""
        entry = self._entries[name]
        each = np.dtype(TYPES[entry.dtype]).itemsize
        begin, end = entry.data_offsets
        begin += first * each
        end = end if count is None else begin + count * each
        for block in range(begin // BLOCK, -(-end // BLOCK)):
            if not self._verified[block]:
                if _hash(self._bytes, block) != self._hashes[64 * block : 64 * (block + 1)]:
                    raise damaged(_ALTERED)
                self._verified[block] = 1


def written(tensors: Tensors, metadata: Mapping[str, object]) -> bytes:
    """The bytes of a model file; the same content gives the same bytes.

    ``metadata``: all fields of `Metadata` but the digest, the format and the blocks. Raises
    ValueError if it does not fit the format (msgspec.ValidationError is one), or has a number that
    is not finite.
    """
    blocks = BLANK * -(-sum(each.nbytes for each in tensors.values()) // BLOCK)
    fixed: dict[str, object] = {"digest": BLANK, "format": FORMAT, "blocks": blocks}
    plain = Metadata(**fixed, **metadata)  # type: ignore[arg-type]  # checked by the next lines
    checked = msgspec.json.decode(msgspec.json.encode(plain), type=Metadata)
    if checked != plain:
        raise ValueError("a number in the metadata is not finite")
    text = msgspec.json.encode(checked, order="deterministic").decode()
    return stamped(save(dict(tensors), {"reticent": text}))


def _decoded(header: bytes, sections: frozenset[str]) -> tuple[Metadata, dict[str, _TensorEntry]]:
    try:
        parts = msgspec.json.decode(header, type=dict[str, Raw])
        texts = msgspec.json.decode(parts.pop("__metadata__", b"{}"), type=dict[str, str])
        entries = {
            name: msgspec.json.decode(each, type=_TensorEntry) for name, each in parts.items()
        }
        text = texts.get("reticent", "")
        raw = not text.isprintable() and _CONTROL.search(text)
        if raw or any(each[1] for each in _ESCAPE.finditer(text)):  # a terminal will show the texts
            raise damaged("the metadata of the model has a control character in a text")
        for section in msgspec.json.decode(text, type=_Outline).sections:
            if section not in sections:
                shown = repr(section[:40]) if section.isprintable() else "one"
                what = f"the model has a section that this version does not read: {shown}"
                raise VersionError(what, "install a newer reticent")
        metadata = msgspec.json.decode(text, type=Metadata)
        if msgspec.json.decode(msgspec.json.encode(metadata)) != msgspec.json.decode(text):
            what = "an entry of attributes or queries has an unknown member, or not every one"
            raise damaged(f"the metadata of the model does not fit the format: {what}")
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        what = f"the metadata of the model does not fit the format: {misfit(error)}"
        raise damaged(what) from error
    return metadata, entries


def _checked(entries: dict[str, _TensorEntry], size: int) -> dict[str, _TensorEntry]:
    """The entries; DamagedModelError unless each byte of the data belongs to one tensor."""
    end = 0
    for entry in sorted(entries.values(), key=lambda each: each.data_offsets):
        each = np.dtype(TYPES[entry.dtype]).itemsize if entry.dtype in TYPES else 0
        begins, ends = entry.data_offsets
        whole = prod(entry.shape) * each if each else ends - begins
        if begins != end or ends - begins != whole or begins > ends:
            raise damaged("the tensors of the model do not fit their shapes or their places")
        end = ends
    if end != size:
        raise damaged(f"the model has {size} bytes of tensors, and its header counts {end}")
    return entries


def header(data: bytes) -> bytes:
    """The JSON header of a model file."""
    return data[_LENGTH : _LENGTH + _header_length(data)]


def stamped(data: bytes) -> bytes:
    """A model file with its digest, and with the hashes of its blocks if they have room."""
    start = min(_LENGTH + _header_length(data), len(data))
    tensors = memoryview(data)[start:]
    hashes = "".join(_hash(tensors, block) for block in range(-(-len(tensors) // BLOCK))).encode()
    blank = _HASHES.search(data, 0, start)
    if blank is not None and len(blank[1]) == len(hashes):
        data = data[: blank.start(1)] + hashes + data[blank.end(1) :]
    return data[:_START] + _digest(data).encode() + data[_END:]


def _hash(tensors: memoryview, block: int) -> str:
    return hashlib.sha256(tensors[block * BLOCK : (block + 1) * BLOCK]).hexdigest()


def _digest(data: bytes | mmap) -> str:
    """The SHA-256 of the header, its length included, with BLANK in place of the digest."""
    sha = hashlib.sha256(data[:_START])
    sha.update(BLANK.encode())
    sha.update(data[_END : _LENGTH + _header_length(data)])
    return sha.hexdigest()


def _header_length(data: bytes | mmap) -> int:
    return int.from_bytes(data[:_LENGTH], "little")
