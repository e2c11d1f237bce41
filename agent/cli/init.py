"""`reticent init`: make the vault, a policy and a profile."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from shutil import get_terminal_size

import click

from agent.cli.daemon_client import running
from agent.cli.demo import PROFILE
from agent.cli.interrupt import Interrupted, uninterrupted
from agent.cli.options import PATH, OneOf, at_terminal, json_option, option, record, sees_terminal
from agent.cli.printing import facts, note, paragraph, printable, told
from agent.cli.prompts import PROMPTS, ask_passphrase, check_keyring, chosen, read_passphrase
from agent.daemon.model_registry import ModelRegistry
from agent.daemon.pinentry import find, shows
from agent.daemon.profile import new_id
from agent.decision.cache import Cache
from agent.decision.locale import LOCALE
from agent.decision.values import Fact
from agent.errors import UsageError, VaultError
from agent.files import create_private, private_folder, read_bytes
from agent.model.concepts import Concepts, Kind, Meaning
from agent.model.file import read, shipped_models
from agent.model.model import Model
from agent.paths import Paths, paths
from agent.vault import secrets
from agent.vault.profile import LARGEST, planned, read_profile
from agent.vault.vault import Vault
from agent.vault.vault import make as make_vault
from agent.vault.vault_files import Location, check_free
from agent.wire.state import Implied
from agent.words.figures import counted
from agent.words.notices import also
from agent.words.titles import NONE, UNSPECIFIED, concerns, in_order, question, value_title
from policy.amend import with_assistant
from policy.read import preset_text
from policy.services import well_known

PRESETS = ("generous", "balanced", "strict")
PRESET = "balanced"
REST, BACK = "-", "<"
DEMO = "demo"  # in place of a file: the facts of `reticent demo`
DOZEN = 12  # questions to begin with
NARROW = 64  # columns that the recovery code and the question below it need
STARTER = """\
# What may leave, to whom, and at what price. Edit it by hand: the daemon reads it again whenever it
# changes, and `reticent policy check FILE` says what is wrong with it.

preset = "{preset}"
"""
ASSISTANTS = (
    "Do you chat with one of these in the browser? There the extension can offer a line about you "
    "for your message; nothing is added before you confirm it."
)
MODEL = 'model = "{name}"\n'
DIALOGS = '\n[daemon]\nprompt = "pinentry"\n'
DIALOG = (
    "When a search of yours finds the vault locked, may a dialog on your desktop ask for the "
    "passphrase ({program})?"
)
EXAMPLES = """
# A typo is never ignored. For example:
#
# [attributes]
# gender = "never"
# salary = "ask"
#
# [[rule]]
# recipient = "shop.example"
# nothing = true
"""
FIRST = (
    "First, a passphrase. It locks the vault with your facts and the record of what was sent. "
    "Nobody can recover it for you. Four random words are strong and easy to remember."
)
CODE = (
    "Your recovery code, shown only once. Write it on paper and keep it away from this machine: it "
    "opens the vault if you forget the passphrase."
)
ABOUT_YOU = (
    "Now a few questions about you, on the facts that help most. The answers stay in the vault, "
    "encrypted; only what your policy allows is ever sent."
)
KEYS = (
    f"Enter skips a question, and what is not set is never sent. {BACK} goes back one question, "
    f"{REST} skips the rest. 0 lets others learn that you prefer not to say."
)
PIPED = "Read the passphrase from the standard input, and ask nothing."
KEYRING = "Keep a key in this desktop's keyring too, to unlock without the passphrase?"
ABOVE = 3  # lines from the recovery code to that below the question whether it is written down
NEXT = """\
Next, have the system start the daemon (or run `reticent daemon`), then unlock:

  reticent connect system
  reticent unlock
"""
NEXT_OF_RUNNING = (
    "Next, unlock the vault for the daemon, which already runs:\n\n  reticent unlock\n"
)
CONNECT = """\
Then let your browser, or your assistant's program, ask for what helps:

  reticent connect browsers
  reticent connect claude-desktop"""


def ask_preset() -> str:
    """Return the name of the preset that the policy starts from."""
    told("Your policy says what may be sent, and to whom. Start from one of these:")
    lines = [preset_text(each).partition("\n")[0].removeprefix("# ") for each in PRESETS]
    click.echo(facts((str(number), line) for number, line in enumerate(lines, 1)), err=True)
    while True:
        text = _line(f"1 to {len(PRESETS)}, or Enter for {PRESET}")
        try:
            return chosen(text, PRESETS) if text else PRESET
        except UsageError as error:
            told(f"{error.what}: {error.hint}.")


def ask_more() -> str:
    """Return what else the user wants in the policy: dialogs, and assistants; none by default."""
    text = DIALOGS if ask_dialogs() else ""
    told(ASSISTANTS)
    known = well_known()
    click.echo(facts((str(number), each.name) for number, each in enumerate(known, 1)), err=True)
    titles = [each.name for each in known]
    while True:
        parts = [each.strip() for each in _line("Numbers, or Enter for none").split(",")]
        try:
            picked = {chosen(each, titles) for each in parts if each}
        except UsageError as error:
            told(f"{error.what}: {error.hint}.")
            continue
        for each in known:
            if each.name in picked:
                text = with_assistant(text, each.recipient, each.address)
        return f"\n{text.lstrip()}" if text else ""


def concerned(models: Sequence[Model]) -> list[Model]:
    """Return the models whose questions concern the user: the first, and those they say."""
    others = (each for each in models[1:] if click.confirm(concerns(each.id), err=True))
    return [*models[:1], *others]


def most_useful(models: Sequence[Model], of: Sequence[Model]) -> list[Kind]:
    """Return the facts of the models ``of``, those first that help most on their own.

    A fact that others follow from comes before them. ``models``: all, by which facts are named.
    """
    cache = Cache()

    def gain(fact: Kind) -> float:
        return sum(
            float(cache.mean_utility(model).value(1 << model.index(each.name)))
            for model, each in fact.attributes
            if model in of
        )

    facts = Concepts(models).kinds.values()
    known = [fact for fact in facts if any(model in of for model, _ in fact.attributes)]
    found: dict[str, Kind] = {}
    for fact in sorted(known, key=gain, reverse=True):
        above = (each for each in known if any(fact.name in row for _, row in _rows(each, known)))
        found |= {each.name: each for each in (*above, fact) if each.name not in found}
    return [*found.values()]


def ask_values(asked: Sequence[Kind], known: Mapping[str, str] = NONE) -> dict[str, str]:
    """Return values of facts as somebody at the terminal gives them, without skipped ones.

    What follows from an answer is not asked, and gives way to it where it was asked before.
    ``known``: values that are set. Enter keeps them, and an answer that one came back to.
    """
    given: dict[str, str] = {}
    at = 0
    while at < len(asked):
        values, fact = {**known, **given}, asked[at]
        follow = _following(values, asked)
        left = [index for index, each in enumerate(asked) if each.name not in follow]
        if at not in left:
            at += 1
            continue
        shown = question(printable(fact.title), fact.choices[1:])
        click.echo(f"\n{left.index(at) + 1} of {len(left)}: {shown}", err=True)
        answer = _ask_value(fact, _offered(fact, values, asked), kept=fact.name in values)
        if answer == REST:
            break
        if answer == BACK:
            at = max((each for each in left if each < at), default=at)
            continue
        given |= {fact.name: answer} if answer else {}
        at += 1
    follow = _following({**known, **given}, asked)
    return {name: value for name, value in given.items() if name not in follow}


def _rows(fact: Kind, asked: Sequence[Kind]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield values of a fact, and what each implies of those that are asked, by their names."""
    for model, each in fact.attributes:
        for value, row in each.implies.items():
            pairs = ((other, name) for other in asked for name in row)
            yield (
                value,
                {f.name: row[name] for f, name in pairs if f.called(f"{model.id}.{name}")},
            )


def _following(values: Mapping[str, str], asked: Sequence[Kind]) -> set[str]:
    """Return which of the facts need no question, as one that is set implies them.

    That one sets all of them, whatever its value (`planned`). What only suggests an answer,
    such as "no job" where work was skipped, spares no question: what is set would tell it.
    """
    found: set[str] = set()
    for fact in asked:
        for value, row in _rows(fact, asked):
            if values.get(fact.name) == value:
                found |= row.keys()
    return found


def _offered(fact: Kind, values: Mapping[str, str], asked: Sequence[Kind]) -> list[str]:
    """Return the values to choose from: none that only another answer than that given implies."""
    above = (each for each in asked if values.get(each.name, UNSPECIFIED) != UNSPECIFIED)
    gone = {row.get(fact.name) for each in above for _, row in _rows(each, [fact])}
    return in_order(value for value in fact.choices[1:] if value not in gone)


def _ask_value(attribute: Kind, values: Sequence[str], *, kept: bool) -> str:
    """Return one value, REST, BACK, or nothing for Enter; what is typed is not echoed."""
    titles = [value_title(each, attribute.title) for each in values]
    numbered = [*enumerate(titles, start=1), (0, "prefer not to say")]
    click.echo(facts((str(number), title) for number, title in numbered), err=True)
    while True:
        text = _line("Number, or Enter to keep your answer" if kept else "Number")
        if text in {"", REST, BACK}:
            return text
        for names in (values, titles):
            with suppress(UsageError):
                return values[names.index(chosen(text, names))]
        if text in {"0", UNSPECIFIED}:
            return UNSPECIFIED
        told(f"That is not one of the answers: type a number from 0 to {len(values)}, or Enter.")


def _line(prompt: str) -> str:
    """Return one line, without the white space around it; a click.Abort where there is no more."""
    answer: str = click.prompt(prompt, default="", show_default=False, err=True)
    return answer.strip()


def ask_written_down(above: int) -> None:
    """Wait until the recovery code is on paper; everything is made, so Ctrl-C is an answer too.

    ``above``: how many lines up it stands then, to be taken off the terminal; 0 to leave it.
    """
    try:
        _line("Enter, once you have written down the recovery code")
    except (click.Abort, Interrupted):
        click.echo(err=True)  # as Enter would have
    if not above or not sees_terminal() or not sys.stderr.isatty():
        return
    if get_terminal_size().columns < NARROW:
        click.clear()  # lines were broken, and nobody knows how often
    else:
        click.echo(f"\x1b[{above}A\x1b[J", nl=False, color=True)
    click.echo("  (not shown any more)\n")


def ask_dialogs() -> bool:
    """Return whether dialogs may ask; they are offered where one could open now."""
    program = find() if shows(os.environ) else None
    if program is None:
        return False
    return click.confirm(DIALOG.format(program=program), default=False, err=True)


def write_policy(
    at: Paths, preset: str | None, model: Model, file: Path | None, more: str = ""
) -> bool:
    """Write a policy where there is none; say whether it was written.

    ``preset``: None to write none; ``file``: of a model other than the shipped one, which is added;
    ``more``: the tables that it has beside.
    """
    text = STARTER.format(preset=preset)
    if file is not None:
        text += MODEL.format(name=file.stem)
        registry, now = ModelRegistry(at.models), datetime.now(UTC)
        added = ((each.name, each.digest) for each in registry.status((), now))
        if (file.stem, model.digest) not in added:  # by an earlier `init`
            registry.add(file, (), now)
    written = preset is not None and not os.path.lexists(at.policy)
    if written:
        text += more + EXAMPLES
        create_private(text.encode(), at.policy)
    return written


def create_vault(
    at: Paths, passphrase: str, own: Sequence[Fact], *, keyring: bool
) -> tuple[str, str]:
    """Make the vault; return its recovery code, and why the keyring was left out, if it was."""
    notes: list[str] = []

    def fill(vault: Vault) -> None:
        vault.profile.keep(own)
        try:
            if keyring:
                vault.add_slot("keyring")
        except VaultError as error:
            notes.append(f"the keyring was left out: {error.what} ({error.hint})")

    _, code = make_vault(Location.of(at), passphrase, fill=fill)
    return code, "".join(notes)


@click.command()
@click.option("--passphrase-stdin", is_flag=True, help=PIPED)
@click.option("--keyring", is_flag=True, help="Keep a key in the desktop's keyring as well.")
@option("--model", PATH, "M", "Add this model file, and decide with it.")
@option("--preset", OneOf(PRESETS), None, f"The rules to start from. By default {PRESET}.")
@option("--profile", PATH, f"FILE|{DEMO}", "A TOML file with your facts, or those of the demo.")
@click.option("--no-values", is_flag=True, help="Ask for no facts.")
@json_option
def init(
    *,
    passphrase_stdin: bool,
    keyring: bool,
    model: Path | None,
    preset: str | None,
    profile: Path | None,
    no_values: bool,
    as_json: bool,
) -> None:
    """Set up: a passphrase, a policy and your facts.

    Every question but the passphrase can be skipped. Without a terminal nothing is asked, and the
    passphrase is one line of the standard input.
    """
    at = paths()
    check_free(Location.of(at))
    if no_values and profile is not None:
        raise UsageError("--no-values does not go with --profile", "leave one of them out")
    if keyring:
        check_keyring()
    shipped = [read(each) for each in shipped_models()]
    chosen = shipped if model is None else [read(model)]
    own = _read_facts(profile, (*shipped, *chosen, LOCALE))
    asking, more = at_terminal() and not passphrase_stdin, ""
    if asking:
        told(FIRST)
        passphrase = ask_passphrase(PROMPTS["passphrase"])
        if not keyring and secrets.backend() is not None:
            keyring = click.confirm(KEYRING, default=False, err=True)
        preset = preset or (None if at.policy.exists() else ask_preset())
        more = "" if preset is None else ask_more()
        if profile is None and not no_values:
            own = ask_first_facts(chosen)
    else:
        passphrase, preset = read_passphrase(PROMPTS["passphrase"]), preset or PRESET
    with uninterrupted():
        check_free(Location.of(at))
        for folder in (at.config, at.data, at.state):
            private_folder(folder)
        written = write_policy(at, preset, chosen[0], model, more)
        code, why = create_vault(at, passphrase, own, keyring=keyring)
        message = {
            "vault": str(at.vault),
            "policy": str(at.policy),
            "policy_written": written,
            "recovery_code": code,
            "notes": [why] if why else [],
        }
        policy = "Your policy is" if written else "You already had a policy, and it was kept:"
        places = printable(f"The vault is {at.vault}"), printable(f"{policy} {at.policy}")
        text = "\n".join((*places, "", paragraph(CODE), "", f"  {code}", ""))
        click.echo(record(message) if as_json else text)
        if why:
            note(why)
    if asking:
        ask_written_down(above=0 if as_json else ABOVE)
    if not as_json:
        click.echo(NEXT if running(at.daemon_lock) is None else NEXT_OF_RUNNING)
        click.echo(CONNECT)


def ask_first_facts(models: Sequence[Model]) -> tuple[Fact, ...]:
    """Return the user's facts that matter most, without skipped ones.

    The facts of the first model come first: it is of what everybody does.
    """
    told(ABOUT_YOU)
    useful = most_useful(models, concerned(models))
    easy = [each for each in useful if not any(own.sensitivity for _, own in each.attributes)]
    first = sorted(easy[:DOZEN], key=lambda fact: models.index(fact.attributes[0][0]))
    rest = counted(len(useful) - len(first), "question")
    told(f"{KEYS} `reticent profile edit` has {rest} more, at any time.")
    return _with_implied(ask_values(first), models)


def _with_implied(values: Mapping[str, str], models: Sequence[Model]) -> tuple[Fact, ...]:
    """Return facts of these values, by name, with those that follow, and say which follow."""
    concepts = Concepts(models)
    own = planned((), values, (), models, datetime.now(UTC), new_id)
    found = []
    for fact in own:
        kind = concepts.kinds[fact.kind]
        if not any(map(kind.called, values)):
            value = concepts.label(Meaning(fact.kind, fact.value or UNSPECIFIED))[1]
            found.append(Implied(name=kind.name, title=kind.title, value=value))
    for line in also(found):
        told(line)
    return own


def _read_facts(file: Path | None, models: Sequence[Model]) -> tuple[Fact, ...]:
    """Return the facts in a file, of the models shipped, the one to decide with, and LOCALE."""
    models = [*{each.id: each for each in models}.values()]
    try:
        values: Mapping[str, str] = {}
        if file == Path(DEMO) and not file.exists():
            values = {
                f"{model}.{name}": v for model, own in PROFILE.items() for name, v in own.items()
            }
        elif file is not None:
            values = read_profile(read_bytes(file, LARGEST), models)
        return _with_implied(values, models)
    except UsageError as error:
        raise UsageError(error.what, error.hint, error.where or str(file)) from None
