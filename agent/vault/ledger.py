"""The ledger: every disclosure in order, only ever appended to, and what follows from it."""

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
from agent.vault import chain
from agent.vault.connection import damaged
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
    site_of,
)
from agent.vault.seal import from_json
from agent.vault.store import MAX_ITEM_BYTES, Store

Rows = Iterable[tuple[int, bytes]]
EVERY = 4096  # entries in a part
PREFIX = "checkpoint/"
LARGEST = 2**24  # bytes of a part that is not compressed: one of long entries is not kept
_FORMAT = 2


class Reset(Struct, frozen=True, forbid_unknown_fields=True):
    """A correction of the clock: none of the first ``entries`` is later than ``at``."""

    entries: Annotated[int, Meta(ge=0)]
    at: Annotated[datetime, Meta(tz=True)]

    @classmethod
    def read(cls, payload: bytes | None) -> "Reset | None":
        """Return the correction in a payload, None without one; DamagedVaultError."""
        found = None if payload is None else from_json(payload, msgspec.json.Decoder(cls))
        if payload is not None and found is None:
            raise damaged("the correction of its clock cannot be read")
        return found


class Ledger:
    """Every disclosure, in the order it happened; not for several threads at once."""

    def __init__(
        self,
        entries: Store,
        rows: Rows | None = None,
        reset: Reset | None = None,
        parts: Iterable[Part] = (),
    ) -> None:
        """Read all entries; DamagedVaultError where one cannot be read.

        ``rows``: all of them, where they are read for another reason already: to be verified;
        ``reset``: by which what follows from entries takes a time that was wrong for another;
        ``parts``: what follows from the first, which are then not among the rows.
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
        """The latest time of an entry; it is not earlier now."""
        return self.disclosures.latest

    @property
    def count(self) -> int:
        """How many entries there are."""
        return self._entries.count

    def check(self, record: Record) -> None:
        """Raise UsageError where there is no room for an entry of this size."""
        self._entries.check_entry(site_of(record.host), encode(record))

    def append(self, record: Record) -> int:
        """Add an entry, which is in the file when its number comes back; VaultError if not.

        It is on the disk too where somebody may hold more for it, or was stated to forget. A power
        cut can so take only what repeats what was told before.
        """
        news = self.disclosures.news(record)
        durable = isinstance(record, Forgetting) or bool(news)
        payload = encode(record)
        number = self._entries.append_entry(site_of(record.host), payload, durable=durable)
        self._take(number, record, news)
        self.appended()
        return number

    def forget(self, at: datetime, sites: Callable[[str], bool], host: str | None = None) -> bool:
        """State that recipients can no longer link what they were told until now.

        ``sites``: selects the registered sites; ``host``: the one the user named, None for any.
        Returns whether the ledger has any of them; if not, nothing is stated. VaultError.
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
        """Return every entry as far as memory has it, for where the file cannot be read any more.

        That is what was new to somebody, for which query, when and to which site: all that
        knowledge, plans and the overview follow from.
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
                model="",
                digest="",
                utility_bits=0.0,
                people_left=first.people_left,
            )
        return found

    def _take(self, number: int, record: Record, news: Pairs) -> None:
        """Fold an entry into what follows from all of them; ``news``: of its facts."""
        reset = self._reset
        if reset is not None and number <= reset.entries and record.at > reset.at:
            record = msgspec.structs.replace(record, at=reset.at)
        self.disclosures.add(number, record, news)

    def _of(self, sites: Callable[[str], bool]) -> list[str]:
        """Return which registered sites of the ledger are meant, ascending."""
        return sorted(site for site in self.disclosures.sites if sites(site))


class _Checkpoint(Struct, frozen=True, forbid_unknown_fields=True):
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
        """Return a part, None where it is not of this version."""
        payload = self._store.get(name)
        try:
            unpacked = zlib.decompressobj().decompress(payload or b"", LARGEST)
        except zlib.error:
            return None
        found = from_json(unpacked, msgspec.json.Decoder(_Checkpoint))
        return found if found is not None and found.format == _FORMAT else None
