"""Writes examples/share: the man page, from what `--help` says, and how shells complete commands.

Run `python -m examples.write_share` after you change that. The wheel has these files where pipx,
pip, man and the shells look for them.
"""

import re
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from agent import __version__
from agent.cli.main import program

NAME, VARIABLE = "reticent", "_RETICENT_COMPLETE"  # which click derives from the name
SHARE = Path(__file__).with_name("share")
PAGE = "man/man1/reticent.1"
COMPLETIONS = {
    "bash": "bash-completion/completions/reticent",
    "fish": "fish/vendor_completions.d/reticent.fish",
    "zsh": "zsh/site-functions/_reticent",
}
ENVIRONMENT = {
    "RETICENT_HOME": "A folder that holds the policy, the vault, the models and the sockets. By"
    " default each lies where the system keeps such files.",
    "NO_COLOR": "If set, nothing is printed in colour.",
}


def shared() -> dict[str, str]:
    """Write the text of each file by its place below SHARE."""
    texts = {PAGE: page()}
    for shell, place in COMPLETIONS.items():
        script = get_completion_class(shell)
        if script is None:
            raise AssertionError(shell)
        texts[place] = script(program, {}, NAME, VARIABLE).source().strip() + "\n"
    return texts


def page() -> str:
    """Write the man page in the macros of man(7)."""
    context = click.Context(program, info_name="reticent", **program.context_settings)
    lines = [
        f'.TH RETICENT 1 "" "reticent {__version__}" "User Commands"',
        *(".SH NAME", r"reticent \- decide which few facts about you a request may carry"),
        *(".SH SYNOPSIS", r"\fBreticent\fR [\fIoptions\fR] [\fIcommand\fR ...]"),
        *(".SH DESCRIPTION", *_text(program.help)),
        *(".SH OPTIONS", *_options(program, context)),
        *(".SH COMMANDS", *_commands(program, context)),
        ".SH ENVIRONMENT",
    ]
    for name, text in ENVIRONMENT.items():
        lines += [".TP", rf"\fB{name}\fR", _escaped(text)]
    lines += [".SH EXIT STATUS", *_text(program.epilog)]
    return "\n".join(lines) + "\n"


def _commands(group: click.Group, context: click.Context) -> Iterator[str]:
    """Yield a section for each command below a group that has no commands of its own."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        inner = click.Context(command, info_name=name, parent=context)
        if isinstance(command, click.Group):
            yield from _commands(command, inner)
        else:
            pieces = [inner.command_path, *command.collect_usage_pieces(inner)]
            yield from (f'.SS "{_escaped(" ".join(pieces))}"', *_text(command.help))
            yield from _options(command, inner)


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    """Yield each option of a command with its help; --help, which all have, once at the top."""
    for each in command.params if context.parent else command.get_params(context):
        shown = each.get_help_record(context)
        if isinstance(each, click.Option) and shown is not None:
            yield from (".TP", rf"\fB{_escaped(shown[0])}\fR", _escaped(shown[1]))


def _text(help_: str | None) -> Iterator[str]:
    """Yield the paragraphs of a help; click's mark for one whose lines stay as they are is gone."""
    for paragraph in filter(None, re.split(r"\n{2,}", cleandoc(help_ or ""))):
        lines = paragraph.partition("\f")[0].splitlines()
        if lines and lines[0] == "\b":
            yield from (".PP", ".nf", *map(_escaped, lines[1:]), ".fi")
        elif lines:
            yield from (".PP", *map(_escaped, lines))


def _escaped(text: str) -> str:
    r"""Escape a text so that nothing is a command of roff(7), and a hyphen can be copied."""
    plain = (
        text.replace("\\", r"\e").replace("-", r"\-").replace("'", r"\(aq").replace('"', r"\(dq")
    )
    return re.sub(r"^(?=\.)", r"\\&", plain)


def main() -> None:
    """Write them."""
    for place, text in shared().items():
        (SHARE / place).parent.mkdir(parents=True, exist_ok=True)
        (SHARE / place).write_text(text)


if __name__ == "__main__":
    main()
