"""`reticent profile`: the user's own values."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import click
import msgspec

from agent.cli.daemon_client import door, titles_of
from agent.cli.groups import Commands
from agent.cli.init import ask_values, most_useful
from agent.cli.options import PATH, at_terminal, json_option, record, yes_option
from agent.cli.printing import Column, paragraph, printable, strong, table
from agent.cli.prompts import agree
from agent.errors import UsageError
from agent.files import create_private, read_bytes
from agent.model.file import SUFFIX, read, shipped_model
from agent.model.model import Model, person_codes, unknown_person
from agent.paths import paths
from agent.vault.profile import LARGEST, profile_toml, read_profile
from agent.wire.client import Client
from agent.wire.records import Changed, Profile, ProfileChange, ValueChange
from agent.wire.state import ModelStatus
from agent.words.figures import counted, listed
from agent.words.notices import outdated
from agent.words.titles import NONE, Titles, value_title

MASK = "***"
BACK = "`reticent requests undo` reverts that until the vault is locked."
COLUMNS = (Column("fact", wraps=True), Column("value", wraps=True))
PIPE = Path("-")
INPUT = "the standard input"
FORM = "write NAME=VALUE, one per line"
WAYS = "`reticent profile set NAME...` asks for it, and --stdin reads lines of NAME=VALUE"
NOT_SET = "not set"
PLANNED = (
    Column("attribute", wraps=True),
    Column("now"),
    Column("then"),
    Column("who holds an older value", wraps=True),
)
OUTPUT = Path("-")
WARNING = (
    "This writes your values as plain text: whoever can read it, or a backup of it, knows what it "
    "says."
)


model_option = click.option(
    "--model", metavar="NAME", help="Only for this model. By default for all that have it."
)


@click.group(cls=Commands)
def profile() -> None:
    """Show and change your facts."""


@profile.command()
@click.option("--reveal", is_flag=True, help="Show the values, which are masked otherwise.")
@json_option
def show(*, reveal: bool, as_json: bool) -> None:
    """Show which facts you have set, with masked values."""
    with door() as client:
        found: Profile = client.call("profile")
        titles = NONE if as_json else titles_of(client)
    values = {model: _masked(each, reveal=reveal) for model, each in found.values.items()}
    click.echo(
        record({"values": values}) if as_json else profile_text(values, titles, masked=not reveal)
    )


@profile.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@model_option
@json_option
def unset(*, names: tuple[str, ...], model: str | None, as_json: bool) -> None:
    """Unset facts: they are never sent from then on.

    Recipients that were sent one still know it: `reticent requests knows HOST` shows what.
    """
    change = ProfileChange(model=model, unset=[*names])
    with door() as client:
        changed: Changed = client.call("change_profile", change)
    click.echo(record(changed) if as_json else changed_text(f"Unset {listed(names)}.", changed))


def changed_text(said: str, changed: Changed) -> str:
    """Return what was changed, who holds an older value of it, and how to take it back."""
    lines = [said, *outdated(changed)]
    lines += [BACK] if changed.changes else []
    return "\n".join(paragraph(printable(each)) for each in lines)


def _masked(values: Mapping[str, str], *, reveal: bool) -> dict[str, str]:
    return {name: value if reveal else MASK for name, value in values.items()}


def profile_text(values: Mapping[str, Mapping[str, str]], titles: Titles, *, masked: bool) -> str:
    """Return the values by model, a table for each."""
    parts = []
    for model, each in values.items():
        if each:
            rows = []
            for name, value in each.items():
                title = titles.get(name, name)
                rows.append((printable(title), printable(value_title(value, title))))
            head = f"You have set {counted(len(each), 'fact')} for the model {model}."
            parts.append(strong(printable(head)))
            parts.append(table(COLUMNS, rows))
    if not parts:
        return "You have set no facts yet: `reticent profile edit` asks for them."
    parts += ["`--reveal` shows the values."] if masked else []
    return "\n\n".join(parts)


@profile.command()
@model_option
@json_option
def edit(*, model: str | None, as_json: bool) -> None:
    """Go through all your facts, the most useful first.

    Enter keeps a fact as it is, < goes back one question, and - leaves the rest as they are.
    """
    if not at_terminal():
        hint = "give lines of NAME=VALUE to `reticent profile set --stdin`"
        raise UsageError("this asks for values, and there is no terminal", hint)
    with door() as client:
        found = {each.name: each for own in _models(client, model) for each in most_useful(own)}
        values = ask_values([*found.values()])
        _change(client, ProfileChange(model=model, set=values), as_json=as_json)


def _change(client: Client, change: ProfileChange, *, as_json: bool) -> None:
    """Set values, and say so."""
    if not change.set:
        click.echo(record(Changed(done=False)) if as_json else "Nothing changed.")
        return
    changed: Changed = client.call("change_profile", change)
    said = f"Set {listed([*change.set])}."
    click.echo(record(changed) if as_json else changed_text(said, changed))


@profile.command(name="set")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--stdin", "piped", is_flag=True, help="Read NAME=VALUE lines, and ask nothing.")
@model_option
@json_option
def set_(*, names: tuple[str, ...], piped: bool, model: str | None, as_json: bool) -> None:
    """Set facts: it asks for each; Enter keeps a fact as it is.

    With --stdin, lines of NAME=VALUE are read instead: all are set, or none if one does not fit. A
    value is never an argument: every user of this machine can read those of a running command, and
    a shell may keep what is typed.
    """
    _check_names(names, piped=piped)
    given = _lines() if piped else {}
    with door() as client:
        values = given if piped else _asked(names, _models(client, model))
        _change(client, ProfileChange(model=model, set=values), as_json=as_json)


def _check_names(names: Sequence[str], *, piped: bool) -> None:
    """Refuse a value among the arguments, without repeating it, and what cannot be asked for."""
    if any("=" in each for each in names):
        _refuse_value()
    if bool(names) == piped:
        what = "--stdin reads the names with the values" if piped else "no attribute is named"
        hint = "leave out NAME" if piped else f"{WAYS}; `reticent policy attributes` lists them"
        raise UsageError(what, hint)
    if names and not at_terminal():
        hint = "give lines of NAME=VALUE to `reticent profile set --stdin`"
        raise UsageError("this asks for values, and there is no terminal", hint)


def _refuse_value() -> NoReturn:
    raise UsageError("every user of this machine can read a value given as an argument", WAYS)


def _lines() -> dict[str, str]:
    """Return the values in the lines of the standard input; UsageError for other lines."""
    try:
        lines = _piped().decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise UsageError("not UTF-8 text", FORM, INPUT) from None
    found: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        name, sign, value = (part.strip() for part in line.partition("="))
        if not line.strip():
            continue
        if not (name and sign and value):
            raise UsageError("not of the form NAME=VALUE", FORM, f"{INPUT}, line {number}")
        if found.setdefault(name, value) != value:
            raise UsageError(f"{name} has two values", f"give {name} once", INPUT)
    if not found:
        raise UsageError("no input", FORM, INPUT)
    return found


def _asked(names: Sequence[str], models: Sequence[Model]) -> dict[str, str]:
    """Return what somebody at the terminal chooses; UsageError for a name that no model has."""
    having = {}
    for name in names:
        found = next((each for each in models if name in person_codes(each)), None)
        if found is None:
            known = {
                value for each in models for own in person_codes(each).values() for value in own
            }
            if name in known:
                _refuse_value()
            raise unknown_person(name, models)
        having[name] = found.attributes[found.index(name)]
    return ask_values([*having.values()])


@profile.command(name="import")
@click.argument("file", type=PATH, metavar="FILE")
@click.option("--replace", is_flag=True, help="Unset every fact that is not in the file.")
@yes_option
@json_option
def import_(file: Path, *, replace: bool, yes: bool, as_json: bool) -> None:
    """Set the facts in FILE.

    Each line is attribute = "value", for every model that has it; below a line [NAME], for the
    model NAME only. FILE may be - for the standard input. What would change is shown first, for
    you to agree. Nothing is set if anything in the file does not fit; `reticent requests undo`
    reverts all of it, until the vault is locked.
    """
    text = _piped() if file == PIPE else None
    with door() as client:
        values = _values(file, text, _models(client))
        if replace and not any(values.values()):
            raise _empty(file)
        given = {model: each for model, each in values.items() if each or replace}
        change = ProfileChange(models=given, replace=replace)
        removed = _removed(client, given) if replace else {}
        if given:
            _agree(client, change, yes=yes, as_json=as_json)
        changed: Changed = client.call("change_profile", change) if given else Changed(done=False)
    if as_json:
        names = {model: [*each] for model, each in given.items()}
        click.echo(record({"set": names, "removed": removed, "stale": changed.stale}))
    else:
        click.echo("\n".join(map(paragraph, _outcome(given, removed, changed))))


def _agree(client: Client, change: ProfileChange, *, yes: bool, as_json: bool) -> None:
    """Show what a change would do, on the error stream, and ask where it would do anything."""
    change = msgspec.structs.replace(change, dry_run=True)
    planned: Changed = client.call("change_profile", change)
    if not planned.changes:
        return
    if not (yes and as_json):
        click.echo(f"{_planned_text(planned)}\n", err=True)
    agree("Make these changes?", yes=yes)


def _planned_text(planned: Changed) -> str:
    """Return what would change, masked, and who holds what is not so any more."""
    held = {each.name: listed(each.pools) for each in planned.stale}
    models: dict[str, list[ValueChange]] = {}
    for each in planned.changes:
        models.setdefault(each.model, []).append(each)
    parts = []
    for model, changes in models.items():
        over = sum(each.was_set for each in changes)
        head = f"{model}: {counted(len(changes), 'fact')} would change, {over} of which you had set"
        rows = [
            (
                each.name,
                MASK if each.was_set else NOT_SET,
                MASK if each.is_set else NOT_SET,
                printable(held.get(each.name, "")),
            )
            for each in changes
        ]
        parts += [strong(printable(head)), table(PLANNED, rows)]
    return "\n\n".join(parts)


def _piped() -> bytes:
    """Return what is piped; UsageError for too much."""
    text = b"" if sys.stdin is None else sys.stdin.buffer.read(LARGEST + 1)
    if len(text) > LARGEST:
        hint = f"a profile has at most {LARGEST:,} bytes"
        raise UsageError("too large", hint, INPUT)
    return text


def _models(client: Client, name: str | None = None) -> list[Model]:
    """Return the models that the daemon uses, read anew; ``name``: that one alone, or its id."""
    known: list[ModelStatus] = client.call("models")
    usable = {each.name: each for each in known if each.problem is None}
    found = {
        each.name: read(
            shipped_model() if each.shipped else paths().models / f"{each.name}{SUFFIX}"
        )
        for each in usable.values()
    }
    if name is None:
        return [*found.values()]
    if name in found:
        return [found[name]]
    by_id = [each for each in found.values() if each.id == name]
    if not by_id:
        raise UsageError.unknown("model", name, found)
    return by_id


def _values(file: Path, text: bytes | None, models: list[Model]) -> dict[str, dict[str, str]]:
    """Return the values by model; UsageError, with the file, for what is wrong in it."""
    try:
        return read_profile(read_bytes(file, LARGEST) if text is None else text, models)
    except UsageError as error:
        raise UsageError(error.what, error.hint, error.where or _where(file)) from None


def _where(file: Path) -> str:
    return INPUT if file == PIPE else str(file)


def _empty(file: Path) -> UsageError:
    """Return the error for a file that would take everything away: half of a pipe is such a one."""
    hint = "`reticent profile unset NAME...` takes values away"
    return UsageError("nothing is set in it, so that --replace would unset all", hint, _where(file))


def _removed(client: Client, values: Mapping[str, Mapping[str, str]]) -> dict[str, list[str]]:
    """Return by model which attributes are set now, and will not be."""
    before: Profile = client.call("profile")
    gone = {
        model: [name for name in before.values.get(model, {}) if name not in each]
        for model, each in values.items()
    }
    return {model: names for model, names in gone.items() if names}


def _outcome(
    given: Mapping[str, Mapping[str, Any]], removed: Mapping[str, Sequence[str]], changed: Changed
) -> list[str]:
    """Return what was done, in paragraphs."""
    parts = [f"{counted(len(each), 'value')} of {model}" for model, each in given.items() if each]
    if not parts and not removed:
        return ["The file sets nothing."]
    if not changed.changes:
        return ["Your profile already has all of this: nothing changed."]
    said = [f"Set {', '.join(parts)}."] if parts else []
    said += [f"Unset {listed(names)} of {model}." for model, names in removed.items()]
    return [printable(" ".join(said)), BACK]


@profile.command()
@click.argument("file", type=PATH, metavar="FILE")
@yes_option
@json_option
def export(file: Path, *, yes: bool, as_json: bool) -> None:
    """Write your facts into FILE, as plain text.

    Only you can read the file. With - they go to the output, and with --json as one JSON object.
    """
    if file != OUTPUT and file.exists():  # before the question, and again when it is written
        raise UsageError("the file already exists", "choose another name", str(file))
    if not yes:
        click.echo(paragraph(WARNING), err=True)
    agree("Write them?", yes=yes)
    with door() as client:
        found: Profile = client.call("profile")
    text = profile_toml(found.values)
    if file == OUTPUT:
        click.echo(record(found) if as_json else text, nl=as_json)
        return
    create_private(text.encode(), file)
    said = {"file": str(file.absolute())}
    done = f"Wrote {file}, readable by you alone. Delete it once it has served its purpose."
    click.echo(record(said) if as_json else paragraph(printable(done)))
