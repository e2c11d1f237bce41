"""The user's lasting word, as managed rules in the text of a policy. Pure.

What it is about is taken out of the older managed rules for the same recipients, since of equally
specific rules the stricter would win, whatever came last. Other rules stay as they are, and
`outcome` names those that win. A word for everyone and for good changes the attribute's own entry
where that decides.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from itertools import chain
from typing import Any

from agent.errors import UsageError
from agent.wire.policy import Disclose, Override, Ruled, Word
from policy.amend import SHORT, Entry, free_name
from policy.hosts import HostPattern, site_of
from policy.match import GUARDED, Attributes, Rulebook, Ruling, Verdict, may
from policy.read import called
from policy.rules import SIGN, Layer, Policy, Pools, is_group
from policy.toml_text import lines_of, parsed, rewritten

VERBS: Mapping[Disclose, str] = {
    "auto": "approved",
    "never": "denied",
    "ask": "asked",
    "always": "always",
}
OPEN = frozenset({"auto", "always"})
LONGEST = 120  # characters of a recipient in a name, which has at most 200
_NUMBERED = re.compile(r"(?: \([0-9]+\))?")


@dataclass(frozen=True, slots=True)
class Instruction:
    """The user's word on attributes, from now on.

    ``host``: canonical, and with it all that it pools with, unless it is for ``everyone``;
    ``names``: of the attributes, each with all that it goes by; ``query``: of the request that it
    is about; ``until``: the last day, None for no end; ``answers``: whether it answers a review,
    and so opens only what is ruled `ask`.
    """

    host: str
    disclose: Disclose
    names: Attributes = field(default_factory=dict)
    query: str = ""
    everyone: bool = False
    until: date | None = None
    answers: bool = False

    @property
    def called(self) -> frozenset[str]:
        """All that any model calls what it is about."""
        return frozenset(chain.from_iterable(each.names for each in self.names.values()))

    @property
    def is_entry(self) -> bool:
        """Whether an entry of ``[attributes]`` can say it."""
        return self.everyone and self.until is None

    def allows(self, ruled: object) -> bool:
        """Say whether it has its effect where this is ruled."""
        opens = self.answers and self.disclose == "auto"
        return ruled in OPEN if opens else ruled == self.disclose


def instruction(
    word: Word | Override, host: str, names: Attributes, today: date, query: str = ""
) -> Instruction:
    """Return what the user wants of a canonical host.

    UsageError where the number of days is missing, or given without need.
    """
    if (word.lasting == "days") != (word.days is not None):
        raise UsageError("days goes with lasting=days", "give both or neither")
    return Instruction(
        host,
        word.disclose,
        names,
        query,
        everyone=word.about == "everyone",
        until=None if word.days is None else today + timedelta(days=word.days),
        answers=isinstance(word, Word),
    )


@dataclass(frozen=True, slots=True)
class ManagedRule:
    """A rule that the user's word made: ``recipient`` as a policy names it, None for everyone.

    ``until``: the last day, None for no end; ``name``: of the rule; ``place``: among the rules.
    """

    recipient: str | None
    names: tuple[str, ...]
    disclose: Disclose
    until: date | None = None
    name: str = ""
    place: int = -1

    @property
    def title(self) -> str:
        """What the rule is called, unless another has that name."""
        whom = "everyone"
        if self.recipient is not None:
            sign = SIGN if is_group(self.recipient) else ""
            whom = f"{sign}{self.recipient[-LONGEST:]}"
        end = "" if self.until is None else f" until {self.until}"
        return f"{VERBS[self.disclose]} for {whom}{end}"

    def is_like(self, other: "ManagedRule") -> bool:
        """Say whether one rule can say both."""
        own = (self.recipient, self.disclose, self.until)
        return own == (other.recipient, other.disclose, other.until)

    def table(self) -> dict[str, Entry]:
        """Return the rule as TOML has it."""
        table: dict[str, Entry] = {"name": self.name}
        if self.recipient is not None:
            table["recipient"] = self.recipient
        table |= {"attribute": [*self.names], "disclose": self.disclose}
        if self.until is not None:
            table["expires"] = self.until
        return table


def managed_rules(text: str) -> list[ManagedRule]:
    """Return the rules of a policy that the user's word made and that stand as it made them."""
    managed = []
    for place, table in enumerate(parsed(text).get("rule", [])):
        name, recipient = table.get("name"), table.get("recipient")
        names, until, disclose = table.get("attribute"), table.get("expires"), table.get("disclose")
        if not isinstance(name, str) or not isinstance(recipient, str | None):
            continue
        if disclose in VERBS and isinstance(names, list):
            rule = ManagedRule(recipient, tuple(names), disclose, until, name, place)
            numbered = _NUMBERED.fullmatch(name.removeprefix(rule.title))
            if rule.table() == table and name.startswith(rule.title) and numbered:
                managed.append(rule)
    return managed


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


def owner_of(policy: Policy, host: str) -> str:
    """Return how a policy names the owner of a host, without the rest of its group.

    UsageError where no rule can mean it and nobody else.
    """
    site = site_of(host)
    return recipient_of(Pools(policy.groups).of(host) if is_group(site) else site)


def with_instruction(text: str, policy: Policy, word: Instruction, today: date) -> str:
    """Return the text of a policy that says what the user wants, comments kept.

    UsageError where no rule can mean the recipient alone, and as in `rewritten`.
    """
    rule, document = _rule_for(policy, word), parsed(text)
    rules, entries = document.setdefault("rule", []), document.get("attributes", {})
    managed = managed_rules(text)
    for old in managed:
        names = tuple(each for each in old.names if each not in word.called)
        if _covers(rule, old, policy) and not rule.is_like(old):
            rules[old.place] = replace(old, names=names).table() if names else None
    new = []
    for name, ruled in _ruled(_unmanaged(policy, word), word, today).items():
        if word.answers and word.disclose == "auto" and ruled.value != "ask":
            continue  # what somebody closed by hand since then is not opened by an answer
        if not (word.is_entry and _is_entry(ruled, word, name)):  # which no rule could beat
            new.append(name)
            continue
        _set_entries(entries, word, name)
    like = next((each for each in managed if rule.is_like(each)), None)
    if like is not None:
        names = tuple(dict.fromkeys((*like.names, *new)))
        rules[like.place] = replace(like, names=names).table()
    elif new:
        name = free_name(document, rule.title)
        rules.append(replace(rule, names=tuple(new), name=name).table())
    return rewritten(text, document)


def _set_entries(entries: dict[str, Any], word: Instruction, name: str) -> None:
    """Change all that the entries of ``[attributes]`` rule of a fact."""
    for each in entries.keys() & word.names[name].names:
        if isinstance(entries[each], str):
            entries[each] = word.disclose
        elif SHORT in entries[each]:
            entries[each][SHORT] = word.disclose


def outcome(policy: Policy, word: Instruction, today: date) -> Ruled:
    """Return what a policy makes of an instruction, once it says it."""
    rule, ruled = _rule_for(policy, word), _ruled(policy, word, today)
    names = [each.name for each in managed_rules(policy.text) if rule.is_like(each)]
    if word.is_entry:
        names += [each.rule.name for name, each in ruled.items() if _is_entry(each, word, name)]
    losing = {name: each.rule for name, each in ruled.items() if not word.allows(each.value)}
    return Ruled(
        written=names[0] if names else None,
        without_effect=[*losing],
        decided_by=[rule.name for rule in losing.values()],
    )


def check_effect(before: Policy, after: Policy, word: Instruction, today: date) -> None:
    """Raise UsageError, naming what decides, where an instruction would have no effect at all."""
    losing = outcome(after, word, today).without_effect
    if len(losing) < len(word.names):
        return
    name, rule = losing[0], _ruled(after, word, today)[losing[0]].rule
    rule = next((each for each in before.rules if each.name == rule.name), rule)
    winner = called(rule, lines_of(before.text), SHORT)
    what = f"this would have no effect: {winner} decides about {name}"
    or_alone = ", or decide for this recipient alone" if word.everyone else ""
    raise UsageError(what, f"change that by hand{or_alone}", before.source)


def ruling_of(policy: Policy, word: Instruction, today: date) -> Ruling:
    """Return what a policy rules of the request that an instruction is about."""
    return Rulebook(policy, word.names).match(word.host, word.query, today)


def check_open(policy: Policy, word: Instruction, today: date) -> Ruling:
    """Return what a policy rules of the request that an instruction is about.

    UsageError where an attribute is guarded, or where the recipient that it allows gets nothing.
    """
    ruling = ruling_of(policy, word, today)
    for name in word.names:
        verdicts = ruling.attributes[name]
        if may(verdicts) == GUARDED:
            what = f"{name} is guarded by {verdicts['guard'].rule.name!r}, so it is never sent"
            raise UsageError(what, "to allow it, remove the guard from the policy")
    nothing = ruling.settings["nothing"]
    if nothing.value is True and word.disclose != "never" and not word.everyone:
        what = f"{ruling.host} gets nothing, by {nothing.rule.name!r}, so this has no effect"
        hint = f"`reticent policy block --undo {ruling.host}` lifts a block"
        raise UsageError(what, f"{hint}, or change that rule")
    return ruling


def _rule_for(policy: Policy, word: Instruction) -> ManagedRule:
    """Return the rule for an instruction, without its name and its attributes."""
    pool = None if word.everyone else recipient_of(Pools(policy.groups).of(word.host))
    return ManagedRule(pool, (), word.disclose, word.until)


def _covers(rule: ManagedRule, old: ManagedRule, policy: Policy) -> bool:
    """Say whether a rule is for all that an older one is for."""
    if rule.recipient is None or rule.recipient == old.recipient:
        return True
    if old.recipient is None:
        return False
    pools = Pools(policy.groups)
    own, its = (
        SIGN + each if is_group(each) else pools.of(each)
        for each in (rule.recipient, old.recipient)
    )
    return own == its


def _is_entry(ruled: Verdict, word: Instruction, name: str) -> bool:
    """Say whether it is the file's own entry of an attribute that decides about it."""
    entries = {("attributes", each) for each in word.names[name].names}
    return ruled.rule.layer is Layer.FILE and ruled.rule.path in entries


def _unmanaged(policy: Policy, word: Instruction) -> Policy:
    """Return a policy whose managed rules do not name what an instruction is about."""
    managed = {("rule", each.place) for each in managed_rules(policy.text)}
    rules = []
    for rule in policy.rules:
        others = tuple(each for each in rule.attributes if each.text not in word.called)
        if rule.path not in managed:
            rules.append(rule)
        elif others:
            rules.append(replace(rule, attributes=others))
    return replace(policy, rules=tuple(rules))


def _ruled(policy: Policy, word: Instruction, today: date) -> dict[str, Verdict]:
    """Return what is ruled of each of its names."""
    ruled = ruling_of(policy, word, today).attributes
    return {name: ruled[name][SHORT] for name in word.names}
