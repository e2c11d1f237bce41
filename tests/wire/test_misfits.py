"""What does not fit a message is said in our own words, and nothing of it is repeated."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_origin

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agent.wire.routes  # noqa: F401  (which imports every message)
from agent.daemon.boundary import reader
from agent.errors import RefusedError, misfit
from agent.wire.base import LONGEST_HOST, LONGEST_QUERY, Message
from agent.wire.routes import ROUTES, Route

MARK = "Zz-private"  # what is sent, and must not come back
ODD: tuple[Any, ...] = (
    *(None, True, -1, 2**70, 1e308, 0.5, "", [], {}, MARK, [MARK], [[MARK]], {MARK: MARK}),
    *(MARK * 8000, [MARK] * 2000, {f"{MARK}{n}": MARK for n in range(1100)}, {"": ""}, [None]),
)
TAKING = [route for route in ROUTES if route.takes is not None]


def messages(kind: type[Message] = Message) -> Iterator[type[Message]]:
    """Yield every type of message there is."""
    for each in kind.__subclasses__():
        yield each
        yield from messages(each)


KINDS = sorted(messages(), key=lambda kind: kind.__name__)
BODIES = st.recursive(
    st.sampled_from(ODD),
    lambda inner: st.dictionaries(st.sampled_from(["id", "tag", MARK]), inner, max_size=2),
    max_leaves=3,
)


def own(text: str) -> bool:
    """Say whether a sentence is ours: plain, in lower case, and with nothing that was sent."""
    foreign = ("`", "$", "Expected", "Object", "Invalid", "length", "field", MARK, "\n", "Zz")
    return text[:1].islower() and not text.endswith(".") and not any(e in text for e in foreign)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@settings(max_examples=20)
@given(data=st.data())
def test_what_does_not_fit_any_message_is_said_in_our_words(
    kind: type[Message], data: st.DataObject
) -> None:
    """Whichever members there are, whatever is in them, to any depth."""
    names = [*kind.__struct_fields__, MARK]
    body = data.draw(st.dictionaries(st.sampled_from(names), BODIES, max_size=len(names)))
    said = []
    for sent in (body, data.draw(st.sampled_from(ODD))):
        try:
            msgspec.json.decode(json.dumps(sent), type=kind)
        except msgspec.ValidationError as error:
            said.append(misfit(error))
    assert [each for each in said if not own(each)] == []


def filled(kind: Any) -> Any:  # noqa: ANN401  (a type, and what fits it)
    """Return what fits a type, as JSON has it: so that the next member is looked at too."""
    if get_origin(kind) is not None and hasattr(kind, "__metadata__"):
        return filled(get_args(kind)[0])
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        found = {each.name: each for each in msgspec.structs.fields(kind)}
        tag = kind.__struct_config__.tag
        head = {} if tag is None else {kind.__struct_config__.tag_field: tag}
        return head | {n: filled(each.type) for n, each in found.items() if each.required}
    plain: Mapping[Any, Any] = {str: "a", int: 1, float: 1.0, bool: True, list: [], dict: {}}
    return plain.get(get_origin(kind) or kind, (*get_args(kind), None)[0])


@pytest.mark.parametrize("route", TAKING, ids=lambda route: route.name)
def test_a_call_with_one_odd_member_is_refused_in_our_words(route: Route) -> None:
    """Each member of each call in turn, with all that it could not be."""
    read, said = reader(route), []
    kinds = get_args(route.takes) or (route.takes,)
    for kind in kinds:
        for name in (*kind.__struct_fields__, MARK):
            for odd in ODD:
                try:
                    read(json.dumps(filled(kind) | {name: odd}).encode())
                except RefusedError as error:
                    said.append(error.what)
    assert len(said) > len(ODD)
    assert [each for each in said if not own(each)] == []


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ({"query": "q", "recipient": ""}, "recipient is empty"),
        ({"query": "", "recipient": "a.example"}, "query is empty"),
        ({"query": "q" * (LONGEST_QUERY + 1), "recipient": "a"}, "query has over 4,096 characters"),
        (
            {"query": "q", "recipient": "h" * (LONGEST_HOST + 1)},
            "recipient has over 2,048 characters",
        ),
        ({"query": "q"}, "recipient is missing"),
        ({"query": 1, "recipient": "a"}, "query is not text"),
        ({"query": "q", "recipient": "a", MARK: 1}, "the body has a member that is not known"),
        ({"query": "q", "recipient": "a", "asked": [""]}, "an entry of asked is empty"),
        ([], "the body is not an object"),
    ],
)
def test_a_request_that_does_not_fit(body: object, what: str) -> None:
    """As whoever wrote it would want to read."""
    [decide] = [each for each in TAKING if each.name == "decide"]
    with pytest.raises(RefusedError) as refused:
        reader(decide)(json.dumps(body).encode())
    assert refused.value.what == what


@pytest.mark.parametrize("data", [b"", b"{", b"\xff"])
def test_what_is_no_json(data: bytes) -> None:
    """In one sentence."""
    with pytest.raises(RefusedError) as refused:
        reader(TAKING[0])(data)
    assert refused.value.what == "the body is not valid JSON"
