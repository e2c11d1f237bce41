"""What the service asks for, and the codes of what it hears."""

from typing import Any
from unittest.mock import patch

import http_sf
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from agent.model.model import Model
from examples.search_service import attributes
from examples.search_service.attributes import HELPS, asked_of, codes_of, values_of
from examples.shared_attributes import accepting


def test_what_helps_is_asked_for(model: Model) -> None:
    """By the utilities of the model, in its order, and as a list of tokens."""
    asked = asked_of(model)
    singles, weights = model.tables.singles.utilities, model.tables.query_weights
    means = {
        attribute.name: sum(weights * singles[:, place]) / sum(weights)
        for place, attribute in enumerate(model.attributes)
    }
    assert [each.name for each in asked] == [name for name, bits in means.items() if bits >= HELPS]
    assert 0 < len(asked) < len(model.attributes)
    read: Any = http_sf.parse(accepting(each.name for each in asked).encode(), tltype="list")
    assert [item[0] for item in read] == [http_sf.Token(each.name) for each in asked]


def test_nothing_is_asked_for_where_nothing_helps(model: Model) -> None:
    """An empty list is no header."""
    with patch.object(attributes, "HELPS", np.inf):
        assert asked_of(model) == ()
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
