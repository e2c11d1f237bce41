"""Sealed rows in one file: the chain of entries, and named items (FORMAT.md, "Rows")."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Store:
    """The rows of an open vault; every write is one transaction, and raises nothing half-done."""

    @property
    def generation(self) -> int:
        """How many writes there were."""
        raise NotImplementedError

    @property
    def count(self) -> int:
        """The number of the last entry, 0 if there is none."""
        raise NotImplementedError

    @property
    def head(self) -> bytes:
        """The link of the last entry, 32 bytes."""
        raise NotImplementedError

    def append_entry(self, site: str, payload: bytes, *, durable: bool) -> int:
        """Append an entry to the chain and return its number, from 1.

        It is in the file when this returns; ``durable``: and on the disk. Raises VaultError if it
        cannot be written: then it is not there.
        """
        raise NotImplementedError

    def entries(self, after: int = 0, site: str | None = None) -> Iterator[tuple[int, bytes]]:
        """Yield number and payload of the entries after a number; of one site only, if given.

        Raises DamagedVaultError.
        """
        raise NotImplementedError

    def verify(self) -> Iterator[tuple[int, bytes]]:
        """Yield every entry, and hold the whole chain to what the vault says of itself.

        To be exhausted once before the first write. Raises DamagedVaultError, or RolledBackError.
        """
        raise NotImplementedError

    def put(self, name: str, payload: bytes, *, durable: bool = True) -> None:
        """Keep an item under a name, in place of what was there. Raises VaultError."""
        raise NotImplementedError

    def get(self, name: str) -> bytes | None:
        """Return the item of a name. Raises DamagedVaultError."""
        raise NotImplementedError

    def delete(self, name: str) -> None:
        """Remove an item, if there is one. Raises VaultError."""
        raise NotImplementedError

    def names(self, prefix: str = "") -> list[str]:
        """Return the names of the items that begin with a prefix, sorted."""
        raise NotImplementedError

    def sync(self) -> None:
        """See to it that everything so far is on the disk. Raises VaultError."""
        raise NotImplementedError
