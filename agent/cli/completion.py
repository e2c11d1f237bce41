"""`reticent completion`: what makes a shell complete the commands and options."""

import click
from click.shell_completion import get_completion_class

from agent.cli.options import json_option, record
from agent.cli.parameters import OneOf

NAME = "reticent"
VARIABLE = "_RETICENT_COMPLETE"  # click derives it from the name


@click.command()
@click.argument("shell", type=OneOf(["bash", "zsh", "fish"]), metavar="bash|zsh|fish")
@json_option
@click.pass_context
def completion(context: click.Context, /, shell: str, *, as_json: bool) -> None:
    """Print what makes a shell complete the commands and options of reticent.

    \b
    In ~/.bashrc:                   eval "$(reticent completion bash)"
    In ~/.zshrc, after compinit:    eval "$(reticent completion zsh)"
    In ~/.config/fish/config.fish:  reticent completion fish | source
    """  # noqa: D301  (click's mark, which stands for itself)
    found = get_completion_class(shell)
    if found is None:
        raise AssertionError(shell)
    script = found(context.find_root().command, {}, NAME, VARIABLE).source()
    click.echo(record({"shell": shell, "script": script}) if as_json else script)
