"""What opens a vault: a passphrase, a recovery code, or the keyring of the system."""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from agent.errors import UsageError

Kind = Literal["passphrase", "recovery", "keyring"]

MAX_BYTES = 1024


@dataclass(frozen=True, slots=True)
class Secret:
    """A passphrase or recovery code as it was typed; for the keyring there is no text.

    ``kept``: what the keyring has, by account; None where it was not asked yet.
    """

    kind: Kind
    text: str | None = None
    kept: Mapping[str, bytes] | None = None

    def __repr__(self) -> str:
        return f"Secret(kind={self.kind!r})"


def normalised(passphrase: str) -> bytes:
    """Return a passphrase as bytes, the same however it was typed (RFC 8265, OpaqueString).

    Raises UsageError if it is empty, too long or no text.
    """
    spaced = "".join(" " if unicodedata.category(c) == "Zs" else c for c in passphrase)
    try:
        data = unicodedata.normalize("NFC", spaced).encode()
    except UnicodeEncodeError:  # which holds the passphrase
        hint = "type it on a terminal in UTF-8"
        raise UsageError("this passphrase is not text", hint) from None
    if not data:
        raise UsageError("the passphrase is empty", "choose one; several words are easy to keep")
    if len(data) > MAX_BYTES:
        raise UsageError("the passphrase is too long", f"use at most {MAX_BYTES} bytes")
    return data
