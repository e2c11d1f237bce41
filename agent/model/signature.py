"""The signature of a model: who made it (FORMAT.md, "The signature"; RFC 8032)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

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

from agent.errors import SignatureError, UsageError
from agent.files import create_private, read_bytes, replace_bytes
from agent.model.file import SUFFIX, read

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from agent.model.model import Model

MAX_KEY_BYTES = 16_384
MAX_SIGNATURE_BYTES = 4_096

_DOMAIN = b"reticent model signature 1\n"
_ALGORITHM = "ed25519:"
_FORMAT = 1
_KEY = re.compile(rf"{_ALGORITHM}[0-9a-f]{{64}}")


class _Signature(Struct, frozen=True, forbid_unknown_fields=True):
    format: Annotated[int, Meta(ge=_FORMAT, le=_FORMAT)]
    digest: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
    key: Annotated[str, Meta(pattern=rf"^{_ALGORITHM}[0-9a-f]{{64}}\Z")]
    signature: Annotated[str, Meta(pattern=r"^[0-9a-f]{128}\Z")]


def generate_key(path: Path) -> str:
    """Write a new private key to a file of the owner's only; return its public key.

    Raises UsageError if there is such a file already, or it cannot be written.
    """
    key = Ed25519PrivateKey.generate()
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    create_private(pem, path)
    return _name(key)


def sign(model: Path, key: Path) -> Path:
    """Sign a model with the private key in a PEM file; return the path of the signature.

    Raises UsageError if a file cannot be read or written or holds no such key, or if the signature
    would replace one of them; ModelError if the model must not be used.
    """
    private = _private_key(key)
    digest = read(model).digest
    place = signature_path(model)
    _check_place(place, model, key)
    signature = private.sign(_message(digest)).hex()
    text = msgspec.json.encode(_Signature(_FORMAT, digest, _name(private), signature))
    replace_bytes(text + b"\n", place)
    return place


def verify(model: Path, signature: Path | None = None, expected: str | None = None) -> str:
    """Return the public key, ``ed25519:`` and 64 hexadecimal digits, that signed a model.

    ``signature``: by default NAME.sig beside the model; ``expected``: the only key that will do.
    Raises SignatureError if it is missing, damaged, of another file or by another key; UsageError
    or ModelError if the model cannot be used.
    """
    wanted = None if expected is None else check_key(expected)
    public = maker(model, read(model).digest, signature)
    if wanted not in (None, public):
        hint = "use it only if you trust the owner of that key"
        raise SignatureError(f"the model is signed with another key, {public}", hint, str(model))
    return public


def maker(model: Path, digest: str, signature: Path | None = None) -> str:
    """Return the public key that signed the model of this digest, which was read from a file.

    ``signature``: by default NAME.sig beside the model. Raises SignatureError if it is missing,
    damaged or of another file; UsageError if it cannot be read.
    """
    place = signature_path(model) if signature is None else signature
    if not place.exists():
        what = f"the model is not signed: there is no file {str(place)!r}"
        raise SignatureError(what, "get the signature from its maker", str(model))
    try:
        return signer(digest, read_bytes(place, MAX_SIGNATURE_BYTES))
    except SignatureError as error:
        raise SignatureError(error.what, error.hint, str(place)) from error


def trusted(model: Path, keys: Collection[str]) -> Model:
    """Return the model in a file, if one of these keys signed it, where any is given.

    Raises SignatureError if none of them did; UsageError or ModelError if it cannot be used.
    """
    found = read(model)
    if keys and (key := maker(model, found.digest)) not in keys:
        hint = "add it to trusted_keys only if you trust its owner"
        raise SignatureError(f"the policy does not trust its maker, {key}", hint, str(model))
    return found


def check_key(text: str) -> str:
    """Return the text of a public key as it is; UsageError if it is not ``ed25519:`` and 64 hex."""
    if not _KEY.fullmatch(text):
        hint = f"write {_ALGORITHM} and 64 of 0-9 and a-f, as `reticent model key` prints it"
        raise UsageError("this is not a public key", hint, text[:80])
    return text


def signer(digest: str, signature: bytes) -> str:
    """Return the public key that signed a digest, from the content of a signature file.

    Raises SignatureError if the content is damaged or was made for another digest.
    """
    hint = "get the model and its signature again from its maker"
    try:
        parts = msgspec.json.decode(signature, type=_Signature)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise SignatureError(f"the signature does not fit the format: {error}", hint) from error
    if parts.digest != digest:
        raise SignatureError("the signature is of another model", hint)
    public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(parts.key.removeprefix(_ALGORITHM)))
    try:
        public.verify(bytes.fromhex(parts.signature), _message(digest))
    except InvalidSignature as error:
        raise SignatureError("the signature is not valid for its key", hint) from error
    return parts.key


def signature_path(model: Path) -> Path:
    """Return where the signature of a model lies."""
    return model.with_suffix(".sig")


def _check_place(place: Path, model: Path, key: Path) -> None:
    """Refuse to put the signature where the model or the key lies."""
    if not place.exists():
        return
    if place.samefile(model):
        hint = f"name the model {model.with_suffix(SUFFIX).name}, then sign it"
        raise UsageError("the signature would replace the model", hint, str(place))
    if place.samefile(key):
        hint = f"name the key {key.with_suffix('.pem').name}, then sign with it"
        raise UsageError("the signature would replace the key", hint, str(place))


def _message(digest: str) -> bytes:
    """Return the bytes that are signed."""
    return _DOMAIN + digest.encode()


def _name(key: Ed25519PrivateKey) -> str:
    """Return the public key as it is written."""
    return _ALGORITHM + key.public_key().public_bytes_raw().hex()


def _private_key(path: Path) -> Ed25519PrivateKey:
    """Return the private key in a PEM file; UsageError if there is none."""
    hint = "name an Ed25519 private key in PEM, not encrypted"
    try:
        key = load_pem_private_key(read_bytes(path, MAX_KEY_BYTES), password=None)
    except TypeError as error:
        raise UsageError("the key is encrypted", hint, str(path)) from error
    except (ValueError, UnsupportedAlgorithm) as error:
        raise UsageError("this is not a private key", hint, str(path)) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise UsageError("this is a key of another kind", hint, str(path))
    return key
