"""Which searches browsers may act on: the policy's, and those of approved offers."""

from collections.abc import Iterator
from datetime import date

from agent.daemon.desk.offers import Approved
from agent.errors import UsageError
from agent.wire.state import Site
from policy.hosts import site_of, suffixes
from policy.match import WRITE, Rulebook, Search, searches, usable

MOST = 400  # of the longest addresses, so that a browser's relay takes the answer: 1 MiB
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
    found = sorted([*ruled, *more][:MOST])
    return [Site(recipient=each.host, search=each.text) for each in found]


def _approved(book: Rulebook, offered: Offered, today: date) -> Iterator[Search]:
    """Yield the searches of offers that hold, of recipients that get anything."""
    for approved in offered:
        for text in approved.searches if approved.names_on(today) else ():
            search = usable(text)
            if search is not None and book.refusing(search.host, today) is None:
                yield search
