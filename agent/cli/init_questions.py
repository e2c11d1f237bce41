"""What `reticent init` asks at a terminal; each question can be skipped with Enter."""

import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from shutil import get_terminal_size

import click

from agent.cli.init_wishes import PRESET, PRESETS
from agent.cli.interrupt import Interrupted
from agent.cli.layout import counted, facts, paragraph
from agent.cli.new_passphrase import ask_passphrase
from agent.cli.problems import printable, told
from agent.cli.secret import PROMPTS
from agent.cli.terminal import sees_terminal
from agent.errors import ModelError, UsageError, nearest
from agent.model.attributes import UNSPECIFIED, Attribute
from agent.model.file import read
from agent.model.model import Model
from policy.load import preset_text

REST = "-"
NARROW = 64  # columns that the recovery code and the question below it need
TOGETHER = "\N{NO-BREAK SPACE}"  # so that no line ends between a number and its value
SILENT = TOGETHER.join(("prefer", "not", "to", "say"))


def ask_first_passphrase() -> str:
    """Return the passphrase of a new vault, after saying what it is for."""
    told(
        "The passphrase locks the vault: your values, and all that was disclosed. Nobody can tell"
        " it to you again. Four random words are good and easy to keep."
    )
    return ask_passphrase(PROMPTS["passphrase"])


def ask_model(shipped: Model) -> tuple[Model, Path | None]:
    """Return the model to begin with, and its file where it is not the shipped one."""
    told(
        f"The model says what a fact helps, and how much it gives away. The shipped one,"
        f" {shipped.id}, knows {counted(len(shipped.queries), 'query', 'queries')} and"
        f" {counted(len(shipped.attributes), 'attribute')}."
    )
    while True:
        text = _line("Enter for the shipped one, or the path of another")
        if not text:
            return shipped, None
        path = Path(text).expanduser()
        try:
            return read(path), path
        except (ModelError, UsageError) as error:
            told(f"{error}. {error.hint}")


def ask_preset() -> str:
    """Return the name of the preset that the policy starts from."""
    told("The policy says what may leave, to whom, and at what price. Start from a preset:")
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


def ask_values(model: Model) -> dict[str, str]:
    """Return the user's values of the person attributes, without those that are skipped."""
    asked = [each for each in model.attributes if each.scope == "person"]
    told(
        f"Now your own values: {counted(len(asked), 'question')}. They stay in the vault, and only"
        f" what the policy lets out ever leaves. Enter skips one, which"
        f" then never leaves; {REST} skips the rest. 0 is an answer: it may be told that you prefer"
        " not to say."
    )
    values: dict[str, str] = {}
    for number, attribute in enumerate(asked, start=1):
        click.echo(f"\n{number} of {len(asked)}: {printable(attribute.title)}", err=True)
        answer = ask_value(attribute)
        if answer == REST:
            break
        if answer:
            values[attribute.name] = answer
    return values


def ask_value(attribute: Attribute) -> str:
    """Return one value, REST, or nothing where it is skipped; nothing that is typed is repeated."""
    values = attribute.values[1:]
    numbered = [*enumerate(map(printable, values), start=1), (0, SILENT)]
    listed = "  ".join(f"{number}{TOGETHER}{value}" for number, value in numbered)
    click.echo(paragraph(listed, "  ").replace(TOGETHER, " "), err=True)
    while True:
        text = _line(attribute.name)
        if text in {"", REST}:
            return text
        with suppress(UsageError):
            return chosen(text, values)
        if text in {"0", UNSPECIFIED}:
            return UNSPECIFIED
        told(f"There is no such value: type a number from 0 to {len(values)}, or Enter.")


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
    hint = f"a number from 1 to {len(names)}, or a name"
    raise UsageError(f"there is no {text!r}", hint if near is None else f"did you mean {near!r}?")


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
