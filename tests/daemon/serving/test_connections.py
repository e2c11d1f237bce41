"""Whoever opens all connections that he can shuts out nobody at another door."""

import re
import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.serving.connections import MOST, PARTS, WANTED, Capped, more_files, share
from agent.daemon.serving.listen import MOST as MOST_AT_PORT
from agent.daemon.serving.listen import bound
from tests.daemon.begun import ask, begun, until
from tests.daemon.fakes import asked, short_home
from tests.wire.fake import short_folder

FILES = 256  # that the daemon under test may have open at once, by whatever limit
FEW = ("sh", "-c", f'ulimit -n {FILES}; exec "$@"', "sh")
FULL = FILES // PARTS
PATIENCE = 30.0  # seconds, for what takes five at most
UNLIMITED = resource.RLIM_INFINITY
LIMITS = st.one_of(st.just(UNLIMITED), st.integers(16, 10**6))


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
    """Never fewer than before, nor more than are wanted; in the end all is as it was."""
    soft, hard = both
    with limits(soft, hard) as now:
        with more_files():
            during, kept = now[-1]
            assert kept == hard
            assert number(during) == max(number(soft), min(number(hard), WANTED))
            assert share() <= number(during) / PARTS
        assert now[-1] == (soft, hard)


def test_a_limit_that_cannot_be_raised_is_borne() -> None:
    """MacOS refuses what its hard limit allows."""
    with limits(16, UNLIMITED) as now, pytest.MonkeyPatch.context() as patch:
        patch.setattr(resource, "setrlimit", lambda *_: int("no number"))
        with more_files():
            assert share() == 16 // PARTS
        assert now == [(16, UNLIMITED)]


def test_one_too_many_is_closed_unread() -> None:
    """And there is room again when one has gone."""
    with short_folder() as folder, Capped(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(str(folder / "s"))
        listening.listen()
        with ExitStack() as stack, limits(3 * PARTS, 3 * PARTS):
            taken = []
            for _ in range(3):
                stack.enter_context(connected(folder / "s"))
                taken.append(stack.enter_context(closing(listening.accept()[0])))
            for _ in range(2):
                refused = stack.enter_context(connected(folder / "s"))
                with pytest.raises(ConnectionAbortedError):
                    listening.accept()
                assert refused.recv(1) == b""
            taken[1].close()
            stack.enter_context(connected(folder / "s"))
            stack.enter_context(closing(listening.accept()[0]))


def test_the_port_has_fewer() -> None:
    """However many files there may be."""
    with bound(0) as listening:
        assert listening.most == MOST_AT_PORT < MOST


def connected(at: Path | int) -> socket.socket:
    """Return a connection that asks nothing."""
    if isinstance(at, int):
        return socket.create_connection(("127.0.0.1", at), timeout=PATIENCE)
    opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    opened.settimeout(PATIENCE)
    opened.connect(str(at))
    return opened


def closed(opened: socket.socket) -> bool:
    """Wait until the daemon closes a connection."""
    try:
        return opened.recv(1) == b""
    except ConnectionResetError:
        return True


def test_control_answers_while_the_others_are_full() -> None:
    """And the port does again as soon as those who ask nothing there have been closed."""
    with short_home() as home, ExitStack() as stack:
        process = begun(home, "listen=0", before=FEW)
        stack.callback(process.communicate)
        stack.callback(process.terminate)
        found = re.search(r"127\.0\.0\.1:(\d+), with the token in (\S+)\n", until(process, "ready"))
        assert found
        port = int(found[1])
        places = (home.query, port)
        waiting = {at: [stack.enter_context(connected(at)) for _ in range(FULL)] for at in places}
        for at in places:
            for _ in range(2 * FULL):
                with connected(at) as refused:
                    assert closed(refused)
            assert ask(home.control).body == {"done": True}
        assert all(closed(each) for each in waiting[port])
        headers = {
            "Host": f"localhost:{port}",
            "Authorization": f"Bearer {Path(found[2]).read_text().strip()}",
        }
        assert asked(connected(port), "GET", "/v1/status", None, headers).status == 200
        assert "too many connections" in home.log.read_text()
