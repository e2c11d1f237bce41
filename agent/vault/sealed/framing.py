"""Lists of fields as bytes, so that no two lists are the same bytes (FORMAT.md, "Notation")."""

import struct
from collections.abc import Callable

APP = "reticent vault"
FORMAT = 1

Chance = Callable[[int], bytes]  # as many random bytes as it is told: os.urandom, or a test's

Field = bytes | str | int

_LENGTH = struct.Struct(">H")


def frame(*fields: Field) -> bytes:
    """Return fields with their lengths; an integer is 8 bytes, a text is UTF-8."""
    parts: list[bytes] = []
    for field in fields:
        part = _bytes(field)
        parts += (struct.pack(">I", len(part)), part)
    return b"".join(parts)


def context(vault_id: bytes, label: str, *fields: Field) -> bytes:
    """Return what a payload of a vault is bound to: the format, the vault, the place in it."""
    return frame(APP, FORMAT, vault_id, label, *fields)


def named(name: str, payload: bytes) -> bytes:
    """Return a payload behind its name, of which the length is told in 2 bytes."""
    text = name.encode()
    return _LENGTH.pack(len(text)) + text + payload


def unnamed(data: bytes) -> tuple[str, bytes]:
    """Return name and payload; ValueError if there is no name."""
    begin = _LENGTH.size
    end = begin + int.from_bytes(data[:begin], "big")
    if not begin < end <= len(data):
        raise ValueError
    return data[begin:end].decode(), data[end:]


def _bytes(field: Field) -> bytes:
    """Return one field as bytes."""
    if isinstance(field, int):
        return struct.pack(">Q", field)
    return field.encode() if isinstance(field, str) else field
