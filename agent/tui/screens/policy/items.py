"""The policy as the items of a list, the newest word of it on top. Pure."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from agent.tui.listing import Kind, Part
from agent.tui.screens.requests.drawn import when
from agent.wire.policy import Problem, RulesStatus, RuleStatus
from agent.wire.words import write_policy

LAST, REMARK, OVER, WRONG = "*", "!", "×", "✗"
NEVER = "–"
LEGEND = f"{LAST} decided last   {NEVER} not yet   {REMARK} see below   {OVER} expired"
MADE = f"{write_policy('it')}: e opens the editor."
NAMED = 3  # rules that the sentence on top names


class Item(NamedTuple):
    """What stands in the list.

    ``key``: by which it is known again, wherever it goes; ``cells``: its signs and the time, then
    one or two more; ``line``: of the file, None for none; ``said``: of it, whole; ``title``: it
    heads a part, and the cursor passes over it.
    """

    key: Hashable
    cells: tuple[Part, ...]
    line: int | None = None
    said: str = ""
    title: bool = False


def items_of(rules: RulesStatus, now: datetime) -> list[Item]:
    """Return the parts of the list: what is wrong, each rule, what holds for all else."""
    found = [*_problems(rules), *_rules(rules, now), *_effective(rules)]
    return [*_told_apart(found)]


def headline(rules: RulesStatus, now: datetime) -> str:
    """Return which rules decided last, and when; what is wrong with the file goes before it."""
    if not rules.in_use:
        why = "has mistakes" if rules.problems else f"does not exist; {MADE}"
        return f"{WRONG} No rules are in use, so nothing is attached: {rules.path} {why}"
    count = len(rules.problems)
    stay = f"{WRONG} {count} to mend: the last good rules stay in use. " if count else ""
    at, last = last_of(rules)
    if at is None:
        return f"{stay}No rule has decided since {_exactly(rules.since, now)}."
    names = ", ".join(each.name for each in last[:NAMED])
    more = f" and {len(last) - NAMED} more" if len(last) > NAMED else ""
    return f"{stay}Last at {_exactly(at, now)}: {names}{more}"


def last_of(rules: RulesStatus) -> tuple[datetime | None, list[RuleStatus]]:
    """Return when a rule last decided, and which did then, those of the user's own file first."""
    at = max((each.fired_at for each in rules.rules if each.fired_at is not None), default=None)
    last = [each for each in rules.rules if at is not None and each.fired_at == at]
    return at, sorted(last, key=lambda each: each.line is None)


def _problems(rules: RulesStatus) -> Iterator[Item]:
    if rules.problems:
        yield _title(f"WHAT IS WRONG with {rules.path}")
    for each in rules.problems:
        cells = (_lead(WRONG, f"line {each.line}", "bad"), Part(_of(each), "bad"))
        yield Item(("problem", _of(each)), cells, each.line, _mended(each, rules.path))


def _rules(rules: RulesStatus, now: datetime) -> Iterator[Item]:
    """Yield the rules of the file, then those of the preset, each with when it decided."""
    _, last = last_of(rules)
    source = None
    for each in sorted(rules.rules, key=lambda each: each.line is None):
        if each.source != source:
            source = each.source
            yield _title(f"RULES of {'your file' if each.line is not None else f'the {source}'}")
        sign = OVER if each.expired else REMARK if each.remarks else " "
        mark = LAST if each in last else " "
        time = NEVER if each.fired_at is None else when(each.fired_at, now)
        lead = _lead(mark + sign, time, "good" if each in last else "plain")
        kind: Kind = "muted" if each.expired else "plain"
        name = Part(each.name.removeprefix(f"{source}, "), "muted" if each.expired else "strong")
        cells = (lead, name, _does(each, kind))
        yield Item(("rule", each.name), cells, each.line, _told(each, rules, now))


def _effective(rules: RulesStatus) -> Iterator[Item]:
    if rules.effective:
        yield _title("WHAT HOLDS where no rule for some requests says otherwise")
    for each in rules.effective:
        line = "" if each.line is None else f", line {each.line}"
        cells = (_lead("", ""), Part(f"{each.key} = {each.value}"), Part(each.rule, "muted"))
        told = f"{each.key} = {each.value}\nSaid by {each.rule}{line}."
        yield Item(("setting", each.key), cells, each.line, told)


def _told_apart(items: Iterable[Item]) -> Iterator[Item]:
    """Yield items with keys of their own: two rules may have one name."""
    seen: Counter[Hashable] = Counter()
    for each in items:
        yield each._replace(key=(each.key, seen[each.key]))
        seen[each.key] += 1


def _told(rule: RuleStatus, rules: RulesStatus, now: datetime) -> str:
    """Return all that there is to say of a rule, a sentence in each line."""
    whom = "; ".join(f"{key} {text}" for key, text in rule.conditions.items())
    sets = "\n".join(f"  {key} = {value}" for key, value in rule.settings.items())
    lines = [rule.name, f"{whom or 'every request'}:", sets]
    if rule.fired_at is not None:
        lines.append(f"It last decided something at {_exactly(rule.fired_at, now)}.")
    elif not rule.expired:
        lines.append(f"It has decided nothing since {_exactly(rules.since, now)}.")
    if rule.expires is not None:
        lines.append(f"{OVER} It held" if rule.expired else "It holds")
        lines[-1] += f" up to and on {rule.expires}."
    lines += [f"{REMARK} {_of(each)}: {each.hint}." for each in rule.remarks]
    own = rule.line is not None
    lines.append(f"From {rule.source}, line {rule.line}." if own else f"From the {rule.source}.")
    return "\n".join(lines)


def _does(rule: RuleStatus, kind: Kind) -> Part:
    """Return what a rule sets; or why it does not, where that is so."""
    sets = ", ".join(f"{key} = {value}" for key, value in rule.settings.items())
    if rule.remarks and not rule.expired and rule.fired_at is None:
        return Part(f"{rule.remarks[0].what} ({sets})", kind)
    return Part(sets, kind)


def _mended(problem: Problem, path: str) -> str:
    return f"{WRONG} {_of(problem)}\n{problem.hint}\n{path}, line {problem.line}: e opens it there."


def _of(problem: Problem) -> str:
    return f"{problem.key}: {problem.what}" if problem.key else problem.what


def _exactly(at: datetime, now: datetime) -> str:
    """Return a time with its seconds, and the day where that is not today."""
    here = at.astimezone(now.tzinfo)
    return f"{here:%H:%M:%S}" if here.date() == now.date() else f"{here:%Y-%m-%d %H:%M}"


def _lead(signs: str, text: str, kind: Kind = "plain") -> Part:
    return Part(f"{signs:>2} {text:<8}", kind)


def _title(text: str) -> Item:
    return Item(("title", text), (Part(text, "accent"),), title=True)
