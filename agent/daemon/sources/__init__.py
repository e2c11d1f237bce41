"""Sources of request attributes: what the clock and past queries say of one request."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from agent.daemon.kept import Items
from agent.wire.asking import Ask, Clicked


class Sources:
    """Answers for the request attributes that have a source; it belongs to one thread."""

    def opened(self, items: Items, names: frozenset[str]) -> None:
        """Take the vault's records, once it is unlocked.

        ``names``: all request attributes of the models in use; where none of them needs the
        history of queries, none is kept, and what was kept goes.
        """

    def closed(self) -> None:
        """Write what is not written yet, and forget it, before the vault is locked."""

    def values(
        self,
        names: Sequence[str],  # noqa: ARG002
        ask: Ask,  # noqa: ARG002
        now: datetime,  # noqa: ARG002
    ) -> Mapping[str, str]:
        """Return yes or no for each of the names whose source can say it at this moment.

        ``now``: in the zone in which the user lives.
        """
        return {}

    def noted(self, ask: Ask, now: datetime) -> None:
        """Take note of a request, once the values for it are known."""

    def clicked(self, clicked: Clicked, now: datetime) -> None:
        """Take note of a visit."""
