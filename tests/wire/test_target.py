"""The path and query of a call: whatever is put in comes out as it was."""

from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import UsageError
from agent.wire.routes import DOTS, ROUTES, target_of

ROUTE = {route.name: route for route in ROUTES}


@given(st.text(min_size=1).filter(lambda text: text not in DOTS))
def test_a_part_of_the_path_is_one_segment(text: str) -> None:
    """With any sign in it, also those that divide an address."""
    target = target_of(ROUTE["knowledge"], {"recipient": text})
    assert target.isascii()
    assert not set(target) & set(" ?#\r\n")
    *_, folder, last = urlsplit(target).path.split("/")
    assert (folder, unquote(last)) == ("knowledge", text)


@given(st.text(), st.integers(), st.none() | st.integers(1, 10**4))
def test_a_query_holds_what_was_given(recipient: str, after: int, limit: int | None) -> None:
    """And nothing for what is None."""
    given: dict[str, Any] = {"recipient": recipient, "after": after, "limit": limit}
    path, _, query = target_of(ROUTE["ledger"], given).partition("?")
    wanted = {key: str(value) for key, value in given.items() if value is not None}
    assert path == "/v1/ledger"
    assert dict(parse_qsl(query, keep_blank_values=True)) == wanted


def test_without_parameters_it_is_the_path() -> None:
    """No mark without a query."""
    assert target_of(ROUTE["ledger"], {}) == "/v1/ledger"
    assert target_of(ROUTE["dismiss"], {"id": 7}) == "/v1/reviews/7"


@pytest.mark.parametrize("text", ["", ".", "..", None])
def test_a_step_through_the_path_is_refused(text: str | None) -> None:
    """`/v1/models/..` would be another call."""
    with pytest.raises(UsageError, match="is no name"):
        target_of(ROUTE["remove_model"], {"name": text})


def test_a_parameter_that_is_not_there_is_our_own_mistake() -> None:
    """Never sent."""
    with pytest.raises(TypeError, match="status has no parameters"):
        target_of(ROUTE["status"], {"id": 1})
