"""The outermost frame: every error is shown here, once, and becomes an exit code."""

import os
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
from agent.cli.problems import as_usage_error, show
from agent.errors import ReticentError

INTERRUPTED = 130  # 128 + SIGINT, as shells have it
DEBUG = "RETICENT_DEBUG"


class Program(Commands):
    """The whole of the command line."""

    deferred: ClassVar[Mapping[str, Deferred]] = {
        "decide": Deferred("agent.cli.decide", "Decide which facts one request may carry."),
        "demo": Deferred("agent.cli.demo", "Show eight requests of a fictional developer."),
        "model": Deferred("agent.cli.model", "Build, describe, sign and verify a model."),
    }


@click.group(
    cls=Program,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
    epilog=f"With {DEBUG}=1 in the environment, a defect shows its traceback.",
)
@click.version_option(__version__, prog_name="reticent")
@click.pass_context
def program(context: click.Context) -> None:
    """Attach few enough facts to a request to stay one of many."""
    if os.environ.get("NO_COLOR"):
        context.color = False


def run() -> None:
    """Run the command line of this process, and end the process."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # what a terminal cannot show
    code = outcome(sys.argv[1:])
    with suppress(OSError):  # a reader that has gone must not be told so at exit
        sys.stdout.flush()
    sys.exit(code)


def outcome(arguments: Sequence[str]) -> int:
    """Run one command, show what went wrong if anything did, and return the exit code.

    0 if all went well, 2 for what the user named wrongly, 130 when interrupted, else 1.
    """
    try:
        # What ends early, such as --help, makes click return its exit code; a command returns None.
        ended: int | None = program.main([*arguments], prog_name="reticent", standalone_mode=False)
    except click.Abort:
        return INTERRUPTED
    except click.ClickException as error:
        return show(as_usage_error(error))
    except ReticentError as error:
        return show(error)
    except OSError as error:
        return show(_refused(error))
    except Exception as error:
        if os.environ.get(DEBUG):
            raise
        return show(_defect(error))
    return ended or 0


def _refused(error: OSError) -> ReticentError:
    """Return the error for what the system would not do, such as writing to a full disk."""
    what = (error.strerror or type(error).__name__).lower()
    place = None if error.filename is None else str(error.filename)
    return ReticentError(what, "mend that, and run the command again", place)


def _defect(error: Exception) -> ReticentError:
    """Return the error for a defect of ours: its kind and place, never what it holds."""
    last = extract_tb(error.__traceback__)[-1]
    what = f"unexpected {type(error).__name__} in {Path(last.filename).name}, line {last.lineno}"
    hint = f"a defect of reticent: run it with {DEBUG}=1 and report what that prints"
    return ReticentError(what, hint)
