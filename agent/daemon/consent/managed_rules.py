"""Instructions that last, as managed rules in the text of a policy. Pure.

What an instruction is about is taken out of our older rules for the same recipients: among equally
specific rules the stricter would win, whatever came last. Rules that are not ours stay as they are,
and the answer names the ones that win. An approval for everyone and for good changes the entry of
the attribute that asks, if there is one; an override changes the entry that rules otherwise.
Recipients that get nothing are listed in one rule: a rule for each would fill the file.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import date

from agent.daemon.consent.preferences import RULED, Instruction
from agent.errors import UsageError
from agent.wire.policy import Disclose, Ruled
from policy.audit import called
from policy.edit import Entry, free_name, parsed, with_attribute, with_rule, without_rule
from policy.hosts import HostPattern, site_of
from policy.match import Rulebook, Ruling
from policy.precedence import Verdict
from policy.rules import SIGN, Layer, Policy, Pools, is_group
from policy.toml_scan import comments, lines_of

VERBS = {"auto": "approved", "never": "denied", "ask": "asked", "always": "always", None: "nothing"}
_NUMBERED = re.compile(r"(?: \([0-9]+\))?")
LONGEST = 120  # characters of a recipient in a name, which has at most 200
TITLE = "refused"
MOST_REFUSED = 1000  # listed recipients: half of what a policy may hold, with the longest names


@dataclass(frozen=True, slots=True)
class ManagedRule:
    """A rule of ours: ``recipient`` as a policy names it, None for everyone.

    ``disclose``: None where the recipient gets nothing at all, and ``names`` are empty; ``until``:
    the last day, None for no end; ``name``: of the rule; ``place``: among the rules of the policy.
    """

    recipient: str | None
    names: tuple[str, ...]
    disclose: Disclose | None
    until: date | None = None
    name: str = ""
    place: int = -1

    @property
    def title(self) -> str:
        """What the rule is called, unless another has that name."""
        shown = "everyone"
        if self.recipient is not None:
            sign = SIGN if is_group(self.recipient) else ""
            shown = f"{sign}{self.recipient[-LONGEST:]}"
        end = "" if self.until is None else f" until {self.until}"
        return f"{VERBS[self.disclose]} for {shown}{end}"

    def is_like(self, other: "ManagedRule") -> bool:
        """Return whether one rule can say both."""
        own = (self.recipient, self.disclose, self.until)
        return own == (other.recipient, other.disclose, other.until)

    def table(self) -> dict[str, Entry]:
        """Return the rule as TOML has it."""
        table: dict[str, Entry] = {"name": self.name}
        if self.recipient is not None:
            table["recipient"] = self.recipient
        if self.disclose is None:
            table["nothing"] = True
        else:
            table |= {"attribute": list(self.names), "disclose": self.disclose}
        if self.until is not None:
            table["expires"] = self.until
        return table


def managed_rules(text: str) -> list[ManagedRule]:
    """Return the rules of a policy that are ours and as we would write them."""
    found = []
    for place, table in enumerate(parsed(text).get("rule", [])):
        name, recipient = table.get("name"), table.get("recipient")
        names, until = table.get("attribute", []), table.get("expires")
        if not isinstance(name, str) or not isinstance(recipient, str | None):
            continue
        if isinstance(names, list) and all(isinstance(each, str) for each in names):
            disclose = None if table.get("nothing") is True else RULED.get(table.get("disclose"))
            rule = ManagedRule(recipient, tuple(names), disclose, until, name, place)
            if rule.table() == table and _is_called(name, rule.title):
                found.append(rule)
    return found


def _is_called(name: str, title: str) -> bool:
    """Return whether a rule of a title can have a name."""
    return name.startswith(title) and bool(_NUMBERED.fullmatch(name.removeprefix(title)))


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


def alone(policy: Policy, host: str) -> str:
    """Return how a policy names the owner of a host: the rest of its group refused nothing.

    UsageError where no rule can mean it and nobody else.
    """
    site = site_of(host)
    return recipient_of(Pools(policy.groups).of(host) if is_group(site) else site)


def refused(text: str, recipient: str) -> str:
    """Return the text of a policy with one more recipient that gets nothing.

    UsageError where MOST_REFUSED are listed.
    """
    name, listed = _refusals(text)
    if recipient in listed or any(
        rule.recipient == recipient and rule.disclose is None and rule.until is None
        for rule in managed_rules(text)
    ):
        return text
    if len(listed) >= MOST_REFUSED:
        what = f"{MOST_REFUSED:,} recipients are refused already, in the rule {name!r}"
        raise UsageError(what, "write a rule for several of them and remove them from that one")
    return _commented(text, with_rule(text, _refusal_rule(name, [*listed, recipient])))


def allowed(text: str, recipient: str) -> str:
    """Return the text of a policy without what we wrote so that a recipient gets nothing."""
    after = text
    for rule in managed_rules(text):
        if rule.disclose is None and rule.recipient == recipient:
            after = without_rule(after, rule.name)
    name, listed = _refusals(after)
    if recipient in listed:
        left = [each for each in listed if each != recipient]
        after = with_rule(after, _refusal_rule(name, left)) if left else without_rule(after, name)
    return _commented(text, after)


def _refusals(text: str) -> tuple[str, list[str]]:
    """Return the name of our rule for all who are refused, or of a new one, and whom it lists."""
    for table in parsed(text).get("rule", []):
        name, listed = table.get("name"), table.get("recipient")
        is_ours = isinstance(name, str) and isinstance(listed, list) and _is_called(name, TITLE)
        if is_ours and table == _refusal_rule(name, listed):
            return name, listed
    return free_name(text, TITLE), []


def _refusal_rule(name: str, listed: list[str]) -> dict[str, Entry]:
    return {"name": name, "recipient": listed, "nothing": True}


def with_instruction(text: str, policy: Policy, wanted: Instruction, today: date) -> str:
    """Return the text of a policy that says what is wanted, all comments kept.

    UsageError where no rule can mean the recipient alone.
    """
    rule, after = _rule_for(policy, wanted), text
    for old in managed_rules(text):
        left = tuple(each for each in old.names if each not in wanted.called)
        if not _covers(rule, old, policy) or rule.is_like(old):
            continue
        if not left:
            after = without_rule(after, old.name)
        elif left != old.names:
            after = with_rule(after, replace(old, names=left).table())
    by_others = _ruled(_without_ours(policy, wanted), wanted, today)
    names = []
    for name, ruled in by_others.items():
        if wanted.value == "approve" and ruled.value != "ask":
            continue  # what somebody closed by hand since then is not opened by an answer
        if wanted.is_entry and _is_entry(ruled, wanted, name):  # which no rule could beat
            after = _with_entries(after, str(wanted.disclose), wanted.names[name].names)
        else:
            names.append(name)
    if names or wanted.value is None:
        like = next((each for each in managed_rules(after) if rule.is_like(each)), rule)
        name = like.name or free_name(after, rule.title)
        merged = tuple(dict.fromkeys((*like.names, *names)))
        after = with_rule(after, replace(rule, names=merged, name=name).table())
    return _commented(text, after)


def _with_entries(text: str, disclose: str, names: Collection[str]) -> str:
    """Return the text of a policy with all that its entries rule of a fact changed."""
    entries = tomllib.loads(text)["attributes"]
    for name in sorted(entries.keys() & names):
        if isinstance(entries[name], str):
            text = with_attribute(text, name, disclose)
        elif "disclose" in entries[name]:
            text = with_attribute(text, name, {**entries[name], "disclose": disclose})
    return text


def outcome(policy: Policy, wanted: Instruction, today: date) -> Ruled:
    """Return what a policy makes of an instruction, once it says it."""
    rule, found = _rule_for(policy, wanted), _ruled(policy, wanted, today)
    rules = [each.name for each in managed_rules(policy.text) if rule.is_like(each)]
    if wanted.is_entry:
        rules += [each.rule.name for name, each in found.items() if _is_entry(each, wanted, name)]
    without = {name: each for name, each in found.items() if not wanted.allows(each.value)}
    return Ruled(
        written=rules[0] if rules else None,
        without_effect=[*without],
        decided_by=[each.rule.name for each in without.values()],
    )


def check_effect(before: Policy, after: Policy, wanted: Instruction, today: date) -> None:
    """Raise UsageError, naming what decides, where an instruction would have no effect at all."""
    without = outcome(after, wanted, today).without_effect
    if not wanted.names or len(without) < len(wanted.names):
        return
    rule = _ruled(after, wanted, today)[without[0]].rule
    rule = next((each for each in before.rules if each.name == rule.name), rule)
    winner = called(rule, lines_of(before.text), "disclose")
    what = f"this would have no effect: {winner} decides about {without[0]}"
    or_alone = ", or decide for this recipient alone" if wanted.everyone else ""
    raise UsageError(what, f"change that by hand{or_alone}", before.source)


def _rule_for(policy: Policy, wanted: Instruction) -> ManagedRule:
    """Return the rule for an instruction, without its name and its attributes."""
    recipient = None
    if wanted.value is None:
        recipient = alone(policy, wanted.host)
    elif not wanted.everyone:
        recipient = recipient_of(Pools(policy.groups).of(wanted.host))
    return ManagedRule(recipient, (), wanted.disclose, wanted.until)


def _covers(rule: ManagedRule, old: ManagedRule, policy: Policy) -> bool:
    """Return whether a rule is for all that an older one is for, and about the same thing."""
    if (rule.disclose is None) != (old.disclose is None):
        return False
    if rule.recipient is None or rule.recipient == old.recipient:
        return True
    if rule.disclose is None or old.recipient is None:
        return False
    pools = Pools(policy.groups)
    own, its = (
        SIGN + each if is_group(each) else pools.of(each)
        for each in (rule.recipient, old.recipient)
    )
    return own == its


def _is_entry(ruled: Verdict, wanted: Instruction, name: str) -> bool:
    """Return whether it is the file's own entry of an attribute that decides about it."""
    entries = {("attributes", each) for each in wanted.names[name].names}
    return ruled.rule.layer is Layer.FILE and ruled.rule.path in entries


def _without_ours(policy: Policy, wanted: Instruction) -> Policy:
    """Return a policy whose managed rules do not name what an instruction is about."""
    ours = {
        ("rule", each.place) for each in managed_rules(policy.text) if each.disclose is not None
    }
    rules = []
    for rule in policy.rules:
        left = tuple(each for each in rule.attributes if each.text not in wanted.called)
        if rule.path not in ours:
            rules.append(rule)
        elif left:
            rules.append(replace(rule, attributes=left))
    return replace(policy, rules=tuple(rules))


def ruling_of(policy: Policy, wanted: Instruction, today: date) -> Ruling:
    """Return what a policy rules of the request that an instruction is about."""
    return Rulebook(policy, wanted.names).match(wanted.host, wanted.query, today)


def _ruled(policy: Policy, wanted: Instruction, today: date) -> dict[str, Verdict]:
    """Return what is ruled of each of its names."""
    ruled = ruling_of(policy, wanted, today).attributes
    return {name: ruled[name]["disclose"] for name in wanted.names}


def _commented(before: str, after: str) -> str:
    """Return the text with the comments at its end that stood inside what was taken out."""
    old, new = ([each.rstrip("\r") for each in comments(text)] for text in (before, after))
    lost = Counter(old) - Counter(new)
    if not lost:
        return after
    newline = "\r\n" if "\r\n" in after else "\n"
    lines = [each for each in old if lost[each] and not lost.subtract([each])]
    return newline.join([after.rstrip("\r\n"), *lines, ""])
