"""The native-messaging host: hands frames from a browser to the daemon, and its answers back.

A browser starts it by its path with `python -I -S`, so it imports nothing of ours, and of the
standard library next to nothing: a user feels its start. It parses lengths and nothing else. Each
frame is the body of one POST to /v1/relay (agent/wire/decide.py), on a connection of its own, so
that an answer which comes too late has nowhere to go; each has one answer, in their order. What
the relay cannot have answered it answers itself, with the messages below.
Source: Chrome's and Mozilla's documents on native messaging: 32 bits in native order, then JSON.
"""

import _socket  # a third of what `socket` takes, which is more than all the rest
import os
import struct
import sys
from collections.abc import Callable, Iterator

LENGTH = struct.Struct("=I")
LARGEST = 64 << 10  # bytes of a frame that the daemon reads
DAMAGED = 64 << 20  # bytes; no browser sends more, so a greater length is damage
LARGEST_ANSWER = 1 << 20  # bytes that a browser takes
LARGEST_HEAD = 16 << 10
AT_ONCE = 64 << 10
SECONDS = 2.0  # without a byte of the answer: the request in the browser waits for it
HEAD = (
    b"POST /v1/relay HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: %d\r\nConnection: close\r\n\r\n"
)
ABSENT = (
    b'{"code":"no daemon","what":"the daemon is not running",'
    b'"hint":"start it with `reticent daemon`, or `reticent connect system`"}'
)
BROKEN = b'{"code":"no daemon","what":"the daemon broke off","hint":"see its log, or restart it"}'
SLOW = b'{"code":"too slow","what":"the daemon did not answer in time","hint":"try again"}'
LARGE = b'{"code":"too large","what":"the request or its answer is too large","hint":"send less"}'
_LINUX_PEER = struct.Struct("3i")  # process, user, group: unix(7)

Read = Callable[[int], bytes]


class BrokenOffError(Exception):
    """What came is not a whole frame, or not a whole answer."""


def frames(read: Read) -> Iterator[bytes | None]:
    """Yield what each frame holds, None for one that is too large, until the bytes end.

    ``read``: returns at most that many bytes, none at the end. BrokenOffError where a length cannot
    be one, or the bytes end within a frame.
    """
    while begun := read(LENGTH.size):
        [length] = LENGTH.unpack(begun + _rest(read, LENGTH.size - len(begun)))
        if not 0 < length <= DAMAGED:
            raise BrokenOffError
        if length <= LARGEST:
            yield _rest(read, length)
            continue
        while length:
            length -= len(_rest(read, min(length, AT_ONCE)))
        yield None


def framed(answer: bytes) -> bytes:
    """Frame an answer as a browser takes it."""
    return LENGTH.pack(len(answer)) + answer


def asked(path: str, frame: bytes, seconds: float = SECONDS) -> bytes:
    """Have the daemon at a socket answer a frame, or say why there is no answer."""
    opened = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        return _exchanged(opened, path, HEAD % len(frame) + frame, seconds)
    except (FileNotFoundError, NotADirectoryError, ConnectionRefusedError):
        return ABSENT
    except (TimeoutError, BlockingIOError):  # the second: the queue of callers is full
        return SLOW
    except (OSError, BrokenOffError):
        return BROKEN
    finally:
        opened.close()


def _exchanged(opened: _socket.socket, path: str, request: bytes, seconds: float) -> bytes:
    """Send a request, and return the body of the answer."""
    opened.settimeout(seconds)
    opened.connect(path)
    if _owner(opened, path) != os.geteuid():
        raise PermissionError
    opened.sendall(request)
    answer = bytearray()
    while len(answer) <= LARGEST_HEAD + LARGEST_ANSWER:
        if not (more := opened.recv(AT_ONCE)):
            return _body(bytes(answer))
        answer += more
    return LARGE


def _body(answer: bytes) -> bytes:
    """Read the body of an answer; BrokenOffError if it is not as long as its head says."""
    head, _, body = answer.partition(b"\r\n\r\n")
    lengths = [
        line.partition(b":")[2].strip()
        for line in head.split(b"\r\n")
        if line.lower().startswith(b"content-length:")
    ]
    if lengths != [b"%d" % len(body)] or not body:
        raise BrokenOffError
    return body if len(body) <= LARGEST_ANSWER else LARGE


def _owner(opened: _socket.socket, path: str) -> int:
    """Ask who listens at a socket; outside Linux, who owns its file."""
    if sys.platform != "linux":
        return os.lstat(path).st_uid
    raw = opened.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, _LINUX_PEER.size)
    return int(_LINUX_PEER.unpack(raw)[1])


def _rest(read: Read, length: int) -> bytes:
    """Read exactly ``length`` bytes; BrokenOffError if there are fewer."""
    data = b""
    while len(data) < length:
        if not (more := read(length - len(data))):
            raise BrokenOffError
        data += more
    return data


def main(path: str) -> int:
    """Answer the frames at the standard input until it ends; return the exit code."""
    try:
        for frame in frames(lambda most: os.read(0, most)):
            data = framed(LARGE if frame is None else asked(path, frame))
            while data:
                data = data[os.write(1, data) :]
    except (BrokenOffError, BrokenPipeError):
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
