"""The daemon begins once, where nobody else is, and tells nothing of what it is asked."""

import os
import re
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import to_builtins

from agent.daemon.run import Options, run
from agent.errors import DaemonError, UsageError
from agent.paths import Paths
from tests.daemon.begun import ask, begun, ended, running, until
from tests.daemon.fakes import LOCKED, asked, short_home
from tests.daemon.insides import fake_inside
from tests.vault.dumps import NEVER

SWITCH = "systemd-socket-activate"


@pytest.fixture
def home() -> Iterator[Paths]:
    """Return the paths of a machine on which nothing is yet."""
    with short_home() as made:
        yield made


def test_a_second_daemon_is_told_of_the_first_and_harms_nothing(home: Paths) -> None:
    """The sockets stay those of the first."""
    with running(home) as process:
        before = home.control.stat().st_ino
        second = begun(home)
        _, said = second.communicate(timeout=30)
        hint = f"use it, or run: kill {process.pid}"
        assert said == f"a daemon is already running (process {process.pid}) / {hint}\n"
        assert second.returncode == 1
        assert home.control.stat().st_ino == before
        assert ask(home.query).status == 200


def test_a_folder_that_is_not_ours_alone_is_refused(home: Paths) -> None:
    """Before anything is put into it."""
    home.runtime.mkdir(0o700)
    home.runtime.chmod(0o777)
    with pytest.raises(UsageError, match="other users can write to this folder"):
        run(home, Options(), build=fake_inside)
    assert [*home.runtime.iterdir()] == []


def test_a_failing_start_puts_everything_back(home: Paths) -> None:
    """Signals, the umask, the lock, the sockets."""
    handlers = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)]
    before = os.umask(0o022)
    try:
        for _ in range(2):
            with pytest.raises(DaemonError, match="there is no port"):
                run(home, Options(listen=70000), build=fake_inside)
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
    assert text.count("decide failed: RuntimeError in insides.py, line") == 2
    assert re.search("ready .*ending", text, re.DOTALL)
    for word in ("rare", "disease", "clinic", "gender", "married", "Traceback"):
        assert word not in text


def test_no_core_file_is_made_of_it(home: Paths) -> None:
    """From before anything is read that is secret."""
    with running(home, "undumped_inside"):
        assert (home.data / "noted").read_text() == f"{NEVER}\n"


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
        assert ask(ours[1]).body == to_builtins(LOCKED)
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
