"""Who was told something and when, entry by entry: what an overview of the ledger needs of it."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from agent.vault.entry import Forgetting, Record
from agent.vault.facts import site_of


class Step(NamedTuple):
    """One entry, about one site; one that forgets stands here for each of its sites.

    ``people_left``: who agreed with all that the site's pool held from then on, None where it was
    stated to forget.
    """

    number: int
    at: datetime
    site: str
    people_left: int | None


class Story:
    """The steps of a ledger, in memory, in their order; never with a name or a value."""

    def __init__(self) -> None:
        """Know of no entry."""
        self._steps: list[Step] = []

    @property
    def steps(self) -> Sequence[Step]:
        """All steps; a view, to which later entries are added."""
        return self._steps

    def add(self, number: int, record: Record) -> None:
        """Take an entry, the next in the ledger."""
        self._steps.extend(_steps(number, record))


def _steps(number: int, record: Record) -> Iterator[Step]:
    if isinstance(record, Forgetting):
        for site in record.sites:
            yield Step(number, record.at, site, None)
    else:
        yield Step(number, record.at, site_of(record.host), record.people_left)
