"""Server-sent events, from lines to messages. Source: the HTML standard, section 9.2."""

from collections.abc import Iterable, Iterator

from agent.errors import DaemonError
from agent.wire.base import MOST_BYTES
from agent.wire.connection import RESTART

MEDIA_TYPE = "text/event-stream"


def messages(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the data of each message; one that is cut off at the end is none.

    Comments, which keep a quiet stream alive, and fields other than ``data`` are passed over.
    DaemonError where a message has over MOST_BYTES bytes.
    """
    data: list[bytes] = []
    for line in lines:
        text = line.rstrip(b"\r\n")
        field, _, value = text.partition(b":")
        if not text and data:
            yield b"\n".join(data)
            data = []
        elif field == b"data":
            data.append(value.removeprefix(b" "))
        if len(line) + sum(map(len, data)) > MOST_BYTES:
            raise DaemonError("the daemon sent an event that is too large", RESTART)
