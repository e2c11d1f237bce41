"""`reticent policy rules`: the rules that the daemon follows, and when each last decided."""

from collections.abc import Iterable, Iterator

import click

from agent.cli.door import door
from agent.cli.layout import counted, moment, paragraph, strong
from agent.cli.options import json_option, record
from agent.cli.problems import printable
from agent.wire.policing import Problem, RulesStatus, RuleStatus

MADE = "Make a policy with `reticent init`, or write one by hand."


@click.command()
@json_option
def rules(*, as_json: bool) -> None:
    """Show the rules that the daemon follows: for whom, what each sets, when it last decided.

    What is wrong with the file now stands on top, and below each rule what it does not do.
    """
    with door() as client:
        found: RulesStatus = client.call("rules")
    click.echo(record(found) if as_json else rules_text(found))


def rules_text(found: RulesStatus) -> str:
    """Return the page: what is wrong, then the rules of the file, then those of its preset."""
    parts = [strong(paragraph(printable(_headline(found))))]
    if found.problems:
        parts.append("\n".join(_problems(found.problems)))
    for title, own in _sections(found).items():
        lines = (line for each in own for line in _rule(each, found))
        parts.append("\n".join([printable(title), *lines]))
    return "\n\n".join(parts)


def _headline(found: RulesStatus) -> str:
    if not found.in_use:
        why = "has mistakes" if found.problems else "does not exist"
        makes = "" if found.problems else f" {MADE}"
        return f"No rules are in use, so nothing is attached: {found.path} {why}.{makes}"
    stays = (
        " The file has mistakes now, and these are its last good rules." if found.problems else ""
    )
    return f"{counted(len(found.rules), 'rule')} in use.{stays}"


def _problems(problems: Iterable[Problem]) -> Iterator[str]:
    yield "Mistakes"
    for each in problems:
        place = f"line {each.line}: " if each.line else ""
        key = f"{each.key}: " if each.key else ""
        yield paragraph(printable(f"{place}{key}{each.what} ({each.hint})"), "  ")


def _sections(found: RulesStatus) -> dict[str, list[RuleStatus]]:
    """Return the rules by where they stand, those of the file first."""
    sections: dict[str, list[RuleStatus]] = {}
    for each in sorted(found.rules, key=lambda each: each.line is None):
        title = f"From the {each.source}" if each.line is None else found.path
        sections.setdefault(title, []).append(each)
    return sections


def _rule(rule: RuleStatus, found: RulesStatus) -> Iterator[str]:
    """Yield the lines about one rule."""
    line = "" if rule.line is None else f", line {rule.line}"
    over = " (expired)" if rule.expired else ""
    yield paragraph(printable(f"{rule.name}{line}{over}"), "  ")
    sets = ", ".join(f"{key} = {value}" for key, value in rule.settings.items())
    whom = "; ".join(f"{key} {text}" for key, text in rule.conditions.items())
    yield paragraph(printable(f"{whom or 'every request'}: {sets}"), "    ")
    if rule.fired_at is not None:
        yield paragraph(f"last decided {moment(rule.fired_at)}", "    ")
    elif not rule.expired:
        yield paragraph(f"has not decided since {moment(found.since)}", "    ")
    for each in rule.remarks:
        key = f"{each.key}: " if each.key else ""
        yield paragraph(printable(f"note: {key}{each.what} ({each.hint})"), "    ")
