"""A request of the OpenAI protocol: what its user asks in it, and a text put into it.

Two calls carry messages, /chat/completions and /responses. The values of all other members, and all
other messages, stay byte for byte: white space between members and the spelling of their names may
change, which no reader of JSON tells.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from secrets import token_bytes
from typing import Any

import msgspec
from msgspec import Raw, Struct

from agent.model.unwrapping import unwrapped
from agent.wire.base import LONGEST_QUERY

MESSAGES = {"chat/completions": "messages", "responses": "input"}  # the member, by call
PART = {"messages": "text", "input": "input_text"}  # what a part with text is called in either
FIRST = {"system", "developer"}  # whose messages come first; many services take them nowhere else
MOST = 10_000  # turns that are remembered; the oldest goes
Facts = Mapping[str, str]  # phrases by the name of the fact
NULL = Raw(b"null")


class _Message(Struct):
    role: str = ""
    content: Raw = NULL


class _Part(Struct):
    type: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Turn:
    """The user's turn in a conversation.

    ``texts``: all that the user said in it, as far as the request has it, the question last;
    ``conversation``: the service's id of it, empty where each request has all of it.
    """

    texts: tuple[str, ...]
    conversation: str
    _member: str
    _members: Mapping[str, Raw] = field(repr=False)
    _messages: tuple[bytes | Raw, ...] = field(repr=False)
    _after: int

    @property
    def question(self) -> str:
        """What the user asks: of a text that is too long for a query, without its wrapping."""
        text = self.texts[-1]
        return text if len(text) <= LONGEST_QUERY else unwrapped(text)

    def with_text(self, text: str) -> bytes:
        """Write the request with a text more: at the end of the last message that comes first.

        Templates of many models take one such message; where there is none, one is put first.
        """
        messages = [*self._messages]
        if self._after == 0:
            messages.insert(0, msgspec.json.encode({"role": "system", "content": text}))
        else:
            given = msgspec.json.decode(messages[self._after - 1], type=dict[str, Raw])
            content = msgspec.json.decode(given.get("content", NULL), type=str | list[Raw] | None)
            longer: Any = f"{content}\n\n{text}" if content else text
            if isinstance(content, list):
                longer = [*content, {"type": PART[self._member], "text": text}]
            messages[self._after - 1] = msgspec.json.encode({**given, "content": longer})
        whole = Raw(b"[" + b",".join(map(bytes, messages)) + b"]")
        return msgspec.json.encode({**self._members, self._member: whole})


def turn_of(call: str, body: bytes) -> Turn | None:
    """Find the turn that a request ends with; None where that is not the user's, or no text.

    None too for what goes on from an earlier answer (``previous_response_id``): only the service
    has what was said before. ``call``: the path below the base URL.
    """
    member = MESSAGES[call]
    try:
        members = msgspec.json.decode(body, type=dict[str, Raw])
        if members.get("previous_response_id", NULL) != NULL:
            return None
        messages = _messages(members[member], call)
        read = [msgspec.json.decode(each, type=_Message) for each in messages]
        texts = tuple(_text(each.content) for each in read if each.role == "user")
        conversation = _id(members.get("conversation", NULL)) if call == "responses" else ""
        after = next((at for at, each in enumerate(read) if each.role not in FIRST), 0)
        leading = (_text(each.content) for each in read[:after])
        "".join((*texts, *leading)).encode()  # half a pair of surrogates, say, is no text
    except (KeyError, msgspec.DecodeError, UnicodeError, RecursionError):
        return None  # the service says what is wrong with it
    if not read or read[-1].role != "user" or not texts[-1].strip():
        return None
    turn = Turn(texts, conversation, member, members, messages, after)
    return turn if len(turn.question) <= LONGEST_QUERY else None


def _messages(raw: Raw, call: str) -> tuple[bytes | Raw, ...]:
    """Split into messages; to /responses, a text alone is one of the user's."""
    if call == "responses" and bytes(raw).startswith(b'"'):
        return (b'{"role":"user","content":' + bytes(raw) + b"}",)
    return tuple(msgspec.json.decode(raw, type=list[Raw]))


def _text(content: Raw) -> str:
    """Read the text of a message; images and the like have none."""
    text = msgspec.json.decode(content, type=str | list[_Part] | None)
    if isinstance(text, list):
        return "\n\n".join(each.text for each in text if each.type in PART.values())
    return text or ""


def _id(raw: Raw) -> str:
    """Read the id of a conversation, by itself or in an object; empty where there is none."""
    identifier = msgspec.json.decode(raw, type=str | dict[str, Any] | None)
    return str(identifier["id"]) if isinstance(identifier, dict) else identifier or ""


class Conversations:
    """What was said of the user in which conversation; by keyed hashes, in memory alone.

    A client sends all that was said before with each request, but for what was put into it. So a
    conversation is one that begins with what its user had said when something was put in, and that
    is put in again. The other messages do not count: clients write the time into them, or leave
    parts out.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self._key = token_bytes(32)
        self._facts: dict[bytes, Facts] = {}

    def facts_in(self, turn: Turn, facts: Facts, usable: Collection[str]) -> Facts:
        """Take note of what is said in a turn, and return it: what its service lacks, each once.

        ``facts``: what is to be said now, phrases by name; ``usable``: what was said before and may
        be said now, by name. A service that keeps the conversation
        lacks what is new; any other one all of it. A client that tries again gets the same again.
        """
        named, *before, last = self._hashes(turn)
        earlier = [named] if turn.conversation else before[::-1]
        known = next((self._facts[each] for each in earlier if each in self._facts), {})
        lacks = {name: each for name, each in facts.items() if known.get(name) != each}
        lacks = {**self._facts.get(last, {}), **lacks}
        known, lacks = (
            {name: each for name, each in some.items() if name in {*usable, *facts}}
            for some in (known, lacks)
        )
        if turn.conversation:
            self._facts[named] = {**known, **lacks}
        else:
            lacks = {**known, **lacks}
        if lacks:
            self._facts[last] = lacks
        while len(self._facts) > MOST:
            del self._facts[next(iter(self._facts))]
        return lacks

    def _hashes(self, turn: Turn) -> Iterator[bytes]:
        """Yield what stands for the conversation's id, and then for it up to each turn."""
        digest = blake2b(turn.conversation.encode(), key=self._key, digest_size=16)
        yield digest.digest()
        for each in turn.texts:
            digest.update(b"%d:" % len(each))
            digest.update(each.encode())
            yield digest.digest()
