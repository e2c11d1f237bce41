"""How the daemon is, as the screens say it."""

from dataclasses import dataclass

from agent.wire.state import Status


@dataclass(frozen=True, slots=True)
class State:
    """The daemon's last word, None before the first; ``stale``: it was not heard since.

    ``trouble``: a sentence where what is shown may not be so any more.
    """

    status: Status | None = None
    stale: bool = False
    trouble: str = ""

    def said(self) -> str:
        """Return how it is in a few words, each state with a sign of its own."""
        if self.stale:
            return "✗ stale "
        if self.status is None:
            return "… connecting "
        waiting = f"? {self.status.waiting} waiting · " if self.status.waiting else ""
        return f"{waiting}{'× locked' if self.status.locked else '√ open'} "
