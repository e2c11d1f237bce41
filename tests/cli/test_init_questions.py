"""What `reticent init` takes for an answer."""

import pytest

from agent.cli.init_questions import chosen
from agent.errors import UsageError


def test_the_case_of_a_name_counts_where_it_must() -> None:
    """Where two names differ in nothing else, only one of them is meant."""
    assert chosen("no", ["No", "no", "Yes"]) == "no"
    assert chosen("YES", ["No", "no", "Yes"]) == "Yes"
    assert chosen("1", ["x", "1"]) == "1"
    with pytest.raises(UsageError, match="there is no 'NO'"):
        chosen("NO", ["No", "no", "Yes"])
