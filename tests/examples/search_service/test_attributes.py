"""What the service asks for, and the codes of what it hears."""

from typing import Any

import http_sf
from hypothesis import given
from hypothesis import strategies as st

from agent.decision.studies import recommended
from agent.model.model import Model
from examples.search_service.attributes import asked_of, codes_of, values_of
from examples.shared_attributes import LAMBDA, accepting


def test_what_the_design_recommends_is_asked_for(model: Model) -> None:
    """In the order of the model, as a list of tokens; an empty list is no header."""
    asked = asked_of(model)
    read: Any = http_sf.parse(accepting(each.name for each in asked).encode(), tltype="list")
    assert [str(item[0]) for item in read] == [*recommended(model, LAMBDA)]
    assert 0 < len(asked) < len(model.attributes)
    assert accepting(()) == ""


@given(st.data())
def test_a_value_has_its_code(model: Model, data: st.DataObject) -> None:
    """And not specified, which is never told, has none."""
    asked = asked_of(model)
    told = {name: data.draw(st.sampled_from(may)) for name, may in values_of(asked).items()}
    codes = codes_of(told, asked)
    assert {each.name: each.values[codes[each.name]] for each in asked} == told
    assert 0 not in codes.values()
    assert codes_of({}, asked) == {}
