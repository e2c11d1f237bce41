"""Command groups whose commands are imported when they are called."""

import builtins
import gc
from collections.abc import Mapping
from importlib import import_module
from keyword import iskeyword
from typing import Any, NamedTuple

import click

from agent.errors import UsageError

USAGE = UsageError.exit_code


class Deferred(NamedTuple):
    """A command that is imported when it is called: its module and its line of help."""

    module: str
    help: str


class Commands(click.Group):
    """A group that says what it has when called alone, and which name was probably meant.

    ``deferred``: commands of other modules by name; there each has the same name, with _ where
    Python has the name, as in try_ and set_. ``default``: the command that is meant where none is
    named.
    """

    def __init__(
        self,
        *given: Any,  # noqa: ANN401  (as click has it)
        deferred: Mapping[str, Deferred] | None = None,
        default: str | None = None,
        **named: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(*given, **named)
        self.deferred: Mapping[str, Deferred] = deferred or {}
        self._default = default

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in alphabetical order."""
        return sorted({*super().list_commands(ctx), *self.deferred})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, imported now if it is a deferred one."""
        if cmd_name not in self.deferred:
            return super().get_command(ctx, cmd_name)
        taken = iskeyword(cmd_name) or hasattr(builtins, cmd_name)
        variable = f"{cmd_name}_" if taken else cmd_name.replace("-", "_")
        gc.disable()  # collecting garbage would take a tenth of the time, and find none
        try:
            module = import_module(self.deferred[cmd_name].module)
        finally:
            gc.enable()
        found: click.Command = getattr(module, variable)
        return found

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Show the help where no command is given; that is a mistake all the same."""
        options = {name for each in self.get_params(ctx) for name in each.opts}
        named = args and (not args[0].startswith("-") or args[0].partition("=")[0] in options)
        if self._default and not named and not ctx.resilient_parsing:
            args = [self._default, *args]
        if not args and not ctx.resilient_parsing:
            click.echo(ctx.get_help(), err=True)
            ctx.exit(USAGE)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is named; UsageError, naming the nearest, if there is none."""
        names = self.list_commands(ctx)
        if args[0] not in names and not ctx.resilient_parsing:
            raise UsageError.unknown("command", args[0], names)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  (of click)
        """List the commands with their line of help, importing none that is deferred."""
        lines = {name: each.get_short_help_str(limit=80) for name, each in self.commands.items()}
        lines |= {name: each.help for name, each in self.deferred.items()}
        with formatter.section("Commands"):
            formatter.write_dl(sorted(lines.items()))
