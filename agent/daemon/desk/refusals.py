"""Recipients that get nothing any more: one rule of the policy, in which all are listed.

A browser asks for that, and so can whoever reaches its door: a rule for each would fill the file
in which the user's own words stand.
"""

from pathlib import Path

from agent.daemon.desk.edits import Edit, edit
from agent.daemon.desk.ours import is_called, ours, recipient_of
from agent.daemon.desk.remarks import commented
from agent.errors import UsageError
from policy.edit import Entry, free_name, parsed, with_rule, without_rule
from policy.hosts import site_of
from policy.rules import Policy, Pools, is_group

TITLE = "refused"
MOST = 1000  # listed recipients: half of what a policy may hold, with the longest names


def allow(path: Path, host: str) -> Edit:
    """Take out of a policy file what we wrote so that a host gets nothing.

    UsageError, and nothing written, where there is no policy, where it has mistakes, where no rule
    can mean this recipient alone, and where the file cannot be changed.
    """
    return edit(path, lambda text, policy: allowed(text, alone(policy, host)))


def alone(policy: Policy, host: str) -> str:
    """Return how a policy names the owner of a host: the rest of its group refused nothing.

    UsageError where no rule can mean it and nobody else.
    """
    site = site_of(host)
    return recipient_of(Pools(policy.groups).of(host) if is_group(site) else site)


def refused(text: str, recipient: str) -> str:
    """Return the text of a policy with one more that gets nothing; UsageError for over MOST."""
    said = (each.says for each in ours(text) if each.says.recipient == recipient)
    name, listed = _listed(text)
    if recipient in listed or any(each.disclose is None and each.until is None for each in said):
        return text
    if len(listed) >= MOST:
        what = f"{MOST:,} recipients are refused already, in the rule {name!r}"
        raise UsageError(what, "write a rule for several of them, and take them out of that one")
    return commented(text, with_rule(text, _rule(name, [*listed, recipient])))


def allowed(text: str, recipient: str) -> str:
    """Return the text of a policy without what we wrote so that a recipient gets nothing."""
    after = text
    for _, name, says in ours(text):
        if says.disclose is None and says.recipient == recipient:
            after = without_rule(after, name)
    name, listed = _listed(after)
    if recipient in listed:
        left = [each for each in listed if each != recipient]
        after = with_rule(after, _rule(name, left)) if left else without_rule(after, name)
    return commented(text, after)


def _listed(text: str) -> tuple[str, list[str]]:
    """Return the name of our rule, or that of a new one, and whom it lists."""
    for rule in parsed(text).get("rule", []):
        name, listed = rule.get("name"), rule.get("recipient")
        ours_so_far = isinstance(name, str) and isinstance(listed, list)
        if ours_so_far and is_called(name, TITLE) and rule == _rule(name, listed):
            return name, listed
    return free_name(text, TITLE), []


def _rule(name: str, listed: list[str]) -> dict[str, Entry]:
    return {"name": name, "recipient": listed, "nothing": True}
