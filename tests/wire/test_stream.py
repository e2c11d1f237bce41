"""Server-sent events: what is a message, and what is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import DaemonError
from agent.wire.base import MOST_BYTES
from agent.wire.client import messages

ENDS = st.sampled_from([b"\n", b"\r\n"])
NOISE = st.lists(st.sampled_from([b": alive", b"event: lock", b"id: 7", b"retry", b"datum: x"]))


@given(
    st.lists(st.tuples(NOISE, st.lists(st.sampled_from([b"a", b"{:}", b"", b" b"]), min_size=1)))
)
def test_data_comes_out_as_it_was(given: list[tuple[list[bytes], list[bytes]]]) -> None:
    """Whatever else a message has; several lines of it are joined."""
    lines = [
        line + b"\n"
        for noise, data in given
        for line in [*noise, *(b"data: " + each for each in data), b""]
    ]
    assert [*messages(lines)] == [b"\n".join(data) for _, data in given]


@given(ENDS)
def test_each_end_of_a_line_will_do(end: bytes) -> None:
    """And the space after the colon is not needed."""
    assert [*messages([b"data:x" + end, end, end])] == [b"x"]


def test_one_that_is_cut_off_is_none() -> None:
    """It may lack its second half."""
    assert [*messages([b"data: a\n", b"\n", b"data: b\n"])] == [b"a"]


@pytest.mark.parametrize("line", [b"data: " + b"x" * MOST_BYTES, b": " + b"x" * MOST_BYTES])
def test_too_long_a_line_is_refused(line: bytes) -> None:
    """Of data, or of anything."""
    with pytest.raises(DaemonError, match="too large"):
        list(messages([line]))


def test_a_message_without_an_end_is_refused() -> None:
    """A daemon that never ends it must not fill the memory."""

    def lines() -> object:
        while True:
            yield b"data: " + b"x" * 1000 + b"\n"

    with pytest.raises(DaemonError, match="too large"):
        list(messages(lines()))  # type: ignore[arg-type]  # a generator is an iterator
