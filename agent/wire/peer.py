"""Who is at the other end of a Unix socket, as the system says."""

import socket
import struct
import sys

NOBODY = -1
_LINUX_PEER = struct.Struct("3i")  # process, user, group: unix(7)
_BSD_PEER = struct.Struct("2I")  # version, user: the start of struct xucred, sys/ucred.h
_SOL_LOCAL, _LOCAL_PEERCRED = 0, 1  # of sys/un.h; Python does not name them


def peer_uid(opened: socket.socket) -> int:
    """Return the user at the other end of a Unix socket, NOBODY where the system does not say.

    Elsewhere than on Linux it is untried.
    """
    try:
        if sys.platform == "linux":
            raw = opened.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _LINUX_PEER.size)
            return int(_LINUX_PEER.unpack(raw)[1])
        else:  # noqa: RET505  (so that mypy sees a branch for another system)
            raw = opened.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, _BSD_PEER.size)
            return int(_BSD_PEER.unpack(raw)[1])
    except (OSError, struct.error):
        return NOBODY
