"""Whom absence is reasoned about where limits are kept for them alone, and what is said of it."""

from dataclasses import replace

import numpy as np
import pytest

from agent.lab.attack.adversaries import Inferred
from agent.lab.attack.bars import bars
from agent.lab.attack.heldout import drawn
from agent.lab.attack.outcome import Crowd, Outcome
from agent.lab.attack.report import page
from agent.lab.attack.study import FEW, LISTED, SHORT, Withheld, reasoned
from agent.lab.attack.ways import ANSWERED, OWN, Way
from agent.lab.attack.workers import Run
from tests.lab.attack.made import model, others
from tests.lab.attack.test_study import made

SAID = (Inferred(np.array([3, 2]), np.array([3, 1]), np.array([True, False])),) * 2
QUIET = Run(1, lambda _what, _share: None)


def leaving(counts: list[int]) -> dict[Way, Outcome]:
    """Return outcomes after which so many people are left."""
    left, one = np.array(counts)[:, None], np.ones((len(counts), 1))
    return dict.fromkeys(ANSWERED, Outcome(left, one, one, one, one, one, 0.001))


def test_the_rarest_are_looked_for() -> None:
    """Those left with the fewest, in their first requests: as if nobody else had been there."""
    people, codes = drawn(others(), 6, SHORT + 2, 1), others().codes
    crowd = Crowd(people, codes, (), (SHORT + 2,))
    counts = [9, 2, 8, 1, 3, 9]
    found = reasoned(model(), crowd, leaving(counts), SAID, QUIET)
    rarest = tuple(
        people[each]._replace(requests=people[each].requests[:SHORT]) for each in (3, 1, 4)
    )
    alone = reasoned(model(), replace(crowd, people=rarest), leaving([1, 2, 3]), SAID, QUIET)
    assert (found.compared, found.equal) == (4, 2)
    assert list(found.withheld) == list(OWN)
    for way, each in found.withheld.items():
        assert each.bits.tolist() == alone.withheld[way].bits.tolist()
        assert len(each.bits) == FEW
        assert each.listed == len(codes) < LISTED
        assert (each.bits >= 0).all()
        assert each.bits.max() == pytest.approx(np.log2(each.agreeing / each.producing))


@pytest.mark.parametrize(("left", "words"), [(4, "40 people agreed"), (40, "nothing away here")])
def test_what_is_found_is_said(left: int, words: str) -> None:
    """Ten times fewer is something; as many is nothing, and said too."""
    withheld = Withheld(np.array([0.0, np.log2(40 / left)]), 40, left, 1000)
    found = replace(made().reasoned, withheld={OWN[1]: withheld})
    study = replace(made(), reasoned=found)
    assert words in page(study, (), bars(study))
