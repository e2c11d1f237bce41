"""The policy as the items of a list. Pure."""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from agent.tui.listing import Kind, Line, Part
from agent.tui.screens.requests.drawn import when
from agent.wire.policing import Problem, RulesStatus, RuleStatus, SettingStatus

NEVER = "not since the daemon began"


class Item(NamedTuple):
    """What stands in the list; ``line``: of the file, None for none; ``said``: in detail.

    ``title``: it heads a part, and the cursor passes over it.
    """

    key: str
    parts: Line
    line: int | None = None
    said: str = ""
    title: bool = False


def items_of(rules: RulesStatus, now: datetime) -> list[Item]:
    """Return the parts of the list: what is wrong, each rule, what holds for all else."""
    return [*_problems(rules), *_rules(rules, now), *_effective(rules)]


def _problems(rules: RulesStatus) -> Iterator[Item]:
    if not rules.in_use:
        yield _title(f"NO POLICY: nothing is attached. {rules.path}")
    elif rules.problems:
        yield _title("PROBLEMS: the last good rules stay in use")
    for place, each in enumerate(rules.problems):
        text = f"✗ line {each.line}  {_of(each)}"
        told = f"{_of(each)}. {each.hint}."
        yield Item(f"problem {place}", (Part(text, "bad"),), each.line, told)


def _rules(rules: RulesStatus, now: datetime) -> Iterator[Item]:
    if rules.rules:
        yield _title(f"RULES of {rules.path}, and when each last decided")
    for place, each in enumerate(rules.rules):
        yield Item(f"rule {place}", _rule(each, now), each.line, _told(each, now))


def _effective(rules: RulesStatus) -> Iterator[Item]:
    if rules.effective:
        yield _title("WHAT HOLDS where no rule for some requests says otherwise")
    for each in rules.effective:
        text = f"  {each.key} = {each.value}"
        yield Item(f"setting {each.key}", (Part(text),), each.line, _from(each))


def _rule(rule: RuleStatus, now: datetime) -> Line:
    sign = "!" if rule.remarks or rule.expired else "•"
    fired = "" if rule.fired_at is None else f"  decided {when(rule.fired_at, now)}"
    kind: Kind = "muted" if rule.expired else "plain"
    return (
        Part(f"{sign} {rule.name}", "strong"),
        Part(f"  {_sets(rule)}", kind),
        Part(fired, "good"),
    )


def _told(rule: RuleStatus, now: datetime) -> str:
    """Return all that there is to say of a rule, a sentence in each line."""
    where = f"{rule.source}, line {rule.line}" if rule.line is not None else rule.source
    whom = ", ".join(f"{key} {text}" for key, text in rule.conditions.items())
    fired = NEVER if rule.fired_at is None else when(rule.fired_at, now)
    lines = [
        f"{rule.name}: in {where}.",
        f"For {whom or 'every request'}: {_sets(rule)}.",
        f"It last decided something: {fired}.",
    ]
    if rule.expires is not None:
        lines.append(f"It {'held' if rule.expired else 'holds'} up to and on {rule.expires}.")
    lines += [f"! {_of(each)}: {each.hint}." for each in rule.remarks]
    return "\n".join(lines)


def _sets(rule: RuleStatus) -> str:
    return ", ".join(f"{key} = {value}" for key, value in rule.settings.items())


def _from(setting: SettingStatus) -> str:
    line = "" if setting.line is None else f", line {setting.line}"
    return f"{setting.key} = {setting.value}: from {setting.rule}{line}."


def _of(problem: Problem) -> str:
    return f"{problem.key}: {problem.what}" if problem.key else problem.what


def _title(text: str) -> Item:
    return Item(text, (Part(text, "accent"),), title=True)
