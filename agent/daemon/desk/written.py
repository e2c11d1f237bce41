"""Words that last, written into the policy as rules: verdicts on what waits, and overrides.

What a word is about is taken out of our older rules for the same recipients, since among
equals the stricter would win whatever was said last. Rules that are not ours stay as they are:
where one of them wins, that is said. An approval for everyone and for good changes the entry of the
attribute that asks, if there is one, and an override the one that rules otherwise.
"""

import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from functools import reduce
from pathlib import Path
from typing import NamedTuple

from agent.daemon.desk.edits import Edit, edit
from agent.daemon.desk.ours import DISCLOSE, Lasting, ours, pool_of, recipient_of
from agent.daemon.desk.refusals import alone
from agent.daemon.desk.remarks import commented
from agent.errors import UsageError
from agent.wire.policy import Decided, Disclose
from policy.audit import called
from policy.edit import free_name, with_attribute, with_rule, without_rule
from policy.match import Rulebook
from policy.precedence import Verdict
from policy.rules import Layer, Policy, Pools, Rule
from policy.toml_edit import lines_of

OPEN = frozenset({"auto", "always"})
CLOSED = frozenset({"never"})


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
    for _, name, old in ours(text):
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
    rules = [each.name for each in ours(policy.text) if says.like(each.says)]
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
    alone = ", or say it for this recipient alone" if wish.everyone else ""
    raise UsageError(what, f"change that by hand{alone}", before.source)


def _says(policy: Policy, wish: Wish) -> Lasting:
    """Return what the rule for a wish says, the names left out of it."""
    if wish.everyone:
        return Lasting(None, (), wish.disclose, wish.until)
    if wish.said is None:
        return Lasting(alone(policy, wish.host), (), None, wish.until)
    return Lasting(recipient_of(Pools(policy.groups).of(wish.host)), (), wish.disclose, wish.until)


def _overrules(says: Lasting, old: Lasting, policy: Policy) -> bool:
    """Say whether a word is about all that an older rule is for, and about the same thing."""
    if (says.disclose is None) != (old.disclose is None):
        return False
    if says.recipient is None or says.recipient == old.recipient:
        return True
    if says.disclose is None or old.recipient is None:
        return False
    return pool_of(old.recipient, policy.groups) == pool_of(says.recipient, policy.groups)


def _with(text: str, says: Lasting) -> str:
    """Return the text with a rule that says this, and what it said of other names before."""
    for _, name, old in ours(text):
        if says.like(old):
            names = (*old.names, *(each for each in says.names if each not in old.names))
            return with_rule(text, replace(says, names=names).rule(name))
    return with_rule(text, says.rule(free_name(text, says.title)))


def _is_entry(ruled: Verdict | None, name: str) -> bool:
    """Say whether it is the file's own entry of an attribute that decides about it."""
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
    own = {("rule", each.place) for each in ours(policy.text) if each.says.disclose is not None}
    for rule in policy.rules:
        if rule.path not in own:
            yield rule
        elif left := tuple(each for each in rule.attributes if each.text not in names):
            yield replace(rule, attributes=left)


def _ruled(policy: Policy, wish: Wish, today: date) -> dict[str, Verdict]:
    """Return what is ruled of each of the names, for the request that the verdict is about."""
    ruling = Rulebook(policy, wish.names).match(wish.host, wish.query, today)
    return {name: ruling.attributes[name]["disclose"] for name in wish.names}
