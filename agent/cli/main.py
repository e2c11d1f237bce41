"""The outermost frame: every error is shown here, once, and becomes an exit code."""

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from traceback import extract_tb
from typing import ClassVar

import click

from agent import __version__
from agent.cli.groups import Commands, Deferred
from agent.cli.interrupt import Interrupted, came, listening
from agent.cli.options import sees_terminal
from agent.cli.printing import as_usage_error, show
from agent.errors import LockedError, ReticentError, reason
from agent.paths import paths

INTERRUPTED = 130  # 128 + SIGINT, as shells have it
DEBUG = "RETICENT_DEBUG"
SCREENS = "review"  # what a person sees who names no command


class Program(Commands):
    """The whole of the command line."""

    deferred: ClassVar[Mapping[str, Deferred]] = {
        "approve": Deferred("agent.cli.reviews", "Let what waits for you leave."),
        "ask": Deferred("agent.cli.ask", "Get what one request may carry, and record it."),
        "attributes": Deferred("agent.cli.policy", "Show what each attribute may do."),
        "backup": Deferred("agent.cli.vault", "Copy the vault, encrypted as it is."),
        "block": Deferred("agent.cli.policy_edit", "Give a recipient nothing any more."),
        "browser": Deferred("agent.cli.browser", "Let your browsers reach the daemon."),
        "calibrate": Deferred("agent.cli.calibrate", "Turn answers into your own prices, in bits."),
        "completion": Deferred("agent.cli.status", "Complete commands in your shell."),
        "curve": Deferred("agent.cli.decide", "Show what would leave at every trade-off."),
        "daemon": Deferred("agent.cli.daemon", "Answer requests until Ctrl-C ends it."),
        "decide": Deferred("agent.cli.decide", "Decide which facts one request may carry."),
        "demo": Deferred("agent.cli.demo", "Show eight requests of a fictional developer."),
        "deny": Deferred("agent.cli.reviews", "Keep what waits for you."),
        "doctor": Deferred("agent.cli.daemon", "Look for what is wrong, and say the fix."),
        "forget": Deferred("agent.cli.requests", "State that a recipient can no longer link."),
        "init": Deferred("agent.cli.init", "Make the vault, a policy and your profile."),
        "key": Deferred("agent.cli.vault", "Change what opens the vault."),
        "knows": Deferred("agent.cli.requests", "Show what a recipient holds about you."),
        "lab": Deferred("agent.cli.lab", "Run the studies behind reticent again."),
        "ledger": Deferred("agent.cli.requests", "Show what was disclosed, to whom, and when."),
        "let": Deferred(
            "agent.cli.policy_edit", "Say whether attributes may leave to a recipient."
        ),
        "lock": Deferred("agent.cli.status", "Close the vault: nothing is attached any more."),
        "model": Deferred("agent.cli.model", "Build, describe, sign and add models."),
        "pending": Deferred("agent.cli.reviews", "List what waits for your word."),
        "policy": Deferred("agent.cli.policy", "Check a policy file, and see what it rules."),
        "profile": Deferred("agent.cli.profile", "Show, set, import and export your own values."),
        "purge": Deferred("agent.cli.vault", "Remove everything of ours, for good."),
        "recipients": Deferred("agent.cli.requests", "List who was told what about you."),
        "requests": Deferred(
            "agent.cli.requests", "List the latest requests, with what they told."
        ),
        "reset-clock": Deferred("agent.cli.vault", "Go by the clock again that was wrong."),
        "restore": Deferred("agent.cli.vault", "Put a backup in the place of the vault."),
        "review": Deferred("agent.cli.review", "See what left and why, and change it."),
        "service": Deferred("agent.cli.daemon", "Have the system start the daemon."),
        "status": Deferred("agent.cli.status", "Say how the daemon is, and what waits for you."),
        "stop": Deferred("agent.cli.daemon", "End the daemon."),
        "unblock": Deferred("agent.cli.policy_edit", "Treat a recipient like others again."),
        "undo": Deferred("agent.cli.reviews", "Take back the last word on what may leave."),
        "unlock": Deferred("agent.cli.status", "Open the vault, so that requests are answered."),
        "watch": Deferred("agent.cli.watch", "Say what happens, a sentence in each line."),
        "whatif": Deferred("agent.cli.ask", "Show what another set would bring and cost."),
    }

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Show the screens where no command is given, in a terminal; else the help."""
        if not args and sees_terminal() and not ctx.resilient_parsing:
            args = [SCREENS]
        return super().parse_args(ctx, args)


@click.group(
    cls=Program,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
    epilog=f"With {DEBUG}=1 in the environment, a defect shows its traceback.",
)
@click.version_option(__version__, prog_name="reticent")
@click.pass_context
def program(context: click.Context) -> None:
    """Attach few enough facts to a request to stay one of many.

    Without a command it shows the screens of `reticent review`.
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
    code = outcome(sys.argv[1:])
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # nothing to be told any more
    with suppress(OSError):  # a reader that has gone must not be told so at exit
        sys.stdout.flush()
    sys.exit(code)


def outcome(arguments: Sequence[str]) -> int:
    """Run one command, show what went wrong if anything did, and return the exit code.

    0 if all went well, 2 for what the user named wrongly, 130 when interrupted, else 1.
    """
    try:
        # What ends early, such as --help, makes click return its exit code; a command returns None.
        with listening():
            ended: int | None = program.main(
                [*arguments], prog_name="reticent", standalone_mode=False
            )
    except (Interrupted, KeyboardInterrupt, click.Abort):
        return _interrupted()
    except Exception as error:
        if came():  # whatever became of it below
            return _interrupted()
        known = _known(error)
        if known is None and os.environ.get(DEBUG):
            raise
        return show(known or _defect(error))
    return ended or 0


def _interrupted() -> int:
    """Show that the command was interrupted; return the exit code."""
    if sys.stderr.isatty():
        click.echo(err=True)  # the terminal has written ^C into the line
    show(ReticentError("interrupted", "what was done before stays done; run it again"))
    return INTERRUPTED


def _known(error: Exception) -> ReticentError | None:
    """Return the error to show, None for a defect of ours."""
    match error:
        case click.ClickException():
            return as_usage_error(error)
        case LockedError():
            return _explained(error)
        case ReticentError():
            return error
        case OSError():
            return _refused(error)
    return None


def _explained(error: LockedError) -> ReticentError:
    """Return why the vault is locked, and how to mend it where it was replaced while open."""
    from agent.vault.vault_files import Location, read_notice

    notice = read_notice(Location.of(paths()))
    return error if notice is None else LockedError(f"{error.what}: {notice}", notice.hint)


def _refused(error: OSError) -> ReticentError:
    """Return the error for what the system would not do, such as writing to a full disk."""
    place = None if error.filename is None else str(error.filename)
    return ReticentError(reason(error), "mend that, and run the command again", place)


def _defect(error: Exception) -> ReticentError:
    """Return the error for a defect of ours: its kind and place, never what it holds."""
    last = extract_tb(error.__traceback__)[-1]
    what = f"unexpected {type(error).__name__} in {Path(last.filename).name}, line {last.lineno}"
    hint = f"a defect of reticent: run it with {DEBUG}=1 and report what that prints"
    return ReticentError(what, hint)
