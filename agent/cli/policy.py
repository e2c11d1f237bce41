"""`reticent policy`: check a policy file, and see what it rules."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple, TypedDict, Unpack

import click

from agent.cli.daemon_client import door
from agent.cli.groups import Commands, Deferred
from agent.cli.options import ASKED, PATH, QUERY, check_asked, json_option, record, today
from agent.cli.policy_pages import (
    Explained,
    explained_record,
    explained_text,
    shown_of,
    shown_record,
    shown_text,
)
from agent.cli.printing import Column, note, paragraph, printable, strong, table
from agent.errors import PolicyError, Problem, UsageError
from agent.files import check_ours
from agent.model.file import read, shipped_model
from agent.paths import paths
from agent.wire.policy import AttributeStatus, RulesStatus, RuleStatus
from agent.wire.policy import Problem as RuleProblem
from agent.words.figures import bits, counted, moment
from policy.audit import Remark, audit, misspelt
from policy.match import Rulebook
from policy.read import load, with_typo_guard
from policy.rules import Layer, Policy

WRONG = PolicyError.exit_code
UNREAD = UsageError.exit_code
MADE = "Make a policy with `reticent init`, or write one by hand."
COLUMNS = (
    Column("attribute", wraps=True),
    Column("may leave"),
    Column("must bring", right=True),
    Column("rule", wraps=True),
    Column("what it is", wraps=True),
)
BITS = "must bring: so many bits of help, or it does not leave."
DEFERRED = {
    "block": Deferred("agent.cli.policy_edit", "Send nothing more to a recipient."),
    "calibrate": Deferred("agent.cli.calibrate", "Turn your answers into prices, in bits."),
    "let": Deferred("agent.cli.policy_edit", "Decide whether facts may go to a recipient."),
    "set": Deferred("agent.cli.policy_edit", "Change a setting in a policy file."),
    "try": Deferred("agent.cli.policy_try", "Show what a policy would have sent."),
    "unblock": Deferred("agent.cli.policy_edit", "Treat a blocked recipient like others again."),
    "unset": Deferred("agent.cli.policy_edit", "Remove a setting from a policy file."),
}


@click.group(cls=Commands, deferred=DEFERRED)
def policy() -> None:
    """Check, show and change the rules about what may be sent."""


def own_policy() -> Path:
    """Return where the policy lies that the daemon follows."""
    return paths().policy


def read_policy(file: Path) -> Policy:
    """Return the policy in a file; one's own only where nobody else could have written it.

    UsageError where it cannot be read, PolicyError where it is wrong.
    """
    return load(file, check_ours if file == own_policy() else None)


policy_option = click.option(
    "--policy",
    "file",
    type=PATH,
    default=own_policy,
    metavar="FILE",
    help="The policy file. By default your own.",
)


model_option = click.option(
    "--model",
    type=PATH,
    metavar="M",
    help="The model whose attributes are meant. By default the one that comes with reticent.",
)


def noted(policy: Policy, names: Sequence[str]) -> Policy:
    """Return the policy that keeps what is nearly named; what is misspelt is said on the way."""
    for each in misspelt(policy, names):
        note(f"{policy.source}:{each.line}: {each.what} ({each.hint})")
    return with_typo_guard(policy, names)


def names_of(model: Path | None) -> tuple[str, ...]:
    """Return the names of the attributes of a model, by default of the shipped one."""
    return tuple(each.name for each in read(model or shipped_model()).attributes)


class Checked(NamedTuple):
    """A file, how many rules it has, and what there is to say of it."""

    file: str
    rules: int = 0
    problems: tuple[Problem, ...] = ()
    remarks: tuple[Remark, ...] = ()
    unread: bool = False


@policy.command()
@click.argument("files", nargs=-1, type=PATH, metavar="[FILE]...")
@model_option
@json_option
@click.pass_context
def check(
    context: click.Context, /, files: tuple[Path, ...], model: Path | None, *, as_json: bool
) -> None:
    """List everything wrong with policy files, by default with your own.

    Also lists what has no effect: rules that never match, or that others always override.
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
        yield f"{checked.file}: {counted(len(checked.problems), 'problem')}, so it is not used"
        return
    notes = f", {counted(len(checked.remarks), 'note')}" if checked.remarks else ""
    yield f"{checked.file}: {counted(checked.rules, 'rule')}, no problems{notes}"


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


@policy.command()
@json_option
def rules(*, as_json: bool) -> None:
    """Show the rules in force, and when each last decided.

    Mistakes in the file come first; settings without effect are noted below their rule.
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


def _problems(problems: Iterable[RuleProblem]) -> Iterator[str]:
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


class ExplainOptions(TypedDict):
    """The options of `reticent policy explain`, as click hands them over."""

    recipient: str
    query: str
    file: Path
    model: Path | None
    as_json: bool


@policy.command()
@click.option("--recipient", required=True, metavar="HOST", help="Who receives the request.")
@click.option("--query", type=QUERY, required=True, metavar="TEXT", help=ASKED)
@policy_option
@model_option
@json_option
def explain(**options: Unpack[ExplainOptions]) -> None:
    """Show which rules decide about one request.

    It also shows which rules they override, and why.
    """
    check_asked(options["query"])
    day = today()
    names = names_of(options["model"])
    policy = noted(read_policy(options["file"]), names)
    rulebook = Rulebook(policy, names)
    ruling = rulebook.match(options["recipient"], options["query"], day)
    explained = Explained(policy, ruling, options["query"], day)
    if options["as_json"]:
        click.echo(record(explained_record(explained)))
    else:
        click.echo(explained_text(explained))


@policy.command()
@click.option("--recipient", metavar="HOST", help="For whom. By default whoever no rule names.")
@policy_option
@model_option
@json_option
def show(recipient: str | None, file: Path, model: Path | None, *, as_json: bool) -> None:
    """Show every setting in force, and where it comes from.

    A setting comes from the file, its preset or the defaults. Rules for some requests only are
    listed below.
    """
    names = names_of(model)
    shown = shown_of(noted(read_policy(file), names), names, recipient, today())
    if as_json:
        click.echo(record(shown_record(shown)))
    else:
        click.echo(shown_text(shown))


@policy.command()
@click.option("--recipient", metavar="HOST", help="For whom. By default whoever no rule names.")
@json_option
def attributes(recipient: str | None, *, as_json: bool) -> None:
    """Show which facts may be sent, and which rule says so.

    HOST may also be a group, as in @ads. Your values are not shown, and the vault may be locked.
    """
    with door() as client:
        found: list[AttributeStatus] = client.call("attributes", recipient=recipient)
    page = record({"attributes": found}) if as_json else attributes_text(found, recipient)
    click.echo(page)


def attributes_text(found: list[AttributeStatus], recipient: str | None) -> str:
    """Return the page, for whom it is on top."""
    if not found:
        return "The model in use has no attributes."
    whom = recipient or "recipients without rules of their own"
    head = f"What the policy says of the attributes of {found[0].model}, for {whom}."
    rows = [_row(each) for each in found]
    return "\n\n".join([strong(paragraph(printable(head))), table(COLUMNS, rows), paragraph(BITS)])


def _row(each: AttributeStatus) -> tuple[str, ...]:
    guard = f" ({each.guard:g})" if each.guard else ""
    finer = f", finer than {each.refines}" if each.refines else ""
    scope = ", of the request" if each.scope == "request" else ""
    rule = each.rule.removesuffix(
        f", attributes.{each.name}"
    )  # in a preset: it goes without saying
    line = "" if each.line is None else f", line {each.line}"
    return (
        printable(each.name),
        f"{each.disclose}{guard}",
        bits(each.sensitivity_bits),
        printable(f"{rule}{line}"),
        printable(f"{each.title}{finer}{scope}"),
    )
