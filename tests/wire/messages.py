"""Messages of every type, drawn from the types themselves."""

import types
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
from hypothesis import strategies as st

from agent.wire.base import Message

TEXT = st.text('aé"\\\n %?/0', min_size=1, max_size=6)
TIMES = st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001  (the zone is drawn apart)
PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    str: TEXT,
    int: st.integers(1, 3650),
    float: st.floats(-1e9, 1e9),
    bool: st.booleans(),
    datetime: TIMES,
    type(None): st.none(),
}


def messages_of(kind: Any) -> st.SearchStrategy[Any]:  # noqa: ANN401 - a type
    """Draw what an annotation of a message allows."""
    if kind in PLAIN:
        return PLAIN[kind]
    origin, parts = get_origin(kind), get_args(kind)
    if origin is None:
        assert issubclass(kind, Message)
        fields = msgspec.structs.fields(kind)
        return st.builds(kind, **{each.name: messages_of(each.type) for each in fields})
    if origin is Literal:
        return st.sampled_from(parts)
    inner = [messages_of(each) for each in (parts[:1] if origin is Annotated else parts)]
    if origin is list:
        return st.lists(*inner, min_size=1, max_size=3)
    if origin is dict:
        return st.dictionaries(*inner, max_size=3)
    assert origin in (Annotated, Union, types.UnionType)
    return st.one_of(inner)
