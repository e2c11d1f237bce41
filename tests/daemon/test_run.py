"""The daemon begins once, and ends cleanly, whenever it is asked to."""

import os
import re
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import sleep

import pytest

from agent.daemon.run import Options, run
from agent.errors import DaemonError, UsageError
from agent.paths import Paths
from tests.daemon.fakes import ASK, Said, asked, fake_inside, short_home
from tests.house.tree import ROOT

PROGRAM = """
import sys
from agent.daemon.run import Options, run
from agent.errors import ReticentError
from agent.paths import paths
from tests.daemon import fakes
try:
    run(paths(), Options({options}), fakes.{inside})
except ReticentError as error:
    sys.exit(f"{{error}} / {{error.hint}}")
"""
SWITCH = "systemd-socket-activate"


@pytest.fixture
def home() -> Iterator[Paths]:
    """Return the paths of a machine on which nothing is yet."""
    with short_home() as made:
        yield made


def begun(
    home: Paths, options: str = "", inside: str = "fake_inside", before: tuple[str, ...] = ()
) -> subprocess.Popen[str]:
    """Begin a daemon in a process of its own; it need not be ready."""
    program = PROGRAM.format(options=options, inside=inside)
    environment = {**os.environ, "RETICENT_HOME": str(home.config.parent)}
    command = [*before, sys.executable, "-c", program]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=environment)


def until(process: subprocess.Popen[str], mark: str) -> str:
    """Return what a daemon says up to the first line with a mark in it."""
    assert process.stderr is not None
    said = ""
    for line in process.stderr:
        said += line
        if mark in line:
            return said
    raise AssertionError(said)


@contextmanager
def running(home: Paths, inside: str = "fake_inside") -> Iterator[subprocess.Popen[str]]:
    """Run a daemon, and make sure that it ends when it is told to, if it has not ended yet."""
    process = begun(home, "", inside)
    try:
        until(process, "ready")
        yield process
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        ended(process)
    finally:
        process.kill()
        process.communicate()


def ended(process: subprocess.Popen[str]) -> str:
    """Wait until a daemon has ended of itself; return what it said last."""
    assert process.stderr is not None
    said = process.stderr.read()
    assert process.wait(30) == 0, said
    return said


def ask(at: Path, method: str = "GET", path: str = "/v1/status", body: object = None) -> Said:
    """Ask a daemon at a socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as opened:
        opened.settimeout(30)
        opened.connect(str(at))
        return asked(opened, method, path, body)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it(home: Paths, number: int) -> None:
    """Its sockets are gone, and what is open is closed; the folders were made for us alone."""
    with running(home, "noting_inside") as process:
        assert ask(home.query).body == {"version": "0", "locked": True}
        assert ask(home.control).status == 200
        for folder in (home.config, home.data, home.state, home.runtime):
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        process.send_signal(number)
        assert "ending" in ended(process)
    assert [*home.runtime.iterdir()] == []
    assert (home.data / "noted").read_text() == "locked\n"


def test_a_call_ends_it(home: Paths) -> None:
    """And is answered."""
    with running(home) as process:
        assert ask(home.control, "POST", "/v1/shutdown").body == {"done": True}
        ended(process)
    assert [*home.runtime.iterdir()] == []


def test_a_signal_at_any_moment_of_the_start_ends_it(home: Paths) -> None:
    """As soon as it listens to signals; nothing is left behind, and the next one starts."""
    for inside in ("ending_inside", "killing_inside"):
        process = begun(home, "", inside)
        _, said = process.communicate(timeout=30)
        assert (process.returncode == 0) == (inside == "ending_inside"), said
    with running(home):
        assert ask(home.query).status == 200
    assert [*home.runtime.iterdir()] == []


def test_a_second_daemon_is_told_of_the_first_and_harms_nothing(home: Paths) -> None:
    """The sockets stay those of the first."""
    with running(home) as process:
        before = home.control.stat().st_ino
        second = begun(home)
        _, said = second.communicate(timeout=30)
        hint = f"use it, or run: kill {process.pid}"
        assert said == f"a daemon runs already (process {process.pid}) / {hint}\n"
        assert second.returncode == 1
        assert home.control.stat().st_ino == before
        assert ask(home.query).status == 200


def test_of_many_that_begin_at_once_one_runs(home: Paths) -> None:
    """Whoever is first; all others say so."""
    several = [begun(home) for _ in range(4)]
    try:
        while sum(each.poll() is not None for each in several) < 3:
            sleep(0.01)
        (one,) = (each for each in several if each.poll() is None)
        until(one, "ready")
        assert ask(home.control).status == 200
    finally:
        for each in several:
            each.terminate()
        said = [each.communicate()[1] for each in several]
    assert sum("a daemon runs already" in each for each in said) == 3
    assert [*home.runtime.iterdir()] == []


def test_one_that_was_killed_leaves_nothing_in_the_way(home: Paths) -> None:
    """Its sockets are there, but nobody listens; the next one takes their place."""
    with running(home) as first:
        first.kill()
        first.wait()
        assert home.control.is_socket()
        first.returncode = 0
    with running(home):
        assert ask(home.control).status == 200


def test_running_calls_end_before_it_does(home: Paths) -> None:
    """Whoever has begun to ask is answered; here one who sends the rest of it late."""
    with running(home) as process, socket.socket(socket.AF_UNIX) as opened:
        opened.connect(str(home.query))
        head = b"POST /v1/decide HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        opened.sendall(head + b"Content-Length: 33\r\nExpect: 100-continue\r\n\r\n")
        assert b"100 Continue" in opened.recv(1000)  # it is being read
        process.send_signal(signal.SIGTERM)
        until(process, "ending")
        opened.sendall(b'{"query": "x", "recipient": "y"} ')
        assert b'"code":"answered"' in opened.recv(1000)
        ended(process)


def test_a_signal_in_the_middle_of_a_write_waits(home: Paths) -> None:
    """A call is one step: what it begins, it ends and answers, before anything is closed."""
    with running(home, "writing_inside") as process:
        assert ask(home.query, "POST", "/v1/decide", ASK).body["code"] == "answered"
        ended(process)
    assert (home.data / "noted").read_text() == "begun\nwritten\nlocked\n"


def test_an_open_stream_does_not_hold_it_up(home: Paths) -> None:
    """It is told, and ends."""
    with running(home) as process, socket.socket(socket.AF_UNIX) as opened:
        opened.connect(str(home.control))
        opened.sendall(b"GET /v1/events HTTP/1.1\r\nHost: x\r\n\r\n")
        while b": listening" not in opened.recv(1000):
            pass
        process.send_signal(signal.SIGTERM)
        ended(process)
        assert b": the daemon ends\n\n" in b"".join(iter(lambda: opened.recv(1000), b""))


def test_a_hangup_reads_the_files_again(home: Paths) -> None:
    """As of other daemons; it does not end."""
    noted = home.data / "noted"
    with running(home, "noting_inside") as process:
        process.send_signal(signal.SIGHUP)
        while not (noted.exists() and noted.read_text()):
            sleep(0.01)
        assert noted.read_text() == "reloaded\n"
        assert ask(home.query).status == 200
    assert noted.read_text() == "reloaded\nlocked\n"


def test_a_defect_beside_the_calls_ends_it_and_locks(home: Paths) -> None:
    """It must not go on without what locks the vault."""
    process = begun(home, "", "failing_inside")
    _, said = process.communicate(timeout=30)
    assert process.returncode == 1
    assert said.endswith("ZeroDivisionError: integer division or modulo by zero\n")
    assert (home.data / "noted").read_text() == "locked\n"
    assert [*home.runtime.iterdir()] == []


def test_a_folder_that_is_not_ours_alone_is_refused(home: Paths) -> None:
    """Before anything is put into it."""
    home.runtime.mkdir(0o700)
    home.runtime.chmod(0o777)
    with pytest.raises(UsageError, match="others can write to this folder"):
        run(home, Options(), fake_inside)
    assert [*home.runtime.iterdir()] == []


def test_a_failing_start_puts_everything_back(home: Paths) -> None:
    """Signals, the umask, the lock, the sockets."""
    handlers = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)]
    before = os.umask(0o022)
    try:
        for _ in range(2):
            with pytest.raises(DaemonError, match="there is no port"):
                run(home, Options(listen=70000), fake_inside)
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)] == handlers
    assert [*home.runtime.iterdir()] == []


def test_it_listens_on_this_machine_if_it_is_asked_to(home: Paths) -> None:
    """It says where, and where the token lies."""
    process = begun(home, "listen=0, origins=('https://page.example',)")
    try:
        said = until(process, "ready")
        found = re.search(
            r"listening at http://127\.0\.0\.1:(\d+), with the token in (\S+)\n", said
        )
        assert found
        token = Path(found[2]).read_text().strip()
        assert token not in said
        for given, status in ((token, 200), ("x", 401)):
            with socket.create_connection(("127.0.0.1", int(found[1]))) as opened:
                headers = {
                    "Host": f"localhost:{found[1]}",
                    "Authorization": f"Bearer {given}",
                    "Origin": "https://page.example",
                }
                assert asked(opened, "GET", "/v1/status", None, headers).status == status
    finally:
        process.terminate()
        process.communicate()


def test_the_log_has_nothing_of_what_was_asked(home: Paths) -> None:
    """Neither of what was answered, nor of what failed, nor of what was no request."""
    body = {"query": "rare disease", "recipient": "clinic.example", "asked": ["gender"]}
    with running(home, "loud_inside"):
        for path, sent in (("/v1/decide", body), ("/v1/clicked", body), ("/v1/unlock", body)):
            for at in (home.query, home.control):
                ask(at, "POST", path, sent)
        ask(home.control, "GET", "/v1/ledger?recipient=clinic.example")
        ask(home.control, "GET", "/v1/knowledge/clinic.example")
        ask(home.query, "GET", "/clinic.example?rare+disease")
        with socket.socket(socket.AF_UNIX) as opened:
            opened.connect(str(home.query))
            opened.sendall(b"rare disease at clinic.example\r\n\r\n")
            assert b" 400 " in opened.recv(1000)
    text = home.log.read_text()
    assert text.count("decide failed: RuntimeError in fakes.py, line") == 2
    assert re.search("ready .*ending", text, re.DOTALL)
    for word in ("rare", "disease", "clinic", "gender", "married", "Traceback"):
        assert word not in text


def test_systemd_hands_over_its_sockets(home: Paths) -> None:
    """And keeps them: they are there when the daemon has ended."""
    home.runtime.mkdir(0o700, parents=True)
    ours = [home.runtime / "c", home.runtime / "q"]
    listening = [part for path in ours for part in ("-l", str(path))]
    names = ["--fdname=control:query", f"--setenv=RETICENT_HOME={home.config.parent}"]
    process = begun(home, "", "fake_inside", (SWITCH, *names, *listening, "--"))
    try:
        until(process, "Listening on")
        until(process, "Listening on")
        assert ask(ours[1]).body == {"version": "0", "locked": True}
        assert ask(ours[0]).body == {"done": True}
        assert [*home.runtime.glob("*.sock")] == []
        assert ask(ours[0], "POST", "/v1/shutdown").body == {"done": True}
        ended(process)
        assert all(path.is_socket() for path in ours)
    finally:
        process.kill()
        process.communicate()


def test_systemd_is_told_when_it_is_ready(home: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """And when it is not any more."""
    place = home.config.parent / "n"
    monkeypatch.setenv("NOTIFY_SOCKET", str(place))
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(str(place))
        heard.settimeout(30)
        with running(home):
            assert heard.recv(100) == b"READY=1"
        assert heard.recv(100) == b"STOPPING=1"
