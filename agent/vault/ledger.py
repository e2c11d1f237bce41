"""The ledger: every disclosure in order, append-only, and a snapshot that opens it fast."""

import zlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime
from itertools import islice
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from agent.errors import UsageError, VaultError
from agent.vault.database import decoded
from agent.vault.disclosure_index import (
    MOST_SITES,
    DisclosureIndex,
    Forgetting,
    IndexState,
    Numbered,
    Pairs,
    Record,
    decode,
    encode,
)
from agent.vault.seal import from_json
from agent.vault.store import MAX_ITEM_BYTES, Store

Rows = Iterable[tuple[int, bytes]]
SNAPSHOT = "index"  # the item
VERSION = 1  # of its form
EVERY = 500  # new entries for which it is rewritten
LARGEST = 2**26  # bytes of a snapshot that is not compressed


class Reset(Struct, frozen=True, forbid_unknown_fields=True):
    """A correction of the clock: none of the first ``entries`` is later than ``at``."""

    entries: Annotated[int, Meta(ge=0)]
    at: Annotated[datetime, Meta(tz=True)]

    @classmethod
    def read(cls, payload: bytes | None) -> "Reset | None":
        """Return the correction in a payload, None without a payload; DamagedVaultError."""
        return decoded(payload, msgspec.json.Decoder(cls), "the correction of its clock")


class Snapshot(Struct, frozen=True, forbid_unknown_fields=True):
    """What follows from the first ``entries`` rows, which have the SHA-256 ``digest``."""

    version: int
    entries: int
    reset: Reset | None
    digest: str
    state: IndexState


_DECODER = msgspec.json.Decoder(Snapshot)


def read_snapshot(store: Store, reset: Reset | None) -> Snapshot | None:
    """Return the snapshot in a vault; None unless it fits the rows, the clock and this version.

    So it never decides what counts as damage. ``reset``: the correction of the clock. Raises
    DamagedVaultError.
    """
    try:
        text = zlib.decompressobj().decompress(store.get(SNAPSHOT) or b"", LARGEST)
    except zlib.error:
        return None
    snapshot = from_json(text, _DECODER)
    if snapshot is None or (snapshot.version, snapshot.reset) != (VERSION, reset):
        return None
    fits = 0 < snapshot.entries <= store.count and snapshot.digest == store.digest(snapshot.entries)
    return snapshot if fits else None


class Ledger:
    """Every disclosure, in the order it happened; not for several threads at once."""

    def __init__(
        self,
        entries: Store,
        rows: Rows | None = None,
        reset: Reset | None = None,
        snapshot: Snapshot | None = None,
    ) -> None:
        """Read all entries; DamagedVaultError if one cannot be read.

        ``rows``: the entries, if they are read already, for verification; ``reset``: a correction
        of their times; ``snapshot``: of the first entries, which are then not in ``rows``.
        """
        self.disclosures = DisclosureIndex(None if snapshot is None else snapshot.state)
        self._entries = entries
        self._reset = reset
        self._saved = 0 if snapshot is None else snapshot.entries
        for number, payload in entries.entries() if rows is None else rows:
            record = decode(payload)
            self._take(number, record, self.disclosures.news(record))

    @property
    def latest(self) -> datetime | None:
        """The latest time of an entry: the present is never earlier."""
        return self.disclosures.latest

    @property
    def count(self) -> int:
        """How many entries there are."""
        return self._entries.count

    def check(self, record: Record) -> None:
        """Raise UsageError if an entry is too large."""
        self._entries.check_entry(record.site, encode(record))

    def append(self, record: Record) -> int:
        """Append an entry and return its number; once this returns, it is in the file.

        It is also on the disk if it discloses something new or states a forgetting, so a power
        cut can lose only repetitions. Raises VaultError if it was not written.
        """
        news = self.disclosures.news(record)
        durable = isinstance(record, Forgetting) or bool(news)
        payload = encode(record)
        number = self._entries.append_entry(record.site, payload, durable=durable)
        self._take(number, record, news)
        return number

    def forget(self, at: datetime, sites: Callable[[str], bool], host: str | None = None) -> bool:
        """Mark recipients as having forgotten everything disclosed so far.

        ``sites``: selects the registered sites; ``host``: as the user named it, None for any.
        Returns False, and records nothing, if the ledger has none of them. Raises VaultError.
        """
        registered = self._of(sites)
        for begin in range(0, len(registered), MOST_SITES):
            part = tuple(registered[begin : begin + MOST_SITES])
            self.append(Forgetting(at=at, host=host or part[0], sites=part))
        return bool(registered)

    def read(
        self, after: int = 0, limit: int | None = None, sites: Callable[[str], bool] | None = None
    ) -> list[Numbered]:
        """Return entries in order; ``after``: only with a greater number.

        ``limit``: at most this many, the latest; ``sites``: selects the registered sites.
        """
        if sites is None:
            begin = after if limit is None else max(after, self.count - limit)
            return [Numbered(at, decode(body)) for at, body in self._entries.entries(begin)]
        numbers = {
            step.number: None
            for step in reversed(self.disclosures.steps)
            if step.number > after and sites(step.site)
        }
        entries = (Numbered(number, self.entry(number)) for number in numbers)
        return [*islice((each for each in entries if sites(each.record.site)), limit)][::-1]

    def entry(self, number: int) -> Record:
        """Return the entry with this number; UsageError if it does not exist."""
        if not 0 < number <= self.count:
            raise UsageError(f"the ledger has no entry {number}", "see `reticent requests ledger`")
        _, payload = next(iter(self._entries.entries(number - 1)))
        return decode(payload)

    def save(self) -> None:
        """Rewrite the snapshot after `EVERY` new entries; without room for it, keep none."""
        if self.count - self._saved < EVERY:
            return
        with suppress(VaultError):
            digest, state = self._entries.digest(self.count), self.disclosures.state
            snapshot = Snapshot(VERSION, self.count, self._reset, digest, state)
            packed = zlib.compress(msgspec.json.encode(snapshot))
            if len(packed) <= MAX_ITEM_BYTES:
                self._entries.put(SNAPSHOT, packed, durable=False)
                self._saved = self.count

    def _take(self, number: int, record: Record, news: Pairs) -> None:
        """Add an entry to the index; ``news``: its facts that may be new."""
        reset = self._reset
        if reset is not None and number <= reset.entries and record.at > reset.at:
            record = msgspec.structs.replace(record, at=reset.at)
        self.disclosures.add(number, record, news)

    def _of(self, sites: Callable[[str], bool]) -> list[str]:
        """Return the registered sites of the ledger that are selected, ascending."""
        return sorted(site for site in self.disclosures.sites if sites(site))
