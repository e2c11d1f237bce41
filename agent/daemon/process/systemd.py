"""What systemd hands to a service, and is told by it, without its library.

Sources: sd_listen_fds(3) and sd_notify(3).
"""

import os
import socket
from collections.abc import Mapping, MutableMapping
from contextlib import ExitStack, suppress

from agent.daemon.process.sockets import OwnSocket
from agent.errors import DaemonError
from agent.wire.routes import CONTROL, QUERY

FIRST = 3  # the descriptor of the first socket that is handed over
_HINT = "let FileDescriptorName be control in one socket unit, and query in the other"


def adopted(
    environment: MutableMapping[str, str], process: int, first: int = FIRST
) -> dict[str, OwnSocket]:
    """Return the sockets that were handed to this process, by name; none where it was not.

    The variables that say so are taken away, so that no child believes them. Raises DaemonError
    for one that is not named after a door, or is no Unix socket that listens.
    """
    given = [environment.pop(f"LISTEN_{name}", "") for name in ("PID", "FDS", "FDNAMES")]
    environment.pop("LISTEN_PIDFDID", None)
    if given[0] != str(process) or not given[1].isdecimal():
        return {}
    names = given[2].split(":")
    count = int(given[1])
    if len(names) != count or not {*names} <= {CONTROL, QUERY} or len({*names}) < count:
        what = f"systemd handed over sockets of other names: {given[2] or 'none'}"
        raise DaemonError(what, _HINT)
    return {name: _taken(first + index, name) for index, name in enumerate(names)}


def notify(text: str, environment: Mapping[str, str]) -> None:
    """Tell systemd how this service is, if it wants to know; one that is gone is no error."""
    address = environment.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    if address.startswith("@"):  # an abstract address
        address = "\0" + address[1:]
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.sendto(text.encode(), address)


def _taken(descriptor: int, name: str) -> OwnSocket:
    """Return the socket behind a descriptor, kept from our children."""
    with ExitStack() as refused:
        try:
            taken = refused.enter_context(OwnSocket(fileno=descriptor))
            listens = taken.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
        except OSError as error:
            raise DaemonError(f"what systemd handed over as {name} is no socket", _HINT) from error
        if (taken.family, taken.type) != (socket.AF_UNIX, socket.SOCK_STREAM) or not listens:
            hint = "let ListenStream be a path in that socket unit, and Accept not be set"
            what = f"what systemd handed over as {name} is no Unix stream socket"
            raise DaemonError(what, hint)
        os.set_inheritable(descriptor, False)  # noqa: FBT003  (os takes it by place)
        refused.pop_all()
    return taken
