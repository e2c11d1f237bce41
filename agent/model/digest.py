"""The opening bytes of a model file: format version and digest, at a fixed place (FORMAT.md)."""

from __future__ import annotations

import hashlib
import re

from agent.errors import DamagedModelError, ModelError, VersionError

FORMAT = 1
BLANK = "0" * 64  # stands for the digest while it is computed

_LENGTH = 8  # bytes that hold the length of the header
_START = _LENGTH + len(rb'{"__metadata__":{"reticent":"{\"digest\":\"')
_END = _START + len(BLANK)
_OPENING = re.compile(
    rb'\{"__metadata__":\{"reticent":"\{\\"digest\\":\\"([0-9a-f]{64})\\",\\"format\\":(\d{1,9}),'
)


def damaged(what: str) -> DamagedModelError:
    """Return the error for a file that does not hold what it should, in printable text."""
    what = "".join(each if each.isprintable() else "\ufffd" for each in what)
    return DamagedModelError(what, "get the file again from where it came, or build it anew")


def verified(data: bytes) -> str:
    """Return the digest of a model file after testing that it is the file's own.

    Raises DamagedModelError if it is not, or if this is no model file or cut short; VersionError
    if the format is another one.
    """
    opening = _OPENING.match(data, _LENGTH)
    if opening is None:
        raise _not_a_model(data)
    if int(opening[2]) != FORMAT:
        what = f"the model has format {int(opening[2])}, and this version reads format {FORMAT}"
        raise VersionError(what, "install the reticent that matches it, or build it anew")
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


def _not_a_model(data: bytes) -> ModelError:
    """Return the error for a file that does not open like a model."""
    if len(data) < _END:
        return damaged(f"the file is cut short: it has {len(data)} bytes, too few for a model")
    return DamagedModelError(
        "the file is not a model of reticent, or its first bytes are damaged",
        "a model is built with `reticent model build`",
    )
