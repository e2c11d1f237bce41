"""What reasoning about absence gives: nothing where limits are kept for everyone, and else bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agent.lab.attack.walk import Scene
from agent.lab.attack.ways import ANSWERED, OWN, SHIPPED
from agent.lab.attack.workers import inferences

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from agent.lab.attack.absence import Inferred
    from agent.lab.attack.streams import Person
    from agent.lab.attack.ways import Way
    from agent.lab.attack.workers import Run
    from agent.model.model import Model

    Codes = NDArray[np.unsignedinteger]

EVERYONE = (*SHIPPED, *ANSWERED)
FEW, SHORT, LISTED = 8, 20, 1200  # people, requests, and names on the list where each is decided


@dataclass(frozen=True, slots=True)
class Withheld:
    """What absence gives of people whose limits are kept for them alone, in bits.

    ``mean``, ``most``: over ``people`` after their last request, on a list of ``listed``.
    """

    mean: float
    most: float
    people: int
    listed: int


@dataclass(frozen=True, slots=True)
class Reasoned:
    """What an adversary found who knows for everybody on its list what they would have sent.

    ``compared``: pairs of person and request, over the presets, with limits kept for everyone;
    ``equal``: of these, those where whoever would have sent the same are just those who agree with
    what was disclosed. ``withheld``: by way, with limits kept for the user alone.
    """

    compared: int
    equal: int
    withheld: Mapping[Way, Withheld]


def reasoned(model: Model, people: Sequence[Person], codes: Codes, run: Run) -> Reasoned:
    """Return what was found; ``codes``: unsigned, shape (N, P), the list, with all the people.

    For the user alone everybody's decisions differ: there only FEW people are looked for, in their
    first SHORT requests, on a list of LISTED.
    """
    everyone = inferences(model, Scene(), dict.fromkeys(EVERYONE, people), codes, run)
    same = np.concatenate([each.same for found in everyone.values() for each in found])
    few = [each._replace(requests=each.requests[:SHORT]) for each in people[:FEW]]
    listed = _list(few, codes)
    mine = inferences(model, Scene(), dict.fromkeys(OWN, few), codes[listed], run)
    return Reasoned(
        compared=len(same),
        equal=int(same.sum()),
        withheld={way: _withheld(found, len(listed)) for way, found in mine.items()},
    )


def _list(people: Sequence[Person], codes: Codes) -> NDArray[np.intp]:
    """Return whom a short list has: the people, and the first others."""
    places = [each.place for each in people]
    others = np.setdiff1d(np.arange(len(codes)), places)
    return np.array([*places, *others[: max(0, LISTED - len(places))]], dtype=np.intp)


def _withheld(found: Sequence[Inferred], listed: int) -> Withheld:
    bits = np.array([each.bits[-1] for each in found])
    return Withheld(float(bits.mean()), float(bits.max()), len(found), listed)
