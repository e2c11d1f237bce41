"""The bytes of a model file: digest, hashes, metadata, tensors; and its signature (FORMAT.md)."""

import hashlib
import re
from collections.abc import Collection, Mapping
from mmap import mmap
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import UNSET, Meta, Raw, Struct, UnsetType
from numpy.lib.array_utils import byte_bounds
from numpy.typing import NDArray

from agent.errors import DamagedModelError, SignatureError, UsageError, VersionError, misfit
from agent.model.attributes import Attribute, Block, Count, Query, SharedKind, Text, damaged
from agent.model.model import Figure, Model
from agent.model.tables import Tensors
from agent.tradeoff.utility import Estimator

FORMAT = 4
BLANK = "0" * 64  # stands for the digest while it is computed
BLOCK = 1 << 16  # bytes of the tensors with a hash of their own
TYPES = {"U8": "<u1", "U16": "<u2", "U32": "<u4", "F32": "<f4", "F64": "<f8"}
Place = Annotated[int, Meta(ge=0, le=2**40)]
_OF_SECTIONS = (("kinds", "attributes", "shared"), ("judged", "queries", "bits"))

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

ALGORITHM = "ed25519:"
SIGNATURE_FORMAT = 2  # 1 did not sign the id
_DOMAIN = f"reticent model signature {SIGNATURE_FORMAT}\n"
_KEY = re.compile(rf"{ALGORITHM}[0-9a-f]{{64}}")

# The curve of RFC 8032, 5.1: -x² + y² = 1 + D·x²·y² modulo P.
_P = 2**255 - 19
_D = -121665 * pow(121666, -1, _P) % _P
_ORDER_8 = 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7
_SMALL = {1, _P - 1, 0, _ORDER_8, _P - _ORDER_8}  # y of the points of order 1, 2, 4 and 8


class Encoder(Struct, frozen=True, forbid_unknown_fields=True):
    """The network whose vectors a section of the model takes."""

    name: str
    version: str


class Metadata(Struct, frozen=True, forbid_unknown_fields=True):
    """All of a model that is not a tensor; fields in the order of the file.

    Those of a section are unset in a model without it.
    """

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
    donors: Annotated[tuple[Block, ...], Meta(min_length=1)] | UnsetType = UNSET
    kinds: Annotated[tuple[SharedKind, ...], Meta(min_length=1)] | UnsetType = UNSET

    def listed(self) -> Any:  # noqa: ANN401  (JSON)
        """As the file has it: the keys of a section are there only if the section is."""
        plain = msgspec.json.decode(msgspec.json.encode(self, order="deterministic"))
        for section, entries, key in _OF_SECTIONS:
            for each in plain[entries] if section not in self.sections else ():
                del each[key]
        return plain


class _Outline(Struct, frozen=True):
    """The sections alone, which say whether the rest can be read."""

    sections: tuple[str, ...]


class _TensorEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """The type and shape of a tensor, and the bytes that it takes."""

    dtype: str
    shape: tuple[Place, ...]
    data_offsets: tuple[Place, Place]


class Content:
    """A model file whose header fits its digest.

    ``tensors``: by name, read-only, of a type in TYPES; their numbers are not verified yet.
    ``sections``: those that this version reads. Raises DamagedModelError if the header does not
    fit, or if this is not a model file or cut short; VersionError if the format or a section is
    one that this version does not read.
    """

    def __init__(self, data: bytes | mmap, sections: Collection[str]) -> None:
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
        self.tensors = _tensors(entries, self._bytes)
        if len(self.metadata.blocks) != len(BLANK) * -(-len(self._bytes) // BLOCK):
            raise damaged(_ALTERED)
        self._verified = bytearray(len(self.metadata.blocks) // len(BLANK))

    def verify(self, part: NDArray[Any]) -> None:
        """Verify a contiguous part of a tensor of this file; DamagedModelError if it was altered.

        ValueError where it is none, such as a copy: its place in memory says which bytes it has.
        """
        start = byte_bounds(np.frombuffer(self._bytes, np.uint8))[0]
        begin, end = (each - start for each in byte_bounds(part))
        if not 0 <= begin <= end <= len(self._bytes):
            raise ValueError("only a part of the file itself can be verified, not a copy")
        for block in range(begin // BLOCK, -(-end // BLOCK)):
            if not self._verified[block]:
                if _hash(self._bytes, block) != self.metadata.blocks[64 * block : 64 * (block + 1)]:
                    raise damaged(_ALTERED)
                self._verified[block] = 1


def written(tensors: Tensors, metadata: Mapping[str, object]) -> bytes:
    """The bytes of a model file; the same content gives the same bytes.

    ``metadata``: all fields of `Metadata` but the digest, the format and the blocks. Raises
    ValueError if it does not fit the format (msgspec.ValidationError is one), or has a number that
    is not finite.
    """
    blocks = BLANK * -(-sum(each.nbytes for each in tensors.values()) // BLOCK)
    plain = Metadata(digest=BLANK, format=FORMAT, blocks=blocks, **metadata)  # type: ignore[arg-type]
    # Decoding checks the types.
    checked = msgspec.json.decode(msgspec.json.encode(plain), type=Metadata)
    if checked != plain:
        raise ValueError("a number in the metadata is not finite")
    from safetensors.numpy import save  # to write alone

    text = msgspec.json.encode(checked.listed()).decode()
    return stamped(save(dict(tensors), {"reticent": text}))


def _decoded(header: bytes, sections: Collection[str]) -> tuple[Metadata, dict[str, _TensorEntry]]:
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
        plain = msgspec.json.encode(metadata, order="deterministic").decode()
        if plain != text and metadata.listed() != msgspec.json.decode(text):
            what = "an entry of attributes or queries has an unknown member, or not every one"
            raise damaged(f"the metadata of the model does not fit the format: {what}")
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        what = f"the metadata of the model does not fit the format: {misfit(error)}"
        raise damaged(what) from error
    return metadata, entries


def _tensors(entries: dict[str, _TensorEntry], data: memoryview) -> dict[str, NDArray[Any]]:
    """The tensors; DamagedModelError unless each byte of the data belongs to one of them."""
    tensors, end = dict[str, NDArray[Any]](), 0
    wrong = "the tensors of the model do not fit their shapes or their places"
    for name, entry in sorted(entries.items(), key=lambda pair: pair[1].data_offsets):
        if entry.dtype not in TYPES:
            raise damaged(f"tensor {name!r} is {entry.dtype}, and not one of {', '.join(TYPES)}")
        begin, after = entry.data_offsets
        if begin != end or after < begin:
            raise damaged(wrong)
        try:
            numbers = np.frombuffer(data[begin:after], TYPES[entry.dtype])
            tensors[name] = numbers.reshape(entry.shape)
        except ValueError as error:
            raise damaged(wrong) from error
        end = after
    if end != len(data):
        raise damaged(f"the model has {len(data)} bytes of tensors, and its header counts {end}")
    return tensors


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
    header = data[:_START] + BLANK.encode() + data[_END : _LENGTH + _header_length(data)]
    return hashlib.sha256(header).hexdigest()


def _header_length(data: bytes | mmap) -> int:
    return int.from_bytes(data[:_LENGTH], "little")


class Signature(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A signature file; the key, ``ed25519:`` and 64 digits, and the signature in hexadecimal."""

    format: int
    id: str = ""  # format 1 had none
    digest: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
    key: Annotated[str, Meta(pattern=rf"^{ALGORITHM}[0-9a-f]{{64}}\Z")]
    signature: Annotated[str, Meta(pattern=r"^[0-9a-f]{128}\Z")]


def signer(model: Model, signature: bytes) -> str:
    """The public key that signed a model, from the content of a signature file.

    Raises SignatureError if the content is damaged or was made for another model, or for a key
    that anybody could sign for.
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    hint = "get the model and its signature again from its maker"
    try:
        parts = msgspec.json.decode(signature, type=Signature)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        what = f"the signature does not fit the format: {misfit(error)}"
        raise SignatureError(what, hint) from error
    if parts.format != SIGNATURE_FORMAT:
        what = f"the signature has format {parts.format}, and this version reads {SIGNATURE_FORMAT}"
        is_old = parts.format < SIGNATURE_FORMAT
        mend = "have its maker sign the model again" if is_old else "install a newer reticent"
        raise SignatureError(what, mend)
    if (parts.id, parts.digest) != (model.id, model.digest):
        raise SignatureError("the signature is of another model", hint)
    point = bytes.fromhex(parts.key.removeprefix(ALGORITHM))
    if not is_sound(point):
        raise SignatureError("the signature is by a key that anybody could sign for", hint)
    public = Ed25519PublicKey.from_public_bytes(point)
    try:
        public.verify(bytes.fromhex(parts.signature), signed_bytes(model))
    except InvalidSignature as error:
        raise SignatureError("the signature is not valid for its key", hint) from error
    return parts.key


def check_key(text: str) -> str:
    """The text of a public key unchanged.

    Raises UsageError if it is not ``ed25519:`` and 64 hexadecimal digits, or anybody could sign for
    it.
    """
    if not _KEY.fullmatch(text):
        hint = f"write {ALGORITHM} and 64 of 0-9 and a-f, as `reticent model sign` prints it"
        raise UsageError("not a public key", hint, text[:80])
    if not is_sound(bytes.fromhex(text.removeprefix(ALGORITHM))):
        hint = "ask its owner for the key that `reticent model sign` printed"
        raise UsageError("not a public key: anybody could sign for it", hint, text)
    return text


def is_sound(point: bytes) -> bool:
    """Whether 32 bytes are the one encoding of a point of the curve that is not of small order.

    A signature by a key of small order (1, 2, 4 or 8) can be made without a private key, and fits
    any message. OpenSSL accepts such keys, libsodium does not. A point with x = 0, whose
    sign could be written in two ways, is of small order. Source: RFC 8032, 5.1.3.
    """
    y = int.from_bytes(point, "little") & (2**255 - 1)  # without the sign of x
    if y >= _P or y in _SMALL:
        return False
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _P)  # of x; no divisor is 0, D is no square
    return pow(square, (_P - 1) // 2, _P) == 1


def signed_bytes(model: Model) -> bytes:
    """The bytes that a signature of a model signs; an id has no line feed."""
    return f"{_DOMAIN}{model.id}\n{model.digest}".encode()
