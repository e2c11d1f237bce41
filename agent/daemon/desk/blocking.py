"""Who gets nothing at all, by the policy; and the user's word that somebody shall, or shall not."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from agent.daemon.desk.edits import Edit, edit
from agent.daemon.desk.refusals import allow, alone, refused
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

    def gets_nothing(self, site: str, now: datetime) -> bool:
        """Say whether a site gets nothing by the policy."""
        return self.rule(site, now) is not None

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
        """Write into the policy that a canonical host gets nothing, if the file does not say so.

        UsageError where it cannot be, RefusedError where that was asked for too often: each time
        the file is written.
        """

        def change(text: str, policy: Policy) -> str:
            rule = Rulebook(policy, ()).refusing(site_of(host), now.date())
            if rule is not None and rule.expires is None:
                return text
            self._check_count(now)
            return refused(text, alone(policy, host))

        if edit(self._path, change).changed:
            self._refusals = (*self._refusals, now)

    def allow(self, host: str) -> Edit:
        """Take out of the policy what we wrote so that a canonical host gets nothing.

        UsageError where the file cannot be changed.
        """
        return allow(self._path, host)

    def _check_count(self, now: datetime) -> None:
        self._refusals = tuple(each for each in self._refusals if now - each < HOUR)
        if len(self._refusals) >= MOST_REFUSALS:
            what = f"{MOST_REFUSALS} recipients were refused within an hour"
            raise RefusedError("refused", what, "write a rule for several of them into the policy")
