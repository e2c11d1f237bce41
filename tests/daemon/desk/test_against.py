"""What a word that is not written opens, as the policy is edited since."""

from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.consent.verdicts import OPENNESS, Said, basis_of, overlaid
from agent.wire.policy import Disclose
from tests.daemon.desk.test_override import value_of
from tests.daemon.desk.test_verdicts import POLICIES, ruled
from tests.decision.made import NAMES

VALUES = st.sampled_from(get_args(Disclose))


@given(POLICIES, POLICIES, st.sampled_from(NAMES), VALUES, st.booleans())
def test_a_word_opens_no_more_than_what_it_was_said_against(
    then: str, later: str, name: str, value: Disclose, again: bool
) -> None:
    """A stricter rule that decides since then holds; what a word closes stays closed."""
    before, _ = ruled(then, "a.example")
    against = basis_of(before, name)
    ruling, terms = ruled(then if again else later, "a.example")
    word = Said(name, None, value, firm=True, against=against)
    found, now = value_of(overlaid(terms, (word,), "a.example"), name), value_of(terms, name)
    same = basis_of(ruling, name) == against
    assert found == (value if same else min(value, now, key=OPENNESS.index))
