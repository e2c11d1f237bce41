"""`reticent profile`: the user's own values."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
import msgspec

from agent.cli.daemon_client import door, titles_of
from agent.cli.groups import Commands, Deferred
from agent.cli.init import ask_values, most_useful
from agent.cli.options import PATH, at_terminal, json_option, record, yes_option
from agent.cli.printing import Column, page, paragraph, table
from agent.cli.prompts import agree
from agent.errors import UsageError
from agent.files import create_private, read_bytes
from agent.model.file import SUFFIX, read, shipped_model
from agent.model.model import Model, person_codes, unknown_person
from agent.paths import paths
from agent.vault.profile import LARGEST, profile_toml, read_profile
from agent.wire.client import Client
from agent.wire.records import Changed, Profile, ProfileChange
from agent.wire.state import ModelStatus
from agent.words.figures import counted, listed
from agent.words.notices import outdated
from agent.words.titles import NONE, Titles, titled, value_title

MASK = "***"
BACK = "`reticent profile undo` reverts this until the vault is locked."
COLUMNS = (Column("fact", wraps=True), Column("value", wraps=True))
PIPE = OUTPUT = Path("-")
INPUT = "the standard input"
FORM = "write NAME=VALUE, one per line"
WAYS = "`reticent profile set NAME...` asks for it, and --stdin reads lines of NAME=VALUE"
VALUE_GIVEN = UsageError("every user of this machine can read a value given as an argument", WAYS)
NOT_SET = "not set"
PLANNED = (
    Column("fact", wraps=True),
    Column("now"),
    Column("then"),
    Column("who holds an older value", wraps=True),
)
WARNING = (
    "This writes your values as plain text: whoever can read it, or a backup of it, knows what it "
    "says."
)


model_option = click.option(
    "--model", metavar="NAME", help="Only for this model. By default for all that have it."
)


@click.group(
    cls=Commands,
    deferred={"undo": Deferred("agent.cli.reviews", "Undo your last change of your facts.")},
)
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
    values = found.values
    if not reveal:
        values = {model: dict.fromkeys(each, MASK) for model, each in values.items()}
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
    with door() as client:
        _change(client, ProfileChange(model=model, unset=[*names]), as_json=as_json)


def _change(client: Client, change: ProfileChange, *, as_json: bool) -> None:
    """Make a change; say what it was, who holds an older value of it, and how to undo it."""
    if not change.set and not change.unset:
        click.echo(record(Changed(done=False)) if as_json else "Nothing changed.")
        return
    changed: Changed = client.call("change_profile", change)
    if as_json:
        click.echo(record(changed))
        return
    titles = titles_of(client)
    names = listed(titled([*change.set, *change.unset], titles))
    lines = [f"{'Set' if change.set else 'Unset'}: {names}.", *outdated(changed, titles)]
    lines += [BACK] if changed.changes else []
    click.echo("\n".join(map(paragraph, lines)))


def profile_text(values: Mapping[str, Mapping[str, str]], titles: Titles, *, masked: bool) -> str:
    """Return the values by model, a table for each."""
    parts = []
    for model, each in values.items():
        rows = []
        for name, value in each.items():
            title = titles.get(name, name)
            rows.append((title, value_title(value, title)))
        if rows:
            head = f"You have set {counted(len(each), 'fact')} for the model {model}."
            parts.append(page(head, table(COLUMNS, rows)))
    if not parts:
        return "You have set no facts yet: `reticent profile edit` asks for them."
    return "\n\n".join([*parts, "`--reveal` shows the values."] if masked else parts)


@profile.command()
@model_option
@json_option
def edit(*, model: str | None, as_json: bool) -> None:
    """Go through all your facts, the most useful first.

    Enter keeps a fact as it is, < goes back one question, and - leaves the rest as they are.
    """
    _check_terminal()
    with door() as client:
        found = {each.name: each for own in _models(client, model) for each in most_useful(own)}
        values = ask_values([*found.values()])
        _change(client, ProfileChange(model=model, set=values), as_json=as_json)


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
    if any("=" in each for each in names):  # refused without repeating it
        raise VALUE_GIVEN
    if bool(names) == piped:
        what = "--stdin reads the names with the values" if piped else "no attribute is named"
        hint = "leave out NAME" if piped else f"{WAYS}; `reticent policy attributes` lists them"
        raise UsageError(what, hint)
    if names:
        _check_terminal()
    given = _lines() if piped else {}
    with door() as client:
        values = given if piped else _asked(names, _models(client, model))
        _change(client, ProfileChange(model=model, set=values), as_json=as_json)


def _check_terminal() -> None:
    if not at_terminal():
        hint = "give lines of NAME=VALUE to `reticent profile set --stdin`"
        raise UsageError("this asks for values, and there is no terminal", hint)


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
    codes = [person_codes(each) for each in models]
    for name in names:
        if not any(name in each for each in codes):
            values = {value for each in codes for own in each.values() for value in own}
            raise VALUE_GIVEN if name in values else unknown_person(name, models)
    found = {each.name: each for own in reversed(models) for each in own.attributes}
    return ask_values([found[name] for name in dict.fromkeys(names)])


@profile.command(name="import")
@click.argument("file", type=PATH, metavar="FILE")
@click.option("--replace", is_flag=True, help="Unset every fact that is not in the file.")
@yes_option
@json_option
def import_(file: Path, *, replace: bool, yes: bool, as_json: bool) -> None:
    """Set the facts in FILE.

    Each line is attribute = "value", for every model that has it; below a line [NAME], for the
    model NAME only. FILE may be - for the standard input. What would change is shown first, for
    you to agree. Nothing is set if anything in the file does not fit; `reticent profile undo`
    reverts all of it, until the vault is locked.
    """
    source = INPUT if file == PIPE else str(file)
    text = _piped() if file == PIPE else None
    with door() as client:
        models = _models(client)
        try:
            values = read_profile(read_bytes(file, LARGEST) if text is None else text, models)
        except UsageError as error:
            raise UsageError(error.what, error.hint, error.where or source) from None
        if replace and not any(values.values()):  # half of a pipe is such a file
            hint = "`reticent profile unset NAME...` takes values away"
            raise UsageError("nothing is set in it, so --replace would unset all", hint, source)
        given = {model: each for model, each in values.items() if each or replace}
        change = ProfileChange(models=given, replace=replace)
        before: Profile | None = client.call("profile") if replace else None
        removed = {} if before is None else _removed(before, given)
        titles = NONE if as_json else titles_of(client)
        changed = Changed(done=False)
        if given:
            dry = msgspec.structs.replace(change, dry_run=True)
            planned: Changed = client.call("change_profile", dry)
            if planned.changes:
                if not (yes and as_json):
                    click.echo(f"{_planned_text(planned, titles)}\n", err=True)
                agree("Make these changes?", yes=yes)
            changed = client.call("change_profile", change)
    if as_json:
        names = {model: [*each] for model, each in given.items()}
        click.echo(record({"set": names, "removed": removed, "stale": changed.stale}))
    elif not any(given.values()) and not removed:
        click.echo("The file sets nothing.")
    elif not changed.changes:
        click.echo("Your profile already has all of this: nothing changed.")
    else:
        sets = [f"{counted(len(each), 'fact')} of {model}" for model, each in given.items() if each]
        done = [f"Set {', '.join(sets)}."] if sets else []
        for model, each in removed.items():
            done.append(f"Unset {listed(titled(each, titles))} of {model}.")
        click.echo("\n".join(map(paragraph, (" ".join(done), BACK))))


def _removed(before: Profile, given: Mapping[str, Mapping[str, str]]) -> dict[str, list[str]]:
    """Return by model which attributes are set now, and will not be."""
    gone = {
        model: [name for name in before.values.get(model, {}) if name not in each]
        for model, each in given.items()
    }
    return {model: names for model, names in gone.items() if names}


def _planned_text(planned: Changed, titles: Titles) -> str:
    """Return what would change, masked, and who holds what is not so any more."""
    held = {each.name: listed(each.pools) for each in planned.stale}
    parts = []
    for model in dict.fromkeys(each.model for each in planned.changes):
        changes = [each for each in planned.changes if each.model == model]
        rows = []
        for each in changes:
            now, then = (MASK if known else NOT_SET for known in (each.was_set, each.is_set))
            rows.append((titles.get(each.name, each.name), now, then, held.get(each.name, "")))
        over = sum(each.was_set for each in changes)
        head = f"{model}: {counted(len(changes), 'fact')} would change, {over} of which you had set"
        parts.append(page(head, table(PLANNED, rows)))
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
    statuses: list[ModelStatus] = client.call("models")
    found = {
        each.name: read(
            shipped_model() if each.shipped else paths().models / f"{each.name}{SUFFIX}"
        )
        for each in statuses
        if each.problem is None
    }
    if name is None:
        return [*found.values()]
    meant = [found[name]] if name in found else [e for e in found.values() if e.id == name]
    if not meant:
        raise UsageError.unknown("model", name, found)
    return meant


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
    written = {"file": str(file.absolute())}
    done = f"Wrote {file}, readable by you alone. Delete it once it has served its purpose."
    click.echo(record(written) if as_json else paragraph(done))
