"""`reticent profile`: the user's own facts."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import click
import msgspec

from agent.cli.daemon_client import door, titles_of
from agent.cli.options import PATH, Commands, Output, answers, at_terminal, yes_option
from agent.cli.printing import Column, facts, page, paragraph, say, strong, table, wide
from agent.cli.profile_file import LARGEST, profile_toml, read_profile
from agent.cli.prompts import agree
from agent.cli.questions import CITY, HARMLESS, ask_city, ask_values, concerned, most_useful
from agent.daemon.locale import LOCALE
from agent.decision.decide import counted_among
from agent.decision.values import Fact
from agent.errors import UsageError
from agent.files import create_private, read_bytes
from agent.model.file import SUFFIX, read, shipped_model
from agent.model.model import Concepts, Kind, Model, unknown_person
from agent.model.world import in_country, world_of
from agent.paths import paths
from agent.vault.profile import values_of
from agent.wire.client import Client
from agent.wire.state import Changed, FactFigures, ModelStatus, ProfileChange, ProfileFacts
from agent.words.figures import counted, listed, proviso, rarity
from agent.words.notices import MOST_NAMED, also, outdated
from agent.words.titles import Titles, titled, value_title
from policy.families import headings

Described = dict[str, Any]  # a fact, as it is shown
MASK, PRIVATE = "***", {"words", "short", "share", "share_of"}
BACK = "`reticent requests undo` reverts this until the vault is locked."
OTHERS = "Other facts"  # the heading of those that belong under no other
NO_FACTS = "You have set no facts yet: `reticent profile edit` asks for them."
MASKED = "`--reveal` shows the values, and how rare each is."
SHARED = "The brackets say how many {} share each value{}."
UNSET = "Not set, and would help most: {}. `reticent profile set {}` asks for them."
MOST = 3  # facts not set that are named
PIPE = Path("-")
INPUT = "the standard input"
WAYS = "`reticent profile set NAME...` asks for it, and `import -` reads it from a pipe"
VALUE_GIVEN = UsageError("every user of this machine can read a value given as an argument", WAYS)
PLANNED = (wide("fact"), Column("now"), Column("then"), wide("who holds an older value"))


@click.group(cls=Commands)
def profile() -> None:
    """Show and change your facts."""


@profile.command()
@click.option("--reveal", is_flag=True, help="Show the values, and how rare each is.")
@answers
def show(*, reveal: bool) -> Output:
    """Show your facts by family, with masked values, and what each helps with."""
    with door() as client:
        own: ProfileFacts = client.call("profile")
        models = _models(client, own.country)
    world, described = models[0], _described(own, models)
    for each in [] if reveal else described:
        each |= {**dict.fromkeys(each.keys() & PRIVATE), "value": MASK}
    useful = most_useful(world, world.every[:1] if world.queries else [], country=own.country)
    easy = (each for each in useful if each.attributes[0][1].sensitivity <= HARMLESS)
    unset = [each for each in easy if each.concept not in {fact.kind for fact in own.facts}][:MOST]
    about = SHARED.format(world.stands_for, proviso(counted_among(world))) if reveal else MASKED
    head = f"You have set {counted(len(described), 'fact')}. {about}" if described else NO_FACTS
    named = listed(each.title for each in unset), " ".join(each.name for each in unset)
    more = [paragraph(UNSET.format(*named))] if unset else []
    record = {"facts": described, "would_help_most": [each.name for each in unset]}
    return Output(record, page(head, *_sections(described, world), *more))


def _described(own: ProfileFacts, models: Sequence[Model]) -> list[Described]:
    """Describe facts, by family: their kind, what it helps with, and how rare the value is."""
    kinds, headed, described = Concepts(models).kinds, headings(), list[Described]()
    for fact in own.facts:
        name = title = fact.kind
        if fact.kind in kinds:
            first, title = kinds[fact.kind].attributes[0][1], kinds[fact.kind].title
            name = first.shared or first.name
        record: Described = {"name": name, "title": title, "family": headed.get(name, OTHERS)}
        record |= msgspec.to_builtins(own.figures.get(fact.id, FactFigures()))
        described.append(msgspec.to_builtins(fact) | record)
    order = [*dict.fromkeys(headed.values()), OTHERS]
    return sorted(described, key=lambda each: (order.index(each["family"]), each["name"]))


def _sections(described: Sequence[Described], world: Model) -> Iterator[str]:
    """Lay out the facts under their headings, those of a kind in one line."""
    width = max((len(each["name"]) for each in described), default=0)
    for heading, of_family in groupby(described, lambda each: each["family"]):
        lines = list[tuple[str, str]]()
        for name, of_kind in groupby(of_family, lambda each: each["name"]):
            facts_ = [*of_kind]
            values = "; ".join(_value(each, world) for each in facts_)
            lines.append((f"{name:<{width}}", f"{facts_[0]['title']}: {values}"))
            if topics := "; ".join(facts_[0]["helps_with"]):
                lines.append(("", f"helps with: {topics}"))
        yield f"{strong(heading)}\n{facts(lines)}"


def _value(described: Described, world: Model) -> str:
    """A value in words, and how many people share it: vegetarian (1 in 20)."""
    value = value_title(described["value"] or "", described["title"])
    if not (share := described["share"]) or round(share, 2) == 1:
        return value
    whom = "" if described["share_of"] == world.stands_for else f" {described['share_of']}"
    return f"{value} ({rarity(share)}{whom})"


@profile.command()
@answers
def edit() -> Output:
    """Go through all your facts, the most useful first.

    Enter keeps a fact as it is, < goes back one question, and - leaves the rest as they are.
    """
    _check_terminal()
    with door() as client:
        models, own = _models(client), values_of(client.call("profile").facts)
        offered = most_useful(models[0], concerned(models[0]))
        kinds = Concepts(models).kinds.values()
        offered += [each for each in kinds if each.attributes[0][0] is LOCALE]
        current = {each.name: own[each.concept] for each in kinds if each.concept in own}
        return _change(client, _answered(ask_values(offered, current)))


def _answered(values: Mapping[str, str]) -> ProfileChange:
    unset = [name for name, value in values.items() if not value]
    return ProfileChange(set={k: v for k, v in values.items() if v}, unset=unset)


@profile.command(name="set")
@click.argument("names", nargs=-1, required=True, metavar="NAME[=]...")
@answers
def set_(*, names: tuple[str, ...]) -> Output:
    """Set facts: it asks for each NAME; Enter keeps a fact as it is. NAME= unsets a fact.

    The name city asks for a city, and sets the country and, in the US, the state.

    A value is never an argument: every user of this machine can read those of a running command,
    and a shell may keep what is typed.

    What is unset is never sent from then on. Recipients that were sent it still know it:
    `reticent requests recipients HOST` shows what.
    """
    if any(each.rpartition("=")[2] for each in names if "=" in each):
        raise VALUE_GIVEN  # without repeating it
    unset = [each.removesuffix("=") for each in names if each.endswith("=")]
    to_ask = [each for each in names if not each.endswith("=")]
    with door() as client:
        change = _asked(to_ask, client) if to_ask else ProfileChange()
        return _change(client, msgspec.structs.replace(change, unset=[*change.unset, *unset]))


def _change(client: Client, change: ProfileChange) -> Output:
    """Make a change; say what it was, who holds an older value of it, and how to undo it."""
    changed = Changed(done=False)
    if change.set or change.unset:
        changed = client.call("change_profile", change)
    if not changed.changes:
        return Output(changed, "Nothing changed.")
    titles, follows = titles_of(client), {each.name for each in changed.implied}
    stated = [each for each in changed.changes if each.name not in follows]
    lines = []
    for verb, is_set in (("Set", True), ("Unset", False)):
        if names := titled((each.name for each in stated if each.is_set == is_set), titles):
            lines.append(f"{verb}: {listed(names, most=MOST_NAMED)}.")
    lines += [*also(changed.implied), *outdated(changed, titles), BACK]
    return Output(changed, "\n".join(map(paragraph, lines)))


def _check_terminal() -> None:
    if not at_terminal():
        hint = 'pipe lines of NAME = "VALUE" to `reticent profile import -`'
        raise UsageError("this asks for values, and there is no terminal", hint)


def _asked(names: Sequence[str], client: Client) -> ProfileChange:
    """Ask at the terminal for values; UsageError for a name that no model has.

    A name that several kinds share asks for each of them.
    """
    models, own = _models(client), values_of(client.call("profile").facts)
    current, kinds = Concepts(models).kinds.values(), dict[str, Kind]()
    for name in (each for each in names if each != CITY):
        named = {each.name: each for each in current if each.called(name) or each.title == name}
        if not named:
            is_value = any(name in each.values for each in current)
            raise VALUE_GIVEN if is_value else unknown_person(name, models)
        kinds |= named
    _check_terminal()
    before = {each.name: own[each.concept] for each in current if each.concept in own}
    values = ask_values([*kinds.values()], before)
    return _answered({**values, **(ask_city() if CITY in names else {})})


@profile.command(name="import")
@click.argument("file", type=PATH, metavar="FILE")
@click.option("--replace", is_flag=True, help="Unset every fact that is not in the file.")
@yes_option
@click.pass_context
@answers
def import_(context: click.Context, /, file: Path, *, replace: bool, yes: bool) -> Output:
    """Set the facts in FILE.

    Each line is name = "value"; below a line [MODEL], the names are that model's. FILE may be - for
    the standard input. What would change is shown first, for you to agree. Nothing is set if
    anything in the file does not fit; `reticent requests undo` reverts all of it, until the vault
    is locked.
    """
    source, text = str(file), b""
    if file == PIPE:
        source, text = INPUT, b"" if sys.stdin is None else sys.stdin.buffer.read(LARGEST + 1)
        if len(text) > LARGEST:
            raise UsageError("too large", f"a profile has at most {LARGEST:,} bytes", INPUT)
    with door() as client:
        models = _models(client)
        try:
            values = read_profile(text if file == PIPE else read_bytes(file, LARGEST), models)
        except UsageError as error:
            raise UsageError(error.what, error.hint, error.where or source) from None
        if replace and not values:  # half of a pipe is such a file
            hint = "`reticent profile set NAME=` takes a value away"
            raise UsageError("nothing is set in it, so --replace would unset all", hint, source)
        if not values:
            return Output(Changed(done=False), "The file sets nothing.")
        own = values_of(client.call("profile").facts)
        unset = [kind for kind in own if kind not in values] if replace else []
        change = ProfileChange(set=values, unset=unset)
        planned = client.call("change_profile", msgspec.structs.replace(change, dry_run=True))
        if not planned.changes:
            return Output(planned, "Nothing changed.")
        if not (yes and context.params["as_json"]):
            click.echo(f"{_changes_text(planned, titles_of(client))}\n", err=True)
        agree("Make these changes?", yes=yes)
        return _change(client, change)


def _changes_text(planned: Changed, titles: Titles) -> str:
    """Lay out the planned changes, masked, with the recipients that hold older values."""
    rows = []
    for each in planned.changes:
        now, then = (MASK if is_set else "not set" for is_set in (each.was_set, each.is_set))
        stale = listed(planned.stale.get(each.name, ()))
        rows.append((titles.get(each.name, each.name), now, then, stale))
    over = sum(each.was_set for each in planned.changes)
    head = f"{counted(len(rows), 'fact')} would change, {over} of which you had set"
    return page(head, table(PLANNED, rows))


def _models(client: Client, country: str = "") -> list[Model]:
    """Read the world of the models that the daemon uses, and LOCALE; ``country``: `in_country`."""
    usable: list[ModelStatus] = [e for e in client.call("models") if e.problem is None]
    folder = paths().models
    files = (shipped_model(e.name) if e.shipped else folder / f"{e.name}{SUFFIX}" for e in usable)
    opened = [in_country(read(each), country) for each in files if each.exists()]
    return [*([world_of(opened)] if opened else []), LOCALE]


@profile.command()
@click.argument("file", type=PATH, metavar="FILE")
@yes_option
@answers
def export(file: Path, *, yes: bool) -> Output:
    """Write your facts into FILE, as plain text.

    Only you can read the file. With - they go to the output, and with --json as one JSON object.
    """
    if file != PIPE and file.exists():  # before the question, and again when it is written
        raise UsageError("the file already exists", "choose another name", str(file))
    if not yes:
        say("This writes your values as plain text. Whoever reads the file or a backup knows them.")
    agree("Write them?", yes=yes)
    with door() as client:
        own: list[Fact] = client.call("profile").facts
        text = profile_toml(own, Concepts(_models(client)))
    if file == PIPE:
        return Output({"facts": own}, text.removesuffix("\n"))
    create_private(text.encode(), file)
    done = f"Wrote {file}, readable by you alone. Delete it once it has served its purpose."
    return Output({"file": str(file.absolute())}, paragraph(done))
