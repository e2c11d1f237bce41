"""What recipients have said that they can use, once the user approved: kept in the vault.

An offer closes what it does not name. What it closed stays closed when it is over, and when its
record cannot be read: nothing opens because time passes.
"""

from datetime import date

import msgspec

from agent.daemon.desk.kept import Items

PREFIX = "offers/"
MOST = 4096  # sites whose offers are at hand
SEARCHES = 8  # of one site


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
            self, searches=tuple(dict.fromkeys((*self.searches, *held)))[:SEARCHES]
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
