"""A listener that reads one request and then says whatever a test tells it to."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PATIENCE = 30.0  # seconds, for a client that never comes
END = b"\r\n\r\n"


@contextmanager
def saying(path: Path, *answers: bytes, hold: bool = False) -> Iterator[list[bytes]]:
    """Answer each connection with the next of the answers, then close it.

    ``hold``: keep the connections open instead. Yields the requests as they come.
    """
    requests: list[bytes] = []
    kept: list[socket.socket] = []
    with socket.socket(socket.AF_UNIX) as listener:
        listener.settimeout(PATIENCE)
        listener.bind(str(path))
        listener.listen()

        def serve() -> None:
            for answer in answers:
                one, _ = listener.accept()
                one.settimeout(PATIENCE)
                kept.append(one)
                requests.append(_request(one))
                one.sendall(answer)
                if not hold:
                    one.close()

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield requests
        finally:
            thread.join(PATIENCE)
            assert not thread.is_alive()
            for one in kept:
                one.close()


def _request(one: socket.socket) -> bytes:
    """Read the head of a request; the small bodies of tests come with it."""
    data = b""
    while END not in data and (more := one.recv(65536)):
        data += more
    return data
