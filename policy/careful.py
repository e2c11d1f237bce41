"""What a policy nearly names, and so does not let out. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from agent.errors import nearest
from policy.fields import shown
from policy.names import NamePattern
from policy.rules import Layer, Policy, Rule, frozen

_KEPT = frozen({"disclose": "never"})


def careful(policy: Policy, names: Sequence[str]) -> Policy:
    """Return a policy with a rule more for each attribute that it nearly names, to keep it.

    ``names``: the attributes of the model that decides.
    Source: policy/FORMAT.md, "Attributes".
    """
    more = tuple(kept for rule in policy.rules for kept in _keeping(rule, policy, names))
    return replace(policy, rules=(*policy.rules, *more)) if more else policy


def keeps(rule: Rule, policy: Policy) -> bool:
    """Say whether what a rule of the file nearly names does not leave until that is mended.

    Not where the rule would only have opened something, nor where the file serves several models:
    then a name may be that of another.
    """
    if rule.layer is not Layer.FILE or not all(_whole(each) for each in policy.rules):
        return False
    own = rule.settings
    stricter = own.get("disclose") in {"never", "ask"}
    return stricter or any(float(own.get(key, 0)) > 0 for key in ("sensitivity", "guard"))


def near(pattern: NamePattern, names: Sequence[str]) -> str | None:
    """Return the attribute that a name was probably meant to be, if it is the name of none."""
    if "*" in pattern.text or pattern.text in names:
        return None
    return closest(pattern.text, tuple(names))


closest = lru_cache(1 << 13)(nearest)  # which takes a tenth of a millisecond, for each rule


def _keeping(rule: Rule, policy: Policy, names: Sequence[str]) -> Iterator[Rule]:
    """Yield the rules that keep what a rule nearly names, where and for whom it would."""
    for pattern in rule.attributes:
        meant = near(pattern, names)
        if meant is not None and keeps(rule, policy):
            name = f"{shown(pattern.text)}, which nearly names {meant}"
            yield replace(rule, name=name, settings=_KEPT, attributes=(NamePattern.parse(meant),))


def _whole(rule: Rule) -> bool:
    """Say whether a rule chooses no model, or does so for every request."""
    return "model" not in rule.settings or rule.lasting
