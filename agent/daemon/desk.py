"""The desk: what waits for the user, and what the user has said of it."""

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from agent.daemon.kept import Items
from agent.decision.decision import Decision
from agent.decision.terms import Terms
from agent.wire.asking import Ask
from agent.wire.reviews import Review, Ruled, Verdict
from policy.match import Ruling
from policy.rules import Policy


class Desk:
    """Holds what waits and what was said; it belongs to one thread."""

    def __init__(self, path: Path, policy: Callable[[], Policy | None]) -> None:
        """Take the policy file, and what returns the rules that are in use, None where none are."""
        self._path = path
        self._policy = policy

    def opened(self, items: Items) -> None:
        """Take what remembers approved offers, once the vault is unlocked."""

    def closed(self) -> None:
        """Forget what the vault holds, as it is locked."""

    def offered(self, site: str, now: datetime) -> frozenset[str] | None:  # noqa: ARG002
        """Return what an approved offer says a recipient can use, None where there is none."""
        return None

    def overlay(self, terms: Terms, pool: str, now: datetime) -> Terms:  # noqa: ARG002
        """Return the terms with the user's verdicts for a pool applied to what they would ask."""
        return terms

    def note(self, decision: Decision, ruling: Ruling, ask: Ask, now: datetime) -> Review | None:
        """Queue what waits, and use up what was said once.

        Returns the review if it is new, or may be shown as a prompt from now on.
        """

    def reviews(self, now: datetime) -> list[Review]:  # noqa: ARG002
        """Return what waits, oldest first."""
        return []

    def verdict(self, number: int, verdict: Verdict, now: datetime) -> Ruled:
        """Apply the user's word from the next request on; the policy file may have changed then.

        UsageError where there is no such review or name, or the policy cannot be written.
        """
        raise NotImplementedError

    def dismiss(self, number: int) -> None:
        """Take a review off the list, ruling nothing; UsageError where there is none."""
        raise NotImplementedError

    def offer(self, site: str, pool: str, names: Sequence[str], now: datetime) -> Review | None:
        """Queue what a recipient says it can use; returns the review if it is new."""

    def refuse(self, host: str, now: datetime) -> None:
        """Write into the policy that a recipient gets nothing; UsageError where it cannot be."""
        raise NotImplementedError
