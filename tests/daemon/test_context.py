"""A request's context: what its recipient holds, now and at an entry."""

import pytest

from agent.daemon.context import context_of
from agent.daemon.handle import handle
from agent.vault.disclosure_index import Disclosure
from tests.daemon.doubles import MONDAY
from tests.daemon.people import MODEL, OPEN, SECOND, SHOP, living

TIMES = 3


@pytest.mark.parametrize(("mode", "counts"), [("planned", True), ("dynamic", False)])
def test_a_plan_hears_what_was_asked(mode: str, counts: bool) -> None:
    """As often as something left with it; before an entry, what came before that."""
    agent, vault = living(f'{OPEN}mode = "{mode}"\n')
    for _ in range(TIMES):
        assert handle(SHOP, MONDAY, agent).attributes
    query = MODEL.match(SHOP.query)
    now = context_of(SHOP, MONDAY + SECOND, agent).knowledge
    assert now.queries == (((query, TIMES),) if counts else ())
    for number in range(1, TIMES + 1):
        entry = vault.ledger.entry(number)
        assert isinstance(entry, Disclosure)
        known = context_of(SHOP, MONDAY + SECOND, agent, (number, entry.at)).knowledge
        assert known.queries == (((query, number - 1),) if counts and number > 1 else ())
