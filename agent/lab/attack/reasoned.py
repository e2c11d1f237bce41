"""What reasoning about absence gives: nothing where limits are kept for everyone, and else bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agent.lab.attack.walk import Scene
from agent.lab.attack.ways import ANSWERED, OWN, SHIPPED, UNSET
from agent.lab.attack.workers import inferences

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from agent.lab.attack.absence import Inferred
    from agent.lab.attack.outcome import Crowd, Outcome
    from agent.lab.attack.streams import Person
    from agent.lab.attack.ways import Way
    from agent.lab.attack.workers import Run
    from agent.model.model import Model

    Codes = NDArray[np.unsignedinteger]

EVERYONE = (*SHIPPED, *ANSWERED)
FEW, SHORT, LISTED = 3, 20, 4000  # people, requests, and names on the list where each is decided


@dataclass(frozen=True, slots=True)
class Withheld:
    """What absence gives of people whose limits are kept for them alone.

    ``bits``: of each of them after the last request, float64, shape (people,); ``agreeing`` and
    ``producing``: how many are left of whom it gives most; ``listed``: names on the list.
    """

    bits: NDArray[np.float64]
    agreeing: int
    producing: int
    listed: int


@dataclass(frozen=True, slots=True)
class Reasoned:
    """What an adversary found who knows for everybody on its list what they would have sent.

    ``compared``: pairs of person and request, over the presets, with limits kept for everyone;
    ``equal``: of these, those where whoever would have sent the same are just those who agree with
    what was disclosed. ``withheld``: by way, with limits kept for the user alone; ``unset``: by
    way, where people have not set what they did not say.
    """

    compared: int
    equal: int
    withheld: Mapping[Way, Withheld]
    unset: Mapping[Way, Withheld]


def reasoned(
    model: Model,
    crowd: Crowd,
    outcomes: Mapping[Way, Outcome],
    everyone: Iterable[Inferred],
    run: Run,
) -> Reasoned:
    """Return what was found; ``outcomes``: of ANSWERED, for the crowd's people.

    ``everyone``: what was inferred of these, in ways of EVERYONE.
    For the user alone, and where people differ in what is set, decisions differ: there only the
    FEW are looked for to whom the same preset leaves the fewest others, in their first SHORT
    requests, on a list of LISTED.
    """
    people, codes = crowd.people, crowd.codes
    same = np.concatenate([each.same for each in everyone])
    rare = {own: _rarest(people, outcomes[way]) for own, way in zip(OWN, ANSWERED, strict=True)}
    rare |= {way: rare[own] for way, own in zip(UNSET, OWN, strict=True)}
    listed = _list([each for these in rare.values() for each in these], codes)
    mine = inferences(model, Scene(), rare, codes[listed], run)
    withheld = {way: _withheld(found, len(listed)) for way, found in mine.items()}
    return Reasoned(
        compared=len(same),
        equal=int(same.sum()),
        withheld={way: each for way, each in withheld.items() if way in OWN},
        unset={way: each for way, each in withheld.items() if way in UNSET},
    )


def _rarest(people: Sequence[Person], found: Outcome) -> list[Person]:
    """Return those with whom the fewest agree in the end, in their first requests."""
    places = np.argsort(found.left[:, -1], kind="stable")[:FEW].tolist()
    return [people[each]._replace(requests=people[each].requests[:SHORT]) for each in places]


def _list(people: Sequence[Person], codes: Codes) -> NDArray[np.intp]:
    """Return whom a list has that may be shorter: the people, and the first others."""
    places = np.unique([each.place for each in people])
    others = np.setdiff1d(np.arange(len(codes)), places)
    return np.array([*places, *others[: max(0, LISTED - len(places))]], dtype=np.intp)


def _withheld(found: Sequence[Inferred], listed: int) -> Withheld:
    bits = np.array([each.bits[-1] for each in found])
    most = found[int(bits.argmax())]
    return Withheld(bits, int(most.agreeing[-1]), int(most.producing[-1]), listed)
