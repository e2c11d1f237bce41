"""Groups, options and kinds of values that many commands share."""

import builtins
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from functools import reduce, wraps
from importlib import import_module
from keyword import iskeyword
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, TypeVar

import click

from agent.errors import ReticentError, UsageError
from agent.paths import paths

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from policy.rules import Groups

PATH = click.Path(path_type=Path)
PIPE = "-"
F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")
ASKED = "What is asked; - reads it from the standard input, where no other user sees it."

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
explain_option = click.option(
    "--explain", is_flag=True, help="Show the figures behind the answer, each with its unit."
)
all_option = click.option(
    "--all", "every", is_flag=True, help="With --explain: a row for every fact."
)
yes_option = click.option("--yes", is_flag=True, help="Do not ask.")
USAGE = UsageError.exit_code
AT_ONCE = 0.3  # seconds, for the daemon to say what completes a word
NAMED: dict[str, Callable[[Any], Sequence[str]]] = {  # by route, of each that it lists
    "attributes": lambda attribute: [attribute.name],
    "recipients": lambda recipient: [recipient.pool, *recipient.sites],
    "reviews": lambda review: [str(review.id)],
}
NOT_UNDERSTOOD = 5  # a request, so that nothing is attached


def at_terminal() -> bool:
    """Say whether somebody is there to answer."""
    return sys.stdin is not None and sys.stdin.isatty()


def sees_terminal() -> bool:
    """Say whether somebody is there to answer, and sees what is printed."""
    return at_terminal() and sys.stdout is not None and sys.stdout.isatty()


def prompted(prompt: str, *, hide: bool = False) -> str:
    """Ask for one line; click.Abort where there is no more."""
    # With a default, an empty line is an answer, so that ours is the sentence about it.
    answer: str = click.prompt(prompt, hide_input=hide, default="", show_default=False, err=True)
    return answer


def option(
    declared: str,
    kind: object,
    metavar: str | None,
    text: str,
    **more: Any,  # noqa: ANN401  (of click)
) -> Callable[[F], F]:
    """Make an option that takes a value; ``declared``: its name, and that of its argument."""
    shown, names = "default" in more and not callable(more["default"]), declared.split()
    return click.option(*names, type=kind, metavar=metavar, help=text, show_default=shown, **more)


def together(*options: Callable[[Any], Any]) -> Callable[[F], F]:
    """Make one decorator of several options, in the order in which help is to list them."""
    return lambda command: reduce(lambda done, each: each(done), reversed(options), command)


seed_option = option("--seed", click.IntRange(min=0), "N", "Seed of the random numbers.", default=0)


def record(message: object) -> str:
    """Encode a message, or plain types that hold some, as one JSON object of ASCII."""
    import msgspec

    return json.dumps(msgspec.to_builtins(message), indent=2, allow_nan=False)


class Output(NamedTuple):
    """What a command has to say: one object for programs, a page for people, and its exit code.

    ``error``: what people are told in place of the page; its exit code is the command's.
    """

    message: object
    page: str
    exit_code: int = 0
    error: ReticentError | None = None


def answers(command: Callable[P, Output]) -> Callable[P, None]:
    """Give a command the option `--json`, and print what it returns: the page, or the object."""

    @json_option
    @wraps(command)
    def printed(*given: P.args, **named: P.kwargs) -> None:
        as_json = named.pop("as_json")
        message, page, exit_code, error = command(*given, **named)
        if error is not None and not as_json:
            raise error
        click.echo(record(message) if as_json else page)
        if exit_code or error:
            click.get_current_context().exit(exit_code if error is None else error.exit_code)

    return printed


class OneOf(click.Choice[str]):
    """One of a few names; the nearest is named for any other."""

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """Accept one of the names; UsageError for any other."""
        if value not in self.choices:
            kind = f"value of {param.opts[0]}" if isinstance(param, click.Option) else "value"
            raise UsageError.unknown(kind, str(value), self.choices)
        return super().convert(value, param, ctx)


def query_text(value: str) -> str:
    """Take a query; - reads the standard input: every user can read a command's arguments.

    Without the end of its last line; UsageError where it cannot be asked.
    """
    context = click.get_current_context(silent=True)
    if context is not None and context.resilient_parsing:
        return value
    from agent.wire.base import LONGEST_QUERY

    query = value
    if value == PIPE and at_terminal():
        query = prompted("Query")
    elif value == PIPE:
        text = "" if sys.stdin is None else sys.stdin.read(LONGEST_QUERY + 2)
        query = text.removesuffix("\n").removesuffix("\r")
    if not query.strip():
        raise UsageError("the query is empty", "write what is asked, as in 'version control'")
    return checked_text(query, "query", LONGEST_QUERY)


def checked_text(text: str, what: str, longest: int) -> str:
    """Check what was typed or piped; UsageError where it is too long, or is not UTF-8."""
    if len(text) > longest:
        raise UsageError(f"the {what} is too long", f"it has at most {longest:,} characters")
    if any("\ud800" <= each <= "\udfff" for each in text):  # bytes that are no UTF-8 come so
        raise not_text(what)
    return text


def not_text(what: str) -> UsageError:
    """Make the error for what is not text."""
    return UsageError(f"the {what} is not text in UTF-8", "type it in a terminal that uses UTF-8")


QUERY = click.types.FuncParamType(query_text)


def known(*routes: str, takes: Callable[[str], object] = str) -> click.ParamType[Any]:
    """Make a kind of text that is completed by names that the daemon has.

    ``routes``: of the calls that list what has them; ``takes``: checks the text. Nothing is offered
    where the daemon does not answer at once, or is locked.
    """

    def complete(_context: object, _parameter: object, begun: str) -> list["CompletionItem"]:
        from click.shell_completion import CompletionItem

        from agent.cli.daemon_client import door

        names = set[str]()
        with suppress(ReticentError), door(AT_ONCE, attended=False) as client:
            for route in routes:
                names |= {name for each in client.call(route) for name in NAMED[route](each)}
        return [CompletionItem(each) for each in sorted(names) if each.startswith(begun)]

    kind = click.types.FuncParamType(takes)
    kind.shell_complete = complete  # type: ignore[assignment, method-assign]  # as click calls it
    return kind


def midnight(text: str, later: int = 0) -> datetime:
    """Read a day as DATES has it, and return when it begins, or a day ``later``; UsageError."""
    ago = {"today": "0", "yesterday": "1"}.get(text, text[:-1] if text.endswith("d") else "")
    try:
        day = today() - timedelta(int(ago)) if ago.isdecimal() else date.fromisoformat(text)
        return datetime.combine(day + timedelta(later), time()).astimezone()
    except (ValueError, OverflowError):
        raise UsageError(f"{text!r} is not a day", f"write {DATES}") from None


DATES = "2026-11-01, yesterday, or 7d for seven days ago"
DAY = click.types.FuncParamType(midnight)
NEXT_DAY: click.ParamType[datetime] = click.types.FuncParamType(lambda text: midnight(str(text), 1))


def pair(text: str) -> tuple[str, str]:
    """Split NAME=VALUE; UsageError if it is not of that form."""
    name, sign, value = (part.strip() for part in text.partition("="))
    if not (sign and name and value):
        raise UsageError(f"{text!r} is not a pair", "write NAME=VALUE")
    return name, value


def now() -> datetime:
    """The local time."""
    return datetime.now().astimezone()


def today() -> date:
    """The local date."""
    return now().date()


def host(recipient: str) -> str:
    """Check a recipient; UsageError if it is empty, too long, or a bare name that no group has."""
    from agent.wire.base import LONGEST_HOST

    if not recipient.strip() or len(recipient) > LONGEST_HOST:
        what = "too long" if recipient.strip() else "empty"
        hint = "name who receives the request, as in forge.example"
        raise UsageError(f"the recipient is {what}", hint)
    if not {*recipient} & {*".:"}:  # else there is no need to know the groups
        from policy.rules import named_host

        named_host(recipient, own_groups())
    return recipient


RECIPIENT, FACT = known("recipients"), known("attributes")
HOST = known("recipients", takes=host)


def own_groups() -> "Groups":
    """The groups of the user's own policy, none where it cannot be used."""
    from policy.read import load

    try:
        return load(paths().policy).groups
    except ReticentError:
        return {}


class Deferred(NamedTuple):
    """A command that is imported when it is called: its module and its line of help.

    Without that it is listed nowhere.
    """

    module: str
    help: str = ""


class Commands(click.Group):
    """A group that says what it has when called alone, and which name was probably meant.

    ``deferred``: commands of other modules by name; there each has the same name, with _ where
    Python has the name, as in try_ and set_. ``default``: returns the command, if any, that
    is meant by arguments that name none.
    """

    def __init__(
        self,
        *given: Any,  # noqa: ANN401  (as click has it)
        deferred: Mapping[str, Deferred] | None = None,
        default: Callable[[Sequence[str]], str | None] = lambda _: None,
        **named: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(*given, **named)
        self.deferred: Mapping[str, Deferred] = deferred or {}
        self._default = default

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the names in alphabetical order."""
        shown = [name for name, each in self.deferred.items() if each.help]
        return sorted({*super().list_commands(ctx), *shown})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Look up a command, and import it if it is deferred."""
        if cmd_name not in self.deferred:
            return super().get_command(ctx, cmd_name)
        taken = iskeyword(cmd_name) or hasattr(builtins, cmd_name)
        variable = f"{cmd_name}_" if taken else cmd_name.replace("-", "_")
        command: click.Command = getattr(import_module(self.deferred[cmd_name].module), variable)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Show the help where no command is given; that is a mistake all the same."""
        options = {name for each in self.get_params(ctx) for name in each.opts}
        named = args and (not args[0].startswith("-") or args[0].partition("=")[0] in options)
        if not named and not ctx.resilient_parsing and (default := self._default(args)):
            args = [default, *args]
        if not args and not ctx.resilient_parsing:
            click.echo(ctx.get_help(), err=True)
            ctx.exit(USAGE)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is named, at the top one of a group too; UsageError for none."""
        names, name = self.list_commands(ctx), args[0]
        if name not in {*names, *self.deferred} and not ctx.resilient_parsing:
            root = ctx.find_root()
            full = root.command.leaves(root) if isinstance(root.command, Commands) else ()
            elsewhere = [each for each in full if each.split()[-1] == name]
            if len(elsewhere) != 1:
                raise UsageError.unknown("command", name, names)
            if ctx is not root:
                hint = f"did you mean `reticent {elsewhere[0]}`?"
                raise UsageError(f"unknown command {name!r}", hint)
            args = [*elsewhere[0].split(), *args[1:]]
        return super().resolve_command(ctx, args)

    def leaves(self, ctx: click.Context) -> Iterator[str]:
        """Yield every command below this group by its words, importing them all."""
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            below = command.leaves(ctx) if isinstance(command, Commands) else [""]
            yield from (f"{name} {each}".rstrip() for each in below)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  (of click)
        """List the commands with their line of help, importing none that is deferred."""
        lines = {name: each.get_short_help_str(limit=80) for name, each in self.commands.items()}
        lines |= {name: each.help for name, each in self.deferred.items() if each.help}
        with formatter.section("Commands"):
            formatter.write_dl(sorted(lines.items()))
