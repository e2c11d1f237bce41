"""The ledger: every disclosure in order, append-only."""

from collections.abc import Callable, Iterable
from datetime import datetime
from itertools import islice
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from agent.errors import UsageError
from agent.vault.database import decoded
from agent.vault.disclosure_index import (
    MOST_SITES,
    DisclosureIndex,
    Forgetting,
    Record,
    decode,
    encode,
    site_of,
)
from agent.vault.store import Store

Rows = Iterable[tuple[int, bytes]]


class Reset(Struct, frozen=True, forbid_unknown_fields=True):
    """A correction of the clock: none of the first ``entries`` is later than ``at``."""

    entries: Annotated[int, Meta(ge=0)]
    at: Annotated[datetime, Meta(tz=True)]

    @classmethod
    def read(cls, payload: bytes | None) -> "Reset | None":
        """The correction in a payload, None without a payload; DamagedVaultError."""
        return decoded(payload, msgspec.json.Decoder(cls), "the correction of its clock")


class Ledger:
    """Every disclosure, in the order it happened; not for several threads at once."""

    def __init__(
        self, entries: Store, rows: Rows | None = None, reset: Reset | None = None
    ) -> None:
        """Read all entries; DamagedVaultError if one cannot be read.

        ``rows``: the entries, if they are read already, for verification; ``reset``: a correction
        of their times.
        """
        self.disclosures = DisclosureIndex()
        self._entries = entries
        for number, payload in entries.entries() if rows is None else rows:
            record = decode(payload)
            if reset is not None and number <= reset.entries and record.at > reset.at:
                record = msgspec.structs.replace(record, at=reset.at)
            self.disclosures.add(number, record, self.disclosures.news(record))

    @property
    def count(self) -> int:
        """How many entries there are."""
        return self._entries.count

    def check(self, record: Record) -> None:
        """Raise UsageError if an entry is too large."""
        self._entries.check_entry(site_of(record.host), encode(record))

    def append(self, record: Record) -> int:
        """Append an entry and return its number; once this returns, it is in the file.

        It is also on the disk if it discloses something new or states a forgetting, so a power
        cut can lose only repetitions. Raises VaultError if it was not written.
        """
        news = self.disclosures.news(record)
        durable = isinstance(record, Forgetting) or bool(news)
        payload = encode(record)
        number = self._entries.append_entry(site_of(record.host), payload, durable=durable)
        self.disclosures.add(number, record, news)
        return number

    def forget(self, at: datetime, sites: Callable[[str], bool], host: str | None = None) -> bool:
        """Mark recipients as having forgotten everything disclosed so far.

        ``sites``: selects the registered sites; ``host``: as the user named it, None for any.
        Returns False, and records nothing, if the ledger has none of them. Raises VaultError.
        """
        registered = sorted(filter(sites, self.disclosures.sites))
        for begin in range(0, len(registered), MOST_SITES):
            part = tuple(registered[begin : begin + MOST_SITES])
            self.append(Forgetting(at=at, host=host or part[0], sites=part))
        return bool(registered)

    def read(
        self, after: int = 0, limit: int | None = None, sites: Callable[[str], bool] | None = None
    ) -> list[tuple[int, Record]]:
        """List entries with their numbers, in order; ``after``: only with a greater number.

        ``limit``: at most this many, the latest; ``sites``: selects the registered sites.
        """
        if sites is None:
            begin = after if limit is None else max(after, self.count - limit)
            return [(number, decode(body)) for number, body in self._entries.entries(begin)]
        numbers = {
            step.number: None
            for step in reversed(self.disclosures.steps)
            if step.number > after and sites(step.site)
        }
        entries = ((number, self.entry(number)) for number in numbers)
        return [*islice((each for each in entries if sites(site_of(each[1].host))), limit)][::-1]

    def entry(self, number: int) -> Record:
        """The entry with this number; UsageError if it does not exist."""
        if not 0 < number <= self.count:
            raise UsageError(f"the ledger has no entry {number}", "see `reticent requests list`")
        _, payload = next(iter(self._entries.entries(number - 1)))
        return decode(payload)
