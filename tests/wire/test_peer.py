"""Who is at the other end of a socket."""

import os
import socket

from agent.wire.client import NOBODY, peer_uid


def test_who_is_at_the_other_end() -> None:
    """The system says it, and of what is no Unix socket it says nothing."""
    here, there = socket.socketpair(socket.AF_UNIX)
    with here, there:
        assert peer_uid(here) == os.geteuid()
    assert peer_uid(here) == NOBODY
    with socket.socket(socket.AF_INET) as other:
        assert peer_uid(other) == NOBODY
