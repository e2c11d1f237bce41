"""`reticent profile`: the user's own facts."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby
from pathlib import Path
from typing import Any

import click
import msgspec

from agent.cli import options, own_facts
from agent.cli.daemon_client import door, titles_of
from agent.cli.printing import Column, facts, page, paragraph, strong, table, wide
from agent.cli.profile_file import LARGEST, OwnFact, is_values, profile_toml, read_profile
from agent.cli.prompts import agree, confirmed, line
from agent.cli.questions import CITY, HARMLESS, ask_city, ask_values, concerned, most_useful
from agent.daemon.installed_files import note_copy
from agent.daemon.locale import LOCALE
from agent.decision.decide import counted_among
from agent.decision.values import Fact
from agent.errors import UsageError
from agent.facts import statements_of
from agent.files import create_private, read_bytes
from agent.model.file import SUFFIX, read, shipped_model
from agent.model.model import Concepts, Kind, Model, unknown_person
from agent.model.world import in_country, world_of
from agent.paths import paths
from agent.vault.profile import values_of
from agent.wire.client import Client
from agent.wire.state import Changed, FactFigures, ModelStatus, ProfileChange, ProfileFacts
from agent.words.figures import counted, listed, proviso, rarity, removes
from agent.words.notices import MOST_NAMED, also, outdated
from agent.words.titles import Titles, titled, value_title
from policy.families import headings

Described = dict[str, Any]  # a fact, as it is shown
MASK, PRIVATE = "***", {"words", "short", "terms", "share", "share_of"}
BACK = "`reticent undo` reverts this until the vault is locked."
OTHERS = "Other facts"  # the heading of those that belong under no other
NO_FACTS = "You have set no facts yet: `reticent profile edit` asks for them."
MASKED = "`--reveal` shows the values, and how rare each is."
SHARED = "The brackets say how many {} share each value{}."
UNSET = "Not set, and would help most: {}. `reticent profile set {}` asks for them."
MOST = 3  # facts not set that are named
PIPE = Path("-")
INPUT = "the standard input"
WAYS = "`reticent profile set NAME...` asks for it, `import -` reads it, `unset NAME` removes it"
VALUE_GIVEN = UsageError("every user of this machine can read a value given as an argument", WAYS)
PLAIN_TEXT = "This writes your values as plain text. Whoever reads the file or a backup knows them."
PLANNED = (wide("fact"), Column("now"), Column("then"), wide("who holds an older value"))


@click.group(cls=options.Commands, default=lambda _: "show")
def profile() -> None:
    """Show and change your facts.

    Without a command it shows them.
    """


@profile.command()
@click.option("--reveal", is_flag=True, help="Show the values, and how rare each is.")
@options.answers
def show(*, reveal: bool) -> options.Output:
    """Show your facts by family, with masked values, and what each helps with.

    In brackets are the IDs of facts in your own words; those with = between them count as one.
    """
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
    return options.Output(record, page(head, *_sections(described, world), *more))


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
            for key, label in (("helped", "helped with"), ("pools", "known to")):
                if names := dict.fromkeys(chain.from_iterable(each[key] for each in facts_)):
                    lines.append(("", f"{label}: {'; '.join(names)}"))
        yield f"{strong(heading)}\n{facts(lines)}"


def _value(described: Described, world: Model) -> str:
    """A value in words, and how many people share it: vegetarian (1 in 20)."""
    value = value_title(described.get("value", ""), described["title"])
    if "words" in described:
        ids = (each[: own_facts.SHOWN] for each in (described["id"], *described["same_as"]))
        value = f"{described['words'] or MASK} [{' = '.join(ids)}]"
    if not (share := described["share"]) or round(share, 2) == 1:
        return value
    of = described["share_of"]
    whom = "" if of in (None, world.stands_for) else f" {of}"
    return f"{value} ({rarity(share)}{whom})"


@profile.command()
@click.argument("text", required=False, metavar="[TEXT]")
@options.yes_option
@options.answers
def add(*, text: str | None, yes: bool) -> options.Output:
    """Add facts in your own words, as in "I'm vegetarian and allergic to peanuts".

    Each is shown with what it is taken for, how private and how rare that is, and where it would
    help most, for you to keep, to change or to drop. Without TEXT you are asked for it, where no
    other user of this machine can read it; - reads it from the standard input.
    """
    if text is None:
        _check_terminal()
        text = line("About you")
    if text == str(PIPE):
        text = _piped().decode(errors="replace")
    new = [OwnFact(words=each) for each in statements_of(text)]
    with door() as client:
        return _change(client, own_facts.adding(new, client, yes=yes))


@profile.command()
@click.argument("fact", required=False, metavar="[ID]")
@options.option("--same-as other", str, "ID|-", "Count it as one with another fact, - for none.")
@options.answers
def edit(*, fact: str | None, other: str | None) -> options.Output:
    """Go through all your facts, or change the fact ID in your own words.

    The most useful come first. Enter keeps a fact as it is, < goes back one question, and - leaves
    the rest as they are.

    Facts in your own words that say nearly the same count as one, so that saying it twice helps no
    more. With --same-as you decide for good which do.
    """
    if other is None:
        _check_terminal()
    elif fact is None:
        raise UsageError("--same-as needs the ID of a fact", "`reticent profile show` has it")
    with door() as client:
        if fact is not None:
            return _change(client, own_facts.editing(fact, other, client))
        models = _models(client)
        kinds = Concepts(models).kinds.values()
        offered = most_useful(models[0], concerned(models[0]))
        offered += [each for each in kinds if each.attributes[0][0] is LOCALE]
        return _asked(client, offered, kinds)


def _asked(
    client: Client, offered: Sequence[Kind], kinds: Iterable[Kind], *, city: bool = False
) -> options.Output:
    """Ask for values, and for a city, and set them; ``kinds``: all that there are.

    Own words that state another value are removed with it, once the user agrees.
    """
    own = values_of(client.call("profile").facts)
    before = {each.name: own[each.concept] for each in kinds if each.concept in own}
    values = {**ask_values(offered, before), **(ask_city() if city else {})}
    unset = [name for name, value in values.items() if not value]
    change = ProfileChange(set={k: v for k, v in values.items() if v}, unset=unset)
    planned = client.call("change_profile", msgspec.structs.replace(change, dry_run=True))
    agreed = not planned.gone or confirmed(f"{removes(planned.gone)} Go on?")
    return _change(client, change if agreed else ProfileChange())


@profile.command(name="set")
@click.argument("names", type=options.FACT, nargs=-1, required=True, metavar="FACT...")
@options.answers
def set_(*, names: tuple[str, ...]) -> options.Output:
    """Set facts: it asks for each FACT; Enter keeps a fact as it is.

    The name city asks for a city, and sets the country and, in the US, the state.

    A value is never an argument: every user of this machine can read those of a running command,
    and a shell may keep what is typed.
    """
    if any("=" in each for each in names):
        raise VALUE_GIVEN  # without repeating it
    with door() as client:
        models, chosen = _models(client), dict[str, Kind]()
        kinds = Concepts(models).kinds.values()
        for name in (each for each in names if each != CITY):  # several kinds may share a name
            named = {each.name: each for each in kinds if each.called(name) or each.title == name}
            if not named:
                is_value = any(name in each.values for each in kinds)
                raise VALUE_GIVEN if is_value else unknown_person(name, models)
            chosen |= named
        _check_terminal()
        return _asked(client, [*chosen.values()], kinds, city=CITY in names)


@profile.command()
@click.argument("which", type=options.FACT, nargs=-1, required=True, metavar="ID|FACT...")
@options.answers
def unset(*, which: tuple[str, ...]) -> options.Output:
    """Unset facts, by the IDs that `reticent profile show` has, or by name.

    They are never sent from then on. Recipients that were sent one still know it:
    `reticent requests recipients RECIPIENT` shows what.
    """
    with door() as client:
        return _change(client, ProfileChange(unset=[*which]))


def _change(client: Client, change: ProfileChange) -> options.Output:
    """Make a change; say what it was, who holds an older value of it, and how to undo it."""
    changed = Changed(done=False)
    if change != ProfileChange(draft=change.draft):
        changed = client.call("change_profile", change)
    if not (changed.changes or changed.facts):
        return options.Output(changed, "Nothing changed.")
    follows = {e.name for e in changed.implied} | {e.id for e in (*changed.facts, *changed.gone)}
    titles, stated = titles_of(client), [e for e in changed.changes if e.name not in follows]
    named = {
        "Set": titled((each.name for each in stated if each.is_set), titles),
        "Unset": titled((each.name for each in stated if not each.is_set), titles),
        "In your profile now": [repr(each.words) for each in changed.facts],
        "No longer in your profile": [repr(each.words) for each in changed.gone],
    }
    lines = [f"{verb}: {listed(names, most=MOST_NAMED)}." for verb, names in named.items() if names]
    lines += [*also(changed.implied), *outdated(changed, titles), BACK]
    return options.Output(changed, "\n".join(map(paragraph, lines)))


def _check_terminal() -> None:
    if not options.at_terminal():
        hint = "pipe your facts to `reticent profile import -`"
        raise UsageError("this asks for facts, and there is no terminal", hint)


@profile.command(name="import")
@click.argument("file", type=options.PATH, metavar="FILE")
@options.yes_option
@click.pass_context
@options.answers
def import_(context: click.Context, /, file: Path, *, yes: bool) -> options.Output:
    """Set the facts in FILE, or add those in what an assistant remembers of you.

    FILE is one that `reticent profile export` wrote, or has lines of name = "value"; below a line
    [MODEL], the names are that model's. Or it is the memory of an assistant, or any text about you:
    each fact in it is shown, as by `reticent profile add`. FILE may be - for the standard input.
    What would change is shown first, for you to agree. Nothing is set if anything in the file does
    not fit; `reticent undo` reverts all of it, until the vault is locked.
    """
    source, text = (INPUT, _piped()) if file == PIPE else (str(file), read_bytes(file, LARGEST))
    with door() as client:
        if not is_values(text):
            new = [OwnFact(words=e) for e in statements_of(text.decode(errors="replace"))]
            return _change(client, own_facts.adding(new, client, yes=yes))
        models = _models(client)
        try:
            values, own_words = read_profile(text, models)
        except UsageError as error:
            raise UsageError(error.what, error.hint, error.where or source) from None
        if not values and not own_words:
            return options.Output(Changed(done=False), "The file sets nothing.")
        change = own_facts.adding(own_words, client, yes=yes) if own_words else ProfileChange()
        change = msgspec.structs.replace(change, set=values)
        planned = client.call("change_profile", msgspec.structs.replace(change, dry_run=True))
        if not planned.changes:
            return options.Output(planned, "Nothing changed.")
        if not (yes and context.params["as_json"]):
            titles = {**titles_of(client), **{each.id: repr(each.words) for each in planned.facts}}
            click.echo(f"{_changes_text(planned, titles)}\n", err=True)
        agree("Make these changes?", yes=yes)
        return _change(client, change)


def _piped() -> bytes:
    """Read the standard input; UsageError where it is too long."""
    text = b"" if sys.stdin is None else sys.stdin.buffer.read(LARGEST + 1)
    if len(text) > LARGEST:
        raise UsageError("too large", f"a profile has at most {LARGEST:,} bytes", INPUT)
    return text


def _changes_text(planned: Changed, titles: Titles) -> str:
    """Lay out the planned changes, masked, with the recipients that hold older values."""
    rows = []
    for each in planned.changes:
        now, then = (MASK if is_set else "not set" for is_set in (each.was_set, each.is_set))
        stale = listed(planned.stale.get(each.name, ()))
        rows.append((titles.get(each.name, each.name), now, then, stale))
    over = sum(each.was_set for each in planned.changes)
    head = f"{counted(len(rows), 'fact')} would change, {over} of which you had set"
    return page(head, table(PLANNED, rows), paragraph(removes(planned.gone)))


def _models(client: Client, country: str = "") -> list[Model]:
    """Read the world of the models that the daemon uses, and LOCALE; ``country``: `in_country`."""
    usable: list[ModelStatus] = [e for e in client.call("models") if e.problem is None]
    folder = paths().models
    files = (shipped_model(e.name) if e.shipped else folder / f"{e.name}{SUFFIX}" for e in usable)
    opened = [in_country(read(each), country) for each in files if each.exists()]
    return [*([world_of(opened)] if opened else []), LOCALE]


@profile.command()
@click.argument("file", type=options.PATH, default=PIPE, metavar="[FILE]")
@options.option("--for recipient", options.HOST, "RECIPIENT", "What it may know, as a memory.")
@options.yes_option
@options.answers
def export(file: Path, *, recipient: str | None, yes: bool) -> options.Output:
    """Write your facts into FILE, as plain text.

    Only you can read the file. Without FILE, or with -, they go to the output, and with --json as
    one JSON object. With --for it is what your policy lets that recipient know, whatever you ask
    it, which counts as sent to it from then on.
    """
    if file != PIPE and file.exists():  # before the question, and again when it is written
        raise UsageError("the file already exists", "choose another name", str(file))
    if recipient is not None:
        with door() as client:
            message, text = own_facts.memory_for(recipient, client, yes=yes)
    else:
        agree("Write them?", yes=yes, warning=PLAIN_TEXT)
        with door() as client:
            own: list[Fact] = client.call("profile").facts
            message, text = {"facts": own}, profile_toml(own, Concepts(_models(client)))
    if file == PIPE:
        return options.Output(message, text.removesuffix("\n"))
    create_private(text.encode(), file)
    note_copy(file, paths())
    done = f"Wrote {file}, readable by you alone. Delete it once it has served its purpose."
    return options.Output({"file": str(file.absolute())}, paragraph(done))
