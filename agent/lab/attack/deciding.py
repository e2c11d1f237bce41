"""What is told with a request, in each way: the same, or what the agent decides."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from agent.decision.decide import decide_briefly
from agent.decision.request import Knowledge, Request
from agent.decision.settings import relevant
from agent.decision.terms import Terms
from agent.decision.under import terms_under
from agent.errors import UsageError
from agent.lab.paper.groups import groups_of
from agent.tradeoff.tables import UNSPECIFIED
from policy.careful import careful
from policy.load import preset
from policy.match import Rulebook
from policy.read import read

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence
    from datetime import date, datetime

    from agent.decision.decision import Decision
    from agent.lab.attack.streams import Person
    from agent.lab.attack.walk import Scene
    from agent.lab.attack.ways import Way
    from agent.model.model import Model

    Clock = Callable[[], float]


class Question(NamedTuple):
    """One request as it is decided: a query of the model, to whom, who knows what, and when."""

    query: int
    host: str
    held: Knowledge
    at: datetime


class Chosen(NamedTuple):
    """What is told, indexes of the model in the order chosen; seconds that choosing took."""

    order: tuple[int, ...]
    seconds: float


class Strategy(Protocol):
    """Chooses what is told."""

    def chosen(self, question: Question, person: Person) -> Chosen:
        """Return what one person's request carries."""
        ...

    def plans(self, question: Question) -> bool:
        """Say whether choosing depends on what the recipient was asked before."""
        ...


def strategy(way: Way, model: Model, scene: Scene, clock: Clock) -> Strategy:
    """Return how a way chooses; ``clock``: in seconds.

    Everything is all that the model has, asked for or not: no service can know more. UsageError
    where the model has no such group of attributes.
    """
    names = [attribute.name for attribute in model.attributes]
    asked = [
        each for each in range(model.persons) if scene.asked is None or names[each] in scene.asked
    ]
    match way.telling:
        case "reticent":
            return Reticent(way, model, scene, clock)
        case "random":
            return AtRandom(tuple(asked), way.count, scene.seed)
        case "nothing":
            return Constant(())
        case "everything":
            return Constant(tuple(range(len(names))))
    groups = {group.name: group.mask for group in groups_of(model)}
    if way.telling not in groups:
        hint = f"leave out the way {way.name!r}"
        raise UsageError(f"the model has no {way.telling}", hint)
    return Constant(tuple(each for each in asked if groups[way.telling] >> each & 1))


class Constant:
    """The same with every request."""

    def __init__(self, order: tuple[int, ...]) -> None:
        """Take what is told."""
        self._chosen = Chosen(order, 0.0)

    def chosen(self, question: Question, person: Person) -> Chosen:  # noqa: ARG002  (of the protocol)
        """Return what is always told."""
        return self._chosen

    def plans(self, question: Question) -> bool:  # noqa: ARG002  (of the protocol)
        """Say that it does not."""
        return False


class AtRandom:
    """Attributes of the person drawn at random, the same with every request of a person."""

    def __init__(self, among: tuple[int, ...], count: int, seed: int) -> None:
        """Take from what to draw, and how many; all where there are fewer."""
        self._among, self._count, self._seed = among, min(count, len(among)), seed

    def chosen(self, question: Question, person: Person) -> Chosen:  # noqa: ARG002  (of the protocol)
        """Return what was drawn for a person."""
        generator = np.random.default_rng((self._seed, person.place))
        drawn = generator.choice(len(self._among), self._count, replace=False).tolist()
        return Chosen(tuple(sorted(self._among[each] for each in drawn)), 0.0)

    def plans(self, question: Question) -> bool:  # noqa: ARG002  (of the protocol)
        """Say that it does not."""
        return False


class Reticent:
    """What the agent decides; each state that it decides in is decided once."""

    def __init__(self, way: Way, model: Model, scene: Scene, clock: Clock) -> None:
        """Take a preset and what is changed in it, and what is asked for."""
        self._way, self._model, self._asked, self._clock = way, model, scene.asked, clock
        self._names = [attribute.name for attribute in model.attributes]
        self._places = {name: place for place, name in enumerate(self._names)}
        self._rules = _rules(way, self._names)
        self._terms: dict[tuple[str, int, date], tuple[int, Terms]] = {}
        self._numbers: dict[Terms, int] = {}
        self._decided: dict[Hashable, Chosen] = {}

    def chosen(self, question: Question, person: Person) -> Chosen:
        """Return what a request carries."""
        state = self.state(question, person)
        found = self._decided.get(state)
        if found is None:
            found = self._decided[state] = self._made(question, person)
        return found

    def state(self, question: Question, person: Person) -> Hashable:
        """Return all that a decision depends on: a person's codes only where it protects them."""
        number, terms = self._ruled(question)
        held = relevant(question.held, terms)
        if terms.memory == "forgets":  # as if it knew nothing, each time
            held = replace(held, codes=(), heard=())
        return number, question.query, held, self.own(question, person.codes)

    def own(self, question: Question, codes: Sequence[int]) -> Hashable:
        """Return what of a person's codes a decision takes: all of them, which are set, or none."""
        if self.reads_own(question):
            return tuple(codes)
        return self._available(codes)

    def plans(self, question: Question) -> bool:
        """Say whether a plan is made, for which queries that were asked count."""
        return self._ruled(question)[1].mode == "planned"

    def reads_own(self, question: Question) -> bool:
        """Say whether limits are kept for this user, whose own codes a decision then takes."""
        return self._ruled(question)[1].limits.protect == "me"

    def reads_person(self, question: Question) -> bool:
        """Say whether decisions differ between people: by their codes, or by what they have set."""
        return self.reads_own(question) or self._way.unset

    def decision(self, question: Question, person: Person) -> Decision:
        """Return the decision itself, as the agent makes it for a request."""
        terms, own = self._ruled(question)[1], None
        terms = replace(terms, available=self._available(person.codes))
        if self.reads_own(question):
            own = dict(zip(self._names[: self._model.persons], person.codes, strict=True))
        request = Request(self._model.queries[question.query].text, question.host, self._asked)
        return decide_briefly(request, terms, question.held, self._model, own)

    def _available(self, codes: Sequence[int]) -> frozenset[str] | None:
        """Return what is set where that is not all: what a person said, and all of a request."""
        if not self._way.unset:
            return None
        persons = self._model.persons
        said = {name for name, code in zip(self._names, codes, strict=False) if code != UNSPECIFIED}
        return frozenset(said.union(self._names[persons:]))

    def _made(self, question: Question, person: Person) -> Chosen:
        start = self._clock()
        decision = self.decision(question, person)
        seconds = self._clock() - start
        return Chosen(tuple(self._places[name] for name in decision.disclosed), seconds)

    def _ruled(self, question: Question) -> tuple[int, Terms]:
        """Return the terms of a request, and a number that equal terms share."""
        query, host, today = question.query, question.host, question.at.date()
        found = self._terms.get((host, query, today))
        if found is None:
            terms = Terms()
            if self._rules is not None:
                text = self._model.queries[query].text
                terms = terms_under(self._rules.match(host, text, today), self._model)
            terms = self._way.changed(terms)
            found = self._numbers.setdefault(terms, len(self._numbers)), terms
            self._terms[host, query, today] = found
        return found


def _rules(way: Way, names: list[str]) -> Rulebook | None:
    if way.preset is None:
        return None
    rules = read(f'preset = "{way.preset}"', way.preset, preset)
    return Rulebook(careful(rules, names), names)
