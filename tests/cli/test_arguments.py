"""What is private is never needed as an argument, which every user of the machine can read."""

import io
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from agent.cli.main import program
from agent.cli.options import QUERY
from agent.wire.base import LONGEST_QUERY
from agent.wire.decide import Ask
from tests.cli.conftest import PATIENCE, Run, process
from tests.cli.daemon import ANSWER
from tests.wire.fake import FakeDaemon

ASKED = "heard of job"
PAIRED = {  # what takes NAME=VALUE, and why it may: nothing of the user's profile is needed there
    (
        "model decide",
        "know",
    ): "an example of what a recipient holds; `ask --dry-run` has what it does",
    ("model curve", "know"): "the same",
    ("model decide", "sensitivity"): "bits",
    ("model curve", "sensitivity"): "bits",
    ("model decide", "guard"): "a weight",
    ("model curve", "guard"): "a weight",
    ("policy set", "pairs"): "settings of the policy",
}


def commands(
    group: click.Group = program, above: tuple[str, ...] = ()
) -> Iterator[tuple[str, click.Command]]:
    """Yield every command with its name."""
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        assert found is not None
        if isinstance(found, click.Group):
            yield from commands(found, (*above, name))
        else:
            yield " ".join((*above, name)), found


ALL = dict(commands())


def test_every_query_can_come_from_the_standard_input() -> None:
    """Whichever command takes one; none takes a pair that is a value of the user's own."""
    queries = {
        (name, each.name): each.type
        for name, command in ALL.items()
        for each in command.params
        if each.name == "query"
    }
    assert {name for name, _ in queries} == {
        "ask",
        "model curve",
        "model decide",
        "policy explain",
        "policy set",
        "policy unset",
        "requests whatif",
    }
    assert {*queries.values()} == {QUERY}
    paired = {
        (name, each.name)
        for name, command in ALL.items()
        for each in command.params
        if "=" in str(each.metavar or "")
    }
    assert paired == PAIRED.keys()


@pytest.mark.parametrize(
    ("given", "query"),
    [
        (f"{ASKED}\n", ASKED),
        (f"{ASKED}\r\n", ASKED),
        (f" {ASKED}", f" {ASKED}"),
        ("a\nb\n", "a\nb"),
    ],
)
def test_the_query_is_what_is_piped(piped: Run, fake: FakeDaemon, given: str, query: str) -> None:
    """Whole, but for the end of its last line."""
    assert piped("ask", "a.example", "-", given=given).code == 0
    assert fake.calls[0] == ("decide", {"body": Ask(query=query, recipient="a.example")})


def test_the_query_is_asked_for_at_a_terminal(
    piped: Run, fake: FakeDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the error stream; the output is the answer's."""
    monkeypatch.setattr("agent.cli.options.at_terminal", lambda: True)
    ran = piped("ask", "a.example", "-", "--json", given=f"{ASKED}\n")
    assert ran.record["id"] == ANSWER.id
    assert "Query:" in ran.err
    assert fake.calls[0] == ("decide", {"body": Ask(query=ASKED, recipient="a.example")})


@pytest.mark.parametrize(
    ("arguments", "given", "error"),
    [
        (["a.example", "-"], "", "the query is empty"),
        (["a.example", " "], "", "the query is empty"),
        (["", "q"], "", "the recipient is empty"),
        (["h" * 5000, "q"], "", "the recipient is too long"),
        (["a.example", "q" * 5000], "", "the query is too long"),
        (["a.example", "-"], "q" * (LONGEST_QUERY + 1), "the query is too long"),
        (["a.example", "q\udcff"], "", "the query is not text in UTF-8"),
        (["h\udcff", "q"], "", "part of this is not text in UTF-8"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(
    piped: Run, fake: FakeDaemon, arguments: list[str], given: str, error: str
) -> None:
    """Of ours, before the daemon is asked anything."""
    said, hint = piped("ask", *arguments, given=given).refusal()
    assert said == error
    assert hint
    assert fake.calls == []


# What runs until it is stopped, and what changes the system beyond the home of the test.
APART = frozenset(
    {"daemon run", "requests review", "requests watch", "unlock", "demo", "vault purge"}
)
APART_GROUPS = ("lab ", "daemon service ", "browser ")
ODD = (
    "",
    " ",
    "-",
    "=",
    "h" * 5000,
    "\udcff\udcfe",
    "\x1b[2J",
    "-1",
    "9" * 20,
    "nan",
    "@x",
    "/x/y",
)


@pytest.mark.parametrize(
    "name", [n for n in ALL if n not in APART and not n.startswith(APART_GROUPS)]
)
def test_odd_arguments_end_in_a_sentence(
    run: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Whatever is given to whichever command: no traceback, no screenful, nothing that steers."""
    assert home.is_dir()
    monkeypatch.chdir(tmp_path)
    places = [each for each in ALL[name].params if isinstance(each, click.Argument)]
    options = [
        each.opts[0]
        for each in ALL[name].params
        if isinstance(each, click.Option) and not each.is_flag
    ]
    for odd in ODD:
        tries = [[odd] * len(places), *([*["x"] * len(places), each, odd] for each in options)]
        for given in tries:
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
            ran = run(*name.split(), *given)
            lines = [line for line in ran.err.splitlines() if line.startswith("reticent: ")]
            assert ran.code in (0, 1, 2)
            shown = ran.err + ran.out
            assert not any(sign in shown for sign in ("Traceback", "unexpected ", "\x1b"))
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
