"""The outermost frame: every failure is one sentence, a hint and an exit code."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import click
import pytest

from agent.cli.interrupt import Interrupted
from agent.cli.main import COMMANDS, MOVED, outcome, program
from agent.model.file import write
from agent.paths import paths
from tests.cli.conftest import Run
from tests.cli.examples import cli_model

# The command in a process of its own, as a shell starts it.
START = [sys.executable, "-c", "from agent.cli.main import run; run()"]


def commands() -> list[tuple[str, ...]]:
    """Return every command of every group, and the groups."""
    context = click.Context(program)
    found: list[tuple[str, ...]] = [()]
    for name in program.list_commands(context):
        found.append((name,))
        command = program.get_command(context, name)
        if isinstance(command, click.Group):
            found += [(name, each) for each in command.list_commands(context)]
    return found


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_every_command_explains_itself_in_80_columns(run: Run, command: tuple[str, ...]) -> None:
    """By either name of the option, on the output."""
    ran = run(*command, "--help")
    assert ran == run(*command, "-h")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(" ".join(("Usage: reticent", *command)))
    assert max(map(len, ran.out.splitlines())) <= 80


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_no_line_of_help_is_cut_short(run: Run, command: tuple[str, ...]) -> None:
    """As click cuts a first sentence that is too long for the list of commands."""
    _, *lines = run(*command, "--help").out.splitlines()
    assert not [line for line in lines if line.endswith("...")]


def test_the_deferred_commands_are_there() -> None:
    """Each under its name in its module, and listed with what it says of itself first."""
    for name, deferred in COMMANDS.items():
        command = program.get_command(click.Context(program), name)
        assert isinstance(command, click.Command)
        assert command.name == name
        assert deferred.help.endswith(".")


def test_few_commands_stand_at_the_top() -> None:
    """The rest is in groups."""
    assert len(commands()) > 60
    assert len(COMMANDS) <= 14


@pytest.mark.parametrize(("name", "group"), MOVED.items())
def test_what_was_typed_before_says_what_it_is_called_now(run: Run, name: str, group: str) -> None:
    """The command is there under its new name."""
    error, hint = run(name, "--json", "x").refusal()
    assert error == f"`reticent {name}` is now `reticent {group} {name}`"
    assert hint == "run that; its arguments are the same"
    assert (group, name) in commands()


@pytest.mark.parametrize(("group", "default"), [("requests", "list"), ("daemon", "run")])
def test_a_group_with_a_usual_command_runs_it(
    run: Run, monkeypatch: pytest.MonkeyPatch, group: str, default: str
) -> None:
    """With its options; the group's own help is still there."""
    assert run(group, "--xyzzy") == run(group, default, "--xyzzy")
    assert run(group, "--xyzzy").code == 2
    assert run(group, "-h").out.startswith(f"Usage: reticent {group} [OPTIONS] COMMAND")
    monkeypatch.delenv("RETICENT_DEBUG", raising=False)


@pytest.mark.parametrize("begun", [False, True])
def test_a_person_who_names_no_command_begins_or_sees_the_screens(
    home: Path, monkeypatch: pytest.MonkeyPatch, begun: bool
) -> None:
    """In a terminal; elsewhere it is the help."""
    assert home.is_dir()
    if begun:
        paths().vault.parent.mkdir(parents=True)
        paths().vault.touch()
    monkeypatch.setattr("agent.cli.main.sees_terminal", lambda: True)
    wanted = ["requests", "review"] if begun else ["init"]
    context = program.make_context("reticent", [])
    assert [*context._protected_args, *context.args] == wanted  # noqa: SLF001  (click's own)


@pytest.mark.parametrize("group", [(), ("model",)], ids=str)
def test_a_group_called_alone_shows_what_it_has(run: Run, group: tuple[str, ...]) -> None:
    """It is a mistake all the same, so that a script notices."""
    ran = run(*group)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == run(*group, "--help").out


@pytest.mark.parametrize(
    ("arguments", "error", "hint"),
    [
        (["decied"], "unknown command 'decied'", "did you mean 'model decide'?"),
        (["model", "verfy"], "unknown command 'verfy'", "did you mean 'verify'?"),
        (["xyzzy"], "unknown command 'xyzzy'", ", browser, "),
        (["--verson"], "unknown option '--verson' of `reticent`", "did you mean '--version'?"),
        (["demo", "--standing"], "unknown option '--standing' of `reticent demo`", "--help"),
        (["model", "info", "--josn"], "of `reticent model info`", "did you mean '--json'?"),
        (["de\x1b[2Jcide"], "unknown command 'de\\x1b[2Jcide'", "did you mean 'model decide'?"),
    ],
)
def test_a_name_that_does_not_exist(run: Run, arguments: list[str], error: str, hint: str) -> None:
    """The nearest is named, and nothing that was typed steers the terminal."""
    said = run(*arguments).refusal()
    assert error in said[0]
    assert hint in said[1]


def test_a_path_does_not_steer_the_terminal(run: Run) -> None:
    """It is shown with a sign in place of what would."""
    error, _ = run("model", "info", "a\x1b[2Jb\nc.x").refusal()
    shown = "\N{REPLACEMENT CHARACTER}"
    assert error == f"a{shown}[2Jb{shown}c.x: no such file"


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Make `reticent demo` fail in ways that it should not."""
    monkeypatch.delenv("RETICENT_DEBUG", raising=False)
    return monkeypatch


def fail_with(error: BaseException, patch: pytest.MonkeyPatch) -> None:
    """Raise `error` where the demo opens its model."""

    def read(path: Path) -> None:
        del path
        raise error

    patch.setattr("agent.cli.demo.read", read)


def test_a_defect_is_one_sentence_that_holds_nothing_private(
    run: Run, failing: pytest.MonkeyPatch
) -> None:
    """The kind and the place; the message of the exception might quote a value."""
    fail_with(KeyError("her salary"), failing)
    error, hint = run("demo").refusal(code=1)
    assert error.startswith("unexpected KeyError in test_main.py, line ")
    assert "RETICENT_DEBUG=1" in hint
    assert "salary" not in error + hint


def test_a_defect_shows_its_traceback_on_demand(failing: pytest.MonkeyPatch) -> None:
    """For whoever mends it."""
    fail_with(KeyError("her salary"), failing)
    failing.setenv("RETICENT_DEBUG", "1")
    with pytest.raises(KeyError):
        outcome(["demo"])


def test_an_interruption_has_the_exit_code_of_shells(run: Run, failing: pytest.MonkeyPatch) -> None:
    """And is said in one line."""
    fail_with(Interrupted(), failing)
    assert run("demo").refusal(code=130)[0] == "interrupted"


def test_an_interruption_that_was_renamed_is_one(run: Run, failing: pytest.MonkeyPatch) -> None:
    """DuckDB makes a RuntimeError of it; another error after it is not what went wrong."""

    def read(path: Path) -> None:
        del path
        try:
            signal.raise_signal(signal.SIGINT)
        except Interrupted:
            raise RuntimeError("query interrupted") from None

    failing.setattr("agent.cli.demo.read", read)
    assert run("demo").refusal(code=130)[0] == "interrupted"
    fail_with(KeyError("another time"), failing)
    assert "unexpected KeyError" in run("demo").refusal(code=1)[0]


def test_ctrl_c_ends_a_process_with_one_line() -> None:
    """As a terminal sends it, to a command that waits."""
    wait = "demo.read = lambda path: print(flush=True) or time.sleep(60)"
    script = f"import agent.cli.demo as demo, time; {wait}\n{START[-1]}"
    started = [sys.executable, "-c", script, "demo"]
    with subprocess.Popen(
        started, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, "")
    assert err.splitlines()[0] == "reticent: error: interrupted"
    assert len(err.splitlines()) == 2


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize(("command", "code"), [("demo", 0), ("xyzzy", 2)])
def test_a_closed_output_is_no_defect(closed: str, command: str, code: int) -> None:
    """What nobody wants to see goes nowhere, and the exit code tells the rest."""
    shell = f'exec "$0" "$@" {closed}'
    done = subprocess.run(
        ["/bin/sh", "-c", shell, *START, command], capture_output=True, check=False
    )
    assert done.returncode == code
    assert b"unexpected" not in done.stderr
    assert b"Traceback" not in done.stderr


def test_what_the_system_refuses_is_said_in_its_words(
    run: Run, failing: pytest.MonkeyPatch
) -> None:
    """Such as a full disk."""
    fail_with(OSError(28, "No space left on device", "model"), failing)
    assert run("demo").refusal(code=1)[0] == "model: no space left on device"


def test_a_full_disk_is_an_error(village: Path) -> None:
    """What was not written must not look written."""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*START, "model", "info", str(village)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.startswith("reticent: error: no space left on device\n")


def test_a_reader_that_has_gone_is_not_told_so(village: Path) -> None:
    """As in `reticent model info | head -1`."""
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*START, "model", "info", str(village)], stdout=writing, stderr=subprocess.PIPE, check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


def test_a_terminal_without_such_letters_is_served_too(tmp_path: Path) -> None:
    """What it cannot show is shown by number."""
    path = tmp_path / "m.safetensors"
    write(replace(cli_model(), source="\N{GREEK SMALL LETTER LAMDA}"), path)
    done = subprocess.run(
        [*START, "model", "info", str(path)],
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
    )
    assert rb"  source      \u03bb" in done.stdout


def test_colour_is_for_terminals_that_want_it(
    run: Run, village: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here there is none, so that nothing is added to the text."""
    monkeypatch.setenv("NO_COLOR", "1")
    plain = run("model", "info", village).out
    monkeypatch.delenv("NO_COLOR")
    assert run("model", "info", village).out == plain
    assert "\x1b" not in plain
