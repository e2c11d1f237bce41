"""From which networks people ask: the top-level domain of their address (paper, section 5.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from agent.build.log.schema import DOMAINS
from agent.lab.synth.circles import CIRCLES
from agent.lab.synth.draws import chances
from agent.lab.synth.marginals import PUBLISHED

if TYPE_CHECKING:
    from agent.lab.synth.draws import Ints
    from agent.lab.synth.population import People
    from agent.lab.synth.times import Times

UNKNOWN = -1  # the look-up failed
SUFFIXES = (*DOMAINS, "us", "uk", "in")  # those after DOMAINS say nothing in Table 1
_FOREIGN = len(DOMAINS)  # and the code of a region
# How common each of DOMAINS, and one of one's own country, is at home, at work, at school.
_HOME = (0.38, 0.01, 0.48, 0.02, 0.11)
_WORK = (0.72, 0.02, 0.10, 0.12, 0.04)
_SCHOOL = (0.05, 0.85, 0.02, 0.04, 0.04)
_STUDENT = 0  # code in CIRCLES


def suffixes(crowd: People, person: Ints, when: Times, generator: np.random.Generator) -> Ints:
    """Return the code in SUFFIXES of the network of each query, UNKNOWN for some.

    So many say nothing, by being unknown or another's, as the paper says. ``person``: who asks.
    """
    people = len(crowd.circle)
    home = generator.choice(len(_HOME), size=people, p=_HOME)
    work = generator.choice(len(_WORK), size=people, p=_WORK)
    school = generator.choice(len(_SCHOOL), size=people, p=_SCHOOL)
    connected = np.array([each.connected for each in CIRCLES])[crowd.circle]
    there = np.where(crowd.circle == _STUDENT, school, work)
    inside = (connected[person] & when.working) & when.workday
    code = np.where(inside, there[person], home[person])
    known = code < _FOREIGN
    fails = chances(np.zeros(len(code)), 1 - PUBLISHED["domain_known"] / known.mean())
    found = np.where(known, code, _FOREIGN + crowd.region[person])
    return np.where(generator.random(len(code)) < fails, UNKNOWN, found)
