"""`reticent init`: make the vault, a policy and a profile."""

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from shutil import get_terminal_size
from typing import TypedDict, Unpack

import click

from agent.cli.interrupt import Interrupted, uninterrupted
from agent.cli.options import PATH, OneOf, at_terminal, json_option, record, sees_terminal
from agent.cli.printing import facts, note, paragraph, printable, told
from agent.cli.prompts import PROMPTS, ask_passphrase, check_keyring, read_passphrase
from agent.daemon.model_registry import ModelRegistry
from agent.errors import UsageError, VaultError, nearest
from agent.files import create_private, private_folder, read_bytes
from agent.model.attributes import Attribute
from agent.model.file import read, shipped_model
from agent.model.model import Model
from agent.paths import Paths, paths
from agent.vault import secrets
from agent.vault.profile import LARGEST, read_profile
from agent.vault.vault import Vault
from agent.vault.vault import make as make_vault
from agent.vault.vault_files import Location, check_free
from agent.words.figures import counted
from agent.words.titles import UNSPECIFIED, in_order, value_title
from policy.read import preset_text

PRESETS = ("generous", "balanced", "strict")
PRESET = "balanced"
REST, BACK = "-", "<"
DOZEN = 12  # questions to begin with
NARROW = 64  # columns that the recovery code and the question below it need
TOGETHER = "\N{NO-BREAK SPACE}"  # so that no line ends between a number and its value
SILENT = TOGETHER.join(("prefer", "not", "to", "say"))
STARTER = """\
# What may leave, to whom, and at what price. Edit it by hand: the daemon reads it again whenever it
# changes, and `reticent policy check FILE` says what is wrong with it.

preset = "{preset}"
"""
MODEL = 'model = "{name}"\n'
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
ABOVE = 3  # lines from the recovery code to that below the question whether it is written down
NEXT = """\
Next, have the system start the daemon (or run `reticent daemon`), then unlock:

  reticent daemon service install
  reticent unlock"""


@dataclass(frozen=True, slots=True)
class Wishes:
    """How to begin.

    ``added``: the file of a model other than the shipped one; ``preset``: None to write no
    policy; ``values``: by attribute, each time for one model.
    """

    passphrase: str
    model: Model
    added: Path | None = None
    preset: str | None = None
    values: Sequence[tuple[Model, Mapping[str, str]]] = ()
    keyring: bool = False

    def __repr__(self) -> str:
        return f"Wishes(preset={self.preset!r}, model={self.model.id!r})"


def ask_first_passphrase() -> str:
    """Return the passphrase of a new vault, after saying what it is for."""
    told(
        "First, a passphrase. It locks the vault with your facts and the record of what was sent."
        " Nobody can recover it for you. Four random words are strong and easy to remember."
    )
    return ask_passphrase(PROMPTS["passphrase"])


def ask_preset() -> str:
    """Return the name of the preset that the policy starts from."""
    told("Your policy says what may be sent, and to whom. Start from one of these:")
    click.echo(
        facts((str(number), line_of(name)) for number, name in enumerate(PRESETS, 1)), err=True
    )
    while True:
        text = _line(f"1 to {len(PRESETS)}, or Enter for {PRESET}")
        try:
            return chosen(text, PRESETS) if text else PRESET
        except UsageError as error:
            told(f"{error.what}: {error.hint}.")


def line_of(preset: str) -> str:
    """Return what a preset says of itself first."""
    return preset_text(preset).partition("\n")[0].removeprefix("# ")


def most_useful(model: Model) -> list[Attribute]:
    """Return the person attributes, those first that help most on their own by the model."""
    utility = model.mean_utility()
    order = sorted(range(model.persons), key=lambda place: (-utility.value(1 << place), place))
    return [model.attributes[place] for place in order]


def ask_first_values(model: Model) -> dict[str, str]:
    """Return the user's values of the attributes that matter most, without skipped ones."""
    asked = most_useful(model)[:DOZEN]
    told(
        f"Now {counted(len(asked), 'question')} about you, on the facts that help most. The answers"
        " stay in the vault; only what your policy allows is ever sent. Enter skips a question, and"
        f" then that fact is never sent; {BACK} goes back one question, {REST} skips the rest. 0"
        " means that others may learn that you prefer not to say. `reticent profile edit` has the"
        f" other {counted(model.persons - len(asked), 'question')}, at any time."
    )
    return ask_values(asked)


def ask_values(asked: Sequence[Attribute]) -> dict[str, str]:
    """Return values of attributes as somebody at the terminal gives them, without skipped ones."""
    values: dict[str, str] = {}
    number = 0
    while number < len(asked):
        attribute = asked[number]
        click.echo(f"\n{number + 1} of {len(asked)}: {printable(attribute.title)}", err=True)
        answer = _ask_value(attribute)
        if answer == REST:
            break
        if answer == BACK:
            number = max(number - 1, 0)
            continue
        values.pop(attribute.name, None)
        values |= {attribute.name: answer} if answer else {}
        number += 1
    return values


def _ask_value(attribute: Attribute) -> str:
    """Return one value, REST, BACK, or nothing where it is skipped; what is typed is not echoed."""
    values = in_order(attribute.values[1:])
    titles = [value_title(each, attribute.title) for each in values]
    shown = [*enumerate(map(printable, titles), start=1), (0, SILENT)]
    listed = "  ".join(TOGETHER.join(f"{number} {title}".split()) for number, title in shown)
    click.echo(paragraph(listed, "  ").replace(TOGETHER, " "), err=True)
    while True:
        text = _line("Number")
        if text in {"", REST, BACK}:
            return text
        for names in (values, titles):
            with suppress(UsageError):
                return values[names.index(chosen(text, names))]
        if text in {"0", UNSPECIFIED}:
            return UNSPECIFIED
        told(f"That is not one of the answers: type a number from 0 to {len(values)}, or Enter.")


def chosen(text: str, names: Sequence[str]) -> str:
    """Return what was chosen by name or by number, from 1; UsageError if it is neither.

    A name that looks like a number is a name first; its case counts only where two names differ
    in nothing else.
    """
    if text in names:
        return text
    alike = [each for each in names if each.casefold() == text.casefold()]
    if len(alike) == 1:
        return alike[0]
    if text.isascii() and text.isdecimal() and 1 <= int(text) <= len(names):
        return names[int(text) - 1]
    near = nearest(text, names)
    hint = f"type a number from 1 to {len(names)}, or a name"
    raise UsageError(
        f"{text!r} is not one of these", hint if near is None else f"did you mean {near!r}?"
    )


def _line(prompt: str) -> str:
    """Return one line, without the white space around it; a click.Abort where there is no more."""
    answer: str = click.prompt(prompt, default="", show_default=False, err=True)
    return answer.strip()


def ask_keyring() -> bool:
    """Return whether a key is to be kept in the keyring of the desktop as well."""
    what = "Keep a key in this desktop's keyring too, to unlock without the passphrase?"
    return click.confirm(what, default=False, err=True)


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


@dataclass(frozen=True, slots=True)
class Made:
    """What was made: the code is shown once, and kept nowhere."""

    code: str
    policy: bool
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Made(policy={self.policy}, notes={self.notes!r})"


def make(wishes: Wishes, at: Paths, now: datetime) -> Made:
    """Make all of it, the vault last.

    Raises UsageError or VaultError where something cannot be made; then there is no vault.
    """
    check_free(Location.of(at))
    for folder in (at.config, at.data, at.state):
        private_folder(folder)
    if wishes.added is not None:
        _shelve(wishes.added, wishes.model.digest, at.models, now)
    wrote = _write_policy(wishes, at.policy)
    code, notes = _make_vault(wishes, Location.of(at))
    return Made(code, wrote, notes)


def _shelve(path: Path, digest: str, folder: Path, now: datetime) -> None:
    """Put a model to the others, unless an earlier `init` has done that."""
    registry = ModelRegistry(folder)
    if any(each.name == path.stem and each.digest == digest for each in registry.status((), now)):
        return
    registry.add(path, (), now)


def _write_policy(wishes: Wishes, place: Path) -> bool:
    """Write the policy unless there is one; say whether it was written."""
    if wishes.preset is None or os.path.lexists(place):
        return False
    text = STARTER.format(preset=wishes.preset)
    if wishes.added is not None:
        text += MODEL.format(name=wishes.added.stem)
    create_private((text + EXAMPLES).encode(), place)
    return True


def _make_vault(wishes: Wishes, at: Location) -> tuple[str, tuple[str, ...]]:
    """Make the vault with all that is to be in it; return its recovery code, and notes."""
    notes: list[str] = []

    def fill(vault: Vault) -> None:
        for model, values in wishes.values:
            vault.profile.change(values, (), [model])
        if wishes.keyring:
            notes.extend(_add_keyring(vault))

    _, code = make_vault(at, wishes.passphrase, fill=fill)
    return code, tuple(notes)


def _add_keyring(vault: Vault) -> tuple[str, ...]:
    """Put a key into the keyring; return why that was not possible, if it was not."""
    try:
        vault.add_keyring()
    except VaultError as error:
        return (f"the keyring was left out: {error.what} ({error.hint})",)
    return ()


class InitFlags(TypedDict):
    """The options of `reticent init`, as click hands them over."""

    passphrase_stdin: bool
    keyring: bool
    model: Path | None
    preset: str | None
    profile: Path | None
    no_values: bool


@click.command()
@click.option(
    "--passphrase-stdin",
    is_flag=True,
    help="Read the passphrase from the standard input, and ask nothing.",
)
@click.option("--keyring", is_flag=True, help="Keep a key in the desktop's keyring as well.")
@click.option("--model", type=PATH, metavar="M", help="Add this model file, and decide with it.")
@click.option(
    "--preset", type=OneOf(PRESETS), help=f"The rules to start from. By default {PRESET}."
)
@click.option("--profile", type=PATH, metavar="FILE", help="A TOML file with your facts.")
@click.option("--no-values", is_flag=True, help="Ask for no facts.")
@json_option
def init(*, as_json: bool, **flags: Unpack[InitFlags]) -> None:
    """Set up: a passphrase, a policy and your facts.

    Every question but the passphrase can be skipped. Without a terminal nothing is asked, and the
    passphrase is one line of the standard input.
    """
    at = paths()
    check_free(Location.of(at))
    _check(flags)
    asking = at_terminal() and not flags["passphrase_stdin"]
    wishes = _asked(flags, at) if asking else _given(flags)
    with uninterrupted():
        made = make(wishes, at, datetime.now(UTC))
        click.echo(_record(made, at) if as_json else _said(made, at))
        for each in made.notes:
            note(each)
        if not as_json:
            click.echo(f"\n{_code(made)}\n")
    if asking:
        ask_written_down(above=0 if as_json else ABOVE)
    if not as_json:
        click.echo(NEXT)


def _check(flags: InitFlags) -> None:
    """Refuse what cannot be, before anything is asked."""
    if flags["no_values"] and flags["profile"] is not None:
        raise UsageError("--no-values does not go with --profile", "leave one of them out")
    if flags["keyring"]:
        check_keyring()


def _given(flags: InitFlags) -> Wishes:
    """Return what the options say, with the passphrase from the standard input."""
    passphrase = read_passphrase(PROMPTS["passphrase"])
    model, added = _model(flags)
    preset = flags["preset"] or PRESET
    values = [] if flags["profile"] is None else _read_values(flags["profile"], model, added)
    return Wishes(passphrase, model, added, preset, values, flags["keyring"])


def _asked(flags: InitFlags, at: Paths) -> Wishes:
    """Return what somebody at the terminal says, asked for what no option says."""
    model, added = _model(flags)
    values = [] if flags["profile"] is None else _read_values(flags["profile"], model, added)
    passphrase = ask_first_passphrase()
    keyring = flags["keyring"] or (secrets.backend() is not None and ask_keyring())
    preset = flags["preset"] or (None if at.policy.exists() else ask_preset())
    if flags["profile"] is None and not flags["no_values"]:
        values = [(model, ask_first_values(model))]
    return Wishes(passphrase, model, added, preset, values, keyring)


def _model(flags: InitFlags) -> tuple[Model, Path | None]:
    """Return the model to decide with, and its file where it is not the shipped one."""
    return read(flags["model"] or shipped_model()), flags["model"]


def _read_values(
    path: Path, model: Model, added: Path | None
) -> list[tuple[Model, Mapping[str, str]]]:
    """Return the values in a file, for the model to decide with and the shipped one."""
    models = [model] if added is None else [read(shipped_model()), model]
    try:
        values = read_profile(read_bytes(path, LARGEST), models)
    except UsageError as error:
        raise UsageError(error.what, error.hint, error.where or str(path)) from None
    return [(each, values[each.id]) for each in models]


def _record(made: Made, at: Paths) -> str:
    done = {
        "vault": str(at.vault),
        "policy": str(at.policy),
        "policy_written": made.policy,
        "recovery_code": made.code,
        "notes": [*made.notes],
    }
    return record(done)


def _said(made: Made, at: Paths) -> str:
    """Return what was made, and where."""
    state = "Your policy is" if made.policy else "You had a policy already, and it was kept:"
    place = f"The vault is {printable(str(at.vault))}"
    return f"{place}\n{state} {printable(str(at.policy))}"


def _code(made: Made) -> str:
    """Return the recovery code, in the last line."""
    code = "Your recovery code, shown only once. Write it on paper and keep it away from this"
    what = paragraph(f"{code} machine: it opens the vault if you forget the passphrase.")
    return f"{what}\n\n  {made.code}"
