"""`reticent init`: make the vault, a policy and a profile."""

import os
import sys
import termios
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import click

from agent.cli import questions
from agent.cli.demo import PROFILE
from agent.cli.interrupt import Interrupted, uninterrupted
from agent.cli.options import PATH, OneOf, at_terminal, json_option, option, record
from agent.cli.printing import note, paragraph, printable, say, texts
from agent.cli.profile_file import LARGEST, read_profile
from agent.cli.prompts import ask_passphrase, check_keyring, confirmed, line, pick, read_passphrase
from agent.cli.questions import asked_uses, concerned, country_of_locale, most_useful
from agent.daemon.locale import LOCALE
from agent.daemon.profile import implied, new_id
from agent.decision.knowledge import TOLD_ANYWAY
from agent.decision.values import Fact
from agent.errors import UsageError, VaultError
from agent.files import create_private, private_folder, read_bytes
from agent.model.file import read, shipped_models
from agent.model.model import Concepts, Model
from agent.model.world import COUNTRY, people_of, world_of
from agent.paths import Paths, paths
from agent.vault import secrets
from agent.vault.profile import planned, values_of
from agent.vault.vault import Vault
from agent.vault.vault import make as make_vault
from agent.vault.vault_files import Location, check_free
from agent.wire.client import check_address
from agent.words.figures import counted
from agent.words.notices import also
from policy import read as policies
from policy.amend import RuleScope, with_settings
from policy.families import ASKED_ONCE
from policy.hosts import KINDS
from policy.read import preset_text
from policy.rules import NamePattern
from policy.settings import Disclose

TEXTS = texts("init")
PRESETS = ("generous", "balanced", "strict")
PRESET = "balanced"
DEMO = "demo"  # in place of a file: the facts of `reticent demo`
DOZEN = 12  # questions to begin with
WORDS: Mapping[str, Disclose] = {
    "share when worth it": "auto",
    "never": "never",
    "ask each time": "ask",
}
STATES = ("place", "everyday.place")  # a state of the US, by its name and by its kind
LACKING = "Your vault is here, but there is no policy: nothing is sent before you have one."
PIPED = "Read the passphrase from the standard input, and ask nothing."
KEYRING = "Keep a key in this desktop's keyring too, to unlock without the passphrase?"


def ask_preset() -> str:
    """Ask for the preset that the policy starts from."""
    say("Your policy says what may be sent, and to whom. Start from one of these:")
    texts = [preset_text(each).partition("\n")[0].removeprefix("# ") for each in PRESETS]
    return pick(f"1 to {len(PRESETS)}, or Enter for {PRESET}", PRESETS, texts) or PRESET


def write_policy(
    at: Paths, preset: str | None, rulings: Sequence[tuple[RuleScope, Disclose]] = ()
) -> bool:
    """Write a policy where there is none, with rules on families; say whether it was written.

    ``preset``: None to write none.
    """
    if preset is None or os.path.lexists(at.policy):
        return False
    text = TEXTS["starter"].format(preset=preset)
    for scope, word in rulings:
        policy = policies.read(text, str(at.policy), policies.preset)
        text = with_settings(text, policy, scope, {"disclose": word})
    create_private(text.encode(), at.policy)
    return True


def ask_families(own: Sequence[Fact], world: Model) -> Iterator[tuple[RuleScope, Disclose]]:
    """Ask about families of facts of which the user holds any, for each kind of recipient.

    Those that are skipped are asked about at the first need. Yields each rule, and its word.
    """
    kinds = Concepts([world, LOCALE]).kinds
    names = [kinds[fact.kind].name for fact in own]
    for family in ASKED_ONCE:
        if any(map(NamePattern(family).matches, names)):
            for recipients in KINDS:
                say(f"Your {family.removeprefix('@')} facts, to {recipients}:")
                word = pick("1 to 3, or Enter to decide when it matters", [*WORDS], [*WORDS])
                if word is not None:
                    yield RuleScope(recipient=recipients, attribute=family), WORDS[word]


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
@option("--preset", OneOf(PRESETS), None, f"The rules to start from. By default {PRESET}.")
@option("--profile", PATH, f"FILE|{DEMO}", "A TOML file with your facts, or those of the demo.")
@json_option
def init(
    *,
    passphrase_stdin: bool,
    keyring: bool,
    preset: str | None,
    profile: Path | None,
    as_json: bool,
) -> None:
    """Set up: a passphrase, a policy and your facts.

    Every question but the passphrase can be skipped. Without a terminal nothing is asked, and the
    passphrase is one line of the standard input. Where only the policy is missing, it is written.
    """
    asking, at = at_terminal() and not passphrase_stdin, paths()
    if at.vault.exists() and not os.path.lexists(at.policy):
        hint = f"`reticent init --preset {PRESET}` writes a policy"
        if profile or keyring or passphrase_stdin:
            raise UsageError("there is a vault already, and only its policy is missing", hint)
        say(LACKING)
        if preset is None and not asking:
            raise UsageError("no preset is named", hint)
        private_folder(at.config)
        written = write_policy(at, preset or ask_preset())
        message = {"vault": str(at.vault), "policy": str(at.policy), "policy_written": written}
        click.echo(record(message) if as_json else printable(f"Your policy is {at.policy}"))
        return
    set_up(asking=asking, keyring=keyring, preset=preset, profile=profile, as_json=as_json)
    if not as_json:
        click.echo(TEXTS["next"])


def set_up(
    *,
    asking: bool = True,
    keyring: bool = False,
    preset: str | None = None,
    profile: Path | None = None,
    as_json: bool = False,
) -> str:
    """Make the vault, a policy and a profile; return the passphrase.

    UsageError before anything is asked or written where no daemon could listen.
    """
    at = paths()
    for socket in (at.control, at.query):
        check_address(socket)
    check_free(Location.of(at))
    if keyring:
        check_keyring()
    world = world_of([*map(read, shipped_models())])
    own = _read_facts(profile, [world, LOCALE])
    rulings = list[tuple[RuleScope, Disclose]]()
    if asking:
        say(TEXTS["first"])
        passphrase = ask_passphrase()
        if not keyring and secrets.backend() is not None:
            keyring = confirmed(KEYRING)
        preset = preset or (None if at.policy.exists() else ask_preset())
        if profile is None:
            own = ask_first_facts(world)
        rulings = [] if preset is None else [*ask_families(own, world)]
    else:
        passphrase, preset = read_passphrase(), preset or PRESET
    with uninterrupted():
        check_free(Location.of(at))
        for folder in (at.config, at.data, at.state):
            private_folder(folder)
        is_new = write_policy(at, preset, rulings)
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
        text = "\n".join((*places, "", paragraph(TEXTS["code"]), "", f"  {code}", ""))
        click.echo(record(message) if as_json else text)
        for each in notes:
            note(each)
    if asking:
        wait_until_written_down(code, clear=not as_json)
    return passphrase


def wait_until_written_down(code: str, *, clear: bool) -> None:
    """Wait until the recovery code is on paper; all is made, so Ctrl-C is an answer too.

    No key that was pressed before the code was shown is an answer, nor is Enter alone.
    """
    with suppress(OSError, termios.error):  # no terminal
        termios.tcflush(sys.stdin, termios.TCIFLUSH)
    with suppress(click.Abort, Interrupted):
        while not f"-{code}".casefold().endswith(f"-{line(TEXTS['written'])}".casefold()):
            say(TEXTS["mistyped"])
    if clear:  # with what was scrolled out of the screen
        click.echo("\x1b[2J\x1b[3J\x1b[H", nl=False)
    say(TEXTS["lost"])


def ask_first_facts(world: Model) -> tuple[Fact, ...]:
    """Ask for the user's facts that matter most; skipped ones are left out.

    The facts of the first model come first: it is of what everybody does.
    """
    say(TEXTS["about_you"])
    uses = asked_uses()
    every = most_useful(world, concerned(world), uses, country_of_locale().get(COUNTRY, ""))
    useful = [each for each in every if each.name not in TOLD_ANYWAY]
    easy = [each for each in useful if each.attributes[0][1].sensitivity <= questions.HARMLESS]
    first = sorted(easy[:DOZEN], key=lambda kind: kind.concept not in world.every[0].by_concept)
    rest = counted(len(useful) - len(first), "question")
    say(f"{questions.KEYS} `reticent profile edit` has {rest} more, at any time.")
    values = {name: value for name, value in questions.ask_values(first).items() if value}
    return _with_implied(values, [world, LOCALE])


def _with_implied(values: Mapping[str, str], models: Sequence[Model]) -> tuple[Fact, ...]:
    """Make facts of these values, by name, and of those that follow, and say which follow.

    The country is that of the locale where the values name none, nor a state, and it is said so.
    """
    here = country_of_locale() if values.keys().isdisjoint(STATES) else {}
    if here and COUNTRY not in values:
        say(TEXTS["where"].format(country=people_of(here[COUNTRY])[0]))
    values = {**here, **values}
    own = planned((), values, (), models, datetime.now(UTC), new_id)
    for each in also(implied(values_of(own), values, Concepts(models))):
        say(each)
    return own


def _read_facts(file: Path | None, models: Sequence[Model]) -> tuple[Fact, ...]:
    """Read the facts in a file, or those of the demo."""
    values: Mapping[str, str] = {}
    try:
        if file == Path(DEMO) and not file.exists():
            values = PROFILE
        elif file is not None:
            values, own_words = read_profile(read_bytes(file, LARGEST), models)
            if own_words:
                note(f"what is in your own words comes with `reticent profile import {file}`")
        return _with_implied(values, models)
    except UsageError as error:
        raise UsageError(error.what, error.hint, error.where or str(file)) from None
