"""A client of Firefox's Marionette: JSON in frames, each after its length and a colon.

Source: Mozilla's documents on Marionette, "Protocol", version 3; the commands are WebDriver's.
"""

import json
import socket
from typing import Any

from tests.waiting import PATIENCE

COMMAND, REPLY = 0, 1


class MarionetteError(Exception):
    """A command failed; ``kind``: which of WebDriver's errors it was."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind


class Marionette:
    """A connection to one Firefox."""

    def __init__(self, port: int) -> None:
        self._connection = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self._reader = self._connection.makefile("rb")
        self._number = 0
        assert self._frame()["marionetteProtocol"] == 3

    def close(self) -> None:
        """Close the connection."""
        self._reader.close()
        self._connection.close()

    def call(self, command: str, **given: object) -> Any:  # noqa: ANN401  (any JSON)
        """Return what a command returns; MarionetteError where it fails."""
        self._number += 1
        data = json.dumps([COMMAND, self._number, command, given]).encode()
        self._connection.sendall(b"%d:%s" % (len(data), data))
        kind, number, error, result = self._frame()
        assert (kind, number) == (REPLY, self._number)
        if error is not None:
            raise MarionetteError(error["error"], error["message"])
        alone = isinstance(result, dict) and [*result] == ["value"]
        return result["value"] if alone else result

    def _frame(self) -> Any:  # noqa: ANN401  (any JSON)
        """Read a frame."""
        length = b""
        while (byte := self._reader.read(1)) != b":":
            assert byte, "Firefox is gone"
            length += byte
        return json.loads(self._reader.read(int(length)))
