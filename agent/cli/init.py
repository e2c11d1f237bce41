"""`reticent init`: the vault, a policy and the user's values, in one go."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TypedDict, Unpack

import click

from agent.cli.init_made import Made, make
from agent.cli.init_questions import (
    ask_first_passphrase,
    ask_keyring,
    ask_model,
    ask_preset,
    ask_values,
    ask_written_down,
)
from agent.cli.init_wishes import PRESET, PRESETS, Wishes
from agent.cli.interrupt import uninterrupted
from agent.cli.layout import paragraph
from agent.cli.new_passphrase import read_passphrase
from agent.cli.options import PATH, json_option, record
from agent.cli.parameters import OneOf
from agent.cli.problems import note, printable
from agent.cli.secret import PROMPTS, check_keyring
from agent.cli.terminal import at_terminal
from agent.errors import UsageError
from agent.files import read_bytes
from agent.model.file import read
from agent.model.model import Model
from agent.model.shipped import shipped_model
from agent.paths import Paths, paths
from agent.vault.keys import keyrings
from agent.vault.leftovers import check_free
from agent.vault.location import Location
from agent.vault.profile_file import LARGEST, read_profile

ABOVE = 3  # lines from the recovery code to that below the question whether it is written down
NEXT = """\
Next, have the daemon started (or run `reticent daemon`), and open the vault:

  reticent service install
  reticent unlock"""


class InitFlags(TypedDict):
    """The options of `reticent init`, as click hands them over."""

    passphrase_stdin: bool
    keyring: bool
    model: Path | None
    preset: str | None
    profile: Path | None
    no_values: bool


@click.command()
@click.option("--passphrase-stdin", is_flag=True, help="Read the passphrase, and ask nothing.")
@click.option("--keyring", is_flag=True, help="Keep a key in the desktop's keyring as well.")
@click.option("--model", type=PATH, metavar="M", help="A model to add, and to decide with.")
@click.option("--preset", type=OneOf(PRESETS), help=f"Of the policy. By default {PRESET}.")
@click.option("--profile", type=PATH, metavar="FILE", help="Your values, as lines of TOML.")
@click.option("--no-values", is_flag=True, help="Do not ask for your values.")
@json_option
def init(*, as_json: bool, **flags: Unpack[InitFlags]) -> None:
    """Begin: make the vault, write a policy, and set your own values.

    Every question but the passphrase can be skipped. Where there is no terminal, nothing is
    asked, and the passphrase is one line of the standard input.
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
    keyring = flags["keyring"] or (keyrings.backend() is not None and ask_keyring())
    if added is None:
        model, added = ask_model(model)
    preset = flags["preset"] or (None if at.policy.exists() else ask_preset())
    if flags["profile"] is None and not flags["no_values"]:
        values = [(model, ask_values(model))]
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
    state = "Your policy is" if made.policy else "There was a policy already, and it stays:"
    place = f"The vault is {printable(str(at.vault))}"
    return f"{place}\n{state} {printable(str(at.policy))}"


def _code(made: Made) -> str:
    """Return the recovery code, in the last line."""
    code = "Your recovery code, shown this once. Write it down on paper, and keep it apart from"
    what = paragraph(f"{code} this machine: it opens the vault when the passphrase is forgotten.")
    return f"{what}\n\n  {made.code}"
