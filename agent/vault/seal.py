"""Keys, what they seal, and the bytes that a seal is bound to (FORMAT.md, "Notation")."""

import hmac
import struct
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from typing import TypeVar

import msgspec
from cryptography.exceptions import InvalidTag, UnsupportedAlgorithm
from cryptography.hazmat.primitives.ciphers.aead import AESGCMSIV
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from agent.errors import VaultError

APP = "reticent vault"
FORMAT = 2  # of the file
SCHEME = 1  # of what seals bind to, and of the witness
Chance = Callable[[int], bytes]  # returns this many random bytes: os.urandom, or a test's
_LENGTH = struct.Struct(">H")
_PREFIX, _INTEGER = struct.Struct(">I"), struct.Struct(">IQ")
KEY_BYTES = 32
NONCE_BYTES = 12
TAG_BYTES = 16
OVERHEAD = NONCE_BYTES + TAG_BYTES
LOOKUP_BYTES = 16
KEPT = 4096  # names
OPENSSL = "install `cryptography` from its wheel, which brings OpenSSL 3.2 or newer"
MAX_MEMORY_KIB = 2**20
MAX_ITERATIONS = 16
MAX_LANES = 16
MAX_WORK = 2**22  # KiB written in all: some seconds, and a file has up to eight slots
KIB_PER_LANE = 8  # RFC 9106 knows no less
TARGET_SECONDS = 0.5
CALIBRATED_KIB = 2**19  # a slot made here must open on a smaller machine too
_NO_MEMORY = "there is not enough free memory for the key derivation"


Field = bytes | str | int
_Value = TypeVar("_Value")


def from_json(payload: bytes, decoder: msgspec.json.Decoder[_Value]) -> _Value | None:
    """The value in a payload, or None if it does not fit; nothing of it is quoted."""
    try:
        return decoder.decode(payload)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def frame(*fields: Field) -> bytes:
    """Fields with their lengths; an integer is 8 bytes, a text is UTF-8."""
    parts: list[bytes] = []
    for field in fields:
        if isinstance(field, int):
            parts.append(_INTEGER.pack(_INTEGER.size - _PREFIX.size, field))
        else:
            part = field.encode() if isinstance(field, str) else field
            parts += (_PREFIX.pack(len(part)), part)
    return b"".join(parts)


def context(vault_id: bytes, label: str, *fields: Field) -> bytes:
    """The context that binds a payload: the scheme, the vault, and the place in it."""
    return frame(APP, SCHEME, vault_id, label, *fields)


def prefix_name(name: str, payload: bytes) -> bytes:
    """A name, prefixed with its length in 2 bytes, and the payload."""
    text = name.encode()
    return _LENGTH.pack(len(text)) + text + payload


def split_name(data: bytes) -> tuple[str, bytes]:
    """Return name and payload; ValueError if there is no name."""
    begin = _LENGTH.size
    end = begin + int.from_bytes(data[:begin], "big")
    if not begin < end <= len(data):
        raise ValueError
    return data[begin:end].decode(), data[end:]


class UnsealedError(Exception):
    """Bytes were not sealed with this key for this place; its catcher knows what that means."""


@dataclass(frozen=True, slots=True)
class Key:
    """32 secret bytes."""

    data: bytes

    def __repr__(self) -> str:
        return "Key(…)"


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
        """A payload sealed, to be opened with the same ``bound`` context only."""
        nonce = self._chance(NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, payload, bound)

    def open(self, sealed: bytes, bound: bytes) -> bytes:
        """The payload; UnsealedError if it was altered or sealed for another place."""
        if len(sealed) < OVERHEAD:
            raise UnsealedError
        try:
            return self._cipher.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], bound)
        except InvalidTag as error:
            raise UnsealedError from error


class Seals:
    """What an open vault seals its rows with, and finds them by."""

    __slots__ = ("_begin", "_sealer", "lookup", "vault_id")

    def __init__(self, key: Key, vault_id: bytes, chance: Chance) -> None:
        self.vault_id = vault_id
        self._begin = frame(APP, SCHEME, vault_id)  # of every context
        self._sealer = Sealer(Key(expanded(key.data, vault_id, "reticent vault 1 seal")), chance)
        secret = expanded(key.data, vault_id, "reticent vault 1 lookup")

        @lru_cache(KEPT)  # an HMAC takes 40 µs
        def lookup(table: str, name: str) -> bytes:
            return hmac.digest(secret, frame(table, name), "sha256")[:LOOKUP_BYTES]

        self.lookup = lookup
        """The keyed hash that replaces a name of a table in the file."""

    def seal(self, payload: bytes, label: str, *fields: bytes | int) -> bytes:
        """A payload sealed for one place of this vault."""
        return self._sealer.seal(payload, self._begin + frame(label, *fields))

    def open(self, sealed: bytes, label: str, *fields: bytes | int) -> bytes:
        """The payload of one place of this vault; UnsealedError if it is not from there."""
        return self._sealer.open(sealed, self._begin + frame(label, *fields))

    def digest(self, label: str, *fields: bytes | int) -> bytes:
        """Return SHA-256 of fields, bound to this vault."""
        return sha256(self._begin + frame(label, *fields)).digest()


def expanded(secret: bytes, salt: bytes, info: str) -> bytes:
    """Return 32 bytes made from a secret that needs no slowness (RFC 5869)."""
    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=salt, info=info.encode()).derive(secret)


@dataclass(frozen=True, slots=True)
class Derivation:
    """How much work a guess of the passphrase costs; ``memory_kib`` in units of 1,024 bytes."""

    memory_kib: int = 2**16
    iterations: int = 3
    lanes: int = 4

    @property
    def bearable(self) -> bool:
        """Whether it may be computed: a hostile file must not exhaust this machine."""
        return (
            1 <= self.iterations <= MAX_ITERATIONS
            and 1 <= self.lanes <= MAX_LANES
            and KIB_PER_LANE * self.lanes <= self.memory_kib <= MAX_MEMORY_KIB
            and self.memory_kib * self.iterations <= MAX_WORK
        )


FLOOR = Derivation()


def derive(passphrase: bytes, salt: bytes, derivation: Derivation) -> bytes:
    """The 32 bytes of a passphrase.

    Raises VaultError if the parameters are out of range (before any work), the memory is not
    there, or the system's OpenSSL has no Argon2id.
    """
    if not derivation.bearable:
        hint = "do not use this file; `reticent vault restore FILE` brings a backup back"
        raise VaultError("the key slot demands more work or memory than reticent allows", hint)
    try:
        return Argon2id(
            salt=salt,
            length=KEY_BYTES,
            iterations=derivation.iterations,
            lanes=derivation.lanes,
            memory_cost=derivation.memory_kib,
        ).derive(passphrase)
    except MemoryError as error:
        raise VaultError(_NO_MEMORY, "close other programs and try again") from error
    except UnsupportedAlgorithm as error:
        raise VaultError("the system's OpenSSL has no Argon2id", OPENSSL) from error


def calibrate(clock: Callable[[], float]) -> Derivation:
    """The parameters for a new slot: about half a second here, and never below the floor.

    ``clock``: seconds, as time.perf_counter. Memory is doubled as long as that is nearer to the
    target. Raises VaultError if not even the floor can be computed.
    """

    def seconds(derivation: Derivation) -> float:
        begin = clock()
        derive(b"trial", bytes(16), derivation)
        return clock() - begin

    chosen = FLOOR
    taken = seconds(chosen)
    while chosen.memory_kib < CALIBRATED_KIB and 1.5 * taken < TARGET_SECONDS:
        larger = replace(chosen, memory_kib=2 * chosen.memory_kib)
        try:
            taken = seconds(larger)
        except VaultError:
            break
        chosen = larger
    return chosen
