"""All that the policy in use rules: each rule, when it last decided, and what it does not do."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime

from agent.daemon.agent import Agent
from agent.errors import Problem
from agent.wire.policy import Problem as Said
from agent.wire.policy import RulesStatus, RuleStatus, SettingStatus
from policy.audit import Remark, audit
from policy.edit import toml
from policy.hosts import ANYBODY
from policy.match import Rulebook
from policy.rules import Layer, Path, Policy, Rule
from policy.settings import SETTINGS
from policy.toml_edit import Key, line_of, lines_of


def ruled(now: datetime, agent: Agent) -> RulesStatus:
    """Return the rules in use, in their order, and what is wrong with the file as it is now."""
    rules, policy, today = agent.rules, agent.rules.policy, now.date()
    return RulesStatus(
        path=str(rules.path),
        in_use=policy is not None,
        since=(None if agent.vault is None else rules.fired.since) or now,
        problems=[_said(each) for each in rules.problems],
        effective=[] if policy is None else [*_effective(policy, today)],
        rules=[] if policy is None else [*_rules(policy, today, _names(now, agent), agent)],
    )


def place_of(lines: Mapping[Key, int], rule: Rule, path: Path) -> int | None:
    """Return the line of what stands at a path below that of a rule, None in no file of ours."""
    return line_of(lines, (*rule.path, *path)) if rule.layer is Layer.FILE else None


def _effective(policy: Policy, today: date) -> Iterator[SettingStatus]:
    """Yield what holds by itself, for whoever no rule names."""
    lines = lines_of(policy.text)
    found = Rulebook(policy, ()).match(ANYBODY, "", today).settings
    for key in SETTINGS:
        if key in found:
            rule = found[key].rule
            line = place_of(lines, rule, (key,))
            yield SettingStatus(key=key, value=toml(found[key].value), rule=rule.name, line=line)


def _rules(
    policy: Policy, today: date, names: Sequence[str] | None, agent: Agent
) -> Iterator[RuleStatus]:
    lines = lines_of(policy.text)
    remarks: dict[Rule, list[Remark]] = {}
    for remark in audit(policy, names, today):
        remarks.setdefault(remark.rule, []).append(remark)
    for rule in policy.rules:
        if rule.layer is not Layer.DEFAULTS:
            yield RuleStatus(
                name=rule.name,
                source=rule.source,
                line=place_of(lines, rule, ()),
                conditions=rule.conditions,
                settings={key: toml(value) for key, value in rule.settings.items()},
                expires=rule.expires,
                expired=rule.is_over(today),
                fired_at=agent.rules.fired.at(rule),
                remarks=[_said(each) for each in remarks.get(rule, ())],
            )


def _names(now: datetime, agent: Agent) -> list[str] | None:
    """Return the attributes of all models that may be used, None where there is none."""
    usable = agent.shelf.usable(agent.rules.in_force.keys, now)
    return [*dict.fromkeys(each.name for one in usable for each in one.attributes)] or None


def _said(problem: Problem | Remark) -> Said:
    return Said(line=problem.line, key=problem.key, what=problem.what, hint=problem.hint)
