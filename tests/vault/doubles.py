"""In memory: a store, with what the ledger and the profile need of it, and a keyring."""

import ctypes
import resource
from collections.abc import Callable, Iterable, Iterator, Mapping

from keyring.backend import KeyringBackend
from keyring.errors import PasswordDeleteError

from agent.errors import UsageError, VaultError
from agent.vault.database import Statement
from agent.vault.ledger import Ledger, Record
from agent.vault.store import Store

MOST = 2**16  # bytes of an entry


class MemoryStore(Store):
    """Entries and items in memory; it keeps account of what had to be on the disk.

    ``durable``: for each entry whether it had to be; ``full``: refuse every write from now on.
    """

    def __init__(self) -> None:
        self.durable: list[bool] = []
        self.full = False
        self._entries: list[tuple[str, bytes]] = []
        self._items: dict[str, bytes] = {}

    @property
    def count(self) -> int:
        """The number of the last entry."""
        return len(self._entries)

    def check_entry(self, site: str, payload: bytes) -> None:
        if not site or len(payload) > MOST:
            raise UsageError("the request is too large for the ledger", "ask for less")

    def append_entry(self, site: str, payload: bytes, *, durable: bool) -> int:
        self.check_entry(site, payload)
        self._write()
        self._entries.append((site, payload))
        self.durable.append(durable)
        return self.count

    def entries(self, after: int = 0) -> Iterator[tuple[int, bytes]]:
        for number in range(after + 1, self.count + 1):
            yield number, self._entries[number - 1][1]

    def put(self, name: str, payload: bytes, *, durable: bool = True) -> None:
        """Keep an item under a name."""
        assert durable
        self.replace({name: payload})

    def replace(
        self,
        put: Mapping[str, bytes],
        removed: Iterable[str] = (),
        more: Iterable[Statement] = (),
        *,
        durable: bool = True,
    ) -> None:
        assert durable
        assert not [*more]
        self._write()
        gone = {*removed}
        self._items = {n: each for n, each in self._items.items() if n not in gone} | {**put}

    def names(self) -> list[str]:
        return sorted(self._items)

    def get(self, name: str) -> bytes | None:
        return self._items.get(name)

    def _write(self) -> None:
        if self.full:
            raise VaultError("the disk is full", "make room")


def ledger_of(records: Iterable[Record], store: MemoryStore | None = None) -> Ledger:
    """Return a ledger of these entries, which is kept in memory and never read."""
    ledger = Ledger(store or MemoryStore())
    for number, record in enumerate(records, 1):
        assert ledger.append(record) == number
    return ledger


class Memory(KeyringBackend):
    """A keyring that forgets everything with the test; ``asked``: is called before each answer."""

    priority = 1

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}
        self.asked: Callable[[], object] = lambda: None

    def get_password(self, service: str, username: str) -> str | None:
        self.asked()
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.asked()
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        self.asked()
        if self.kept.pop((service, username), None) is None:
            raise PasswordDeleteError(username)


NEVER = "(0, 0) 0"
_DUMPABLE = 3  # PR_GET_DUMPABLE of linux/prctl.h


def state() -> str:
    """Return how large a core file of this process may be, and whether there may be one."""
    limits = resource.getrlimit(resource.RLIMIT_CORE)
    return f"{limits} {ctypes.CDLL(None).prctl(_DUMPABLE, 0, 0, 0, 0)}"
