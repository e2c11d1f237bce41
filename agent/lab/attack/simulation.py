"""One person's requests: what each strategy discloses, and what the recipients remember."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agent.decision.cache import Cache
from agent.decision.context import Context, relevant
from agent.decision.decide import decide_context
from agent.decision.knowledge import Holdings, Knowledge
from agent.decision.terms import Terms, rulebook, terms_under
from agent.decision.values import Decision, Request
from agent.errors import UsageError
from agent.lab.attack.heldout import Person
from agent.lab.attack.strategies import Strategy
from agent.lab.paper.subject import groups_of
from agent.model.model import Model
from agent.model.reading import Interpretation
from agent.tradeoff.study import UNSPECIFIED, union
from policy.hosts import site_of
from policy.match import Rulebook
from policy.read import preset, read

Clock = Callable[[], float]
Seconds = NDArray[np.float64]


GROUP = "@recipients"
FIRST = datetime(2026, 1, 5, 9, tzinfo=UTC)
DAILY = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Scene:
    """Where people send their requests.

    ``asked``: the names that recipients ask for, None for all that there are; ``pause``: from one
    request of a person to the next; ``recipients``: among whom a person's requests go around;
    ``grouped``: whether the agent knows that these pool what they learn; ``seed``: of what is told
    at random.
    """

    asked: frozenset[str] | None = None
    pause: timedelta = DAILY / 5
    recipients: int = 1
    grouped: bool = False
    seed: int = 0


class PosedRequest(NamedTuple):
    """One request as it is decided: a query of the model, to whom, who knows what, and when."""

    query: int
    host: str
    held: Knowledge
    at: datetime


class ChosenSet(NamedTuple):
    """What is told, indexes of the model in the order chosen; seconds that choosing took.

    ``planned``: whether choosing depends on what the recipient was asked before.
    """

    order: tuple[int, ...]
    seconds: float = 0.0
    planned: bool = False


Chooser = Callable[[PosedRequest, Person], ChosenSet]  # what one person's request carries


class Memory:
    """What several recipients were told by one person.

    As the agent sees it, and as it is: recipients who pool without its knowing are none here.
    """

    def __init__(self, names: Sequence[str], codes: Sequence[int], *, grouped: bool) -> None:
        """Take the person attributes and their codes; ``grouped``: whether all of them pool."""
        self._names, self._codes, self._grouped = names, codes, grouped
        self._holdings: defaultdict[str, Holdings[int]] = defaultdict(Holdings)  # by pool
        self._held: dict[str, int] = {}

    def held(self, host: str) -> int:
        """Return the person attributes that a host was told, as a mask."""
        return self._held.get(host, 0)

    def knowledge(self, host: str, now: datetime) -> Knowledge:
        """Return what the agent takes a host to hold."""
        return self._holdings[self._pool(host)].knowledge(now)

    def tell(self, question: PosedRequest, chosen: ChosenSet) -> None:
        """Tell the recipient of a request what was chosen; what is of the request is forgotten.

        The agent counts what it was asked where it plans.
        """
        host = question.host
        known = question.held.names
        lasting = [each for each in chosen.order if each < len(self._names)]
        new = sorted(
            (self._names[each], int(self._codes[each]))
            for each in lasting
            if self._names[each] not in known
        )
        holdings = self._holdings[self._pool(host)]
        holdings.add_facts(question.at, site_of(host), new)
        if chosen.planned and chosen.order:
            holdings.add_query(site_of(host), Interpretation.exact(question.query))
        self._held[host] = self.held(host) | union(lasting)

    def _pool(self, host: str) -> str:
        return GROUP if self._grouped else host


def chooser(strategy: Strategy, model: Model, scene: Scene, clock: Clock) -> Chooser:
    """Return how a strategy chooses; ``clock``: in seconds.

    Everything is all that the model has, asked for or not: no service can know more. UsageError
    where the model has no such group of attributes.
    """
    names = [attribute.name for attribute in model.attributes]
    asked = [
        each for each in range(model.persons) if scene.asked is None or names[each] in scene.asked
    ]
    match strategy.telling:
        case "reticent":
            return Reticent(strategy, model, scene, clock).chosen
        case "random":
            count = min(strategy.count, len(asked))

            def drawn(_question: PosedRequest, person: Person) -> ChosenSet:
                generator = np.random.default_rng((scene.seed, person.place))
                chosen = generator.choice(len(asked), count, replace=False).tolist()
                return ChosenSet(tuple(sorted(asked[each] for each in chosen)))

            return drawn
        case "nothing":
            return lambda *_: ChosenSet(())
        case "everything":
            return lambda *_: ChosenSet(tuple(range(len(names))))
    groups = {group.name: group.mask for group in groups_of(model)}
    if strategy.telling not in groups:
        hint = f"leave out the strategy {strategy.name!r}"
        raise UsageError(f"the model has no {strategy.telling}", hint)
    group = ChosenSet(tuple(each for each in asked if groups[strategy.telling] >> each & 1))
    return lambda *_: group


class Reticent:
    """What the agent decides; each state that it decides in is decided once."""

    def __init__(self, strategy: Strategy, model: Model, scene: Scene, clock: Clock) -> None:
        """Take a preset and what is changed in it, and what is asked for."""
        self._strategy, self._model, self._clock = strategy, model, clock
        self._asked = None if scene.asked is None else tuple(sorted(scene.asked))
        self._cache = Cache()
        self._names = [attribute.name for attribute in model.attributes]
        self._places = {name: place for place, name in enumerate(self._names)}
        self._rules: Rulebook | None = None
        if strategy.preset is not None:
            rules = read(f'preset = "{strategy.preset}"', strategy.preset, preset)
            self._rules = rulebook(rules, model, ())
        self._terms: dict[tuple[str, int, date], tuple[int, Terms]] = {}
        self._numbers: dict[Terms, int] = {}
        self._decided: dict[Hashable, ChosenSet] = {}

    def chosen(self, question: PosedRequest, person: Person) -> ChosenSet:
        """Return what a request carries."""
        state = self.state(question, person)
        found = self._decided.get(state)
        if found is None:
            start = self._clock()
            decision = self.decision(question, person)
            seconds = self._clock() - start
            order = tuple(self._places[name] for name in decision.disclosed)
            planned = self._ruled(question)[1].mode == "planned"
            found = self._decided[state] = ChosenSet(order, seconds, planned)
        return found

    def state(self, question: PosedRequest, person: Person) -> Hashable:
        """Return all that a decision depends on: a person's codes only where it protects them."""
        number, terms = self._ruled(question)
        held = relevant(question.held, terms)
        if terms.memory == "forgets":  # as if it knew nothing, each time
            held = replace(held, codes=(), queries=())
        return number, question.query, held, self.own(question, person.codes)

    def own(self, question: PosedRequest, codes: Sequence[int]) -> Hashable:
        """Return what of a person's codes a decision takes: all of them, which are set, or none."""
        if self.reads_own(question):
            return tuple(codes)
        return self._available(codes)

    def reads_own(self, question: PosedRequest) -> bool:
        """Say whether limits are kept for this user, whose own codes a decision then takes."""
        return self._ruled(question)[1].limits.protect == "me"

    def reads_person(self, question: PosedRequest) -> bool:
        """Say whether decisions differ between people: by their codes, or by what they have set."""
        return self.reads_own(question) or self._strategy.unset

    def decision(self, question: PosedRequest, person: Person) -> Decision:
        """Return the decision itself, as the agent makes it for a request."""
        terms, own = self._ruled(question)[1], None
        terms = replace(terms, available=self._available(person.codes))
        if self.reads_own(question):
            own = dict(zip(self._names[: self._model.persons], person.codes, strict=True))
        request = Request(self._model.queries[question.query].text, question.host, self._asked)
        context = Context(request, terms, question.held, self._model, own, cache=self._cache)
        return decide_context(context, brief=True)

    def _available(self, codes: Sequence[int]) -> frozenset[str] | None:
        """Return what is set where that is not all: what a person said, and all of a request."""
        if not self._strategy.unset:
            return None
        persons = self._model.persons
        said = {name for name, code in zip(self._names, codes, strict=False) if code != UNSPECIFIED}
        return frozenset(said.union(self._names[persons:]))

    def _ruled(self, question: PosedRequest) -> tuple[int, Terms]:
        """Return the terms of a request, and a number that equal terms share."""
        query, host, today = question.query, question.host, question.at.date()
        found = self._terms.get((host, query, today))
        if found is None:
            terms = Terms()
            if self._rules is not None:
                text = self._model.queries[query].text
                terms = terms_under(self._rules.match(host, text, today), self._model)
            terms = self._strategy.changed(terms)
            found = self._numbers.setdefault(terms, len(self._numbers)), terms
            self._terms[host, query, today] = found
        return found


class Trace(NamedTuple):
    """What came of each of T requests; masks are over the model's attributes, in order.

    ``sent``: the attributes that a request carried, not specified or not; ``held``: those of the
    person that its recipient held after it; ``seconds``: float64, shape (T,), what the decision
    took where it was first made, 0 where there was none to make.
    """

    sent: tuple[int, ...]
    held: tuple[int, ...]
    seconds: Seconds


def requests_of(
    choose: Chooser, model: Model, scene: Scene, person: Person
) -> Iterator[tuple[PosedRequest, ChosenSet, int]]:
    """Yield a person's requests: each question, what is told with it, and what its host then holds.

    Their recipients knew nothing before.
    """
    names = [attribute.name for attribute in model.attributes[: model.persons]]
    memory = Memory(names, person.codes, grouped=scene.grouped)
    for number, asked in enumerate(person.requests):
        at = FIRST + number * scene.pause
        host = f"recipient{number % scene.recipients + 1}.example"  # each a site of its own
        question = PosedRequest(asked.query, host, memory.knowledge(host, at), at)
        chosen = choose(question, person)
        memory.tell(question, chosen)
        yield question, chosen, memory.held(host)


def walk(choose: Chooser, model: Model, scene: Scene, person: Person) -> Trace:
    """Return what comes of a person's requests."""
    sent, held, seconds = [], [], []
    for _, chosen, holds in requests_of(choose, model, scene, person):
        sent.append(union(chosen.order))
        held.append(holds)
        seconds.append(chosen.seconds)
    return Trace(tuple(sent), tuple(held), np.array(seconds, dtype=np.float64))
