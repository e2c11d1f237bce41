"""Rules of the policy that are ours: how they are called, and how they are known again. Pure."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, NamedTuple, get_args

from agent.errors import UsageError
from agent.wire.policy import Decided, Disclose
from policy.edit import Entry, parsed
from policy.hosts import HostPattern, site_of
from policy.rules import SIGN, Groups, Pools, is_group

DISCLOSE: Mapping[Decided, Disclose] = {"approve": "auto", "deny": "never"}
CALLED: Mapping[Disclose | None, str] = {
    "auto": "approved",
    "never": "denied",
    "ask": "asked",
    "always": "always",
    None: "nothing",
}
RULED: Mapping[object, Disclose] = {each: each for each in get_args(Disclose)}
_NUMBERED = re.compile(r" \([0-9]+\)")
LONGEST = 120  # characters of a recipient in a name, which has at most 200


@dataclass(frozen=True, slots=True)
class Lasting:
    """What a rule of ours says: ``recipient`` as a policy names it, None for everyone.

    ``disclose``: None where the recipient gets nothing at all, and ``names`` are empty; ``until``:
    the last day, None for no end.
    """

    recipient: str | None
    names: tuple[str, ...]
    disclose: Disclose | None
    until: date | None = None

    @property
    def title(self) -> str:
        """What the rule is called, unless another is called so."""
        shown = "everyone"
        if self.recipient is not None:
            sign = SIGN if is_group(self.recipient) else ""
            shown = f"{sign}{self.recipient[-LONGEST:]}"
        end = "" if self.until is None else f" until {self.until}"
        return f"{CALLED[self.disclose]} for {shown}{end}"

    def like(self, other: "Lasting") -> bool:
        """Say whether one rule can say both."""
        return replace(self, names=()) == replace(other, names=())

    def rule(self, name: str) -> dict[str, Entry]:
        """Return the rule, with a name."""
        rule: dict[str, Entry] = {"name": name}
        if self.recipient is not None:
            rule["recipient"] = self.recipient
        if self.disclose is None:
            rule["nothing"] = True
        else:
            rule |= {"attribute": list(self.names), "disclose": self.disclose}
        if self.until is not None:
            rule["expires"] = self.until
        return rule


class Ours(NamedTuple):
    """A rule of ours: its place among the rules, its name, and what it says."""

    place: int
    name: str
    says: Lasting


def ours(text: str) -> list[Ours]:
    """Return the rules of a policy that are ours and as we would write them."""
    return [*_found(parsed(text).get("rule", []))]


def recipient_of(pool: str) -> str:
    """Return how a policy names a pool; UsageError where no rule can mean it and nobody else."""
    if pool.startswith(SIGN):
        return pool.removeprefix(SIGN)
    if is_group(pool):
        hint = "make it the member of a group in the policy, and say it again"
        raise UsageError(f"no rule can name {pool!r}, which has no dot", hint)
    below = f"x.{pool}"
    if HostPattern.parse(pool).matches(below) and site_of(below) != pool:
        what = f"a rule for {pool!r} would hold for everyone who is registered below it"
        raise UsageError(what, "write a rule by hand if that is meant")
    return pool


def pool_of(recipient: str, groups: Groups) -> str:
    """Return the pool that a rule for a recipient is about."""
    return SIGN + recipient if is_group(recipient) else Pools(groups).of(recipient)


def is_called(name: str, title: str) -> bool:
    """Say whether a rule of a title can have a name."""
    rest = name.removeprefix(title)
    return rest != name and (not rest or _NUMBERED.fullmatch(rest) is not None)


def _found(rules: list[Mapping[str, Any]]) -> Iterator[Ours]:
    for place, rule in enumerate(rules):
        name, recipient = rule.get("name"), rule.get("recipient")
        if not isinstance(name, str) or not isinstance(recipient, str | None):
            continue
        names, until = rule.get("attribute", []), rule.get("expires")
        disclose = None if rule.get("nothing") is True else RULED.get(rule.get("disclose"))
        if isinstance(names, list) and all(isinstance(each, str) for each in names):
            says = Lasting(recipient, tuple(names), disclose, until)
            if says.rule(name) == rule and is_called(name, says.title):
                yield Ours(place, name, says)
