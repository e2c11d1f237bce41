"""What is asked, and by whom."""

from collections.abc import Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Request:
    """One request that is about to leave.

    ``query``: the text; ``recipient``: who receives it (registrable domain or group);
    ``asked``: names of the attributes the recipient can use, None where it did not say.
    """

    query: str
    recipient: str = ""
    asked: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What a recipient holds: person attributes with the value codes disclosed to it so far.

    ``codes``: (name, code) pairs, each name once, in ascending order; ``recent``: how many facts
    it learned within the last seven days; ``heard``: (query, times) pairs, ascending: which of the
    model's queries, by index, it was sent something with, and how often.
    """

    codes: tuple[tuple[str, int], ...] = ()
    recent: int = 0
    heard: tuple[tuple[int, int], ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """The names of the attributes the recipient holds."""
        return frozenset(name for name, _ in self.codes)

    def learns(self, codes: Mapping[str, int]) -> "Knowledge":
        """Return what the recipient holds once it was told these; the latest value counts.

        Only person attributes belong here: request attributes are not knowledge (DESIGN.md 2.2).
        """
        known = sorted({**dict(self.codes), **codes}.items())
        return replace(self, codes=tuple(known))

    def hears(self, query: int | None) -> "Knowledge":
        """Return the same after something was sent with a query; None: one the model lacks."""
        if query is None:
            return self
        times = dict(self.heard)
        times[query] = times.get(query, 0) + 1
        return replace(self, heard=tuple(sorted(times.items())))
