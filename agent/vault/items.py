"""Small sealed records under names, for whoever else needs to keep something."""

from agent.vault.sealed.store import Store

_PREFIX = "other/"


class Items:
    """Records by name, apart from what the vault itself keeps."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get(self, name: str) -> bytes | None:
        """Return a record, or None. Raises DamagedVaultError."""
        return self._store.get(_PREFIX + name)

    def names(self, prefix: str) -> list[str]:
        """Return the names of all records that begin with a prefix, sorted."""
        start = _PREFIX + prefix
        found = (name for name in self._store.names() if name.startswith(start))
        return [name.removeprefix(_PREFIX) for name in found]

    def put(self, name: str, payload: bytes, *, durable: bool = True) -> None:
        """Keep a record of at most 1 MiB, in place of what was there; VaultError if it fails.

        ``durable``: it survives a power cut; else the end of the process only.
        """
        self._store.put(_PREFIX + name, payload, durable=durable)

    def delete(self, name: str) -> None:
        """Remove a record, if there is one. Raises VaultError."""
        self._store.delete(_PREFIX + name)
