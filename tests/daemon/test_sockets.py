"""The daemon's sockets, its own, at a port and handed over; and how many connections there are."""

import os
import resource
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon import sockets
from agent.daemon.sockets import (
    ADDRESS,
    MOST,
    MOST_AT_PORT,
    PARTS,
    TOKEN,
    WANTED,
    Capped,
    OwnSocket,
    adopted,
    alone,
    at_port,
    doors,
    more_files,
    notify,
    share,
    token_of,
)
from agent.errors import DaemonError, UsageError
from agent.paths import HOME, Paths, paths
from agent.wire.client import NOBODY
from agent.wire.routes import CONTROL, QUERY
from tests.worlds.doors import serving, short_home
from tests.worlds.processes import ask, begun, until

FOREIGN = 65534
PROCESS = 4711
VISIT = """
import os, socket, sys
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(int(sys.argv[2])); os.setuid(int(sys.argv[2]))
opened = socket.socket(socket.AF_UNIX)
opened.settimeout(30)
opened.connect(sys.argv[1])
try:
    opened.sendall(b"GET /v1/status HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n")
    got = opened.recv(100)
except (BrokenPipeError, ConnectionResetError):
    got = b""
print(os.geteuid(), got[:15].decode())
"""
FILES = 256  # that the daemon under test may have open at once, by whatever limit
FEW = ("sh", "-c", f'ulimit -n {FILES}; exec "$@"', "sh")
FULL = FILES // PARTS
PATIENCE = 30.0  # seconds, for what takes five at most
UNLIMITED = resource.RLIM_INFINITY
LIMITS = st.one_of(st.just(UNLIMITED), st.integers(16, 10**6))


@pytest.fixture
def home() -> Iterator[Paths]:
    """Return the paths of a machine on which nothing is yet."""
    with short_home() as made:
        for folder in (made.state, made.runtime):
            folder.mkdir(0o700)
        yield made


def mode(path: Path) -> int:
    """Return the permissions of a file."""
    return stat.S_IMODE(path.stat().st_mode)


def reaches(path: Path) -> bool:
    """Return whether somebody listens at a socket."""
    with socket.socket(socket.AF_UNIX) as opened:
        return opened.connect_ex(str(path)) == 0


def leave_stale(path: Path) -> None:
    """Leave a socket behind as a daemon does that was killed."""
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))


def test_a_socket_is_private_from_the_moment_it_exists(
    home: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the umask, which is as it was then; and it is gone in the end."""
    seen: list[int] = []
    bind = OwnSocket.bind

    def watched(self: OwnSocket, address: str) -> None:
        bind(self, address)
        seen.append(mode(Path(address)))

    monkeypatch.setattr(OwnSocket, "bind", watched)
    for umask in (0, 0o022, 0o077):
        before = os.umask(umask)
        try:
            with doors(home, {}) as opened:
                assert {*opened} == {CONTROL, QUERY}
                assert reaches(home.control)
                assert reaches(home.query)
            assert os.umask(umask) == umask
        finally:
            os.umask(before)
        assert [*home.runtime.iterdir()] == []
    assert seen == [0o600] * 6


def test_a_stale_socket_is_replaced_and_what_is_none_is_left_alone(home: Paths) -> None:
    """A daemon that was killed left the one; somebody put a file, a folder or a link there."""

    def link() -> None:
        home.query.symlink_to("elsewhere")

    leave_stale(home.control)
    with doors(home, {}):
        assert reaches(home.control)
    for make in (home.query.touch, home.query.mkdir, link):
        make()
        before = home.query.lstat()
        with pytest.raises(DaemonError, match="not a socket is in the way"), doors(home, {}):
            pass
        assert home.query.lstat() == before
        assert [*home.runtime.iterdir()] == [home.query]
        (home.query.rmdir if stat.S_ISDIR(before.st_mode) else home.query.unlink)()


def test_a_socket_that_is_not_ours_stays(home: Paths) -> None:
    """Somebody has put another in its place, or systemd listens at it still."""
    with doors(home, {}):
        home.control.unlink()
        leave_stale(home.control)
        home.query.unlink()
    assert [*home.runtime.iterdir()] == [home.control]
    with OwnSocket(socket.AF_UNIX, socket.SOCK_STREAM) as given_:
        given_.bind(str(home.query))
        given_.listen()
        with doors(home, {QUERY: given_}) as opened:
            assert opened[QUERY] is given_
        assert given_.fileno() == -1
    assert [*home.runtime.iterdir()] == [home.query]


def test_where_no_socket_can_be_is_said(home: Paths) -> None:
    """Before anything is removed or made: too long a path, a folder that is not there."""
    long = paths({HOME: str(home.state / ("x" * 100))})
    home.runtime.rmdir()
    for where, error, what in (
        (long, UsageError, "the limit is 100"),
        (home, DaemonError, "cannot listen here: no such file"),
    ):
        with pytest.raises(error, match=what), doors(where, {}):
            pass


def test_a_second_daemon_is_told_of_the_first(home: Paths) -> None:
    """By its number, for as long as it runs; of what the file says only a number is believed."""
    for _ in range(2):
        with alone(home.daemon_lock):
            assert mode(home.daemon_lock) == 0o600
            with pytest.raises(DaemonError) as refused, alone(home.daemon_lock):
                pass
            assert refused.value.what == f"a daemon is already running (process {os.getpid()})"
            assert refused.value.hint == "use it, or run: reticent daemon stop"
            assert home.daemon_lock.read_text() == f"{os.getpid()}\n"
            for written in ("", "x", "-1", "1e3", "9" * 40, "٣"):
                home.daemon_lock.write_text(written)
                with pytest.raises(DaemonError, match="a daemon is already running") as refused:
                    alone(home.daemon_lock).__enter__()
                assert ("process" in refused.value.what) == (written == "9" * 40)
        assert home.daemon_lock.read_text() == ""


def test_a_lock_that_cannot_be_taken_is_said(home: Paths) -> None:
    """A link in its place may lead to anything; what blocks inside is not another daemon."""
    with pytest.raises(BlockingIOError), alone(home.daemon_lock):
        raise BlockingIOError
    home.daemon_lock.unlink()
    home.daemon_lock.symlink_to("elsewhere")
    with pytest.raises(DaemonError) as refused, alone(home.daemon_lock):
        pass
    assert refused.value.where == str(home.daemon_lock)
    assert not (home.state / "elsewhere").exists()


def test_another_user_is_refused_unread(home: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the next one, who is ours, is answered."""
    users = iter([os.geteuid() + 1, NOBODY, os.geteuid()])
    monkeypatch.setattr(sockets, "peer_uid", lambda _: next(users))
    with doors(home, {}) as opened, serving(QUERY, opened[QUERY]) as running:
        assert running.raw(b"") == b""
        assert running.raw(b"") == b""
        assert running.ask("GET", "/v1/status").status == 200
        assert [made[0] for made in running.api.made] == ["locked"]


def test_a_process_of_another_user_is_refused(home: Paths) -> None:
    """By who it is: the permissions would let it in here. It can be tried as root alone."""
    with doors(home, {}) as opened, serving(QUERY, opened[QUERY]):
        for folder in (home.runtime.parent, home.runtime):
            folder.chmod(0o755)
        home.query.chmod(0o666)
        command = [sys.executable, "-SE", "-c", VISIT, str(home.query), str(FOREIGN)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        user, answer = done.stdout.rstrip("\n").split(" ", 1)
        assert int(user) == (FOREIGN if os.geteuid() == 0 else os.geteuid())
        assert answer == ("" if os.geteuid() == 0 else "HTTP/1.1 200 OK")


def test_a_port_is_of_this_machine_alone() -> None:
    """With fewer connections; one that is taken, or that cannot be, is said."""
    with at_port(0) as listening:
        address, port = listening.getsockname()
        assert address == ADDRESS == "127.0.0.1"
        assert listening.most == MOST_AT_PORT < MOST
        with pytest.raises(DaemonError, match=f"cannot listen at 127.0.0.1:{port}: "):
            at_port(port)
    with pytest.raises(DaemonError, match="there is no port 65536"):
        at_port(65536)


def test_a_token_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    """One that others know, that could be guessed, or that is none is refused."""
    path = tmp_path / TOKEN
    first = token_of(path)
    assert token_of(path) == first != token_of(tmp_path / "other")
    assert mode(path) == 0o600
    assert len(first) >= 43
    path.chmod(0o640)
    with pytest.raises(DaemonError, match="other users can read this token"):
        token_of(path)
    path.chmod(0o600)
    for content in (b"", b"x" * 31, b"\xff" * 40):
        path.write_bytes(content)
        with pytest.raises(DaemonError, match="not a token"):
            token_of(path)
    path.write_bytes(b"x" * 201)
    with pytest.raises(UsageError):
        token_of(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(UsageError, match="is a directory"):
        token_of(path)


def handed(folder: Path, *names: str) -> int:
    """Open a listening socket for each name at descriptors in a row; return the first."""
    first = 200
    for index, name in enumerate(names):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as made:
            made.bind(str(folder / name))
            made.listen()
            os.dup2(made.fileno(), first + index, inheritable=True)
    return first


def variables(names: str, count: int, process: int = PROCESS) -> dict[str, str]:
    """Return the variables that systemd sets, and one that is not its."""
    listen = {"LISTEN_PID": str(process), "LISTEN_FDS": str(count), "LISTEN_FDNAMES": names}
    return {**listen, "OTHER": "x"}


def test_sockets_are_adopted_by_name(home: Paths) -> None:
    """Whatever their order; no child inherits them, or is told of them."""
    for names in (["control", "query"], ["query", "control"], ["query"]):
        first = handed(home.runtime, *names)
        environment = variables(":".join(names), len(names))
        taken = adopted(environment, PROCESS, first)
        assert environment == {"OTHER": "x"}
        assert {name: each.getsockname() for name, each in taken.items()} == {
            name: str(home.runtime / name) for name in names
        }
        for name, each in taken.items():
            assert isinstance(each, OwnSocket)
            assert not each.get_inheritable()
            each.close()
            (home.runtime / name).unlink()


def test_what_is_for_another_process_is_not_ours() -> None:
    """It inherited the variables, not the sockets."""
    own = {"LISTEN_PID": str(PROCESS)}
    for environment in (
        *({}, {"OTHER": "x"}, variables("control:query", 2, PROCESS + 1)),
        *(own, {**own, "LISTEN_FDS": "-1"}),
    ):
        assert adopted(environment, PROCESS) == {}
        assert not [name for name in environment if name.startswith("LISTEN")]


def test_other_names_and_what_is_no_listening_unix_socket_are_refused(home: Paths) -> None:
    """What is meant for control must never be answered as query is, nor the other way round."""
    for names, count in (
        *(("reticent.socket", 1), ("", 1), ("control", 2), ("query:query", 2)),
        ("control:query:x", 3),
    ):
        with pytest.raises(DaemonError, match="sockets with unexpected names"):
            adopted(variables(names, count), PROCESS)
    port = socket.create_server(("127.0.0.1", 0))
    idle = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    here, there = socket.socketpair(socket.AF_UNIX)
    with port, idle, here, there, (home.runtime / "file").open("w") as file:
        for each in (port.fileno(), idle.fileno(), here.fileno(), file.fileno(), 999):
            with pytest.raises(DaemonError, match="passed as query is not"):
                adopted(variables("query", 1), PROCESS, os.dup(each) if each < 999 else each)


def test_systemd_is_told(home: Paths) -> None:
    """At a path, or an abstract address; where nobody asks, that is no error."""
    for abstract in (False, True):
        name = str(home.runtime / "notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
            heard.settimeout(10)
            heard.bind("\0" + name if abstract else name)
            notify("READY=1", {"NOTIFY_SOCKET": "@" + name if abstract else name})
            assert heard.recv(100) == b"READY=1"
    for address in (None, "", "relative", "/nowhere/to/be/found"):
        notify("READY=1", {} if address is None else {"NOTIFY_SOCKET": address})


def number(limit: int) -> float:
    """Return a limit as a number."""
    return float("inf") if limit == UNLIMITED else limit


@contextmanager
def limits(soft: int, hard: int) -> Iterator[list[tuple[int, int]]]:
    """Let the system have these limits; return what they are set to, one after the other."""
    now = [(soft, hard)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resource, "getrlimit", lambda _: now[-1])
        patch.setattr(resource, "setrlimit", lambda _, pair: now.append(pair))
        yield now


@given(both=st.lists(LIMITS, min_size=2, max_size=2).map(lambda both: sorted(both, key=number)))
def test_as_many_files_as_the_system_allows(both: list[int]) -> None:
    """Never fewer than before, nor more than are wanted, and what is refused is borne."""
    soft, hard = both
    with limits(soft, hard) as now:
        with more_files():
            during, kept = now[-1]
            assert kept == hard
            assert number(during) == max(number(soft), min(number(hard), WANTED))
            assert share() <= number(during) / PARTS
        assert now[-1] == (soft, hard)
    with limits(16, UNLIMITED) as now, pytest.MonkeyPatch.context() as patch:
        patch.setattr(resource, "setrlimit", lambda *_: int("macOS refuses"))
        with more_files():
            assert share() == 16 // PARTS
        assert now == [(16, UNLIMITED)]


def connected(at: Path | int) -> socket.socket:
    """Return a connection that asks nothing."""
    if isinstance(at, int):
        return socket.create_connection(("127.0.0.1", at), timeout=PATIENCE)
    opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    opened.settimeout(PATIENCE)
    opened.connect(str(at))
    return opened


def test_one_too_many_is_closed_unread(home: Paths) -> None:
    """And there is room again when one has gone."""
    path = home.runtime / "s"
    with Capped(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(str(path))
        listening.listen()
        with ExitStack() as stack, limits(3 * PARTS, 3 * PARTS):
            taken = []
            for _ in range(3):
                stack.enter_context(connected(path))
                taken.append(stack.enter_context(closing(listening.accept()[0])))
            for _ in range(2):
                refused = stack.enter_context(connected(path))
                with pytest.raises(ConnectionAbortedError):
                    listening.accept()
                assert refused.recv(1) == b""
            taken[1].close()
            stack.enter_context(connected(path))
            stack.enter_context(closing(listening.accept()[0]))


def test_control_answers_while_the_query_socket_is_full() -> None:
    """And those beyond its share are refused."""
    with short_home() as made, ExitStack() as stack:
        process = stack.enter_context(begun(made, before=FEW))
        until(process, "ready")
        for _ in range(FULL):
            stack.enter_context(connected(made.query))
        for _ in range(2 * FULL):
            with connected(made.query) as refused, suppress(ConnectionResetError):
                assert refused.recv(1) == b""
        assert "too many connections" in made.log.read_text()
        assert ask(made.control).body == {"done": True}


@given(
    steps=st.lists(
        st.one_of(st.just("stranger"), st.just("known"), st.integers(0, 40)), max_size=60
    ),
    files=st.sampled_from([12, 24, 400]),
)
def test_no_stranger_takes_the_place_of_one_who_is_known(
    steps: list[str | int], files: int
) -> None:
    """Nor shuts out the next; a number: the connection of that place goes by itself."""
    with at_port(0) as listening, ExitStack() as stack, limits(files * PARTS, files * PARTS):
        port = listening.getsockname()[1]
        both: list[tuple[socket.socket, socket.socket, bool]] = []
        for step in steps:
            if isinstance(step, int):
                for end in both.pop(step)[:2] if step < len(both) else ():
                    end.close()
                continue
            mine = stack.enter_context(connected(port))
            taken, address = listening.accept()
            stack.enter_context(closing(taken))
            known = step == "known" and sum(each[2] for each in both) < listening.places
            if step == "known":
                listening.proven(address)
            both.append((mine, taken, known))
            gone = [each for each in both if each[0] is not mine and shut(each[0])]
            assert not any(each[2] for each in gone)
            assert not shut(mine)
            for each in gone:  # as asyncio does
                each[1].close()
                both.remove(each)
            assert sum(not each[2] for each in both) <= listening.places


def shut(opened: socket.socket) -> bool:
    """Return whether the other end was shut down; it sends nothing."""
    opened.setblocking(False)
    try:
        return opened.recv(1) == b""
    except BlockingIOError:
        return False
