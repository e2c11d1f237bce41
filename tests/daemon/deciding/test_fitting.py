"""What fits into the header, whatever the values are."""

from dataclasses import replace

import pytest

from agent.daemon.handle import handle
from agent.daemon.header import LARGEST
from agent.daemon.what_if import explained
from agent.model.attributes import UNSPECIFIED
from agent.words.outcomes import NO_ROOM
from tests.daemon.doubles import MONDAY
from tests.daemon.people import MODEL, OPEN, SHOP, living
from tests.decision.made import NAMES

ALWAYS = "[attributes]\n" + "".join(f'{name} = "always"\n' for name in NAMES)
LONG = replace(
    MODEL,
    id="long",
    attributes=tuple(
        replace(
            each, values=tuple(v if v == UNSPECIFIED else v.ljust(600, "x") for v in each.values)
        )
        for each in MODEL.attributes
    ),
)


@pytest.mark.parametrize("rule", ["", 'mode = "standing"\n', ALWAYS])
def test_an_answer_fits_the_header_whoever_it_is_of(rule: str) -> None:
    """What has no room is left out before the profile is opened: for everybody the same."""
    said = set()
    for row in range(20):
        agent, vault = living(OPEN + rule, row, LONG)
        why = {each.name: each.reason for each in explained(SHOP, MONDAY, agent).candidates}
        answer = handle(SHOP, MONDAY, agent)
        assert len(answer.header) <= LARGEST
        said.add(tuple(name for name, _ in vault.disclosures[0].disclosed))
        assert NO_ROOM in why.values()
        assert all(why[name] != NO_ROOM for name in answer.attributes)
    assert len(said) == 1
    assert len(said.pop()) == 1
