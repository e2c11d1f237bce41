"""Groups: recipients that pool what they learn, and so are one adversary."""

import re
from collections.abc import Mapping
from itertools import combinations
from typing import Any

from policy import fields
from policy.fields import Findings
from policy.hosts import HostPattern, site_of

Groups = Mapping[str, tuple[HostPattern, ...]]
_NAME = re.compile(r"[a-z][a-z0-9_-]*")
LOCAL = "localhost"
SIGN = "@"  # before the name of a group, where a host may stand as well


def read_groups(found: Findings, given: Mapping[str, Any]) -> Groups:
    """Return the members of each group, each widened to all that its owner has registered."""
    groups = {}
    for name, members in given.items():
        path = ("groups", name)
        if not _NAME.fullmatch(name) or name == LOCAL:
            hint = "a name has small letters, digits, _ and -, and is not localhost"
            found.add(path, f"{name!r} is no name of a group", hint)
        patterns = fields.parsed(found, path, members, HostPattern.parse)
        groups[name] = tuple(_widened(each) for each in patterns)
    _apart(found, groups)
    return groups


def pool_of(host: str, groups: Groups) -> str:
    """Return who remembers what a host is told: ``@`` and its group, or its domain."""
    site = site_of(host)
    for name, members in groups.items():
        if any(member.matches(site) for member in members):
            return SIGN + name
    return site


def _widened(member: HostPattern) -> HostPattern:
    """Return the pattern for the registered domain of a member, unless it is of many of them."""
    below = f"x.{member.key}"
    site = site_of(below)
    return member if site in (below, "x") or ":" in member.key else HostPattern.parse(site)


def _apart(found: Findings, groups: Groups) -> None:
    """Note groups that have a recipient in common."""
    for (one, its), (other, others) in combinations(groups.items(), 2):
        shared = [each for each in others if any(each.meets(member) for member in its)]
        if shared:
            what = f"{shared[0].text} is in {one!r} as well"
            found.add(("groups", other), what, "put it into one group, or make the two groups one")
