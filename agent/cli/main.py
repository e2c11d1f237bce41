"""The outermost frame: every error is shown here, once, and becomes an exit code."""

import atexit
import gc
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from io import TextIOWrapper
from itertools import takewhile
from pathlib import Path
from shlex import quote
from traceback import extract_tb

import click

from agent import __version__
from agent.cli.interrupt import Interrupted, came, listening
from agent.cli.options import Commands, Deferred, sees_terminal
from agent.cli.printing import as_usage_error, show, texts
from agent.errors import LockedError, ReticentError, UsageError, reason
from agent.paths import paths

INTERRUPTED = 130  # 128 + SIGINT, as shells have it
EXIT_CODES = (
    "Exit codes: 0 all went well, 1 it failed, 2 something was named wrongly, 3 the vault is "
    "locked, 4 the daemon is not running, 5 a request was not understood, 130 interrupted."
)
DEBUG = "RETICENT_DEBUG"
EXPECTED = (click.ClickException, ReticentError, OSError)
SCREENS, BEGIN = "screens", "begin"  # for a person who names no command

COMMANDS = {
    BEGIN: Deferred("agent.cli.first_steps"),  # a name that only we use
    "approve": Deferred("agent.cli.reviews", "Approve a request, or facts for a recipient."),
    "ask": Deferred("agent.cli.ask", "Get the facts for one request, and record them."),
    "connect": Deferred("agent.cli.connect", "Connect browsers, assistants and the system."),
    "daemon": Deferred("agent.cli.daemon", "Run and stop the daemon that answers."),
    "demo": Deferred("agent.cli.demo", "Watch eight requests of a fictional mother of two."),
    "deny": Deferred("agent.cli.reviews", "Deny a request, or facts for a recipient."),
    "disconnect": Deferred("agent.cli.connect", "Undo `connect`."),
    "doctor": Deferred("agent.cli.daemon", "Find problems on this machine, and their fixes."),
    "init": Deferred("agent.cli.init", "Set up: a passphrase, a policy and your facts."),
    "lab": Deferred("agent.cli.lab", "Repeat the studies behind reticent."),
    "lock": Deferred("agent.cli.status", "Close the vault, so that nothing is sent."),
    "mcp": Deferred("agent.cli.assistants", "Let assistants ask for facts about you."),
    "model": Deferred("agent.cli.model", "Build and manage models, and try decisions."),
    "pause": Deferred("agent.cli.status", "Attach nothing for some time."),
    "policy": Deferred("agent.cli.policy", "Check, show and change your rules."),
    "profile": Deferred("agent.cli.profile", "Show and change your facts."),
    "proxy": Deferred("agent.cli.assistants", "Add facts about you to what OpenAI clients ask."),
    "requests": Deferred("agent.cli.requests", "See what was sent to whom, and what is waiting."),
    SCREENS: Deferred("agent.cli.screens"),  # another
    "status": Deferred("agent.cli.status", "Show whether requests are answered."),
    "unlock": Deferred("agent.cli.status", "Open the vault, so that requests are answered."),
    "vault": Deferred("agent.cli.vault", "Back up, restore or remove the vault; change keys."),
}

ALIASES = {  # what people type, and the command that it is; `resolve_command` knows more
    **dict.fromkeys(("history", "log"), "requests list"),
    **dict.fromkeys(("review", "tui", "ui"), SCREENS),
    "knows": "requests recipients",
    "resume": "pause off",
    "version": "--version",
}


def meant(arguments: Sequence[str]) -> list[str]:
    """Replace what people type by the command that it is; UsageError where it is none."""
    match [*arguments]:
        case ["help", *rest]:
            return [*meant(rest), "--help"]
        case [first, *rest] if first in ALIASES:
            return [*ALIASES[first].split(), *rest]
        case ["restart" | "uninstall" as first, *_]:
            raise UsageError(f"there is no command {first!r}", texts("main")["instead"][first])
        case [text] if len(text.split()) > 1:
            raise UsageError("no recipient is named", f"`reticent ask RECIPIENT {quote(text)}`")
    return [*arguments]


def _default(args: Sequence[str]) -> str | None:
    """Choose for a person in a terminal who names no command: set up, or show the screens."""
    if args or not sees_terminal():
        return None
    return SCREENS if paths().vault.exists() else BEGIN


@click.group(
    cls=Commands,
    deferred=COMMANDS,
    default=_default,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
    epilog=f"{EXIT_CODES}\n\nWith {DEBUG}=1 in the environment, a defect shows its traceback.",
)
@click.version_option(__version__, message="reticent, version %(version)s")
@click.pass_context
def program(context: click.Context) -> None:
    """Share just enough about yourself to get better answers, and stay anonymous.

    Without a command it sets everything up; once that is done, it opens the screens.
    """
    if os.environ.get("NO_COLOR"):
        context.color = False


def run() -> None:
    """Run the command line of this process, and end the process."""
    for name in ("stdout", "stderr"):
        # Closed, as by >&-: a file opened later would take its place.
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # what a terminal cannot show
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="surrogateescape")  # what is no text is refused as such, later
    # A text is too little for several threads: on a busy machine they wait for one another.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Else all that is there is looked through once more at the end; DuckDB counts what it misses.
    atexit.register(lambda: None if "duckdb" in sys.modules else gc.freeze())
    code = outcome(sys.argv[1:])
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # nothing to be told any more
    with suppress(OSError):  # a reader that has gone must not be told so at exit
        sys.stdout.flush()
    sys.exit(code)


def outcome(arguments: Sequence[str]) -> int:
    """Run one command, show what went wrong if anything did; return one of EXIT_CODES."""
    as_json = "--json" in [*takewhile(lambda each: each != "--", arguments)]
    try:
        # What ends early, such as --help, makes click return its exit code; a command returns None.
        with listening():
            return program.main(meant(arguments), prog_name="reticent", standalone_mode=False) or 0
    except (Interrupted, KeyboardInterrupt, click.Abort):
        return _interrupted()
    except Exception as error:
        if came.is_set():  # whatever became of it below
            return _interrupted()
        if os.environ.get(DEBUG) and not isinstance(error, EXPECTED):
            raise
        return show(_shown(error), as_json=as_json)


def _interrupted() -> int:
    """Show that the command was interrupted; return the exit code."""
    if sys.stderr.isatty():
        click.echo(err=True)  # the terminal has written ^C into the line
    show(ReticentError("interrupted", "no file is half-written; run it again"))
    return INTERRUPTED


def _shown(error: Exception) -> ReticentError:
    """Choose the error to show; of a defect of ours its kind and place, never what it holds."""
    match error:
        case click.ClickException():
            return as_usage_error(error)
        case LockedError():
            from agent.vault.vault_files import Location, set_aside_notice

            notice = set_aside_notice(Location.of(paths()))
            return error if notice is None else LockedError(f"{error.what}: {notice[0]}", notice[1])
        case ReticentError():
            return error
        case OSError():  # such as writing to a full disk
            place = None if error.filename is None else str(error.filename)
            return ReticentError(reason(error), "fix that, then run the command again", place)
    last = extract_tb(error.__traceback__)[-1]
    what = f"unexpected {type(error).__name__} in {Path(last.filename).name}, line {last.lineno}"
    hint = f"a defect of reticent: run it with {DEBUG}=1 and report what that prints"
    return ReticentError(what, hint)
