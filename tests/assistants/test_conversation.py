"""Laws of a text that is put into a request: once, at one place, and all else stays."""

import json
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from agent.assistants.conversation import MESSAGES, PART, Conversations, Turn, turn_of
from agent.wire.base import LONGEST_QUERY

FACT = {"a": "1"}
LINE = 'About the user: 35 to 44 years old, "quoted"'
CHAT, RESPONSES = MESSAGES
texts = st.text(st.characters(codec="utf-8"), max_size=30)
asked = texts.filter(str.strip)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
anything = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=4,
)
PARTS = {CHAT: ("text", "image_url"), RESPONSES: ("input_text", "input_image")}
TOOL: dict[str, list[Any]] = {
    CHAT: [
        {"role": "assistant", "content": None, "tool_calls": [{"id": "t", "type": "function"}]},
        {"role": "tool", "tool_call_id": "t", "content": "4"},
    ],
    RESPONSES: [
        {"type": "function_call", "call_id": "t", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "t", "output": "4"},
    ],
}
calls = pytest.mark.parametrize("call", MESSAGES)


@st.composite
def requests(draw: st.DrawFn, call: str) -> tuple[dict[str, Any], str]:
    """Return a request that a user's question ends, and the question."""
    text, image = PARTS[call]
    question = draw(asked)
    pictured = [{"type": text, "text": question}, {"type": image, image: draw(anything)}]
    first = draw(st.lists(st.sampled_from(["system", "developer"]), max_size=2))
    parts = st.builds(lambda given: [{"type": text, "text": given}], texts)
    messages: list[Any] = [{"role": e, "content": draw(texts | parts | st.none())} for e in first]
    for _ in range(draw(st.integers(0, 2))):
        messages.append({"role": "user", "content": draw(texts)})
        messages += TOOL[call] if draw(st.booleans()) else []
        messages.append({"role": "assistant", "content": draw(texts)})
    content = draw(st.sampled_from([question, pictured]))
    messages.append({"role": "user", "content": content})
    others = draw(st.dictionaries(texts.filter(lambda name: name not in RESERVED), anything))
    return {**others, MESSAGES[call]: messages, "stream": draw(st.booleans())}, question


RESERVED = {"messages", "input", "stream", "conversation", "previous_response_id"}


def users(*contents: object) -> dict[str, object]:
    """Return a request of a user's messages, one after the other."""
    return {"messages": [{"role": "user", "content": each} for each in contents]}


def turn(call: str, message: object) -> Turn:
    found = turn_of(call, json.dumps(message).encode())
    assert found is not None
    return found


@calls
@given(data=st.data())
def test_one_text_more_and_all_else_stays_byte_for_byte(call: str, data: st.DataObject) -> None:
    """At the end of the last message of those that come first; or as such a one, before all others.

    Also numbers and escapes stay that a program would write in another way.
    """
    message, question = data.draw(requests(call))
    body = json.dumps(message, ensure_ascii=data.draw(st.booleans())).encode()
    odd = b' { "x" : 1.50e+00, "y":"\\u0041\\/" , "z":123456789012345678901234567890 } '
    body = b'{"odd":' + odd + b", " + body[1:]
    before = msgspec.json.decode(body, type=dict[str, Raw])
    found = turn_of(call, body)
    assert found is not None
    assert found.question == question
    after = msgspec.json.decode(found.with_text(LINE), type=dict[str, Raw])
    old, new = (
        [*map(bytes, msgspec.json.decode(each.pop(MESSAGES[call]), type=list[Raw]))]
        for each in (before, after)
    )
    assert [*map(bytes, before.values())] == [*map(bytes, after.values())]
    leading = [each for each in map(json.loads, old) if each.get("role") in {"system", "developer"}]
    at = max(0, len(leading) - 1)
    changed = json.loads(new.pop(at))
    if not leading:
        assert changed == {"role": "system", "content": LINE}
    else:
        given: Any = leading[at]["content"]
        joined: Any = f"{given}\n\n{LINE}" if given else LINE
        if isinstance(given, list):
            joined = [*given, {"type": PART[MESSAGES[call]], "text": LINE}]
        assert changed == {**leading[at], "content": joined}
        del old[at]
    assert old == new


def test_a_text_alone_is_the_users() -> None:
    """As /responses takes it."""
    found = turn(RESPONSES, {"model": "m", "instructions": "be brief", "input": 'say "é"'})
    assert found.question == 'say "é"'
    assert json.loads(found.with_text(LINE)) == {
        "model": "m",
        "instructions": "be brief",
        "input": [{"role": "system", "content": LINE}, {"role": "user", "content": 'say "é"'}],
    }


def test_a_long_text_is_asked_without_its_wrapping() -> None:
    """Templates and documents are longer than a query may be; a short text stays as it stands."""
    long = "word " * LONGEST_QUERY
    template = f"<task>job site</task>\n<environment_details>{long}</environment_details>"
    parts = [{"type": "text", "text": each} for each in (long, "Which job site?")]
    for content, question in ((template, "job site"), (parts, "Which job site?")):
        assert turn(CHAT, users(content)).question == question
    assert turn(CHAT, users("hi, job site")).question == "hi, job site"


USER = {"role": "user", "content": "job site"}
WITHOUT_TEXT: tuple[object, ...] = (
    *(" \n", "x" * (LONGEST_QUERY + 1), [{"type": "image_url"}], {"text": "job site"}),
    [{"type": "text", "text": 1}],
)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        *((CHAT, {"messages": [USER, each]}) for each in TOOL[CHAT]),
        *((RESPONSES, {"input": [USER, each]}) for each in TOOL[RESPONSES]),
        (CHAT, {"messages": [USER, {"role": "assistant", "content": "Sure: "}]}),
        (CHAT, {"messages": [{"role": "system", "content": "job site"}]}),
        *((CHAT, users(each)) for each in WITHOUT_TEXT),
        (CHAT, {"messages": [{"role": "user"}]}),
        (CHAT, {"messages": [{"role": 1, "content": "job site"}]}),
        (CHAT, {"messages": [*[USER], "job site"]}),
        (CHAT, {"messages": "job site"}),
        (CHAT, {"messages": []}),
        (CHAT, {"input": "job site"}),
        (CHAT, [USER]),
        (RESPONSES, {"input": "job site", "previous_response_id": "r"}),
        (RESPONSES, {"input": "job site", "conversation": 1}),
        (RESPONSES, {"prompt": {"id": "p"}}),
        (RESPONSES, {"input": None}),
    ],
)
def test_what_asks_nothing_has_no_turn(call: str, message: object) -> None:
    """The last message is not the user's, has no text, or only the service knows the rest."""
    assert turn_of(call, json.dumps(message).encode()) is None


@calls
@given(st.binary())
def test_any_bytes_are_read_or_not(call: str, body: bytes) -> None:
    """And never an error."""
    turn_of(call, body)


@calls
@pytest.mark.parametrize(
    "text", [b"[" * 100_000, b'{"a":' * 100_000, b'["\\ud800"]', b"\xff", b"]"]
)
def test_damaged_messages_are_left_alone(call: str, text: bytes) -> None:
    """Whatever is wrong with them."""
    assert turn_of(call, b'{"%s":%s}' % (MESSAGES[call].encode(), text)) is None


@calls
@given(said=st.lists(asked, min_size=1, max_size=6), data=st.data())
def test_each_fact_is_said_once_in_all_that_the_service_gets(
    call: str, said: list[str], data: st.DataObject
) -> None:
    """Whatever the client changes of the other messages; the same in a turn that is asked again."""
    member, conversations, known = MESSAGES[call], Conversations(), dict[str, str]()
    for number in range(len(said)):
        messages = [{"role": "system", "content": data.draw(texts)}]
        for each in said[: number + 1]:
            messages += [{"role": "user", "content": each}, {"role": "assistant", "content": "a"}]
        facts = data.draw(st.dictionaries(st.sampled_from("abc"), st.sampled_from("12")))
        known |= facts
        for again in (facts, {}):
            found = conversations.facts_in(turn(call, {member: messages[:-1]}), again, known)
            assert found == known


def test_what_was_said_is_not_joined() -> None:
    """Two messages are no other two of the same letters."""
    conversations = Conversations()
    conversations.facts_in(turn(CHAT, users("ab")), FACT, ())
    for said in (["a", "b"], ["a", "b", "c"], ["a", "2:b"]):
        assert not conversations.facts_in(turn(CHAT, users(*said)), {}, FACT)
    assert conversations.facts_in(turn(CHAT, users("ab", "c")), {}, FACT) == FACT
    assert not conversations.facts_in(turn(CHAT, users("ab", "c")), {}, ())


@pytest.mark.parametrize("named", ["c", {"id": "c"}])
def test_a_conversation_that_the_service_keeps_gets_what_is_new(named: object) -> None:
    """It is known by its id, since a request has its newest message alone."""
    conversations, other = Conversations(), {"b": "2"}

    def asking(text: str, conversation: object, **facts: str) -> Mapping[str, str]:
        asked = turn(RESPONSES, {"input": text, "conversation": conversation})
        return conversations.facts_in(asked, facts, {**FACT, **other})

    assert asking("job site", named, **FACT) == asking("job site", named) == FACT
    assert asking("editor", named, **FACT, **other) == other
    assert asking("editor", named, a="3") == {**other, "a": "3"}
    assert asking("plan", named, a="3") == {}
    assert asking("editor", "d", **FACT) == FACT
    assert asking("editor", None, **FACT) == FACT


def test_the_oldest_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a proxy which runs for months stays small."""
    monkeypatch.setattr("agent.assistants.conversation.MOST", 2)
    conversations = Conversations()
    for number in range(3):
        conversations.facts_in(turn(CHAT, users(f"{number}")), FACT, ())
    later = [conversations.facts_in(turn(CHAT, users(first, "more")), {}, FACT) for first in "210"]
    assert later == [FACT, {}, {}]  # what is said again is remembered as of then


def test_a_turn_shows_nothing_of_itself() -> None:
    """In a traceback, say."""
    assert "job site" not in repr(turn(CHAT, {"messages": [USER]}))
