"""`reticent profile`: the user's own values."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path

import click
import msgspec

from agent.cli.daemon_client import door, titles_of
from agent.cli.groups import Commands
from agent.cli.init import ask_values, chosen, concerned, most_useful
from agent.cli.options import PATH, Answer, answers, at_terminal, names, option, yes_option
from agent.cli.printing import Column, facts, page, paragraph, table, told, wide
from agent.cli.prompts import agree
from agent.decision.locale import LOCALE
from agent.errors import ReticentError, UsageError
from agent.files import create_private, read_bytes
from agent.model.attributes import UNSPECIFIED
from agent.model.concepts import Concepts, Fact
from agent.model.file import SUFFIX, read, shipped_model
from agent.model.model import Model, unknown_person
from agent.paths import paths
from agent.vault.profile import LARGEST, profile_toml, read_profile
from agent.wire.client import Client
from agent.wire.records import Changed, Profile, ProfileChange
from agent.wire.state import ModelStatus
from agent.words.figures import counted, listed
from agent.words.notices import also, outdated
from agent.words.titles import Titles, titled, value_title

MASK = "***"
BACK = "`reticent requests undo` reverts this until the vault is locked."
COLUMNS = (wide("fact"), wide("name"), wide("value"))
SHARED = (*COLUMNS, wide("used by"))
PIPE = Path("-")
INPUT = "the standard input"
FORM = "write NAME=VALUE, one per line"
WAYS = "`reticent profile set NAME...` asks for it, and --stdin reads lines of NAME=VALUE"
VALUE_GIVEN = UsageError("every user of this machine can read a value given as an argument", WAYS)
NOT_SET = "not set"
PLANNED = (wide("fact"), Column("now"), Column("then"), wide("who holds an older value"))
WARNING = (
    "This writes your values as plain text: whoever can read it, or a backup of it, knows what it "
    "says."
)


model_option = option("--model", str, "NAME", "For this model alone; by default for all of them.")


@click.group(cls=Commands)
def profile() -> None:
    """Show and change your facts."""


@profile.command()
@click.option("--reveal", is_flag=True, help="Show the values, which are masked otherwise.")
@answers
def show(*, reveal: bool) -> Answer:
    """Show which facts you have set, with masked values."""
    with door() as client:
        values = client.call("profile").values
        titles = titles_of(client)
        known = Concepts()
        with suppress(ReticentError):  # what cannot be read is shown by its own name
            known = Concepts(_models(client) if len(values) > 1 else ())
    shared = {each.id for each in known.models} & values.keys()
    united = [
        (
            fact.title,
            fact.name,
            value_title(value, fact.title) if reveal else MASK,
            ", ".join(map(_user, of)),
        )
        for fact, value, of in (_told(values, known) if len(shared) > 1 else ())
    ]
    if not reveal:
        values = {model: dict.fromkeys(each, MASK) for model, each in values.items()}
    parts = []
    if united:
        head = f"You have set {counted(len(united), 'fact')}."
        parts = [page(head, table(SHARED, united))]
    for model, each in values.items():
        if united and model in shared:
            continue
        named = ((titles.get(name, name), name, value) for name, value in each.items())
        rows = [(title, name, value_title(value, title)) for title, name, value in named]
        user = _user(model) if model == LOCALE.id else f"the model {model}"
        head = f"You have set {counted(len(each), 'fact')} for {user}."
        parts += [page(head, table(COLUMNS, rows))] if rows else []
    none = ["You have set no facts yet: `reticent profile edit` asks for them."]
    more = "`--reveal` shows the values, and `reticent profile set NAME` asks for one again."
    parts += [paragraph(more)] if parts and not reveal else []
    return Answer({"values": values}, "\n\n".join(parts or none))


def _user(model: str) -> str:
    """Return what uses the values of a model, by its id."""
    return "search engines" if model == LOCALE.id else model


def _told(
    values: Mapping[str, Mapping[str, str]], known: Concepts
) -> Iterator[tuple[Fact, str, list[str]]]:
    """Yield every fact that is set, once, with its value and the models that use it."""
    for fact in known.facts().values():
        own = {m.id: values.get(m.id, {}).get(each.name) for m, each in fact.attributes}
        set_ = {model: value for model, value in own.items() if value is not None}
        if set_:
            value = next((each for each in set_.values() if each != UNSPECIFIED), UNSPECIFIED)
            yield fact, value, [*set_]


@profile.command()
@click.argument("names", type=names, nargs=-1, required=True, metavar="NAME...")
@model_option
@answers
def unset(*, names: tuple[tuple[str, ...], ...], model: str | None) -> Answer:
    """Unset facts: they are never sent from then on.

    Recipients that were sent one still know it: `reticent requests knows HOST` shows what.
    """
    with door() as client:
        return _change(client, ProfileChange(model=model, unset=[*chain(*names)]))


def _change(client: Client, change: ProfileChange) -> Answer:
    """Make a change; say what it was, who holds an older value of it, and how to undo it."""
    if not change.set and not change.unset:
        return Answer(Changed(done=False), "Nothing changed.")
    changed: Changed = client.call("change_profile", change)
    titles = titles_of(client)
    names = listed(titled([*change.set, *change.unset], titles))
    lines = [f"{'Set' if change.set else 'Unset'}: {names}.", *also(changed.implied)]
    lines += outdated(changed, titles)
    lines += [BACK] if changed.changes else []
    return Answer(changed, "\n".join(map(paragraph, lines)))


@profile.command()
@model_option
@answers
def edit(*, model: str | None) -> Answer:
    """Go through all your facts, the most useful first.

    Enter keeps a fact as it is, < goes back one question, and - leaves the rest as they are.
    """
    _check_terminal()
    with door() as client:
        models = _models(client, model)
        known = _told(client.call("profile").values, Concepts(models))
        asked = most_useful(models, concerned([each for each in models if each is not LOCALE]))
        facts = Concepts(models).facts().values()
        asked += [each for each in facts if any(own is LOCALE for own, _ in each.attributes)]
        values = ask_values(asked, {fact.name: value for fact, value, _ in known})
        return _change(client, ProfileChange(model=model, set=values))


@profile.command(name="set")
@click.argument("names", type=names, nargs=-1, metavar="[NAME]...")
@click.option("--stdin", "piped", is_flag=True, help="Read NAME=VALUE lines, and ask nothing.")
@model_option
@answers
def set_(*, names: tuple[tuple[str, ...], ...], piped: bool, model: str | None) -> Answer:
    """Set facts: it asks for each; Enter keeps a fact as it is.

    With --stdin, lines of NAME=VALUE are read instead: all are set, or none if one does not fit. A
    value is never an argument: every user of this machine can read those of a running command, and
    a shell may keep what is typed.
    """
    if any("=" in each for each in chain(*names)):  # refused without repeating it
        raise VALUE_GIVEN
    if bool(names) == piped:
        what = "--stdin reads the names with the values" if piped else "no attribute is named"
        hint = "leave out NAME" if piped else f"{WAYS}; `reticent policy attributes` lists them"
        raise UsageError(what, hint)
    given = _lines() if piped else {}
    with door() as client:
        models = _models(client, model)
        values = _coded(given, models) if piped else _asked([*chain(*names)], models)
        return _change(client, ProfileChange(model=model, set=values))


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


def _coded(given: dict[str, str], models: Sequence[Model]) -> dict[str, str]:
    """Return values with codes in place of their titles; the daemon refuses what is neither."""
    codes = {
        (name, value_title(value, each.title).casefold()): value
        for own in reversed(models)
        for each in own.attributes
        for value in each.values
        for name in (each.name, f"{own.id}.{each.name}")
    }
    return {name: codes.get((name, value.casefold()), value) for name, value in given.items()}


def _asked(names: Sequence[str], models: Sequence[Model]) -> dict[str, str]:
    """Return what somebody at the terminal chooses; UsageError for a name that no model has."""
    known = Concepts(models).facts().values()
    values = {value for each in known for value in each.values}
    alike = {name: [each for each in known if each.called(name)] for name in names}
    for name, found in alike.items():
        if not found:
            raise VALUE_GIVEN if name in values else unknown_person(name, models)
    _check_terminal()
    return ask_values([_meant(name, found) for name, found in alike.items()])


def _meant(name: str, alike: Sequence[Fact]) -> Fact:
    """Return the fact that is meant by a name, asked for where models call two facts alike."""
    while len(alike) > 1:
        told(f"{name} may be {counted(len(alike), 'different fact')}:")
        click.echo(facts((str(at), each.title) for at, each in enumerate(alike, 1)), err=True)
        text = click.prompt("Number", default="1", show_default=False, err=True)
        with suppress(UsageError):
            title = chosen(text.strip(), [each.title for each in alike])
            alike = [next(each for each in alike if each.title == title)]
    return alike[0]


@profile.command(name="import")
@click.argument("file", type=PATH, metavar="FILE")
@click.option("--replace", is_flag=True, help="Unset every fact that is not in the file.")
@yes_option
@click.pass_context
@answers
def import_(context: click.Context, /, file: Path, *, replace: bool, yes: bool) -> Answer:
    """Set the facts in FILE.

    Each line is attribute = "value", for every model that has it; below a line [NAME], for the
    model NAME only. FILE may be - for the standard input. What would change is shown first, for
    you to agree. Nothing is set if anything in the file does not fit; `reticent requests undo`
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
        removed: dict[str, list[str]] = {}
        for model, own in client.call("profile").values.items() if replace else ():
            gone = [name for name in own if name not in given.get(model, own)]
            removed |= {model: gone} if gone else {}
        changed = Changed(done=False)
        titles = titles_of(client)
        if given:
            change = ProfileChange(models=given, replace=replace)
            planned = client.call("change_profile", msgspec.structs.replace(change, dry_run=True))
            if planned.changes:
                if not (yes and context.params["as_json"]):
                    click.echo(f"{_planned_text(planned, titles)}\n", err=True)
                agree("Make these changes?", yes=yes)
            changed = client.call("change_profile", change)
    done = ["Your profile already has all of this: nothing changed."]
    if not any(given.values()) and not removed:
        done = ["The file sets nothing."]
    elif changed.changes:
        sets = [f"{counted(len(each), 'fact')} of {model}" for model, each in given.items() if each]
        parts = [f"Set {', '.join(sets)}."] if sets else []
        parts += [f"Unset {listed(titled(e, titles))} of {model}." for model, e in removed.items()]
        done = [" ".join(parts), *also(changed.implied), BACK]
    names = {model: [*each] for model, each in given.items()}
    message = {"set": names, "removed": removed, "stale": changed.stale}
    return Answer(message, "\n".join(map(paragraph, done)))


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
            shipped_model(each.name) if each.shipped else paths().models / f"{each.name}{SUFFIX}"
        )
        for each in statuses
        if each.problem is None
    }
    found[LOCALE.id] = LOCALE
    if name is None:
        return [*found.values()]
    meant = [found[name]] if name in found else [e for e in found.values() if e.id == name]
    if not meant:
        raise UsageError.unknown("model", name, found)
    return meant


@profile.command()
@click.argument("file", type=PATH, metavar="FILE")
@yes_option
@answers
def export(file: Path, *, yes: bool) -> Answer:
    """Write your facts into FILE, as plain text.

    Only you can read the file. With - they go to the output, and with --json as one JSON object.
    """
    if file != PIPE and file.exists():  # before the question, and again when it is written
        raise UsageError("the file already exists", "choose another name", str(file))
    if not yes:
        told(WARNING)
    agree("Write them?", yes=yes)
    with door() as client:
        found: Profile = client.call("profile")
    text = profile_toml(found.values)
    if file == PIPE:
        return Answer(found, text.removesuffix("\n"))
    create_private(text.encode(), file)
    done = f"Wrote {file}, readable by you alone. Delete it once it has served its purpose."
    return Answer({"file": str(file.absolute())}, paragraph(done))
