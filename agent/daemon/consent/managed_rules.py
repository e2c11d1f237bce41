"""Lasting decisions, written into the policy as managed rules, and recognised there.

What a word is about is taken out of our older rules for the same recipients, since among
equals the stricter would win whatever was said last. Rules that are not ours stay as they are:
where one of them wins, that is said. An approval for everyone and for good changes the entry of the
attribute that asks, if there is one, and an override the one that rules otherwise. Recipients that
get nothing are listed in one rule: a rule for each would fill the file.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import reduce
from pathlib import Path
from typing import Any, NamedTuple, get_args

from agent.daemon.policy_file import Edit, edit
from agent.errors import UsageError
from agent.wire.policy import Decided, Disclose
from policy.audit import called
from policy.edit import Entry, free_name, parsed, with_attribute, with_rule, without_rule
from policy.hosts import HostPattern, site_of
from policy.match import Rulebook
from policy.precedence import Verdict
from policy.rules import SIGN, Groups, Layer, Policy, Pools, Rule, is_group
from policy.toml_scan import comments, lines_of

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
TITLE = "refused"
MOST_REFUSED = 1000  # listed recipients: half of what a policy may hold, with the longest names
OPEN = frozenset({"auto", "always"})
CLOSED = frozenset({"never"})


def commented(before: str, after: str) -> str:
    """Return the text with the comments at its end that stood inside what was taken out."""
    lost = Counter(_comments(before)) - Counter(_comments(after))
    if not lost:
        return after
    newline = "\r\n" if "\r\n" in after else "\n"
    lines = [each for each in _comments(before) if lost[each] and not lost.subtract([each])]
    return newline.join([after.rstrip("\r\n"), *lines, ""])


def _comments(text: str) -> list[str]:
    return [each.rstrip("\r") for each in comments(text)]


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
        """Return whether one rule can say both."""
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


class ManagedRule(NamedTuple):
    """A rule of ours: its place among the rules, its name, and what it says."""

    place: int
    name: str
    says: Lasting


def managed_rules(text: str) -> list[ManagedRule]:
    """Return the rules of a policy that are ours and as we would write them."""
    return [*_managed(parsed(text).get("rule", []))]


def recipient_of(pool: str) -> str:
    """Return how a policy names a pool; UsageError where no rule can mean it and nobody else."""
    if pool.startswith(SIGN):
        return pool.removeprefix(SIGN)
    if is_group(pool):
        hint = "add it to a group in the policy and try again"
        raise UsageError(f"no rule can name {pool!r}, which has no dot", hint)
    below = f"x.{pool}"
    if HostPattern.parse(pool).matches(below) and site_of(below) != pool:
        what = f"a rule for {pool!r} would apply to everyone registered below it"
        raise UsageError(what, "if that is what you want, write the rule by hand")
    return pool


def pool_of(recipient: str, groups: Groups) -> str:
    """Return the pool that a rule for a recipient is about."""
    return SIGN + recipient if is_group(recipient) else Pools(groups).of(recipient)


def is_called(name: str, title: str) -> bool:
    """Return whether a rule of a title can have a name."""
    rest = name.removeprefix(title)
    return rest != name and (not rest or _NUMBERED.fullmatch(rest) is not None)


def _managed(rules: list[Mapping[str, Any]]) -> Iterator[ManagedRule]:
    for place, rule in enumerate(rules):
        name, recipient = rule.get("name"), rule.get("recipient")
        if not isinstance(name, str) or not isinstance(recipient, str | None):
            continue
        names, until = rule.get("attribute", []), rule.get("expires")
        disclose = None if rule.get("nothing") is True else RULED.get(rule.get("disclose"))
        if isinstance(names, list) and all(isinstance(each, str) for each in names):
            says = Lasting(recipient, tuple(names), disclose, until)
            if says.rule(name) == rule and is_called(name, says.title):
                yield ManagedRule(place, name, says)


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
    said = (each.says for each in managed_rules(text) if each.says.recipient == recipient)
    name, listed = _listed(text)
    if recipient in listed or any(each.disclose is None and each.until is None for each in said):
        return text
    if len(listed) >= MOST_REFUSED:
        what = f"{MOST_REFUSED:,} recipients are refused already, in the rule {name!r}"
        raise UsageError(what, "write a rule for several of them and remove them from that one")
    return commented(text, with_rule(text, _refusal_rule(name, [*listed, recipient])))


def allowed(text: str, recipient: str) -> str:
    """Return the text of a policy without what we wrote so that a recipient gets nothing."""
    after = text
    for _, name, says in managed_rules(text):
        if says.disclose is None and says.recipient == recipient:
            after = without_rule(after, name)
    name, listed = _listed(after)
    if recipient in listed:
        left = [each for each in listed if each != recipient]
        after = with_rule(after, _refusal_rule(name, left)) if left else without_rule(after, name)
    return commented(text, after)


def _listed(text: str) -> tuple[str, list[str]]:
    """Return the name of our rule, or that of a new one, and whom it lists."""
    for rule in parsed(text).get("rule", []):
        name, listed = rule.get("name"), rule.get("recipient")
        ours_so_far = isinstance(name, str) and isinstance(listed, list)
        if ours_so_far and is_called(name, TITLE) and rule == _refusal_rule(name, listed):
            return name, listed
    return free_name(text, TITLE), []


def _refusal_rule(name: str, listed: list[str]) -> dict[str, Entry]:
    return {"name": name, "recipient": listed, "nothing": True}


@dataclass(frozen=True, slots=True)
class Wish:
    """What shall hold from now on for a canonical host, and who it pools with, or for everyone.

    ``query``: of the request that the word is about; ``said``: a verdict on what waits, an override
    of whatever is ruled, or None for nothing at all to this recipient; ``until``: the last day,
    None for no end.
    """

    host: str
    said: Decided | Disclose | None
    names: tuple[str, ...] = ()
    query: str = ""
    everyone: bool = False
    until: date | None = None

    @property
    def disclose(self) -> Disclose | None:
        """What a rule for this says."""
        match self.said:
            case "approve" | "deny":
                return DISCLOSE[self.said]
        return self.said

    @property
    def wanted(self) -> frozenset[object]:
        """What may be ruled once it holds."""
        return {"approve": OPEN, "deny": CLOSED}.get(str(self.said), frozenset({self.said}))

    @property
    def may_be_entry(self) -> bool:
        """Whether it is what an entry of ``[attributes]`` can say."""
        return self.everyone and self.said not in ("deny", None) and self.until is None


class Written(NamedTuple):
    """The name of the rule, None where none was needed, and what still is not as was wished.

    ``decided_by``: for each of those names, the rule that wins.
    """

    rule: str | None
    without_effect: tuple[str, ...] = ()
    decided_by: tuple[str, ...] = ()


def write(path: Path, wish: Wish, today: date) -> tuple[Written, Edit]:
    """Write a word into a policy file; return what it comes to, and what was changed.

    UsageError, and nothing written, where there is no policy, where it has mistakes, where no
    rule can mean this recipient alone, where it would have no effect at all, and where the file
    cannot be changed.
    """
    made = edit(
        path,
        lambda text, policy: changed(text, policy, wish, today),
        lambda old, new: check_effect(old, new, wish, today),
    )
    return outcome(made.after, wish, today), made


def changed(text: str, policy: Policy, wish: Wish, today: date) -> str:
    """Return the text of a policy with a word in it, all comments kept; UsageError as above."""
    says = _says(policy, wish)
    after = text
    for _, name, old in managed_rules(text):
        left = tuple(each for each in old.names if each not in wish.names)
        if not _overrules(says, old, policy) or says.like(old):
            continue
        if not left:
            after = without_rule(after, name)
        elif left != old.names:
            after = with_rule(after, replace(old, names=left).rule(name))
    found = _without_ours(policy, wish, today)
    new = tuple(name for name in wish.names if wish.said != "approve" or found[name].value == "ask")
    named = [name for name in new if wish.may_be_entry and _is_entry(found[name], name)]
    after = reduce(lambda so_far, name: _entered(so_far, name, str(wish.disclose)), named, after)
    new = tuple(name for name in new if name not in named)
    if new or wish.said is None:
        after = _with(after, replace(says, names=new))
    return commented(text, after)


def outcome(policy: Policy, wish: Wish, today: date) -> Written:
    """Return what a policy, once changed, makes of a word."""
    says = _says(policy, wish)
    found = _ruled(policy, wish, today)
    rules = [each.name for each in managed_rules(policy.text) if says.like(each.says)]
    if wish.may_be_entry:
        rules += [each.rule.name for name, each in found.items() if _is_entry(each, name)]
    against = {
        name: ruled.rule.name for name, ruled in found.items() if ruled.value not in wish.wanted
    }
    return Written(rules[0] if rules else None, tuple(against), tuple(against.values()))


def check_effect(before: Policy, after: Policy, wish: Wish, today: date) -> None:
    """Raise UsageError, naming what decides, where a word would change nothing it is about."""
    against = outcome(after, wish, today).without_effect
    if not wish.names or len(against) < len(wish.names):
        return
    rule = _ruled(after, wish, today)[against[0]].rule
    rule = next((each for each in before.rules if each.name == rule.name), rule)
    winner = called(rule, lines_of(before.text), "disclose")
    what = f"this would have no effect: {winner} decides about {against[0]}"
    alone = ", or decide for this recipient alone" if wish.everyone else ""
    raise UsageError(what, f"change that by hand{alone}", before.source)


def _says(policy: Policy, wish: Wish) -> Lasting:
    """Return what the rule for a wish says, the names left out of it."""
    if wish.everyone:
        return Lasting(None, (), wish.disclose, wish.until)
    if wish.said is None:
        return Lasting(alone(policy, wish.host), (), None, wish.until)
    return Lasting(recipient_of(Pools(policy.groups).of(wish.host)), (), wish.disclose, wish.until)


def _overrules(says: Lasting, old: Lasting, policy: Policy) -> bool:
    """Return whether a word is about all that an older rule is for, and about the same thing."""
    if (says.disclose is None) != (old.disclose is None):
        return False
    if says.recipient is None or says.recipient == old.recipient:
        return True
    if says.disclose is None or old.recipient is None:
        return False
    return pool_of(old.recipient, policy.groups) == pool_of(says.recipient, policy.groups)


def _with(text: str, says: Lasting) -> str:
    """Return the text with a rule that says this, and what it said of other names before."""
    for _, name, old in managed_rules(text):
        if says.like(old):
            names = (*old.names, *(each for each in says.names if each not in old.names))
            return with_rule(text, replace(says, names=names).rule(name))
    return with_rule(text, says.rule(free_name(text, says.title)))


def _is_entry(ruled: Verdict | None, name: str) -> bool:
    """Return whether it is the file's own entry of an attribute that decides about it."""
    rule = None if ruled is None else ruled.rule
    return rule is not None and (rule.layer, rule.path) == (Layer.FILE, ("attributes", name))


def _entered(text: str, name: str, disclose: str) -> str:
    """Return the text with another word in the entry of an attribute: no rule could beat it."""
    entry = tomllib.loads(text)["attributes"][name]
    settings = {**entry, "disclose": disclose} if isinstance(entry, dict) else disclose
    return with_attribute(text, name, settings)


def _without_ours(policy: Policy, wish: Wish, today: date) -> dict[str, Verdict]:
    """Return what the rules that are not ours say of the names.

    What somebody has closed by hand since the user was asked is not opened by the answer.
    """
    plain = replace(policy, rules=tuple(_others(policy, wish.names)))
    return _ruled(plain, wish, today)


def _others(policy: Policy, names: Iterable[str]) -> Iterator[Rule]:
    """Yield the rules of a policy, ours without these names."""
    own = {
        ("rule", each.place)
        for each in managed_rules(policy.text)
        if each.says.disclose is not None
    }
    for rule in policy.rules:
        if rule.path not in own:
            yield rule
        elif left := tuple(each for each in rule.attributes if each.text not in names):
            yield replace(rule, attributes=left)


def _ruled(policy: Policy, wish: Wish, today: date) -> dict[str, Verdict]:
    """Return what is ruled of each of the names, for the request that the verdict is about."""
    ruling = Rulebook(policy, wish.names).match(wish.host, wish.query, today)
    return {name: ruling.attributes[name]["disclose"] for name in wish.names}
