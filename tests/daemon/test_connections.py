"""How many connections there may be."""

import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.sockets import (
    MOST,
    MOST_AT_PORT,
    PARTS,
    WANTED,
    Capped,
    at_port,
    more_files,
    share,
)
from tests.wire.fake import short_folder
from tests.worlds.doors import short_home
from tests.worlds.processes import ask, begun, until

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
    with at_port(0) as listening:
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


def test_control_answers_while_the_query_socket_is_full() -> None:
    """And those beyond its share are refused."""
    with short_home() as home, ExitStack() as stack:
        process = stack.enter_context(begun(home, before=FEW))
        until(process, "ready")
        for _ in range(FULL):
            stack.enter_context(connected(home.query))
        for _ in range(2 * FULL):
            with connected(home.query) as refused:
                assert closed(refused)
        assert "too many connections" in home.log.read_text()
        assert ask(home.control).body == {"done": True}


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
