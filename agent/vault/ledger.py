"""The ledger: every disclosure in order, append-only, with checkpoints that open it fast."""

import zlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime
from hashlib import sha256
from itertools import groupby, islice
from operator import attrgetter
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from agent.errors import UsageError, VaultError
from agent.model.concepts import Meaning
from agent.vault import chain
from agent.vault.connection import decoded
from agent.vault.disclosure_index import (
    MOST_SITES,
    Disclosure,
    DisclosureIndex,
    Forgetting,
    Numbered,
    Pairs,
    Part,
    Record,
    decode,
    encode,
)
from agent.vault.seal import from_json
from agent.vault.store import MAX_ITEM_BYTES, Store

Rows = Iterable[tuple[int, bytes]]
EVERY = 4096  # entries in a part
PREFIX = "checkpoint/"
LARGEST = 2**24  # bytes of a part that is not compressed: one of long entries is not kept
_FORMAT = 5


class Reset(Struct, frozen=True, forbid_unknown_fields=True):
    """A correction of the clock: none of the first ``entries`` is later than ``at``."""

    entries: Annotated[int, Meta(ge=0)]
    at: Annotated[datetime, Meta(tz=True)]

    @classmethod
    def read(cls, payload: bytes | None) -> "Reset | None":
        """Return the correction in a payload, None without a payload; DamagedVaultError."""
        return decoded(payload, msgspec.json.Decoder(cls), "the correction of its clock")


class Ledger:
    """Every disclosure, in the order it happened; not for several threads at once."""

    def __init__(
        self,
        entries: Store,
        rows: Rows | None = None,
        reset: Reset | None = None,
        parts: Iterable[Part] = (),
    ) -> None:
        """Read all entries; DamagedVaultError if one cannot be read.

        ``rows``: the entries, if they are read already, for verification; ``reset``: a correction
        of their times; ``parts``: summaries of the first entries, which are then not in ``rows``.
        """
        self.appended: Callable[[], object] = lambda: None
        self.disclosures = DisclosureIndex()
        self._entries = entries
        self._reset = reset
        for part in parts:
            self.disclosures.load(part)
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
        self.appended()
        return number

    def forget(self, at: datetime, sites: Callable[[str], bool], host: str | None = None) -> bool:
        """Mark recipients as having forgotten everything disclosed so far.

        ``sites``: selects the registered sites; ``host``: as the user named it, None for any.
        Returns False, and records nothing, if the ledger has none of them. Raises VaultError.
        """
        found = self._of(sites)
        for begin in range(0, len(found), MOST_SITES):
            part = tuple(found[begin : begin + MOST_SITES])
            self.append(Forgetting(at=at, host=host or part[0], sites=part))
        return bool(found)

    def read(
        self, after: int = 0, limit: int | None = None, sites: Callable[[str], bool] | None = None
    ) -> list[Numbered]:
        """Return entries in order; ``after``: only with a greater number.

        ``limit``: at most this many, the latest; ``sites``: selects the registered sites.
        """
        if sites is not None:
            found = [*islice(self._entries.entries_of(self._of(sites), after), limit)][::-1]
        else:
            begin = after if limit is None else max(after, self.count - limit)
            found = [*self._entries.entries(begin)]
        return [Numbered(number, decode(body)) for number, body in found]

    def entry(self, number: int) -> Record:
        """Return the entry with this number; UsageError if it does not exist."""
        if not 0 < number <= self.count:
            raise UsageError(f"the ledger has no entry {number}", "see `reticent requests ledger`")
        _, payload = next(iter(self._entries.entries(number - 1)))
        return decode(payload)

    def remembered(self) -> dict[int, Record]:
        """Return what is remembered of every entry, for a file that can no longer be read.

        That is the site, the query, the time and what was new to somebody: enough to know what
        recipients know, to plan, and to draw the overview.
        """
        news = {number: facts for number, _, facts in self.disclosures.new_facts_after(0)}
        found: dict[int, Record] = {}
        for number, steps in groupby(self.disclosures.steps, key=attrgetter("number")):
            first, *others = steps
            if first.query is None or first.people_left is None:
                sites = (first.site, *(each.site for each in others))
                found[number] = Forgetting(at=first.at, host=first.site, sites=sites)
                continue
            pairs = news.get(number, ())
            found[number] = Disclosure(
                at=first.at,
                host=first.site,
                query=first.query,
                asked=None,
                disclosed=pairs,
                persons=tuple(name for name, _ in pairs),
                means=tuple(Meaning(*pair) for pair in pairs),
                model="",
                digest="",
                utility_bits=0.0,
                people_left=first.people_left,
                read_as=first.meant[0][0],
                probability=first.meant[0][1],
                others=first.meant[1:],
            )
        return found

    def _take(self, number: int, record: Record, news: Pairs) -> None:
        """Add an entry to the index; ``news``: its facts that may be new."""
        reset = self._reset
        if reset is not None and number <= reset.entries and record.at > reset.at:
            record = msgspec.structs.replace(record, at=reset.at)
        self.disclosures.add(number, record, news)

    def _of(self, sites: Callable[[str], bool]) -> list[str]:
        """Return the registered sites of the ledger that are selected, ascending."""
        return sorted(site for site in self.disclosures.sites if sites(site))


class _Checkpoint(Struct, frozen=True, forbid_unknown_fields=True):
    """A part, with the digest of its rows and everything else it depends on."""

    format: int
    rotations: int
    reset: Reset | None
    digest: str
    part: Part


class Checkpoints:
    """The parts in a vault, each of which continues the one before."""

    def __init__(self, store: Store, reset: Reset | None) -> None:
        """Read the parts; use none if one does not fit the rest. Raises DamagedVaultError."""
        self._store = store
        self._reset = reset
        self._rows = sha256()
        self._names = sorted(name for name in store.names() if name.startswith(PREFIX))
        self._parts: list[Part] = []
        self.last, state, digest = 0, store.state, ""  # the last entry that needs no opening
        for kept in map(self._read, self._names):
            expected = self.last + 1, state.rotations, reset
            if kept is None or (kept.part.first, kept.rotations, kept.reset) != expected:
                digest = ""
                break
            self._parts.append(kept.part)
            self.last, digest = kept.part.last, kept.digest
        fits = digest != "" and self.last <= state.entries
        if fits:
            chain.digest_rows(store.database, self._rows.update, 0, self.last)
        if not fits or digest != self._rows.hexdigest():
            self.last, self._parts, self._rows = 0, [], sha256()
        self._tried = self.last

    def take_parts(self) -> list[Part]:
        """Return the parts and drop them."""
        parts, self._parts = self._parts, []
        return parts

    def write(self, ledger: Ledger) -> None:
        """Write a part for every `EVERY` entries since the last one.

        If one cannot be written, the next attempt is as many entries later.
        """
        with suppress(VaultError):
            while self._store.state.entries - self._tried >= EVERY:
                self._tried += EVERY
                self._write(ledger, self._tried)

    def _write(self, ledger: Ledger, last: int) -> None:
        """Write the part that ends with an entry, halved if it is too large."""
        rows, state = self._rows.copy(), self._store.state
        chain.digest_rows(self._store.database, rows.update, self.last, last)
        part = ledger.disclosures.export(self.last, last)
        text = msgspec.json.encode(
            _Checkpoint(_FORMAT, state.rotations, self._reset, rows.hexdigest(), part)
        )
        packed = zlib.compress(text)
        if last - self.last > 1 and (len(text) > LARGEST or len(packed) > MAX_ITEM_BYTES):
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

    def _read(self, name: str) -> _Checkpoint | None:
        """Return a checkpoint, None if it is of another version."""
        payload = self._store.get(name)
        try:
            unpacked = zlib.decompressobj().decompress(payload or b"", LARGEST)
        except zlib.error:
            return None
        found = from_json(unpacked, msgspec.json.Decoder(_Checkpoint))
        return found if found is not None and found.format == _FORMAT else None
