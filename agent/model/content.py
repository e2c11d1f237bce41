"""The bytes of a model file: its digest, the hashes that it covers, and the tensors (FORMAT.md)."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from math import prod
from mmap import mmap
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta, Raw, Struct
from numpy.typing import NDArray

from agent.errors import DamagedModelError, VersionError
from agent.model.attributes import damaged
from agent.model.metadata import BLANK, FORMAT, Metadata, metadata_of, misfitting

_LENGTH = 8  # bytes that hold the length of the header
_START = _LENGTH + len(rb'{"__metadata__":{"reticent":"{\"digest\":\"')
_END = _START + len(BLANK)
_OPENING = re.compile(
    rb'\{"__metadata__":\{"reticent":"\{\\"digest\\":\\"([0-9a-f]{64})\\",\\"format\\":(\d{1,9}),'
)
_HASHES = re.compile(rb'\\"blocks\\":\\"([0-9a-f]*)\\"')
BLOCK = 1 << 16  # bytes of the tensors with a hash of their own
TYPES = {"U8": "<u1", "U16": "<u2", "U32": "<u4", "F32": "<f4", "F64": "<f8"}
Place = Annotated[int, Meta(ge=0, le=2**40)]


class _Entry(Struct, frozen=True, forbid_unknown_fields=True):
    """Of which type and shape a tensor is, and which bytes it takes."""

    dtype: str
    shape: tuple[Place, ...]
    data_offsets: tuple[Place, Place]


class Content:
    """A model file of which the header fits the digest; the tensors are verified part by part.

    Raises DamagedModelError if it does not fit, or if this is no model file or cut short;
    VersionError if the format is another one.
    """

    def __init__(self, data: bytes | mmap) -> None:
        """Take the bytes of the file."""
        opening = _OPENING.match(data, _LENGTH)
        if opening is None and len(data) < _END:
            raise damaged(f"the file is cut short: it has {len(data)} bytes, too few for a model")
        if opening is None:
            what = "the file is not a model of reticent, or its first bytes are damaged"
            raise DamagedModelError(what, "a model is built with `reticent model build`")
        if int(opening[2]) != FORMAT:
            what = f"the model has format {int(opening[2])}, and this version reads format {FORMAT}"
            raise VersionError(what, "build it anew, or install the reticent that matches it")
        start = _LENGTH + header_length(data)
        if start > len(data):
            raise damaged("the model is cut short within its header")
        self.digest = opening[1].decode()
        if self.digest != _digest(data):
            raise damaged("the model does not match its digest: it was altered or cut short")
        self._bytes = memoryview(data)[start:]
        self.metadata: Metadata
        self.metadata, entries = _decoded(data[_LENGTH:start])
        self._entries = _checked(entries, len(self._bytes))
        self._hashes = self.metadata.blocks
        if len(self._hashes) != len(BLANK) * -(-len(self._bytes) // BLOCK):
            raise damaged("the model does not match its digest: it was altered or cut short")
        self._verified = bytearray(len(self._hashes) // len(BLANK))

    @property
    def shapes(self) -> Mapping[str, tuple[str, tuple[int, ...]]]:
        """The type and the shape of each tensor, by its name."""
        return {name: (each.dtype, each.shape) for name, each in self._entries.items()}

    def tensor(self, name: str) -> NDArray[Any]:
        """Return a tensor, read-only, of a type in TYPES; of its numbers none is verified yet."""
        entry = self._entries[name]
        part = np.frombuffer(self._bytes, dtype=np.uint8)[slice(*entry.data_offsets)]
        return part.view(TYPES[entry.dtype]).reshape(entry.shape)

    def verify(self, name: str, first: int = 0, count: int | None = None) -> None:
        """Make sure of a tensor, or of ``count`` numbers of it; DamagedModelError if altered."""
        entry = self._entries[name]
        each = np.dtype(TYPES[entry.dtype]).itemsize
        begin, end = entry.data_offsets
        begin += first * each
        end = end if count is None else begin + count * each
        for block in range(begin // BLOCK, -(-end // BLOCK)):
            if not self._verified[block]:
                if _hash(self._bytes, block) != self._hashes[64 * block : 64 * (block + 1)]:
                    what = "the model does not match its digest: it was altered or cut short"
                    raise damaged(what)
                self._verified[block] = 1


def _decoded(header: bytes) -> tuple[Metadata, dict[str, _Entry]]:
    """Return what the header says; DamagedModelError if it does not fit the format."""
    try:
        parts = msgspec.json.decode(header, type=dict[str, Raw])
        texts = msgspec.json.decode(parts.pop("__metadata__", b"{}"), type=dict[str, str])
        entries = {name: msgspec.json.decode(each, type=_Entry) for name, each in parts.items()}
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise misfitting(error) from error
    return metadata_of(texts.get("reticent", "")), entries


def _checked(entries: dict[str, _Entry], size: int) -> dict[str, _Entry]:
    """Return the entries; DamagedModelError unless each byte of the data belongs to one tensor."""
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
    """Return the JSON header of a model file."""
    return data[_LENGTH : _LENGTH + header_length(data)]


def stamped(data: bytes) -> bytes:
    """Return a model file with its digest, and with hashes if it has room for these."""
    start = min(_LENGTH + header_length(data), len(data))
    hashes = "".join(hashes_of(memoryview(data)[start:])).encode()
    found = _HASHES.search(data, 0, start)
    if found is not None and len(found[1]) == len(hashes):
        data = data[: found.start(1)] + hashes + data[found.end(1) :]
    return data[:_START] + _digest(data).encode() + data[_END:]


def hashes_of(tensors: memoryview) -> Iterator[str]:
    """Yield the SHA-256 of each block, in hexadecimal."""
    for block in range(-(-len(tensors) // BLOCK)):
        yield _hash(tensors, block)


def _hash(tensors: memoryview, block: int) -> str:
    return hashlib.sha256(tensors[block * BLOCK : (block + 1) * BLOCK]).hexdigest()


def _digest(data: bytes | mmap) -> str:
    """Return the SHA-256 of the header, its length included, with BLANK in place of the digest."""
    sha = hashlib.sha256(data[:_START])
    sha.update(BLANK.encode())
    sha.update(data[_END : _LENGTH + header_length(data)])
    return sha.hexdigest()


def header_length(data: bytes | mmap) -> int:
    """Return how many bytes the header has, as the file says."""
    return int.from_bytes(data[:_LENGTH], "little")
