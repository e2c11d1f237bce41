"""What the command line and the screens say alike."""

from typing import get_args

from agent.wire.decide import Code
from agent.wire.words import WHY_NOTHING


def test_each_reason_for_nothing_has_words_of_its_own() -> None:
    """Whatever the daemon may answer; the code alone is none."""
    assert {*WHY_NOTHING} == {*get_args(Code)}
    assert len({*WHY_NOTHING.values()}) == len(WHY_NOTHING)
    assert {*WHY_NOTHING}.isdisjoint(WHY_NOTHING.values())
