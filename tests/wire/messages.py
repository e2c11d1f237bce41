"""Messages of every type, drawn from the types themselves."""

import types
from datetime import UTC, date, datetime
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
from hypothesis import strategies as st

TEXT = st.text('aé"\\\n %?/0', min_size=1, max_size=6)
TIMES = st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001  (the zone is drawn apart)
PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    str: TEXT,
    bytes: st.binary(max_size=6),
    int: st.integers(1, 3650),
    float: st.floats(-1e9, 1e9),
    bool: st.booleans(),
    datetime: TIMES,
    date: st.dates(),
    type(None): st.none(),
    msgspec.Raw: st.just(msgspec.Raw(b"{}")),
}


def messages_of(kind: Any) -> st.SearchStrategy[Any]:  # noqa: ANN401 - a type
    """Draw what an annotation of a message allows."""
    if kind in PLAIN:
        return PLAIN[kind]
    origin, parts = get_origin(kind), get_args(kind)
    if origin is None:
        assert issubclass(kind, msgspec.Struct)
        fields = msgspec.structs.fields(kind)
        return st.builds(kind, **{each.name: messages_of(each.type) for each in fields})
    if origin is Literal:
        return st.sampled_from(parts)
    if origin is Annotated:
        return _within(*parts)
    inner = [messages_of(each) for each in parts if each is not Ellipsis]
    if origin in (list, dict, tuple):
        fixed = origin is tuple and Ellipsis not in parts
        collection = st.dictionaries if origin is dict else st.lists
        found = st.tuples(*inner) if fixed else collection(*inner, min_size=1, max_size=3)
        return found.map(tuple) if origin is tuple else found
    assert origin in (Union, types.UnionType)
    return st.one_of(inner)


def _within(kind: Any, limits: msgspec.Meta, *_: msgspec.Meta) -> st.SearchStrategy[Any]:  # noqa: ANN401 - a type
    """Draw what an annotation allows within its limits, those of a number included."""
    if limits.pattern is not None:  # of a path
        return st.from_regex(r"/\w{0,20}", fullmatch=True)
    if kind is float:
        least = limits.gt if limits.ge is None else limits.ge
        return st.floats(least, limits.le, exclude_min=limits.gt is not None)
    if kind is not int:
        return messages_of(kind)
    assert isinstance(limits.ge, int)
    assert isinstance(limits.le, int)
    return st.integers(limits.ge, limits.le)
