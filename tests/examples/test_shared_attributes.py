"""The two headers: what is asked for, and what of a request's own is taken."""

from typing import Any

import http_sf
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.header import LARGEST, SEPARATOR, members_of
from examples.shared_attributes import MOST_BYTES, heard

ASKED = {"region": ("west", "süd", "?1"), "python": ("no", "yes"), "salary": ("yes", "no", "q1")}

items = st.one_of(
    st.booleans(),
    st.integers(-9, 9),
    st.sampled_from(["west", "süd", "yes", "unspecified", "q1"]).map(
        lambda text: text if text.isascii() else http_sf.DisplayString(text)
    ),
    st.just(http_sf.Token("west")),
    st.binary(max_size=3),
)
members = st.dictionaries(st.sampled_from(["region", "python", "salary", "other", "*"]), items)


@given(st.data())
def test_what_an_agent_sends_is_heard(data: st.DataObject) -> None:
    """The header of our own agent tells exactly the values that it was made of."""
    drawn = {name: data.draw(st.sampled_from([None, *may])) for name, may in ASKED.items()}
    values = {name: value for name, value in drawn.items() if value is not None}
    members = members_of(ASKED)
    told = heard([SEPARATOR.join(members[pair] for pair in values.items()).encode()], ASKED)
    assert told.values == values
    assert told.ignored == ()


@given(st.lists(st.binary(max_size=200), max_size=3))
def test_any_bytes_are_read_or_ignored(lines: list[bytes]) -> None:
    """Nothing raises, and what is heard was asked for, and is a value that there is."""
    told = heard(lines, ASKED)
    assert all(value in ASKED[name] for name, value in told.values.items())


@given(members, st.dictionaries(st.sampled_from(["a", "b"]), items, max_size=2))
def test_each_member_stands_alone(sent: dict[str, Any], parameters: dict[str, Any]) -> None:
    """One that is wrong takes nothing from the others; parameters change nothing."""
    plain = heard([http_sf.ser(sent).encode()] if sent else [], ASKED)
    dressed: Any = {name: (item, parameters) for name, item in sent.items()}
    assert heard([http_sf.ser(dressed).encode()] if sent else [], ASKED) == plain
    one_by_one = [
        heard([http_sf.ser({name: item}).encode()], ASKED).values for name, item in sent.items()
    ]
    assert plain.values == {name: value for each in one_by_one for name, value in each.items()}
    assert bool(plain.ignored) == (len(plain.values) < len(sent))


WRONG = (b"region=west", b'region="North"', b'region="unspecified"', b"region", b'region=("west")')
KINDS = (b'python="yes"', b"python=yes", b"python=1", b"salary")


def test_a_value_of_the_wrong_kind_is_ignored() -> None:
    """Booleans are no and yes, all else is a String, and not specified is never sent."""
    for line in (*WRONG, *KINDS):
        told = heard([line + b", python;x=1" if b"python" not in line else line], ASKED)
        assert told.values == ({} if b"python" in line else {"python": "yes"}), line
        assert told.ignored == ("1 with a value that the attribute does not have",)


def test_what_is_no_dictionary_is_ignored_whole() -> None:
    """Strictly, as RFC 9651 has it: not even the part before the fault is taken."""
    lines = (b'region="west",', b'region="west" python', b"Region", b'region="west', b"\xff", b"\0")
    for line in lines:
        assert heard([b"python", line], ASKED).values == {}, line
        assert heard([b"python", line], ASKED).ignored, line


def test_a_kibibyte_is_read_and_not_a_byte_more() -> None:
    """The limit is that of our own agent."""
    longest = b"python, " + b"x" * (MOST_BYTES - 8)
    assert heard([longest], ASKED).values == {"python": "yes"}
    assert heard([longest + b"x"], ASKED).values == {}
    assert MOST_BYTES == LARGEST
