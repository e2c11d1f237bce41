"""What recipients say they can use, once approved, and the searches browsers may act on.

An offer closes what it does not name. What it closed stays closed when it is over, and when its
record cannot be read: nothing opens because time passes.
"""

from collections.abc import Iterator
from datetime import date
from typing import Protocol

import msgspec

from agent.errors import UsageError
from agent.wire.state import Site
from policy.hosts import site_of, suffixes
from policy.match import WRITE, Rulebook, Search, searches, usable

PREFIX = "offers/"
MOST = 4096  # sites whose offers are at hand
SEARCHES_PER_SITE = 8  # of one site
MOST_SEARCHES = 400  # of the longest addresses, so that a browser's relay takes the answer: 1 MiB


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


class Approved(msgspec.Struct, frozen=True):
    """An approved offer: the names, and the last day on which it holds, None for no end.

    ``searches``: where the site is searched, as `policy.match` writes it; older records have none.
    """

    names: tuple[str, ...]
    until: date | None = None
    searches: tuple[str, ...] = ()

    def names_on(self, today: date) -> frozenset[str]:
        """Return the names that the recipient can use on a day: none where it is over."""
        over = self.until is not None and today > self.until
        return frozenset() if over else frozenset(self.names)

    def after(self, before: "Approved | None", today: date) -> "Approved":
        """Return this offer with the searches of the one in whose place it comes, if that holds."""
        held = before.searches if before is not None and before.names_on(today) else ()
        return msgspec.structs.replace(
            self, searches=tuple(dict.fromkeys((*self.searches, *held)))[:SEARCHES_PER_SITE]
        )


class Offers:
    """Approved offers by site, read from the vault when first asked for."""

    def __init__(self, items: Items) -> None:
        self._items = items
        self._known: dict[str, Approved | None] = {}
        self._searched: tuple[Approved, ...] | None = None

    def find(self, site: str) -> Approved | None:
        """Return what a site may be offered, None where it has offered nothing."""
        if site not in self._known:
            if len(self._known) >= MOST:
                self._known.clear()
            self._known[site] = _read(self._items.get(PREFIX + site))
        return self._known[site]

    @property
    def searched(self) -> tuple[Approved, ...]:
        """All that say where their site is searched: the same tuple until one of them changes."""
        if self._searched is None:
            found = (_read(self._items.get(name)) for name in self._items.names(PREFIX))
            self._searched = tuple(each for each in found if each is not None and each.searches)
        return self._searched

    def approve(self, site: str, approved: Approved) -> None:
        """Keep an offer from now on, instead of the one before."""
        self._items.put(PREFIX + site, msgspec.msgpack.encode(approved))
        self._known[site], self._searched = approved, None

    def restore(self, site: str, before: Approved | None) -> None:
        """Keep of a site what was kept before, None for nothing."""
        if before is not None:
            self.approve(site, before)
            return
        self._items.delete(PREFIX + site)
        self._known[site] = self._searched = None


def _read(content: bytes | None) -> Approved | None:
    """Return a record as it was kept; one of another version is an offer of nothing."""
    if content is None:
        return None
    try:
        return msgspec.msgpack.decode(content, type=Approved)
    except msgspec.DecodeError:
        return Approved(())


Offered = tuple[Approved, ...]


def own_search(text: str, host: str) -> str:
    """Return a search as browsers write it; UsageError where it is none, or not of the host.

    ``host``: canonical. Below it is its own too, but not where somebody else registered that.
    """
    search = Search.parse(text)
    if host not in suffixes(search.host) or site_of(search.host) != site_of(host):
        raise UsageError(f"{search.host} is not {host}, nor below it", WRITE)
    return search.text


class Sites:
    """The searches, remembered until the policy, the approved offers or the day are others."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Forget what was asked."""
        self._of: tuple[Rulebook, Offered, date] | None = None
        self._found: list[Site] = []

    def at(self, book: Rulebook, offered: Offered, today: date) -> list[Site]:
        """Return the searches in order, of recipients that get anything by the policy.

        ``offered``: approved offers, another tuple where they are others; at most `MOST`
        searches, the policy's first.
        """
        of = self._of
        if of is None or of[0] is not book or of[1] is not offered or of[2] != today:
            self._found = _sites(book, offered, today)
            self._of = (book, offered, today)
        return self._found


def _sites(book: Rulebook, offered: Offered, today: date) -> list[Site]:
    ruled = sorted({*searches(book, today)})
    more = sorted({*_approved(book, offered, today)}.difference(ruled))
    found = sorted([*ruled, *more][:MOST_SEARCHES])
    return [Site(recipient=each.host, search=each.text) for each in found]


def _approved(book: Rulebook, offered: Offered, today: date) -> Iterator[Search]:
    """Yield the searches of offers that hold, of recipients that get anything."""
    for approved in offered:
        for text in approved.searches if approved.names_on(today) else ():
            search = usable(text)
            if search is not None and book.refusing(search.host, today) is None:
                yield search
