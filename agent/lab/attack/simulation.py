"""People whom a model has not seen, their requests, and what each strategy discloses with them."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agent.decision.cache import Cache
from agent.decision.context import Context, Terms, relevant, rulebook, stands_out, terms_under
from agent.decision.decide import decide
from agent.decision.knowledge import Holdings, Knowledge
from agent.decision.own_facts import NONE, OwnFacts
from agent.decision.values import Decision, Request
from agent.lab.attack.strategies import Strategy
from agent.model.model import Model
from agent.tradeoff import members
from agent.tradeoff.tables import UNSPECIFIED, Codes, Indexes, union
from policy.match import Rulebook
from policy.read import preset, read

Received = Indexes
Table = NDArray[np.bool_]
Names = frozenset[str] | None

SILENT = 0  # where nothing was said of an attribute; a code is received as one more
HOST = "recipient.example"
FIRST, PAUSE = datetime(2026, 1, 5, 9, tzinfo=UTC), timedelta(hours=24) / 5


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """The people of the other half, and their events that a model of the first can rank.

    ``codes``: unsigned, shape (N, P), of the person attributes; the events, in order of person:
    ``starts``: intp, shape (N + 1,), where each person's begin; ``query``, ``intent``: intp,
    shape (E,), indexes of the model; ``request``: unsigned, shape (E, R), of the request
    attributes. ``unranked``: how many events the model has no result for.
    """

    codes: Codes
    starts: Indexes
    query: Indexes
    intent: Indexes
    request: Codes
    unranked: int

    @property
    def askers(self) -> Indexes:
        """The people with at least one event, ascending."""
        return np.flatnonzero(np.diff(self.starts))


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """A model of one half of the people, the other half, and a sentence on where both are from."""

    model: Model
    others: HeldOut
    source: str

    @property
    def everybody(self) -> bool:
        """Whether the model's rows stand for all people of the tables, who are all listed."""
        return self.model.population.weights is not None

    @property
    def listed(self) -> str:
        """Whom the adversary's list has, in words."""
        return f"{'all' if self.everybody else 'that half,'} {len(self.others.codes):,} people"


class HeldOutRequest(NamedTuple):
    """One request: the query and what was chosen, indexes of the model; codes of the request.

    ``text``: what is asked, empty for the query's own.
    """

    query: int
    intent: int
    request: tuple[int, ...]
    text: str = ""


class Person(NamedTuple):
    """Somebody whom the model has not seen.

    ``place``: among the held-out people, or the model's rows; ``codes``: of the person attributes;
    ``requests``: sent, one each ``pause``.
    """

    place: int
    codes: tuple[int, ...]
    requests: tuple[HeldOutRequest, ...] = ()
    pause: timedelta = PAUSE


def people_of(others: HeldOut, people: int, requests: int, seed: int) -> tuple[Person, ...]:
    """Draw so many different people, all if there are fewer, with so many requests each.

    Requests are drawn from the person's own events, with replacement. Who is drawn, and what a
    person asks first, does not depend on how many requests there are.
    """
    drawn = []
    for place in np.random.default_rng(seed).permutation(others.askers)[:people].tolist():
        # A draw a request, and no array of them: a longer stream then begins as a shorter one.
        generator = np.random.default_rng((seed, place))
        start, stop = others.starts[place : place + 2].tolist()
        events = [int(generator.integers(start, stop)) for _ in range(requests)]
        queries, intents = others.query[events].tolist(), others.intent[events].tolist()
        codes = map(tuple, others.request[events].tolist())
        sent = tuple(map(HeldOutRequest, queries, intents, codes))
        drawn.append(Person(place, tuple(others.codes[place].tolist()), sent))
    return tuple(drawn)


def received(codes: Codes, masks: Sequence[int]) -> Received:
    """Encode what each of n requests says: SILENT, or the code and one; intp, (n, attributes).

    ``codes``: unsigned, shape (n, attributes), of who asks, and of the request; ``masks``: the
    set attached to each.
    """
    return (codes.astype(np.intp) + 1) * as_table(masks, codes.shape[1])


def as_table(masks: Sequence[int], attributes: int) -> Table:
    """Spread sets out as a table, bool, shape (n, attributes)."""
    rows = {mask: np.isin(np.arange(attributes), [*members(mask)]) for mask in {*masks}}
    return np.array([rows[mask] for mask in masks], dtype=bool).reshape(-1, attributes)


class PosedRequest(NamedTuple):
    """One request as it is decided: a query of the model, what its recipient knows, and when.

    ``stopped``: the recipient learns nothing new, since the person would stand out there;
    ``text``: as of `HeldOutRequest`.
    """

    query: int
    knowledge: Knowledge
    at: datetime
    stopped: bool = False
    text: str = ""


class ChosenSet(NamedTuple):
    """What is disclosed, indexes of the model in the order chosen.

    ``planned``: whether choosing depends on what the recipient was asked before; ``stops``: whether
    the recipient learns nothing new from now on, since the person would stand out; ``spent``: of
    the recipient's budget of violations.
    """

    order: tuple[int, ...]
    planned: bool = False
    stops: bool = False
    spent: float = 0.0


Chooser = Callable[[PosedRequest, Person], ChosenSet]  # what one person's request carries


@lru_cache(maxsize=1)
def _cache_for(_own: OwnFacts) -> Cache:
    """The cache of the latest person, which all strategies share."""
    return Cache()


def chooser(
    strategy: Strategy, model: Model, requested: Names = None, own: OwnFacts = NONE
) -> Chooser:
    """Prepare how a strategy chooses; ``requested``, ``own``: as of `Reticent`.

    Everything is all that the model has, asked for or not: no service can know more. Relevant is
    what a person has set, or wrote, and a model of topics judges to help.
    """
    if strategy.telling == "reticent":
        return Reticent(strategy, model, requested, own).chosen
    if strategy.telling == "relevant":
        of_all, cache = (Terms(), Knowledge(), model), _cache_for(own)

        def relevant_to(question: PosedRequest, person: Person) -> ChosenSet:
            request = Request(question.text or model.queries[question.query].text)
            context = Context(request, *of_all, cache=cache, own=own)
            helps, filled = cache.judgements(model).helpful(context.meaning), context.filled
            helps[[*filled.facts]] |= filled.carried
            some = np.flatnonzero(helps[: model.persons]).tolist()
            return ChosenSet(tuple(at for at in some if person.codes[at] != UNSPECIFIED))

        return relevant_to
    every = len(model.attributes) if strategy.telling == "everything" else 0
    fixed = ChosenSet(tuple(range(every)))
    return lambda *_: fixed


class Reticent:
    """What the agent decides; each state that it decides in is decided once."""

    def __init__(
        self, strategy: Strategy, model: Model, requested: Names = None, own: OwnFacts = NONE
    ) -> None:
        """Take a preset and what is changed in it, and the names that are asked for; None: all.

        ``own``: what one person has in own words, who is then the only one, at most one of a kind,
        for which the model has a place.
        """
        self._own = own
        self._strategy, self._model = strategy, model
        self._requested = None if requested is None else tuple(sorted(requested))
        self._cache = _cache_for(own)
        self._names = [attribute.name for attribute in model.attributes]
        self._rules: Rulebook | None = None
        if strategy.preset is not None:
            rules = read(f'preset = "{strategy.preset}"', strategy.preset, preset)
            self._rules = rulebook(rules, model, ())
        self._terms: dict[tuple[str, date], tuple[int, Terms]] = {}
        self._numbers: dict[Terms, int] = {}
        self._decided: dict[Hashable, ChosenSet] = {}

    def chosen(self, question: PosedRequest, person: Person) -> ChosenSet:
        """Choose what a request carries."""
        number, terms = self._terms_of(question)
        knowledge = relevant(question.knowledge, terms)
        if terms.memory == "forgets":  # as if it knew nothing, each time
            knowledge = replace(knowledge, codes=(), queries=())
        asked = question.query, question.text, question.stopped
        state = number, asked, knowledge, self._available(person.codes)
        chosen = self._decided.get(state)
        if chosen is None:
            decision = self._decision(question, person)
            order = tuple(map(self._model.index, decision.disclosed))
            chosen = ChosenSet(order, terms.mode == "planned", spent=decision.figures.spent)
            self._decided[state] = chosen
        codes = {self._names[e]: person.codes[e] for e in chosen.order if e < self._model.persons}
        if terms.limits.protect == "everyone" or codes.keys() <= knowledge.names:
            return chosen
        if not stands_out(knowledge.with_facts(codes), terms.limits, self._model, self._cache):
            return chosen
        return self.chosen(question._replace(stopped=True), person)._replace(stops=True)

    def own(self, question: PosedRequest, codes: Sequence[int]) -> Hashable:
        """Reduce a person's codes to what a request takes of them; None if that is nothing."""
        return tuple(codes) if self._protects_me(question) else self._available(codes)

    def reads_person(self, question: PosedRequest) -> bool:
        """Say whether decisions differ between people: by their codes, or by what they have set."""
        return self._protects_me(question) or self._strategy.unset

    def _protects_me(self, question: PosedRequest) -> bool:
        return self._terms_of(question)[1].limits.protect == "me"

    def _decision(self, question: PosedRequest, person: Person) -> Decision:
        terms, model = self._terms_of(question)[1], self._model
        terms = replace(terms, available=self._available(person.codes))
        request = Request(self._text(question), HOST, self._requested)
        stopped, knowledge = question.stopped, question.knowledge
        cache, own = self._cache, self._own
        context = Context(request, terms, knowledge, model, stopped, cache=cache, own=own)
        return decide(context, brief=True)

    def _available(self, codes: Sequence[int]) -> frozenset[str] | None:
        """Name what is set where that is not all: what a person said, and all of a request."""
        if not self._strategy.unset:
            return None
        specified = {
            name for name, code in zip(self._names, codes, strict=False) if code != UNSPECIFIED
        }
        return frozenset(specified.union(self._names[self._model.persons :]))

    def _text(self, question: PosedRequest) -> str:
        return question.text or self._model.queries[question.query].text

    def _terms_of(self, question: PosedRequest) -> tuple[int, Terms]:
        """Look up the terms of a request, and a number that equal terms share."""
        text = self._text(question)
        key = text, question.at.date()
        if key not in self._terms:
            terms = Terms()
            if self._rules is not None:
                terms = terms_under(self._rules.match(HOST, text, key[-1]), self._model)
            terms = self._strategy.changed(terms)
            self._terms[key] = self._numbers.setdefault(terms, len(self._numbers)), terms
        return self._terms[key]


class Trace(NamedTuple):
    """What came of each of T requests; masks are over the model's attributes, in order.

    ``sent``: the attributes that a request carried, not specified or not; ``disclosed``: those of
    the person that its recipient held after it.
    """

    sent: tuple[int, ...]
    disclosed: tuple[int, ...]


def requests_of(
    choose: Chooser, model: Model, person: Person
) -> Iterator[tuple[PosedRequest, ChosenSet, int]]:
    """Yield each request of a person, what it carries, and what the recipient holds afterwards.

    It knew nothing before. What a request alone has is forgotten; what it was asked counts where
    the agent plans.
    """
    names = [attribute.name for attribute in model.attributes[: model.persons]]
    holdings, stopped, disclosed = Holdings[int](), False, 0
    for number, request in enumerate(person.requests):
        at = FIRST + number * person.pause
        codes = tuple(sorted((name, fact.value) for name, fact in holdings.held.items()))
        queries = tuple(sorted(holdings.times.items()))
        knowledge = Knowledge(codes, holdings.recent(at), queries, spent=holdings.spent[HOST])
        question = PosedRequest(request.query, knowledge, at, stopped, request.text)
        chosen = choose(question, person)
        stopped |= chosen.stops
        holdings.spent[HOST] += chosen.spent
        lasting = [each for each in chosen.order if each < model.persons]
        before = question.knowledge.names
        new = [each for each in lasting if names[each] not in before]
        facts = sorted((names[each], int(person.codes[each])) for each in new)
        holdings.add_facts(at, HOST, facts)
        if chosen.planned and chosen.order:
            holdings.add_query(HOST, [(question.query, 1.0)])
        disclosed |= union(lasting)
        yield question, chosen, disclosed


def walk(choose: Chooser, model: Model, person: Person) -> Trace:
    """Trace a person's requests."""
    steps = [*requests_of(choose, model, person)]
    return Trace(
        tuple(union(chosen.order) for _, chosen, _ in steps),
        tuple(disclosed for *_, disclosed in steps),
    )
