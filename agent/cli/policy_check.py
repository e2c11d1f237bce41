"""`reticent policy check`: what is wrong with policy files, and what does nothing in them."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import click

from agent.cli.options import PATH, json_option, record
from agent.cli.parameters import today
from agent.cli.policy_options import model_option, names_of, own_policy, read_policy
from agent.cli.problems import printable
from agent.errors import PolicyError, Problem, UsageError
from policy.audit import Remark, audit
from policy.rules import Layer

WRONG = PolicyError.exit_code
UNREAD = UsageError.exit_code


class Checked(NamedTuple):
    """A file, how many rules it has, and what there is to say of it."""

    file: str
    rules: int = 0
    problems: tuple[Problem, ...] = ()
    remarks: tuple[Remark, ...] = ()
    unread: bool = False


@click.command()
@click.argument("files", nargs=-1, type=PATH, metavar="[FILE]...")
@model_option
@json_option
@click.pass_context
def check(
    context: click.Context, /, files: tuple[Path, ...], model: Path | None, *, as_json: bool
) -> None:
    """Say all that is wrong with policy files, by default with your own.

    Then what of them does nothing: rules that never match, or to which others always win.
    """
    names = names_of(model)
    day = today()
    checked = [_checked(file, names, day) for file in files or (own_policy(),)]
    if as_json:
        click.echo(record({"files": [_record(each) for each in checked]}))
    else:
        for each in checked:
            click.echo("\n".join(printable(line) for line in _lines(each)))
    if any(each.problems for each in checked):
        context.exit(UNREAD if any(each.unread for each in checked) else WRONG)


def _checked(file: Path, names: tuple[str, ...], day: date) -> Checked:
    try:
        policy = read_policy(file)
    except PolicyError as error:
        return Checked(str(file), problems=error.problems)
    except UsageError as error:
        return Checked(str(file), problems=(Problem(1, "", str(error), error.hint),), unread=True)
    rules = sum(rule.layer is Layer.FILE for rule in policy.rules)
    return Checked(str(file), rules, remarks=audit(policy, names, day))


def _lines(checked: Checked) -> Iterator[str]:
    """Yield a line for each thing to say, and one for the file."""
    if checked.unread:
        yield from (f"{each.what} ({each.hint})" for each in checked.problems)
        return
    for each in checked.problems:
        key = f"{each.key}: " if each.key else ""
        yield f"{checked.file}:{each.line}: {key}{each.what} ({each.hint})"
    for remark in checked.remarks:
        key = f"{remark.key}: " if remark.key else ""
        yield f"{checked.file}:{remark.line}: note: {key}{remark.what} ({remark.hint})"
    if checked.problems:
        yield f"{checked.file}: {_counted(len(checked.problems), 'problem')}, so it is not used"
        return
    notes = f", {_counted(len(checked.remarks), 'note')}" if checked.remarks else ""
    yield f"{checked.file}: {_counted(checked.rules, 'rule')}, no problems{notes}"


def _counted(count: int, thing: str) -> str:
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def _record(checked: Checked) -> dict[str, Any]:
    return {
        "file": checked.file,
        "rules": checked.rules,
        "problems": [each._asdict() for each in checked.problems],
        "remarks": [
            {
                "line": each.line,
                "key": each.key,
                "rule": each.rule.name,
                "settings": [*each.settings],
                "what": each.what,
                "hint": each.hint,
            }
            for each in checked.remarks
        ],
    }
