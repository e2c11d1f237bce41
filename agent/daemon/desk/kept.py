"""What the desk and the sources keep in the vault: small records, by name."""

from typing import Protocol


class Items(Protocol):
    """Sealed records of the vault, as `agent.vault.store.Items` has them."""

    def get(self, name: str) -> bytes | None:
        """Return a record, None where there is none."""

    def put(self, name: str, content: bytes, /, *, durable: bool = True) -> None:
        """Set a record; ``durable``: on the disk when it returns."""

    def names(self, prefix: str) -> list[str]:
        """Return the names of all records that begin so, sorted."""

    def delete(self, name: str) -> None:
        """Take a record out, if it is there."""
