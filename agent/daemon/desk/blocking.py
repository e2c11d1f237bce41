"""Who gets nothing at all, by the policy; and the user's word that somebody shall, or shall not."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from agent.daemon.desk.edits import Edit
from agent.daemon.desk.refusals import allow, refuse
from agent.daemon.desk.waiting import HOUR
from agent.errors import RefusedError
from policy.hosts import site_of
from policy.match import Rulebook
from policy.rules import Policy, Rule

MOST_REFUSALS = 60  # within an hour


class Blocking:
    """What is ruled of recipients as a whole; it belongs to one thread."""

    def __init__(self, path: Path, policy: Callable[[], Policy | None]) -> None:
        """Take the policy file, and what returns the rules that are in use."""
        self._path = path
        self._policy = policy
        self._book: Rulebook | None = None
        self._refusals: tuple[datetime, ...] = ()

    def forget(self) -> None:
        """Forget what was asked."""
        self._book = None

    def gets_nothing(self, site: str, now: datetime, *, for_good: bool = False) -> bool:
        """Say whether a site gets nothing by the policy; ``for_good``: by a rule without an end."""
        rule = self.rule(site, now)
        return rule is not None and not (for_good and rule.expires)

    def rule(self, host: str, now: datetime) -> Rule | None:
        """Return the rule by which a host gets nothing, whatever the query; None where it does."""
        book = self.book()
        return None if book is None else book.refusing(host, now.date())

    def book(self) -> Rulebook | None:
        """Return the rules that are in use, ready to be asked of recipients; None for none."""
        policy = self._policy()
        if policy is None:
            return None
        if self._book is None or self._book.policy is not policy:
            self._book = Rulebook(policy, ())
        return self._book

    def refuse(self, host: str, now: datetime) -> None:
        """Write into the policy that a canonical host gets nothing, if that is not said yet.

        UsageError where it cannot be, RefusedError where that was asked for too often: each time
        the file is written.
        """
        if not self.gets_nothing(site_of(host), now, for_good=True):
            self._count(now)
            refuse(self._path, host)

    def allow(self, host: str) -> Edit:
        """Take out of the policy what we wrote so that a canonical host gets nothing.

        UsageError where the file cannot be changed.
        """
        return allow(self._path, host)

    def _count(self, now: datetime) -> None:
        lately = tuple(each for each in self._refusals if now - each < HOUR)
        if len(lately) >= MOST_REFUSALS:
            what = f"{MOST_REFUSALS} recipients were refused within an hour"
            raise RefusedError("refused", what, "write a rule for several of them into the policy")
        self._refusals = (*lately, now)
