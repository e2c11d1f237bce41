"""The policy file, live: read again when it changes, and the last good rules kept meanwhile."""

from datetime import datetime, timedelta
from pathlib import Path

from agent.daemon.live.fired import Fired
from agent.daemon.live.in_force import InForce
from agent.daemon.live.stamps import Stamp, settling, stamp_of
from agent.daemon.process.log import LOG
from agent.errors import PolicyError, Problem, UnsafeError, UsageError
from agent.files import check_ours
from agent.wire.state import PolicyStatus
from policy.emptied import NOTHING, says_nothing
from policy.load import load
from policy.rules import Layer, Policy

EVERY = timedelta(seconds=0.5)  # between two looks at the file


class Rules:
    """The rules in force, by the file as it is or last was without mistakes.

    No file, no rules; nor where another user could have written it. One that says nothing is no
    policy, and one that was written to a moment ago is read at a later look: half of a policy can
    be a policy, and an open one.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.in_force = InForce(None)
        self.fired = Fired()
        self.problems: tuple[Problem, ...] = ()
        self._seen: Stamp | None = None
        self._looked_at: datetime | None = None
        self._loaded_at: datetime | None = None

    @property
    def policy(self) -> Policy | None:
        """The policy in force, None where there is none."""
        return self.in_force.policy

    @property
    def stale(self) -> bool:
        """Whether rules are in force that the file, as it is now, does not say."""
        return self.policy is not None and bool(self.problems)

    def check(self, now: datetime) -> bool:
        """Look at the file, unless that was done a moment ago; say whether it was read anew."""
        before = self._looked_at
        if before is not None and abs(now - before) < EVERY:
            return False
        self._looked_at = now
        stamp = stamp_of(self.path)
        if stamp == self._seen or (before is not None and settling(stamp, now)):
            return False
        self._read(stamp, now)
        return True

    def renew(self, now: datetime) -> bool:
        """Read the file now if it is another than was read; say whether it is.

        For what we wrote, whole: nothing of it is to be waited for.
        """
        if stamp_of(self.path) == self._seen:
            return False
        self.reload(now)
        return True

    def reload(self, now: datetime) -> None:
        """Read the file now, as it is."""
        self._looked_at = now
        self._read(stamp_of(self.path), now)

    def forget(self) -> None:
        """Forget what was asked, and which rules decided; they stay in force."""
        self.in_force = InForce(self.policy)
        self.fired.clear()

    def status(self) -> PolicyStatus:
        """Return how the file is, and whether there are rules in force."""
        rules = () if self.policy is None else self.policy.rules
        return PolicyStatus(
            path=str(self.path),
            in_use=self.policy is not None,
            rules=sum(rule.layer is Layer.FILE for rule in rules),
            loaded_at=self._loaded_at,
            problems=[_said(each) for each in self.problems],
        )

    def _read(self, stamp: Stamp | None, now: datetime) -> None:
        """Take the rules of the file as it is, and say in the log that there are others or none."""
        self._take(stamp, now)
        if self.problems:
            LOG.warning("%s: not used, problems: %d", self.path.name, len(self.problems))
        else:
            LOG.info("%s: %s", self.path.name, "there is none now" if stamp is None else "in use")

    def _take(self, stamp: Stamp | None, now: datetime) -> None:
        """Take the rules of the file, or keep the last ones and note what is wrong with it."""
        self._seen = stamp
        if stamp is None:
            self.in_force, self.problems, self._loaded_at = InForce(None), (), None
            return
        try:
            policy = load(self.path, check_ours)
        except PolicyError as error:
            self.problems = error.problems
        except UnsafeError as error:  # whose rules the last ones were cannot be said any more
            self.in_force, self._loaded_at = InForce(None), None
            self.problems = (Problem(0, "", str(error), error.hint),)
        except UsageError as error:
            self.problems = (Problem(0, "", error.what, error.hint),)
        else:
            if says_nothing(policy.text):
                self.problems = (NOTHING,)
            else:
                self.in_force, self.problems, self._loaded_at = InForce(policy), (), now


def _said(problem: Problem) -> str:
    """Return a problem in one line."""
    place = f"line {problem.line}: " if problem.line else ""
    key = f"{problem.key}: " if problem.key else ""
    return f"{place}{key}{problem.what} ({problem.hint})"
