"""The signature of a model: who made it (FORMAT.md, "The signature"; RFC 8032)."""

import re
from collections.abc import Collection
from pathlib import Path
from typing import Annotated

import msgspec
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from msgspec import Meta, Struct

from agent.errors import SignatureError, UsageError, misfit
from agent.files import create_private, read_bytes, replace_bytes
from agent.model.file import SUFFIX, read
from agent.model.model import Model

MAX_KEY_BYTES = 16_384
MAX_SIGNATURE_BYTES = 4_096

_ALGORITHM = "ed25519:"
_FORMAT = 2  # 1 did not sign the id
_DOMAIN = f"reticent model signature {_FORMAT}\n"
_KEY = re.compile(rf"{_ALGORITHM}[0-9a-f]{{64}}")


# The curve of RFC 8032, 5.1: -x² + y² = 1 + D·x²·y² modulo P.
_P = 2**255 - 19
_D = -121665 * pow(121666, -1, _P) % _P
_ORDER_8 = 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7
_SMALL = {1, _P - 1, 0, _ORDER_8, _P - _ORDER_8}  # y of the points of order 1, 2, 4 and 8


class _Signature(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    format: int
    id: str = ""  # format 1 had none
    digest: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
    key: Annotated[str, Meta(pattern=rf"^{_ALGORITHM}[0-9a-f]{{64}}\Z")]
    signature: Annotated[str, Meta(pattern=r"^[0-9a-f]{128}\Z")]


def generate_key(path: Path) -> str:
    """Write a new private key to a file that only its owner can read; return the public key.

    Raises UsageError if the file already exists, or it cannot be written.
    """
    key = Ed25519PrivateKey.generate()
    create_private(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()), path)
    return _name(key)


def sign(model: Path, key: Path) -> Path:
    """Sign a model with the private key in a PEM file; return the path of the signature.

    Raises UsageError if a file cannot be read or written or holds no such key, or if the signature
    would replace one of them, or the file is not named after the model; ModelError if the model
    must not be used.
    """
    private = _private_key(key)
    opened = read(model, whole=True)
    if opened.id != model.stem:
        hint = f"name it {opened.id}{SUFFIX}, or give it the id {model.stem}"
        raise UsageError(f"the file is not named after its model, {opened.id!r}", hint, str(model))
    target = signature_path(model)
    for what, other, ending in (("model", model, SUFFIX), ("key", key, ".pem")):
        if target.exists() and target.samefile(other):
            hint = f"name the {what} {other.with_suffix(ending).name}, then sign again"
            raise UsageError(f"the signature would replace the {what}", hint, str(target))
    parts = _Signature(
        format=_FORMAT,
        id=opened.id,
        digest=opened.digest,
        key=_name(private),
        signature=private.sign(_message(opened)).hex(),
    )
    replace_bytes(msgspec.json.encode(parts) + b"\n", target)
    return target


def verify(model: Path) -> str:
    """The public key, ``ed25519:`` and 64 hexadecimal digits, that signed a model.

    Raises SignatureError as `maker`; UsageError or ModelError if the model cannot be used.
    """
    return maker(model, read(model, whole=True))


def maker(model: Path, opened: Model) -> str:
    """The public key that signed a model, by NAME.sig beside it; ``opened``: the model in the file.

    Raises SignatureError if the signature is missing, damaged or of another file, or if the file
    has another name than the id that was signed; UsageError if it cannot be read.
    """
    source = signature_path(model)
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
    return public


def trusted(model: Path, keys: Collection[str], *, whole: bool = False) -> Model:
    """The model in a file, if one of these keys signed it, where any is given.

    ``whole``: whether to verify all of a large file now, and not its rows when they are needed.

    Raises SignatureError if none of them did; UsageError if one of them is no key, or the model
    cannot be read; ModelError if it cannot be used.
    """
    for each in keys:
        check_key(each)
    opened = read(model, whole=whole)
    if keys and (key := maker(model, opened)) not in keys:
        hint = "add it to trusted_keys only if you trust its owner"
        raise SignatureError(f"the policy does not trust its maker, {key}", hint, str(model))
    return opened


def check_key(text: str) -> str:
    """The text of a public key unchanged.

    Raises UsageError if it is not ``ed25519:`` and 64 hexadecimal digits, or anybody could sign for
    it.
    """
    if not _KEY.fullmatch(text):
        hint = f"write {_ALGORITHM} and 64 of 0-9 and a-f, as `reticent model sign` prints it"
        raise UsageError("not a public key", hint, text[:80])
    if not is_sound(_point(text)):
        hint = "ask its owner for the key that `reticent model sign` printed"
        raise UsageError("not a public key: anybody could sign for it", hint, text)
    return text


def signer(model: Model, signature: bytes) -> str:
    """The public key that signed a model, from the content of a signature file.

    Raises SignatureError if the content is damaged or was made for another model, or for a key
    that anybody could sign for.
    """
    hint = "get the model and its signature again from its maker"
    try:
        parts = msgspec.json.decode(signature, type=_Signature)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        what = f"the signature does not fit the format: {misfit(error)}"
        raise SignatureError(what, hint) from error
    if parts.format != _FORMAT:
        what = f"the signature has format {parts.format}, and this version reads {_FORMAT}"
        older = "have its maker sign the model again"
        raise SignatureError(what, older if parts.format < _FORMAT else "install a newer reticent")
    if (parts.id, parts.digest) != (model.id, model.digest):
        raise SignatureError("the signature is of another model", hint)
    point = _point(parts.key)
    if not is_sound(point):
        raise SignatureError("the signature is by a key that anybody could sign for", hint)
    public = Ed25519PublicKey.from_public_bytes(point)
    try:
        public.verify(bytes.fromhex(parts.signature), _message(model))
    except InvalidSignature as error:
        raise SignatureError("the signature is not valid for its key", hint) from error
    return parts.key


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


def signature_path(model: Path) -> Path:
    """The path of the signature that belongs to a model."""
    return model.with_suffix(".sig")


def _message(model: Model) -> bytes:
    # An id has no control characters, so no line feed.
    return f"{_DOMAIN}{model.id}\n{model.digest}".encode()


def _point(key: str) -> bytes:
    return bytes.fromhex(key.removeprefix(_ALGORITHM))


def _name(key: Ed25519PrivateKey) -> str:
    return _ALGORITHM + key.public_key().public_bytes_raw().hex()


def _private_key(path: Path) -> Ed25519PrivateKey:
    hint = "name an Ed25519 private key in PEM, not encrypted"
    try:
        key = load_pem_private_key(read_bytes(path, MAX_KEY_BYTES), password=None)
    except TypeError as error:
        raise UsageError("the key is encrypted", hint, str(path)) from error
    except (ValueError, UnsupportedAlgorithm) as error:
        raise UsageError("not a private key", hint, str(path)) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise UsageError("not an Ed25519 key", hint, str(path))
    return key
