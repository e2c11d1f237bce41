"""`reticent init`: make the vault, a policy and a profile."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import click

from agent.cli.daemon_client import running
from agent.cli.demo import PROFILE
from agent.cli.interrupt import Interrupted, uninterrupted
from agent.cli.options import PATH, OneOf, at_terminal, json_option, option, record
from agent.cli.printing import note, paragraph, printable, told
from agent.cli.prompts import PROMPTS, ask_passphrase, check_keyring, line, pick, read_passphrase
from agent.cli.questions import KEYS, ask_values, concerned, most_useful
from agent.daemon.model_registry import ModelRegistry
from agent.daemon.profile import new_id
from agent.daemon.prompts import find, shows
from agent.decision.locale import LOCALE
from agent.decision.values import Fact
from agent.errors import UsageError, VaultError
from agent.files import create_private, private_folder, read_bytes
from agent.model.concepts import Concepts, Meaning
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
from agent.words.titles import UNSPECIFIED
from policy.amend import with_assistant
from policy.read import preset_text
from policy.services import well_known

PRESETS = ("generous", "balanced", "strict")
PRESET = "balanced"
DEMO = "demo"  # in place of a file: the facts of `reticent demo`
DOZEN = 12  # questions to begin with
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
PIPED = "Read the passphrase from the standard input, and ask nothing."
KEYRING = "Keep a key in this desktop's keyring too, to unlock without the passphrase?"
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
    """Ask for the preset that the policy starts from."""
    told("Your policy says what may be sent, and to whom. Start from one of these:")
    texts = [preset_text(each).partition("\n")[0].removeprefix("# ") for each in PRESETS]
    picked = pick(f"1 to {len(PRESETS)}, or Enter for {PRESET}", PRESETS, texts)
    return picked[0] if picked else PRESET


def ask_more() -> str:
    """Ask what else the user wants in the policy: dialogs, and assistants; none by default."""
    text, services = DIALOGS if ask_dialogs() else "", well_known()
    told(ASSISTANTS)
    names = [each.name for each in services]
    picked = pick("Numbers, or Enter for none", names, names, several=True)
    for each in services:
        if each.name in picked:
            text = with_assistant(text, each.recipient, each.address)
    return f"\n{text.lstrip()}" if text else ""


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
    if preset is None or os.path.lexists(at.policy):
        return False
    create_private((text + more + EXAMPLES).encode(), at.policy)
    return True


def create_vault(
    at: Paths, passphrase: str, own: Sequence[Fact], *, keyring: bool
) -> tuple[str, list[str]]:
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
    return code, notes


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
    models = shipped if model is None else [read(model)]
    own = _read_facts(profile, (*shipped, *models, LOCALE))
    asking, more = at_terminal() and not passphrase_stdin, ""
    if asking:
        told(FIRST)
        passphrase = ask_passphrase(PROMPTS["passphrase"])
        if not keyring and secrets.backend() is not None:
            keyring = click.confirm(KEYRING, default=False, err=True)
        preset = preset or (None if at.policy.exists() else ask_preset())
        more = "" if preset is None else ask_more()
        if profile is None and not no_values:
            own = ask_first_facts(models)
    else:
        passphrase, preset = read_passphrase(PROMPTS["passphrase"]), preset or PRESET
    with uninterrupted():
        check_free(Location.of(at))
        for folder in (at.config, at.data, at.state):
            private_folder(folder)
        is_new = write_policy(at, preset, models[0], model, more)
        code, notes = create_vault(at, passphrase, own, keyring=keyring)
        message = {
            "vault": str(at.vault),
            "policy": str(at.policy),
            "policy_written": is_new,
            "recovery_code": code,
            "notes": notes,
        }
        policy = "Your policy is" if is_new else "You already had a policy, and it was kept:"
        places = printable(f"The vault is {at.vault}"), printable(f"{policy} {at.policy}")
        text = "\n".join((*places, "", paragraph(CODE), "", f"  {code}", ""))
        click.echo(record(message) if as_json else text)
        for each in notes:
            note(each)
    if asking:
        wait_until_written_down(clear=not as_json)
    if not as_json:
        click.echo(NEXT if running(at.daemon_lock) is None else NEXT_OF_RUNNING)
        click.echo(CONNECT)


def wait_until_written_down(*, clear: bool) -> None:
    """Wait until the recovery code is on paper; all is made, so Ctrl-C is an answer too."""
    with suppress(click.Abort, Interrupted):
        line("Enter, once you have written down the recovery code")
    if clear:
        click.clear()


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
    """Make facts of these values, by name, and of those that follow, and say which follow."""
    concepts = Concepts(models)
    own = planned((), values, (), models, datetime.now(UTC), new_id)
    implied = []
    for fact in own:
        kind = concepts.kinds[fact.kind]
        if not any(map(kind.called, values)):
            value = concepts.label(Meaning(fact.kind, fact.value or UNSPECIFIED))[1]
            implied.append(Implied(name=kind.name, title=kind.title, value=value))
    for each in also(implied):
        told(each)
    return own


def _read_facts(file: Path | None, models: Sequence[Model]) -> tuple[Fact, ...]:
    """Read the facts in a file, of the models shipped, the one to decide with, and LOCALE."""
    models = [*{each.id: each for each in models}.values()]
    values: Mapping[str, str] = {}
    try:
        if file == Path(DEMO) and not file.exists():
            values = {f"{model}.{k}": v for model, own in PROFILE.items() for k, v in own.items()}
        elif file is not None:
            values = read_profile(read_bytes(file, LARGEST), models)
        return _with_implied(values, models)
    except UsageError as error:
        raise UsageError(error.what, error.hint, error.where or str(file)) from None
