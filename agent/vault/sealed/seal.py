"""The keys of an open vault, and what they seal (FORMAT.md, "Notation" and "Keys")."""

import hmac
from dataclasses import dataclass
from hashlib import sha256

from cryptography.exceptions import InvalidTag, UnsupportedAlgorithm
from cryptography.hazmat.primitives.ciphers.aead import AESGCMSIV
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from agent.errors import VaultError
from agent.vault.sealed.framing import Chance, context, frame
from agent.vault.sealed.trouble import OPENSSL

KEY_BYTES = 32
NONCE_BYTES = 12
TAG_BYTES = 16
OVERHEAD = NONCE_BYTES + TAG_BYTES
LOOKUP_BYTES = 16
KEPT = 4096  # names


class UnsealedError(Exception):
    """Bytes were not sealed with this key for this place; its catcher knows what that means."""


@dataclass(frozen=True, slots=True)
class Key:
    """32 secret bytes."""

    data: bytes

    def __repr__(self) -> str:
        return "Key(…)"

    def subkey(self, salt: bytes, info: str) -> "Key":
        """Return the key of one purpose (RFC 5869)."""
        return Key(expanded(self.data, salt, info))


class Sealer:
    """Seals payloads under one key, each with a fresh nonce."""

    __slots__ = ("_chance", "_cipher")

    def __init__(self, key: Key, chance: Chance) -> None:
        self._chance = chance
        try:
            self._cipher = AESGCMSIV(key.data)
        except UnsupportedAlgorithm as error:
            raise VaultError("the system's OpenSSL has no AES-GCM-SIV", OPENSSL) from error

    def seal(self, payload: bytes, bound: bytes) -> bytes:
        """Return a payload sealed, to be opened with the same ``bound`` context only."""
        nonce = self._chance(NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, payload, bound)

    def open(self, sealed: bytes, bound: bytes) -> bytes:
        """Return the payload; UnsealedError if it was altered or sealed for another place."""
        if len(sealed) < OVERHEAD:
            raise UnsealedError
        try:
            return self._cipher.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], bound)
        except InvalidTag as error:
            raise UnsealedError from error


class Seals:
    """What an open vault seals its rows with, and finds them by."""

    __slots__ = ("_labels", "_lookup", "_names", "_sealer", "vault_id")

    def __init__(self, key: Key, vault_id: bytes, chance: Chance) -> None:
        self.vault_id = vault_id
        self._labels: dict[str, bytes] = {}  # the same few contexts begin every row
        self._names: dict[tuple[str, str], bytes] = {}  # OpenSSL needs 40 µs to find its HMAC
        self._sealer = Sealer(key.subkey(vault_id, "reticent vault 1 seal"), chance)
        self._lookup = key.subkey(vault_id, "reticent vault 1 lookup")

    def lookup(self, table: str, name: str) -> bytes:
        """Return what stands for a name in the file."""
        found = self._names.get((table, name))
        if found is None:
            if len(self._names) >= KEPT:
                self._names.clear()
            whole = hmac.digest(self._lookup.data, frame(table, name), "sha256")
            found = self._names[table, name] = whole[:LOOKUP_BYTES]
        return found

    def seal(self, payload: bytes, label: str, *fields: bytes | int) -> bytes:
        """Return a payload sealed for one place of this vault."""
        return self._sealer.seal(payload, self._context(label, fields))

    def open(self, sealed: bytes, label: str, *fields: bytes | int) -> bytes:
        """Return the payload of one place of this vault; UnsealedError if it is not from there."""
        return self._sealer.open(sealed, self._context(label, fields))

    def digest(self, label: str, *fields: bytes | int) -> bytes:
        """Return SHA-256 of fields, bound to this vault."""
        return sha256(self._context(label, fields)).digest()

    def _context(self, label: str, fields: tuple[bytes | int, ...]) -> bytes:
        """Return a context of this vault."""
        begin = self._labels.get(label)
        if begin is None:
            begin = self._labels[label] = context(self.vault_id, label)
        return begin + frame(*fields)


def expanded(secret: bytes, salt: bytes, info: str) -> bytes:
    """Return 32 bytes made from a secret that needs no slowness (RFC 5869)."""
    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=salt, info=info.encode()).derive(secret)
