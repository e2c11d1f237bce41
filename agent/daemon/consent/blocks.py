"""Rules of the policy file by which a recipient gets nothing, or is listed as an assistant."""

from datetime import date, datetime
from pathlib import Path

from agent.daemon.consent.managed_rules import Instruction, owner_of
from agent.daemon.consent.queue import HOUR
from agent.daemon.policy_file import Edit, rewrite
from agent.errors import RefusedError, UsageError
from agent.wire.policy import Ruled
from policy.amend import RuleScope, with_assistant, with_settings, without_refusals
from policy.hosts import host_of, site_of
from policy.match import Rulebook
from policy.rules import Policy

MOST_REFUSALS = 60  # within an hour
MOST_BLOCKS = 1000  # rules by which somebody gets nothing: half of what a policy may hold
MERGE = "write one rule for several of them in the policy"


class Blocks:
    """Writes such rules into a policy file, only so many within an hour."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._refusals: tuple[datetime, ...] = ()

    def refuse(self, host: str, now: datetime) -> None:
        """Write that a host's owner gets nothing; RefusedError where that was asked too often."""

        def change(text: str, policy: Policy) -> str:
            rule = Rulebook(policy, {}).refusing(site_of(host), now.date())
            if rule is not None and rule.expires is None:
                return text
            self._refusals = tuple(each for each in self._refusals if now - each < HOUR)
            blocks = sum(each.settings.get("nothing") is True for each in policy.rules)
            if blocks >= MOST_BLOCKS:  # the rest of the file is for what the user says
                raise RefusedError("refused", f"{MOST_BLOCKS:,} rules give somebody nothing", MERGE)
            if len(self._refusals) >= MOST_REFUSALS:
                what = f"{MOST_REFUSALS} recipients were refused within an hour"
                raise RefusedError("refused", what, MERGE)
            return _refused(text, policy, host)

        if rewrite(self._path, change).changed:
            self._refusals = (*self._refusals, now)

    def deny(self, site: str, until: date | None, today: date) -> tuple[Ruled, Edit]:
        """Write that a site gets nothing until a day, as the user's answer to its offer."""
        edit = rewrite(self._path, lambda text, policy: _refused(text, policy, site, until))
        rule = Rulebook(edit.after, {}).refusing(site, today)
        return Ruled(written=None if rule is None else rule.name, without_effect=[]), edit

    def allow(self, recipient: str) -> Edit:
        """Remove the rules that name the recipient's owner exactly and give it nothing.

        UsageError where no rule can mean it alone, or the file cannot be changed.
        """
        host = host_of(recipient)
        return rewrite(
            self._path, lambda text, policy: without_refusals(text, owner_of(policy, host))
        )

    def list_assistant(self, wanted: Instruction, address: str, today: date) -> tuple[Ruled, Edit]:
        """List an assistant by a rule.

        UsageError where another rule decides otherwise, or the policy cannot be written.
        """

        def check(_: Policy, after: Policy) -> None:
            listed_at = dict(Rulebook(after, {}).assistants(today)).values()
            if address.rstrip("/") not in listed_at:
                what = "this would have no effect: another rule decides about this assistant"
                hint = f"`reticent policy show --recipient {wanted.host}` names it"
                raise UsageError(what, hint)

        def change(text: str, _: Policy) -> str:
            return with_assistant(text, wanted.host, address, wanted.until)

        edit = rewrite(self._path, change, check)
        rules = [each for each in edit.after.rules if each.settings.get("address") == address]
        return Ruled(written=rules[-1].name, without_effect=[]), edit


def _refused(text: str, policy: Policy, host: str, until: date | None = None) -> str:
    where = RuleScope(recipient=owner_of(policy, host), expires=until)
    return with_settings(text, policy, where, {"nothing": True})
