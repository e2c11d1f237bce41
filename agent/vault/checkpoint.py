"""What follows from a ledger, kept in parts: who unlocks opens the entries after it alone.

A part is believed only where all rows so far are byte for byte those that were verified when it was
written (FORMAT.md, "Checkpoints"); else every entry is opened again.
"""

import zlib
from contextlib import suppress
from hashlib import sha256

import msgspec
from msgspec import Struct

from agent.errors import VaultError
from agent.vault.ledger import Ledger, Part, Reset
from agent.vault.sealed import chain
from agent.vault.sealed.item_rows import MAX_PAYLOAD
from agent.vault.sealed.store import Store

EVERY = 4096  # entries in a part
PREFIX = "checkpoint/"
LARGEST = 2**24  # bytes of a part that is not compressed: one of long entries is not kept
_FORMAT = 1


class _Kept(Struct, frozen=True, forbid_unknown_fields=True):
    """A part, the rows that it follows from by their digest, and what else it depends on."""

    format: int
    rotations: int
    reset: Reset | None
    digest: str
    part: Part


class Checkpoints:
    """The parts in a vault, each of which continues the one before."""

    def __init__(self, store: Store, reset: Reset | None) -> None:
        """Read them; there are none where one does not fit the rest. Raises DamagedVaultError."""
        self._store = store
        self._reset = reset
        self._rows = sha256()
        self._names = sorted(name for name in store.names() if name.startswith(PREFIX))
        kept = [self._read(name) for name in self._names]
        self._parts = [each.part for each in kept if each is not None]
        self.last = 0  # the number of the last entry that needs no opening
        if self._fits(kept):
            self.last = self._parts[-1].last
        else:
            self._parts, self._rows = [], sha256()
        self._tried = self.last

    def taken(self) -> list[Part]:
        """Return the parts, once."""
        parts, self._parts = self._parts, []
        return parts

    def write(self, ledger: Ledger) -> None:
        """Keep what came since the last part, where it is enough.

        Where a part cannot be written, none is until as many entries have come again.
        """
        with suppress(VaultError):
            while ledger.count - self._tried >= EVERY:
                self._tried += EVERY
                self._write(ledger, self._tried)

    def _write(self, ledger: Ledger, last: int) -> None:
        """Keep what follows from the entries up to the last, in as many parts as it takes."""
        rows, state = self._rows.copy(), self._store.state
        chain.digest_rows(self._store.database, rows, self.last, last)
        part = ledger.part(self.last, last)
        text = msgspec.json.encode(
            _Kept(_FORMAT, state.rotations, self._reset, rows.hexdigest(), part)
        )
        packed = zlib.compress(text)
        if last - self.last > 1 and (len(text) > LARGEST or len(packed) > MAX_PAYLOAD):
            self._write(ledger, (self.last + last) // 2)
            self._write(ledger, last)
            return
        if self.last == 0:
            while self._names:
                self._store.delete(self._names.pop())
        name = f"{PREFIX}{last:012}"
        self._store.put(name, packed, durable=False)
        self._names.append(name)
        self._rows, self.last = rows, last

    def _read(self, name: str) -> _Kept | None:
        """Return a part, None where it is not of this version."""
        payload = self._store.get(name)
        try:
            unpacked = zlib.decompressobj().decompress(payload or b"", LARGEST)
            found = msgspec.json.decode(unpacked, type=_Kept)
        except (zlib.error, msgspec.MsgspecError, ValueError, RecursionError):
            return None
        return found if found.format == _FORMAT else None

    def _fits(self, kept: list[_Kept | None]) -> bool:
        """Say whether the parts follow each other, and from the rows that are there."""
        before, state = 0, self._store.state
        if not kept:
            return False
        for each in kept:
            if each is None or each.part.first != before + 1:
                return False
            if (each.rotations, each.reset) != (state.rotations, self._reset):
                return False
            before = each.part.last
        if before > state.entries:
            return False
        chain.digest_rows(self._store.database, self._rows, 0, before)
        return kept[-1] is not None and kept[-1].digest == self._rows.hexdigest()
