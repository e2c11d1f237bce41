"""What was chosen, at which rank: a line of JSON for each, without what was told of anybody."""

from __future__ import annotations

import json
import logging
import secrets
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TextIO

from agent.errors import reason

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

log = logging.getLogger("search_service")

KEPT = 1024  # pages whose choices are still taken


@dataclass(frozen=True, slots=True)
class Shown:
    """A page of results.

    ``told``: whether a header told anything that could be used; ``ranks``: the rank of each result
    by its number, and the one that it has for everyone.
    """

    query: str
    told: bool
    ranks: Mapping[int, tuple[int, int]]


@dataclass(slots=True)
class Journal:
    """Remembers which pages were shown, and writes down what was chosen on them, each once.

    ``file``: where lines go, or None; ``clock``: the time, in UTC; ``name``: a new page's name,
    which nobody can guess who was not shown it.
    """

    file: TextIO | None = None
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    name: Callable[[], str] = lambda: secrets.token_urlsafe(12)
    _pages: OrderedDict[str, tuple[Shown, set[int]]] = field(default_factory=OrderedDict)

    def shown(self, page: Shown) -> str:
        """Remember a page, and return its name."""
        name = self.name()
        self._pages[name] = (page, set())
        if len(self._pages) > KEPT:
            self._pages.popitem(last=False)
        return name

    def query(self, name: str) -> str:
        """Look up what was searched for on a page; empty where it is not remembered."""
        return self._pages[name][0].query if name in self._pages else ""

    def chosen(self, name: str, result: int) -> bool:
        """Write that a result was chosen on a page; say whether it was, and for the first time."""
        page, before = self._pages.get(name, (None, set[int]()))
        if page is None or result not in page.ranks or result in before:
            return False
        before.add(result)
        if self.file is not None:
            try:
                self.file.write(json.dumps(self._line(page, result)) + "\n")
                self.file.flush()
            except OSError as error:
                log.warning("a choice could not be written: %s", reason(error))
        return True

    def _line(self, page: Shown, result: int) -> dict[str, object]:
        rank, plain = page.ranks[result]
        return {
            "time": self.clock().isoformat(timespec="seconds"),
            "query": page.query,
            "rank": rank,
            "rank_without": plain,
            "header": page.told,
        }
