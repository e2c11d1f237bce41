"""Requests of the past under another policy: a parallel world beside the actual one. Pure."""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import NamedTuple

from agent.decision.alike import people_left
from agent.decision.compared import Compared, Outcome, Shares, mean
from agent.decision.decide import decide_briefly
from agent.decision.decision import Decision
from agent.decision.knowledge import LATEST, Told, knowledge_of
from agent.decision.past import Codes, Past, Worlds
from agent.decision.request import Knowledge, Request
from agent.decision.terms import Terms
from agent.decision.under import terms_under
from agent.model.model import Model
from agent.tradeoff.sets import union
from policy.careful import careful
from policy.groups import Pools
from policy.hosts import site_of
from policy.match import Rulebook
from policy.rules import Policy


def replay(
    history: Sequence[Past], policy: Policy, model: Model, worlds: Worlds
) -> Iterator[Outcome]:
    """Yield for each request what a policy would have disclosed, beside what was.

    ``history``: in order of time; ``worlds``: of the same history and model. In each world a pool
    of recipients holds what the policy would have disclosed to it before; pools are the policy's
    own, for what was disclosed too. UsageError where a recipient is no host, or the policy names
    a search that the model is too large for.
    """
    names = [attribute.name for attribute in model.attributes]
    rulebook = Rulebook(careful(policy, names), names)
    pools = cache(Pools(policy.groups).of)
    actual, parallel = _Memory(pools), [_Memory(pools) for _ in worlds.rows]
    persons = names[: model.persons]
    for place, past in enumerate(history):
        ruling = rulebook.match(past.recipient, past.query, past.at.date())
        terms = replace(terms_under(ruling, model), available=worlds.available(past, model))
        case = _Case(place, past, ruling.host, terms, persons)
        told = {name: code for name, code in past.disclosed if name in persons}
        left = people_left(actual.tell(case, told), model)
        answers = [*_answers(case, parallel, worlds, model)]
        yield _outcome(case, ruling.pool, left, answers, model)


def bits_of(query: str, names: Iterable[str], model: Model) -> float:
    """Return the utility of disclosing these attributes, in bits; 0 for an unknown query.

    The query's own, however a policy decides: one measure for policies that are compared.
    """
    meant = model.match(query)
    mask = union(model.index(name) for name in names)
    return 0.0 if meant is None else model.utility(meant).value(mask)


class _Case(NamedTuple):
    """One request of the past, ready to be decided anew; ``persons``: the person attributes."""

    place: int
    past: Past
    host: str
    terms: Terms
    persons: Sequence[str]

    @property
    def protects_me(self) -> bool:
        """Whether limits are kept for the person's own class, so that values decide."""
        return self.terms.limits.protect == "me"


class _Answer(NamedTuple):
    """What one world's request carries; who is left then; whether a value was another's."""

    decision: Decision
    people_left: int
    expected: bool


class _Memory:
    """What recipients were told so far in one world, by pool."""

    def __init__(self, pools: Callable[[str], str]) -> None:
        self._pools = pools
        self._events: dict[str, list[Told]] = {}
        self._heard: dict[str, dict[str, deque[int]]] = {}  # by pool and site

    def knowledge(self, case: _Case) -> Knowledge:
        """Return what the recipient of a request holds before it."""
        pool = self._pools(case.host)
        held = knowledge_of(self._events.get(pool, ()), pool, self._pools, case.past.at)
        heard = Counter(chain.from_iterable(self._heard.get(pool, {}).values()))
        return replace(held, heard=tuple(sorted(heard.items())))

    def hear(self, case: _Case, query: int) -> None:
        """Note that something was sent with a query of the model."""
        sites = self._heard.setdefault(self._pools(case.host), {})
        sites.setdefault(site_of(case.host), deque(maxlen=LATEST)).append(query)

    def tell(self, case: _Case, codes: Codes) -> Knowledge:
        """Tell the recipient values of the person, and return what it holds from then on."""
        held = self.knowledge(case)
        known = dict(held.codes)
        new = [pair for pair in sorted(codes.items()) if known.get(pair[0]) != pair[1]]
        if new:  # what is known already changes no fold, and a long history repeats itself
            event = Told(case.past.at, case.host, tuple(new))
            self._events.setdefault(self._pools(case.host), []).append(event)
        return held.learns(codes)


def _answers(
    case: _Case, parallel: Sequence[_Memory], worlds: Worlds, model: Model
) -> Iterator[_Answer]:
    """Yield what the request carries in each world."""
    known = {name: worlds.known(case.place, name) for name in case.persons}
    guesses = {name for name, code in known.items() if code is None}
    for told, row in zip(parallel, worlds.rows, strict=True):
        own = {name: row[name] if code is None else code for name, code in known.items()}
        decision = _decided(case, told.knowledge(case), own, model)
        sent = {name: own[name] for name in decision.disclosed if name in own}
        if decision.disclosed and decision.query is not None:
            told.hear(case, decision.query)
        seen = own if case.protects_me else sent
        expected = not guesses.isdisjoint(seen)
        yield _Answer(decision, people_left(told.tell(case, sent), model), expected)


def _decided(case: _Case, held: Knowledge, own: Codes, model: Model) -> Decision:
    """Return the decision, which sees the person's values only where the terms protect them."""
    past = case.past
    request = Request(past.query, past.recipient, past.asked)
    codes = own if case.protects_me else None
    return decide_briefly(request, case.terms, held, model, codes)


def _outcome(
    case: _Case, pool: str, left: int, answers: Sequence[_Answer], model: Model
) -> Outcome:
    """Return one request in the actual world beside the others; ``left``: people, as it was."""
    was = frozenset(name for name, _ in case.past.disclosed)
    sets = [frozenset(each.decision.disclosed) for each in answers]
    waiting = [each.decision.pending for each in answers]
    query = case.past.query
    bits = {names: bits_of(query, names, model) for names in {was, *sets}}
    match = model.match(query)
    return Outcome(
        past=case.past,
        host=case.host,
        pool=pool,
        matched_query=None if match is None else model.queries[match].text,
        bits=Compared(bits[was], mean([bits[names] for names in sets])),
        people_left=Compared(left, mean([each.people_left for each in answers])),
        newly_disclosed=_shares([names - was for names in sets], model),
        newly_withheld=_shares([was - names for names in sets], model),
        would_ask=_shares(
            [frozenset(each.names) if each else frozenset() for each in waiting], model
        ),
        expected=any(each.expected for each in answers),
    )


def _shares(sets: Sequence[frozenset[str]], model: Model) -> Shares:
    """Return the names in any of the sets, in the model's order, and the share that has each."""
    names = [attribute.name for attribute in model.attributes]
    counts = {name: sum(name in each for each in sets) for name in names}
    return tuple((name, count / len(sets)) for name, count in counts.items() if count)
