"""Groups: recipients that pool what they learn, and so are one adversary."""

import re
from collections.abc import Mapping
from typing import Any

from policy import fields
from policy.fields import Findings
from policy.hosts import LOCAL, HostPattern, site_of, suffixes

Groups = Mapping[str, tuple[HostPattern, ...]]
_NAME = re.compile(r"[a-z][a-z0-9_-]*")
SIGN = "@"  # before the name of a group, where a host may stand as well


def read_groups(found: Findings, given: Mapping[str, Any]) -> Groups:
    """Return the members of each group, each widened to all that its owner has registered."""
    groups = {}
    for name, members in given.items():
        path = ("groups", name)
        if not _NAME.fullmatch(name) or name == LOCAL:
            hint = "a name has small letters, digits, _ and -, and is not localhost"
            found.add(path, f"{fields.shown(name)} is no name of a group", hint)
        patterns = fields.parsed(found, path, members, HostPattern.parse)
        groups[name] = tuple(_widened(each) for each in patterns)
    _apart(found, groups)
    return groups


class Pools:
    """Who pools with whom, made ready to be asked often."""

    def __init__(self, groups: Groups) -> None:
        """Take the groups, which have no recipient in common."""
        self._members: dict[str, list[tuple[HostPattern, str]]] = {}
        for name, members in groups.items():
            for member in members:
                self._members.setdefault(member.key, []).append((member, name))

    def of(self, host: str) -> str:
        """Return who remembers what a host is told: ``@`` and its group, or its domain."""
        site = site_of(host)
        group = self.group(site) if self._members else None
        return site if group is None else SIGN + group

    def group(self, host: str) -> str | None:
        """Return the group that a host belongs to, whoever registered it."""
        for domain in suffixes(host):
            for member, name in self._members.get(domain, ()):
                if member.matches(host):
                    return name
        return None


def is_group(recipient: str) -> bool:
    """Say whether a policy takes this for the name of a group: nothing in it is of a host."""
    return not {*recipient} & {*".:*"} and recipient.strip().lower() != LOCAL


def _widened(member: HostPattern) -> HostPattern:
    """Return the pattern for the registered domain of a member, unless it is of many of them."""
    below = f"x.{member.key}"
    site = site_of(below)
    several = site in (below, "x") or ":" in member.key
    return member if several or site == member.text else HostPattern.parse(site)


def _apart(found: Findings, groups: Groups) -> None:
    """Note groups that have a recipient in common: then one domain is, or is below, the other."""
    at: dict[str, str] = {}
    above: dict[str, str] = {}
    for name, members in groups.items():
        domains = [(member, suffixes(member.key)) for member in members]
        shared: dict[str, HostPattern] = {}
        for member, its in domains:
            others = [at[each] for each in its if each in at]
            if member.key in above:
                others.append(above[member.key])
            for other in others:
                shared.setdefault(other, member)
        for other, member in shared.items():
            what = f"{member.text} is in {other!r} as well"
            found.add(("groups", name), what, "put it into one group, or make the two groups one")
        at.update((member.key, name) for member in members if member.key not in at)
        above.update((each, name) for _, its in domains for each in its if each not in above)
