"""What a model predicts for a disclosure, beside what it is in the whole population."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agent import Model
from agent.decision.cache import Cache
from agent.decision.matching import share_of
from agent.lab.attack.bars import Bar
from agent.lab.attack.heldout import Floats, Indexes, Person
from agent.lab.attack.simulation import Trace
from agent.model.concepts import Concepts, meaning_of
from agent.model.model import person_codes
from agent.tradeoff import Population, members
from agent.tradeoff.study import AnonymitySet

COVERED = 0.01  # predicted risk up to which the bars speak
ABOVE, MOST, BELOW = 1.35, 0.95, 0.5  # times the prediction; of the sets; of it on average
POINTS = 0.05  # of the share of people below k
ESTIMATED = (0.8, 1.5)  # over the true risk, where several models know the facts

Facts = tuple[tuple[int, int], ...]  # attribute and code, ascending


class Disclosed(NamedTuple):
    """A decision that added something: what was held before it, and the set held after it.

    Everybody who agrees with ``before`` is decided alike (DESIGN.md 2.6).
    """

    before: Facts
    after: int


def disclosures(people: Sequence[Person], traces: Iterable[Trace]) -> Counter[Disclosed]:
    """Return the different decisions of people that added something, and how often each."""
    found: Counter[Disclosed] = Counter()
    for person, trace in zip(people, traces, strict=True):
        before = 0
        for held in trace.held:
            if held != before:
                found[Disclosed(facts_of(person, before), held)] += 1
            before = held
    return found


def facts_of(person: Person, mask: int) -> Facts:
    """Return a person's own values of some attributes."""
    return tuple((each, person.codes[each]) for each in members(mask))


def holdings(found: Counter[Disclosed]) -> Counter[Disclosed]:
    """Return the sets that were held after disclosures, each as if everybody told it at once."""
    held: Counter[Disclosed] = Counter()
    for (_, after), times in found.items():
        held[Disclosed((), after)] += times
    return held


class Expected(NamedTuple):
    """What a disclosure leaves, over those who looked alike before it.

    ``risk``: the expected success of one guess; ``below``: the share of people below k;
    ``left``: how many people agree with the answer.
    """

    risk: float
    below: float
    left: float


def expected(people: AnonymitySet, after: int, k: int) -> Expected:
    """Return it by the figures of an anonymity set."""
    risk, below = (people.identifiability(after, each, k) for each in ("maxprob", "k-anonymity"))
    return Expected(risk, below, people.people_left(after))


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """Different disclosures; float64, shape (n, 3) as `Expected`, and how often each was made."""

    predicted: Floats
    realised: Floats
    times: Indexes

    def _chosen(self, rows: NDArray[np.bool_]) -> "Compared":
        return Compared(self.predicted[rows], self.realised[rows], self.times[rows])

    @property
    def covered(self) -> "Compared":
        """Those whose predicted risk is low enough for the bars."""
        return self._chosen(self.predicted[:, 0] <= COVERED)

    @property
    def beyond(self) -> "Compared":
        """The others."""
        return self._chosen(self.predicted[:, 0] > COVERED)

    @property
    def ratio(self) -> Floats:
        """Realised over predicted risk, float64, shape (n,)."""
        found: Floats = self.realised[:, 0] / self.predicted[:, 0]
        return found


def compared(found: Counter[Disclosed], model: Model, world: Population, k: int) -> Compared:
    """Return what a model of a sample predicts for disclosures; ``world``: all people."""
    predicted, realised, cache = [], [], Cache()
    for before, after in found:
        truth = AnonymitySet(world, model.cards, before)
        predicted.append(expected(cache.anonymity_set(model, before), after, k))
        realised.append(expected(truth, after, k))
    shape = (-1, len(Expected._fields))
    return Compared(
        np.array(predicted, np.float64).reshape(shape),
        np.array(realised, np.float64).reshape(shape),
        np.array([*found.values()], np.intp),
    )


def bars(name: str, found: Compared, k: int) -> tuple[Bar, ...]:
    """Return the bars of one sample; each different disclosure counts once."""
    covered = found.covered
    if not len(covered.times):
        what = f"{name}: predicted risk at most {COVERED:.0%}"
        return (Bar(what, "some disclosures", "none", None, ""),)
    ratio, (predicted, realised) = (
        covered.ratio,
        (each.mean(axis=0) for each in (covered.predicted, covered.realised)),
    )
    within = float((ratio <= ABOVE).mean())
    often = float(np.average(ratio <= ABOVE, weights=covered.times))
    share = float(realised[0] / predicted[0])
    low = covered.realised[:, 1] - covered.predicted[:, 1]
    near = float((low <= POINTS).mean())
    return (
        Bar(
            f"{name}: realised risk at most {ABOVE:g} times the predicted",
            f"for {MOST:.0%} of the sets",
            f"{within:.1%} of {len(ratio):,}; {often:.1%} of decisions; at worst {ratio.max():.2f}",
            within >= MOST,
            f"{100 * (within - MOST):+.1f} points",
        ),
        Bar(
            f"{name}: realised risk over the predicted, on average",
            f"at least {BELOW:g}",
            f"{share:.2f}",
            share >= BELOW,
            f"{share - BELOW:+.2f}",
        ),
        Bar(
            f"{name}: share below k = {k}, at most {100 * POINTS:g} points above the predicted",
            f"for {MOST:.0%} of the sets",
            f"{near:.1%}; {100 * low.mean():+.1f} on average, {100 * low.max():+.1f} at most",
            near >= MOST,
            f"{100 * (near - MOST):+.1f} points",
        ),
    )


def estimated(facts: Mapping[str, str], model: Model, concepts: Concepts) -> float:
    """Return r(0|d), the success of a guess at one who agrees with all that a recipient holds.

    ``facts``: values by name, alike in all models; ``model``: the one that decides (DESIGN.md 2.8).
    """
    held = {
        meaning_of(name, value, each)
        for each in concepts.models
        for name, value in facts.items()
        if name in person_codes(each)
    }
    own = [code for fact in held if (code := concepts.code(fact, model)) is not None]
    known = sorted({(model.index(name), code) for name, code in own})
    people = Cache().anonymity_set(model, known, share_of(held, model, concepts)).people
    return 1 / people if people else 1.0
