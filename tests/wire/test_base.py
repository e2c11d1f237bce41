"""A message made of the fields of other values: what is given counts before any of them."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.wire.base import Fault, from_fields

FIELDS = st.dictionaries(st.sampled_from(Fault.__struct_fields__), st.text(max_size=3))


@given(own=FIELDS, sources=st.lists(FIELDS, max_size=3))
def test_each_field_is_of_the_first_that_has_it(
    own: dict[str, str], sources: list[dict[str, str]]
) -> None:
    """Fields that nothing has are missing, and what no field is called is left."""
    wanted: dict[str, str] = {}
    for each in (own, *sources):
        wanted = each | wanted
    values = [SimpleNamespace(**each, other=1) for each in sources]
    if not {"code", "what", "hint"} <= wanted.keys():
        with pytest.raises(TypeError):
            from_fields(Fault, *values, **own)
    else:
        assert from_fields(Fault, *values, **own) == Fault(**wanted)
