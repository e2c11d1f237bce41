"""Paths of sockets: as long as every system takes, in bytes."""

import socket
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import UsageError
from agent.wire.client import LONGEST, check_address


@given(st.text("aé/", max_size=LONGEST + 10))
def test_it_is_measured_in_bytes(text: str) -> None:
    """A path in another script is longer than it looks."""
    path = Path("/", text)
    if len(str(path).encode()) <= LONGEST:
        assert check_address(path) == str(path)
    else:
        with pytest.raises(UsageError, match=f"at most {LONGEST} are possible") as raised:
            check_address(path)
        assert raised.value.hint == "set RETICENT_HOME to a shorter path"


def test_the_longest_can_be_bound() -> None:
    """On this system."""
    with tempfile.TemporaryDirectory(prefix="r") as folder:
        name = "x" * (LONGEST - len(folder) - 1)
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(check_address(Path(folder, name)))
