"""The outermost frame: every failure is one sentence, a hint and an exit code, for all commands."""

import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.cli.interrupt import Interrupted
from agent.cli.main import outcome, program
from agent.cli.options import QUERY
from agent.cli.printing import strong
from agent.paths import paths
from agent.wire.base import LONGEST_QUERY
from agent.wire.decide import Ask
from agent.words.layout import WIDTH, Column, facts, paragraph, table
from tests.cli.conftest import Run, process
from tests.cli.daemon import ANSWER
from tests.waiting import PATIENCE
from tests.wire.fake import FakeDaemon

# The command in a process of its own, as a shell starts it.
START = [sys.executable, "-c", "from agent.cli.main import run; run()"]
ASKED = "heard of job"
MAY = {"know", "settings"}  # an example, and settings: nothing of a profile's


def commands(
    group: click.Group = program, above: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield above, group
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        assert found is not None
        if isinstance(found, click.Group):
            yield from commands(found, (*above, name))
        else:
            yield (*above, name), found


ALL = dict(commands())
LEAVES = {" ".join(name): each for name, each in ALL.items() if not isinstance(each, click.Group)}


def test_every_command_explains_itself_in_80_columns(run: Run) -> None:
    """By either name of the option, on the output; no line is cut short, as click does."""
    for command in ALL:
        ran = run(*command, "--help")
        assert ran == run(*command, "-h")
        assert (ran.code, ran.err) == (0, "")
        assert ran.out.startswith(" ".join(("Usage: reticent", *command)))
        first, *lines = ran.out.splitlines()
        assert max(map(len, (first, *lines))) <= 80, command
        assert not [line for line in lines if line.endswith("...")], command


def test_a_group_called_alone_runs_its_usual_command_or_shows_what_it_has(run: Run) -> None:
    """The help is a mistake all the same, so that a script notices."""
    usual = {"daemon": "run", "model": "list", "policy": "show", "profile": "show"}
    for group, default in {**usual, "requests": "list"}.items():
        assert run(group, "--xyzzy") == run(group, default, "--xyzzy")
        assert run(group, "-h").out.startswith(f"Usage: reticent {group} [OPTIONS] COMMAND")
    for groups in ((), ("lab",)):
        ran = run(*groups)
        assert (ran.code, ran.out) == (2, "")
        assert ran.err == run(*groups, "--help").out


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
    wanted = ["screens"] if begun else ["begin"]
    context = program.make_context("reticent", [])
    assert [*context._protected_args, *context.args] == wanted  # noqa: SLF001  (click's own)


def _fail_with(error: BaseException, patch: pytest.MonkeyPatch) -> None:

    def read(path: Path) -> None:
        del path
        raise error

    patch.setattr("agent.cli.demo.read", read)


def test_what_went_wrong_is_one_sentence(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a defect the kind and the place: the message might quote a value. Whoever mends sees all.

    DuckDB makes a RuntimeError of an interruption; another error after it is not what went wrong.
    """
    monkeypatch.delenv("RETICENT_DEBUG", raising=False)
    _fail_with(Interrupted(), monkeypatch)
    assert run("demo").refusal(code=130)[0] == "interrupted"
    _fail_with(OSError(28, "No space left on device", "model"), monkeypatch)
    assert run("demo").refusal(code=1)[0] == "model: no space left on device"

    def read(path: Path) -> None:
        del path
        try:
            signal.raise_signal(signal.SIGINT)
        except Interrupted:
            raise RuntimeError("query interrupted") from None

    monkeypatch.setattr("agent.cli.demo.read", read)
    assert run("demo").refusal(code=130)[0] == "interrupted"
    _fail_with(KeyError("her salary"), monkeypatch)
    error, hint = run("demo").refusal(code=1)
    assert error.startswith("unexpected KeyError in test_main.py, line ")
    assert "RETICENT_DEBUG=1" in hint
    assert "salary" not in error + hint
    monkeypatch.setenv("RETICENT_DEBUG", "1")
    with pytest.raises(KeyError):
        outcome(["demo"])


def test_nothing_that_was_typed_steers_the_terminal(run: Run) -> None:
    """The nearest is named all the same."""
    error, hint = run("sta\x1b[2Jtus").refusal()
    assert "unknown command 'sta\\x1b[2Jtus'" in error
    assert "did you mean 'status'?" in hint
    assert "a\ufffd[2Jb.x: no such file" in run("model", "info", "a\x1b[2Jb.x").refusal()[0]


def test_ctrl_c_ends_a_process_with_one_line() -> None:
    """As a terminal sends it, to a command that waits."""
    wait = "demo.read = lambda path: print(flush=True) or time.sleep(60)"
    script = f"import agent.cli.demo as demo, time; {wait}\n{START[-1]}"
    with process(sys.executable, "-c", script, "demo") as started:
        assert started.stdout is not None
        started.stdout.readline()
        started.send_signal(signal.SIGINT)
        out, err = started.communicate(timeout=PATIENCE)
    assert (started.returncode, out) == (130, "")
    assert err.splitlines()[0] == "reticent: error: interrupted"
    assert len(err.splitlines()) == 2


def test_numbers_are_computed_in_one_thread() -> None:
    """Which is settled before NumPy is loaded; a user who wants more has them."""
    shown = "print('numpy' in sys.modules, os.environ['OPENBLAS_NUM_THREADS'])"
    code = f"import atexit, os, sys; atexit.register(lambda: {shown}); {START[2]}"
    plain = {key: value for key, value in os.environ.items() if "THREADS" not in key}
    for threads, env in ((b"1", plain), (b"3", plain | {"OPENBLAS_NUM_THREADS": "3"})):
        printed = subprocess.check_output([sys.executable, "-c", code, "--version"], env=env)
        assert printed.split()[-2:] == [b"False", threads]


def test_a_closed_output_is_no_defect() -> None:
    """What nobody wants to see goes nowhere, and the exit code tells the rest."""
    for closed, command, code in (("<&- >&- 2>&-", "status --socket", 0), ("2>&-", "xyzzy", 2)):
        shell = ["/bin/sh", "-c", f'exec "$0" "$@" {closed}', *START, *command.split()]
        done = subprocess.run(shell, capture_output=True, check=False, timeout=PATIENCE)
        assert done.returncode == code
        assert b"unexpected" not in done.stderr
        assert b"Traceback" not in done.stderr


def test_a_full_disk_and_a_reader_that_has_gone_are_errors(village: Path) -> None:
    """What was not written must not look written; who has gone, as `head` has, is not told."""
    reading, writing = os.pipe()
    os.close(reading)
    with Path("/dev/full").open("w") as full:
        ends = [
            subprocess.run(
                [*START, "model", "info", str(village)],
                stdout=out,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
                timeout=PATIENCE,
            )
            for out in (full, writing)
        ]
    os.close(writing)
    assert [each.returncode for each in ends] == [1, 1]
    assert ends[0].stderr.startswith("reticent: error: no space left on device\n")
    assert ends[1].stderr == ""


def test_every_query_can_come_from_the_standard_input() -> None:
    """Whichever command takes one; none takes a pair that is a value of the user's own."""
    taken = [(name, each) for name, command in LEAVES.items() for each in command.params]
    queries = [(name, each.type) for name, each in taken if each.name == "query"]
    assert {name for name, _ in queries} == {
        *("ask", "model curve", "model decide"),
        *("policy show", "policy set"),
    }
    assert {kind for _, kind in queries} == {QUERY}
    paired = {(name, each.name) for name, each in taken if "=" in str(each.metavar or "")}
    hypothetical = {(name, each) for name in ("model decide", "model curve") for each in MAY}
    assert paired == {*hypothetical, ("policy set", "pairs")}


def test_the_query_is_what_is_piped_or_typed(
    piped: Run, fake: FakeDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whole, but for the end of its last line; it is asked for on the error stream."""
    for piped_text, query in (
        (f"{ASKED}\n", ASKED),
        (f"{ASKED}\r\n", ASKED),
        (f" {ASKED}", f" {ASKED}"),
        ("a\nb\n", "a\nb"),
    ):
        fake.calls.clear()
        assert piped("ask", "a.example", "-", given=piped_text).code == 0
        assert fake.calls[0] == ("decide", {"body": Ask(query=query, recipient="a.example")})
    fake.calls.clear()
    monkeypatch.setattr("agent.cli.options.at_terminal", lambda: True)
    ran = piped("ask", "a.example", "-", "--json", given=f"{ASKED}\n")
    assert ran.record["id"] == ANSWER.id
    assert "Query:" in ran.err
    assert fake.calls[0] == ("decide", {"body": Ask(query=ASKED, recipient="a.example")})


def test_what_cannot_be_asked_is_one_sentence(piped: Run, fake: FakeDaemon) -> None:
    """Of ours, before the daemon is asked anything."""
    for recipient, query, piped_text, error in (
        ("a.example", "-", "", "the query is empty"),
        ("a.example", " ", "", "the query is empty"),
        ("", "q", "", "the recipient is empty"),
        ("h" * 5000, "q", "", "the recipient is too long"),
        ("a.example", "q" * 5000, "", "the query is too long"),
        ("a.example", "-", "q" * (LONGEST_QUERY + 1), "the query is too long"),
        ("a.example", "q\udcff", "", "the query is not text in UTF-8"),
        ("h.\udcff", "q", "", "part of this is not text in UTF-8"),
    ):
        said, hint = piped("ask", recipient, query, given=piped_text).refusal()
        assert said == error
        assert hint
    assert fake.calls == []


# What runs until it is stopped, and what changes the system beyond the home of the test.
APART = {"daemon run", "unlock", "demo", "model curve", "vault purge"}  # as `decide` is the curve
APART_GROUPS = ("lab ",)
ODD = ("", "-", "=", "h" * 5000, "\udcff\udcfe", "\x1b[2J\a", "-1", "9" * 20, "@x", "/x/y")


@pytest.mark.parametrize(
    "name", [n for n in LEAVES if n not in APART and not n.startswith(APART_GROUPS)]
)
def test_odd_arguments_end_in_a_sentence(
    run: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Whatever is given to whichever command: no traceback, no screenful, nothing that steers."""
    assert home.is_dir()
    monkeypatch.chdir(tmp_path)
    taken = LEAVES[name].params
    places = [each for each in taken if isinstance(each, click.Argument)]
    options = [e.opts[0] for e in taken if isinstance(e, click.Option) and not e.is_flag]
    for odd in ODD:
        tries = [[odd] * len(places), *([*["x"] * len(places), each, odd] for each in options)]
        for attempt in tries:
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
            ran = run(*name.split(), *attempt)
            lines = [line for line in ran.err.splitlines() if line.startswith("reticent: ")]
            assert ran.code in range(6)
            shown = ran.err + ran.out
            assert not any(sign in shown for sign in ("Traceback", "unexpected ", "\x1b", "\a"))
            assert not any(sign in ran.err for sign in ("openapi", "is not a valid", "<=x"))
            assert all(len(line) < 1000 for line in lines)
            assert ran.code == 0 or lines or ran.out or "Usage" in ran.err


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="only Linux shows it there")
def test_nobody_else_sees_what_is_asked(home: Path) -> None:
    """A process that waits for its query has nothing of it among its arguments, then or later."""
    command = [sys.executable, "-m", "agent.cli", "model", "decide", "--query", "-", "--json"]
    assert home.is_dir()
    with process(*command) as running:
        time.sleep(0.5)  # in which it comes to wait for the query
        own = Path(f"/proc/{running.pid}")
        seen = [(own / name).read_bytes() for name in ("cmdline", "environ")]
        out, _ = running.communicate(ASKED, timeout=PATIENCE)
    assert b"decide" in seen[0]
    assert (running.returncode, ASKED in out) == (0, True)
    assert not any(ASKED.encode() in each for each in seen)


WORDS = st.from_regex(r"[a-z][a-z0-9_]{0,11}", fullmatch=True)
SENTENCES = st.lists(WORDS, min_size=1, max_size=40).map(" ".join)
few = settings(max_examples=20)


@few
@given(
    st.lists(st.tuples(SENTENCES, WORDS, SENTENCES), min_size=1, max_size=4),
    st.sampled_from([0, 2]),
)
def test_a_table_keeps_every_word_within_its_columns(
    rows: list[tuple[str, str, str]], wrapping: int
) -> None:
    """One column gives way, and the others stay whole; numbers stand to the right."""
    short = [tuple(each if i in (1, wrapping) else "x" for i, each in enumerate(r)) for r in rows]
    columns = [Column(f"c{place}", wraps=place == wrapping) for place in range(3)]
    text = table(columns, short)
    assert max(map(len, text.splitlines())) <= WIDTH
    assert sorted(text.split()) == sorted(" ".join(["c0 c1 c2", *map(" ".join, short)]).split())
    text = table([Column("name"), Column("bits", right=True)], [("a", "1.5"), ("bcd", "22.5")])
    assert text == "  name  bits\n  a      1.5\n  bcd   22.5"
    assert table([Column("name")], []) == facts([]) == ""


@few
@given(st.lists(st.tuples(SENTENCES, st.lists(WORDS, min_size=1, max_size=4)), max_size=6))
def test_no_line_ends_in_a_command(parts: list[tuple[str, list[str]]]) -> None:
    """What is to be typed stands in one line, and no word is lost; wherever it stands."""
    commands = [f"`{' '.join(words)}`" for _, words in parts]
    text = " ".join(f"{before} {each}" for (before, _), each in zip(parts, commands, strict=True))
    for shown in (paragraph(text), paragraph(text, "  "), facts([("name", text)])):
        assert max(map(len, shown.splitlines()), default=0) <= WIDTH
        assert shown.removeprefix("  name").split() == text.split()
        assert all(each in shown for each in commands)
    bold = strong(paragraph(text)).splitlines()
    assert [line[4:-4] for line in bold] == paragraph(text).splitlines()
    long = f"`{text.replace('`', '')} {'word ' * WIDTH}`"  # broken, at a space
    assert paragraph(long).split() == long.split()
