"""Key slots: the data key, wrapped under one secret each (FORMAT.md, "Slots")."""

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, astuple, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from agent.errors import VaultError, WrongSecretError
from agent.vault import seal, secrets
from agent.vault.chain import digest_of
from agent.vault.database import Database, Statement, damaged, snapshot
from agent.vault.secrets import CODE_BYTES, Kind, Secret, code_bytes, code_text, normalised

SALT_BYTES = 16
ACCOUNT_BYTES = 16
_Hex16 = Annotated[str, Meta(pattern=r"^[0-9a-f]{32}\Z")]
_Wrapped = Annotated[str, Meta(pattern=rf"^[0-9a-f]{{{2 * (seal.OVERHEAD + seal.KEY_BYTES)}}}\Z")]
_Count = Annotated[int, Meta(ge=0, lt=2**32)]
MAX_SLOTS = 8
MAX_BODY = 1024
VAULT_ID_BYTES = 16
ALTERED = "a key slot was changed outside reticent: check `reticent vault key list`"
_SLOTS = (
    f"SELECT id, iif(length(body) <= {MAX_BODY}, body, NULL),"  # noqa: S608  (constants)
    f" iif(length(digest) <= 32, digest, NULL) FROM slot ORDER BY id LIMIT {MAX_SLOTS + 1}"
)
_ID = (
    f"SELECT iif(length(value) = {VAULT_ID_BYTES}, value, NULL)"  # noqa: S608  (a constant)
    " FROM meta WHERE name = 'vault'"
)
_WRONG: dict[Kind, tuple[str, str]] = {
    "passphrase": (
        "the passphrase is wrong",
        "try again, or use the recovery code with --recovery",
    ),
    "recovery": ("no key slot opens with this recovery code", "use the latest one"),
    "keyring": ("the keyring has no key for this vault", "unlock with the passphrase"),
}


class Slot(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The data key, sealed under one secret; a slot has the members of its kind and no others.

    ``memory_kib``, ``iterations``, ``lanes``: the work of a passphrase, checked to be bearable
    before it is done; ``account``: under which the keyring of the system has the key.
    """

    kind: Kind
    salt: _Hex16
    wrapped: _Wrapped = ""
    memory_kib: _Count | UnsetType = UNSET
    iterations: _Count | UnsetType = UNSET
    lanes: _Count | UnsetType = UNSET
    account: _Hex16 | UnsetType = UNSET

    def __post_init__(self) -> None:
        work = self.memory_kib, self.iterations, self.lanes
        if (self.account is not UNSET) != (self.kind == "keyring") or any(
            (each is not UNSET) != (self.kind == "passphrase") for each in work
        ):
            raise ValueError("a slot has other members than its kind")

    @property
    def derivation(self) -> seal.Derivation | None:
        """How much work a guess of its passphrase costs."""
        if self.memory_kib is UNSET or self.iterations is UNSET or self.lanes is UNSET:
            return None
        return seal.Derivation(self.memory_kib, self.iterations, self.lanes)


SLOT = msgspec.json.Decoder(Slot)


@dataclass(frozen=True, slots=True)
class SlotRow:
    """A slot as a row of the file, readable without a key; ``slot`` is None if it is damaged."""

    id: int
    digest: bytes
    slot: Slot | None

    @property
    def kind(self) -> Kind | None:
        """What opens it, None where it is damaged."""
        return None if self.slot is None else self.slot.kind

    @property
    def derivation(self) -> seal.Derivation | None:
        """How much work a guess of its passphrase costs."""
        return None if self.slot is None else self.slot.derivation


def make_slot(
    number: int,
    secret: Secret,
    key: seal.Key,
    vault_id: bytes,
    chance: seal.Chance,
    derivation: seal.Derivation | None = None,
) -> tuple[SlotRow, str | None]:
    """A slot that a secret opens, and its new recovery code, if it has one.

    ``secret``: with the text of a passphrase; ``key``: the data key that the slot wraps;
    ``derivation``: of a passphrase, by default about half a second on this machine. Nothing is in
    the file yet, but a key for the keyring is stored there. Raises UsageError for an invalid
    passphrase; VaultError for its work, or if the keyring refuses.
    """
    code: str | None = None
    if secret.kind == "passphrase":
        material = normalised(secret.text or "")
        work = derivation or seal.calibrate(time.perf_counter)
        slot = Slot(kind=secret.kind, salt=chance(SALT_BYTES).hex(), **asdict(work))
    elif secret.kind == "recovery":
        material = chance(CODE_BYTES)
        slot = Slot(kind=secret.kind, salt=chance(SALT_BYTES).hex())
        code = code_text(material)
    else:
        salt, account = chance(SALT_BYTES).hex(), chance(ACCOUNT_BYTES).hex()
        slot = Slot(kind=secret.kind, salt=salt, account=account)
        material = chance(secrets.SECRET_BYTES)
        secrets.keep(account, material)
    sealer = seal.Sealer(slot_key(slot, material), chance)
    wrapped = sealer.seal(key.data, _bound(slot, vault_id, number)).hex()
    slot = msgspec.structs.replace(slot, wrapped=wrapped)
    digest = _digest(vault_id, number, msgspec.json.encode(slot))
    return SlotRow(number, digest, slot), code


def strongest(rows: Iterable[SlotRow]) -> seal.Derivation:
    """The work for a new passphrase: about half a second here, and no less than any slot asks."""
    others = (row.derivation for row in rows)
    bearable = (each for each in others if each is not None and each.bearable)
    every = (seal.calibrate(time.perf_counter), *bearable)
    return max(every, key=lambda each: each.memory_kib * each.iterations)


def slot_key(slot: Slot, material: bytes) -> seal.Key:
    """The key that a slot is wrapped with.

    ``material``: the normalised passphrase, the bytes of the code, or the key in the keyring.
    Raises VaultError if a passphrase slot demands too much work.
    """
    salt = bytes.fromhex(slot.salt)
    if slot.derivation is not None:
        return seal.Key(seal.derive(material, salt, slot.derivation))
    return seal.Key(seal.expanded(material, salt, f"reticent vault 1 {slot.kind}"))


def unwrap(slot: Slot, by: seal.Key, vault_id: bytes, number: int) -> seal.Key | None:
    """The data key, or None if this key does not open the slot."""
    try:
        sealed = bytes.fromhex(slot.wrapped)
        return seal.Key(seal.Sealer(by, bytes).open(sealed, _bound(slot, vault_id, number)))
    except seal.UnsealedError:
        return None


def data_key(rows: Sequence[SlotRow], secret: Secret, vault_id: bytes) -> seal.Key:
    """The data key from the first slot that a secret opens.

    Raises WrongSecretError if none opens; DamagedVaultError if a damaged one might have;
    VaultError if a slot demands too much work. ``secret``: with the keys in the keyring.
    """
    for _, key in data_keys(rows, secret, vault_id):
        return key
    if any(row.slot is None for row in rows):
        raise damaged("no key slot opens with this, and one of them was altered")
    raise wrong_secret(secret)


def data_keys(
    rows: Sequence[SlotRow], secret: Secret, vault_id: bytes
) -> Iterator[tuple[SlotRow, seal.Key]]:
    """Yield every slot that a secret opens, with the data key in it. Raises as `data_key`."""
    text, keys = secret.text or "", secret.kept or {}
    typed = {"passphrase": normalised, "recovery": code_bytes}
    material = typed[secret.kind](text) if secret.kind in typed else None
    for row in rows:
        slot = row.slot
        if slot is None or slot.kind != secret.kind:
            continue
        by = material if slot.account is UNSET else keys.get(slot.account)
        key = None if by is None else unwrap(slot, slot_key(slot, by), vault_id, row.id)
        if key is not None:
            yield row, key


def wrong_secret(secret: Secret) -> WrongSecretError:
    """The error for a secret that opens no slot."""
    return WrongSecretError(*_WRONG[secret.kind])


def read_vault_id(database: Database) -> bytes:
    """The vault id; DamagedVaultError if there is none."""
    match database.rows(_ID):
        case [(bytes(vault_id),)]:
            return vault_id
        case _:
            raise damaged("its number is missing", database.path)


def read_slots(database: Database) -> list[SlotRow]:
    """The slots, in the order of their ids; DamagedVaultError where there are none."""
    rows, vault_id = database.rows(_SLOTS), read_vault_id(database)
    if not 0 < len(rows) <= MAX_SLOTS:
        raise damaged("it has no key slots, or too many", database.path)
    if rows[0][0] <= 0:  # in the order of the ids, which SQLite has up to 2^63 - 1
        raise damaged("a key slot has an invalid number", database.path)
    slots = []
    for number, body, digest in rows:
        sound = isinstance(body, bytes) and digest == _digest(vault_id, number, body)
        slot = seal.from_json(body, SLOT) if sound else None
        slots.append(SlotRow(number, digest if isinstance(digest, bytes) else b"", slot))
    return slots


def inserted(row: SlotRow) -> Statement:
    """The statement that adds a slot."""
    body = b"" if row.slot is None else msgspec.json.encode(row.slot)
    return "INSERT INTO slot VALUES (?, ?, ?)", (row.id, body, row.digest)


def slots_digest(rows: Iterable[SlotRow]) -> bytes:
    """The digest of the slots, for the state."""
    return digest_of({row.id: row.digest for row in rows})


def free_id(rows: Sequence[SlotRow]) -> int:
    """The id of a new slot; VaultError if there are too many."""
    if len(rows) >= MAX_SLOTS:
        hint = "remove one with `reticent vault key remove`"
        raise VaultError(f"the vault has {MAX_SLOTS} key slots already", hint)
    return min(set(range(1, MAX_SLOTS + 1)) - {row.id for row in rows})


def key_slots(path: Path) -> list[SlotRow]:
    """Read the key slots of a vault that is not open, without changing it.

    Raises BusyVaultError, DamagedVaultError, VaultVersionError, or VaultError if it is missing.
    """
    with snapshot(path) as copy, closing(Database.open(copy)) as database:
        return read_slots(database)


def accounts(rows: Iterable[SlotRow]) -> list[str]:
    """The accounts in the keyring that open slots."""
    slots = [row.slot for row in rows if row.slot is not None]
    return [slot.account for slot in slots if slot.account is not UNSET]


def forget(rows: Iterable[SlotRow]) -> None:
    """Remove the keys of these slots from the keyring."""
    for account in accounts(rows):
        secrets.forget(account)


def without_slot(rows: Sequence[SlotRow], number: int) -> list[SlotRow]:
    """The other slots; VaultError if it is missing or the last one that opens everywhere."""
    if number not in {row.id for row in rows}:
        raise VaultError(f"there is no key slot {number}", "`reticent vault key list` shows them")
    rest = [row for row in rows if row.id != number]
    if not any(row.kind in ("passphrase", "recovery") for row in rest):
        hint = "add another passphrase or recovery code first: a keyring alone can be lost"
        raise VaultError(f"key slot {number} is the last one that opens on every machine", hint)
    return rest


def _digest(vault_id: bytes, number: int, body: bytes) -> bytes:
    """The digest that tells damage from a wrong secret."""
    return sha256(seal.context(vault_id, "slot digest", number, body)).digest()


def _bound(slot: Slot, vault_id: bytes, number: int) -> bytes:
    """The context that binds the wrapped key to its slot."""
    work = (0, 0, 0) if slot.derivation is None else astuple(slot.derivation)
    account = b"" if slot.account is UNSET else bytes.fromhex(slot.account)
    salt = bytes.fromhex(slot.salt)
    return seal.context(vault_id, "slot", number, slot.kind, *work, salt, account)
