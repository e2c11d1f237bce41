"""Sockets that systemd hands over."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.daemon.sockets import OwnSocket, adopted, notify
from agent.errors import DaemonError
from tests.wire.fake import short_folder

PROCESS = 4711


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return a folder of short name."""
    with short_folder() as made:
        yield made


def handed(folder: Path, *names: str) -> int:
    """Open a listening socket for each name at descriptors in a row; return the first."""
    first = 200
    for index, name in enumerate(names):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as made:
            made.bind(str(folder / name))
            made.listen()
            os.dup2(made.fileno(), first + index, inheritable=True)
    return first


def told(names: str, count: int, process: int = PROCESS) -> dict[str, str]:
    """Return the variables that systemd sets, and one that is not its."""
    return {
        "LISTEN_PID": str(process),
        "LISTEN_FDS": str(count),
        "LISTEN_FDNAMES": names,
        "OTHER": "x",
    }


@pytest.mark.parametrize("names", [["control", "query"], ["query", "control"], ["query"]])
def test_sockets_are_adopted_by_name(folder: Path, names: list[str]) -> None:
    """Whatever their order; no child inherits them, or is told of them."""
    first = handed(folder, *names)
    environment = told(":".join(names), len(names))
    taken = adopted(environment, PROCESS, first)
    assert environment == {"OTHER": "x"}
    assert {name: each.getsockname() for name, each in taken.items()} == {
        name: str(folder / name) for name in names
    }
    for each in taken.values():
        assert isinstance(each, OwnSocket)
        assert not each.get_inheritable()
        each.close()


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"OTHER": "x"},
        told("control:query", 2, PROCESS + 1),
        {"LISTEN_PID": str(PROCESS)},
        {"LISTEN_PID": str(PROCESS), "LISTEN_FDS": "-1"},
    ],
)
def test_what_is_for_another_process_is_not_ours(environment: dict[str, str]) -> None:
    """It inherited the variables, not the sockets."""
    assert adopted(environment, PROCESS) == {}
    assert not [name for name in environment if name.startswith("LISTEN")]


@pytest.mark.parametrize(
    ("names", "count"),
    [("reticent.socket", 1), ("", 1), ("control", 2), ("query:query", 2), ("control:query:x", 3)],
)
def test_other_names_are_refused(names: str, count: int) -> None:
    """What is meant for control must never be answered as query is, nor the other way round."""
    with pytest.raises(DaemonError, match="sockets with unexpected names"):
        adopted(told(names, count), PROCESS)


def test_what_is_no_listening_unix_socket_is_refused(folder: Path) -> None:
    """A closed descriptor, a file, a port, one that does not listen, one that is connected."""
    port = socket.create_server(("127.0.0.1", 0))
    idle = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    here, there = socket.socketpair(socket.AF_UNIX)
    with port, idle, here, there, (folder / "file").open("w") as file:
        for each in (port.fileno(), idle.fileno(), here.fileno(), file.fileno(), 999):
            with pytest.raises(DaemonError, match="passed as query is not"):
                adopted(told("query", 1), PROCESS, os.dup(each) if each < 999 else each)


@pytest.mark.parametrize("abstract", [False, True])
def test_systemd_is_told(folder: Path, abstract: bool) -> None:
    """At a path, or an abstract address."""
    name = str(folder / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.settimeout(10)
        heard.bind("\0" + name if abstract else name)
        notify("READY=1", {"NOTIFY_SOCKET": "@" + name if abstract else name})
        assert heard.recv(100) == b"READY=1"


@pytest.mark.parametrize("address", [None, "", "relative", "/nowhere/to/be/found"])
def test_nobody_is_told_where_nobody_asks(address: str | None) -> None:
    """That is no error: the daemon runs without systemd as well."""
    notify("READY=1", {} if address is None else {"NOTIFY_SOCKET": address})
