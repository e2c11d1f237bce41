"""What an adversary makes of what was disclosed, and of what was not."""

from collections.abc import Hashable, Iterator, Sequence
from itertools import accumulate
from operator import or_
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agent import Model
from agent.lab.attack.heldout import Codes, Floats, Indexes, Person
from agent.lab.attack.simulation import Question, Reticent, Scene, Trace, requests_of
from agent.tradeoff import members
from agent.tradeoff.study import UNSPECIFIED, plogp, union


class Learned(NamedTuple):
    """Bits learned of an attribute after each request; float64, shape (T,) each.

    ``true``: log2 of how much likelier its true value became; ``entropy``: how much entropy of it
    went, over all values.
    """

    true: Floats
    entropy: Floats


def left(trace: Trace, person: Person, people: Codes) -> Indexes:
    """Return how many people of a list agree with what is held after each request.

    ``people``: unsigned, shape (N, P), codes by person attribute; intp, shape (T,) comes back.
    """
    return np.array([len(rows) for rows in consistent(trace.held, person, people)], dtype=np.intp)


def consistent(masks: Sequence[int], person: Person, people: Codes) -> Iterator[Indexes]:
    """Yield for each mask the rows of a list that agree with a person on it, ascending.

    The same array where it is the same mask as before.
    """
    rows, before = np.arange(len(people)), 0
    for mask in masks:
        if before & ~mask:
            rows, before = np.arange(len(people)), 0
        for each in members(mask & ~before):
            rows = rows[people[rows, each] == person.codes[each]]
        before = mask
        yield rows


def knowing(trace: Trace, mask: int) -> Trace:
    """Return the trace for an adversary who knew these attributes of the person beforehand."""
    return trace._replace(held=tuple(held | mask for held in trace.held))


def pooled(trace: Trace) -> Trace:
    """Return the trace for an adversary with whom all recipients share what they hold."""
    return trace._replace(held=tuple(accumulate(trace.held, or_)))


def guarded(trace: Trace, person: Person, people: Codes, attribute: int) -> Learned | None:
    """Return what is learned of an attribute, from those of a list who have it specified.

    None for a person who has not.
    """
    own = person.codes[attribute]
    if own == UNSPECIFIED:
        return None
    said = people[people[:, attribute] != UNSPECIFIED]
    prior = np.bincount(said[:, attribute], minlength=own + 1) / len(said)
    found: list[tuple[float, float]] = []
    before = None
    for rows in consistent(trace.held, person, said):
        if rows is not before:
            before = rows
            after = np.bincount(said[rows, attribute], minlength=len(prior)) / len(rows)
            entropy = float(plogp(after).sum() - plogp(prior).sum())
            learned = float(np.log2(after[own] / prior[own])), entropy
        found.append(learned)
    return Learned(*np.array(found, dtype=np.float64).reshape(-1, 2).T)


class Inferred(NamedTuple):
    """The people of a list who are left after each request; intp, shape (T,), and bool.

    ``agreeing``: with all that was disclosed to any recipient; ``producing``: whose agent would
    have sent the whole transcript; ``same``: whether these are the same people.
    """

    agreeing: Indexes
    producing: Indexes
    same: NDArray[np.bool_]

    @property
    def bits(self) -> Floats:
        """What absence gives after each request, in bits: how many fewer people produce it."""
        found: Floats = np.log2(self.agreeing / self.producing)
        return found


class Reasoner:
    """Simulates the agent of everybody on a list, in one strategy that Reticent decides.

    Whoever is decided alike is decided once: those with the same of all that a decision takes.
    """

    def __init__(self, agent: Reticent, model: Model, scene: Scene, people: Codes) -> None:
        """Take the list: unsigned, shape (N, P), codes by person attribute."""
        self._agent, self._model, self._scene, self._people = agent, model, scene, people

    def inferred(self, person: Person) -> Inferred:
        """Return who is left of the list, after each request of a person who is on it."""
        # Whoever is not out yet was asked the same and has said the same: one memory is all theirs.
        producing, held = np.arange(len(self._people)), 0
        left, masks = [], []
        for question, chosen, _ in requests_of(
            self._agent.chosen, self._model, self._scene, person
        ):
            producing = self._those_who_say(chosen.order, question, person, producing)
            held |= union(each for each in chosen.order if each < self._model.persons)
            left.append(producing)
            masks.append(held)
        agreeing = list(consistent(masks, person, self._people))
        return Inferred(
            np.array([len(rows) for rows in agreeing], dtype=np.intp),
            np.array([len(rows) for rows in left], dtype=np.intp),
            np.array([np.array_equal(*both) for both in zip(agreeing, left, strict=True)]),
        )

    def _those_who_say(
        self, order: Sequence[int], question: Question, person: Person, among: Indexes
    ) -> Indexes:
        """Return who would send these attributes, in this order, with the person's values."""
        # Whoever would have sent other values need not be decided for.
        for each in order:
            if each < self._model.persons:
                among = among[self._people[among, each] == person.codes[each]]
        said = []
        for rows in self._decided_alike(question, among):
            first = int(rows[0])
            like = Person(first, tuple(self._people[first].tolist()), ())
            if self._agent.chosen(question, like).order == order:
                said.append(rows)
        return np.sort(np.concatenate([np.zeros(0, np.intp), *said]))

    def _decided_alike(self, question: Question, among: Indexes) -> list[Indexes]:
        """Return the rows in groups that share all that a decision takes."""
        if not len(among) or not self._agent.reads_person(question):
            return [among] if len(among) else []
        groups: dict[Hashable, list[int]] = {}
        for row in among.tolist():
            own = self._agent.own(question, self._people[row].tolist())
            groups.setdefault(own, []).append(row)
        return [np.array(rows, dtype=np.intp) for rows in groups.values()]
