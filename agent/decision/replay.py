"""Past requests under another policy: a parallel world, compared with the actual one. Pure."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from math import fsum
from typing import NamedTuple

import numpy as np

from agent.decision.cache import Cache
from agent.decision.choice import mixed
from agent.decision.context import Context
from agent.decision.decide import decide_context, read_by
from agent.decision.matching import knowledge_in
from agent.decision.request import Holdings, people_left
from agent.decision.terms import rulebook, terms_under
from agent.decision.values import Decision, Request
from agent.model.concepts import Concepts, Meaning, meaning_of
from agent.model.model import Model
from agent.tradeoff.tables import UNSPECIFIED, union
from policy.hosts import site_of
from policy.match import Ruling
from policy.rules import Policy

MOST_PEOPLE = 20  # who stand in for a person some of whose values are unknown
Codes = Mapping[str, int]
Disclosures = Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]]
Shares = tuple[tuple[str, float], ...]  # attribute, in which share of the worlds, above 0 to 1
Counts = tuple[tuple[str, int], ...]  # attribute, in how many requests; the most frequent first


@dataclass(frozen=True, slots=True)
class PastRequest:
    """One request that was made, and what it carried.

    ``at``: when, with a time zone; ``recipient``: a host or an address; ``asked``: the names the
    recipient could use, None where it did not say; ``disclosed``: (name, code) pairs;
    ``elsewhere``: what another model told with it, which is not decided anew; None where the model
    that is tried decided.
    """

    at: datetime
    recipient: str
    query: str
    asked: frozenset[str] | None
    disclosed: tuple[tuple[str, int], ...]
    elsewhere: tuple[Meaning, ...] | None = None


@dataclass(frozen=True, slots=True)
class Worlds:
    """All that is known of a person's values, and people to take the others from.

    ``disclosures``: by name, the places in the history where it was disclosed, ascending, and the
    codes; ``profile``: the person's own codes, where a missing name is not set, or None; ``rows``:
    for each world the codes of its person, by person attribute; ``alike``: whether those people
    agree with all that is known.
    """

    disclosures: Disclosures
    profile: Codes | None
    rows: tuple[Codes, ...]
    alike: bool

    def code_at(self, place: int, name: str) -> int | None:
        """Return the code that an attribute had at one request, None where nothing says so.

        It is what this request carried; else the profile's; else what the nearest request before
        carried, or if there is none the nearest after.
        """
        places, codes = self.disclosures.get(name, ((), ()))
        until = bisect_right(places, place)
        if until and places[until - 1] == place:
            return codes[until - 1]
        if self.profile is not None:
            return self.profile.get(name, UNSPECIFIED)
        return codes[max(until - 1, 0)] if codes else None

    def available(self, past: PastRequest, model: Model) -> frozenset[str] | None:
        """Return which attributes had a value at a request: None, for all, without a profile.

        Those that the profile or the request itself had, and what is set for each request.
        """
        if self.profile is None:
            return None
        carried = {name for name, code in past.disclosed if code != UNSPECIFIED}
        of_requests = {each.name for each in model.attributes[model.persons :]}
        return frozenset(carried | of_requests | self.profile.keys())


def worlds_of(history: Sequence[PastRequest], model: Model, profile: Codes | None = None) -> Worlds:
    """Return the worlds in which to replay a history: one, where there is a profile.

    Else one for each of up to MOST_PEOPLE people, evenly spaced among the model's who agree with
    the latest values in the history; among all of them where nobody does.
    """
    held: dict[str, list[tuple[int, int]]] = {}
    for place, past in enumerate(history):
        for name, code in past.disclosed:
            held.setdefault(name, []).append((place, code))
    disclosures: Disclosures = {
        name: (tuple(place for place, _ in pairs), tuple(code for _, code in pairs))
        for name, pairs in held.items()
    }
    if profile is not None:
        return Worlds(disclosures, profile, ({},), alike=True)
    rows, alike = _people(disclosures, model)
    return Worlds(disclosures, None, rows, alike)


def _people(disclosures: Disclosures, model: Model) -> tuple[tuple[Codes, ...], bool]:
    """Return the codes of people who agree with the latest disclosures, and whether any do."""
    population = model.population
    names = [attribute.name for attribute in model.attributes[: model.persons]]
    told = ((at, disclosures[n][1][-1]) for at, n in enumerate(names) if n in disclosures)
    agree = population.agreeing(population.told(told))
    alike = bool(agree.any())
    rows = np.flatnonzero(agree) if alike else np.arange(population.rows)
    count = min(len(rows), MOST_PEOPLE)
    chosen = rows[[place * len(rows) // count for place in range(count)]]
    people = (dict(zip(names, population.codes[row].tolist(), strict=True)) for row in chosen)
    return tuple(people), alike


class Compared(NamedTuple):
    """A figure as it was, and as it would be: a mean over worlds."""

    was: float
    would_be: float


@dataclass(frozen=True, slots=True)
class Replayed:
    """One request of the past under the policy that is tried.

    ``host``: its recipient; ``pool``: who shares what the host receives; ``matched_query``: the
    known query that was meant, None where there is none; ``bits``: the utility of what it carried;
    ``people_left``: who agree with all that the pool had received by then; ``would_ask``: what
    would have waited for the user, and so does not count as disclosed; ``expected``: whether a
    value had to be taken from people of the model.
    """

    past: PastRequest
    host: str
    pool: str
    matched_query: str | None
    bits: Compared
    people_left: Compared
    newly_disclosed: Shares
    newly_withheld: Shares
    would_ask: Shares
    expected: bool

    @property
    def changed(self) -> bool:
        """Whether it would have carried something else, in any world."""
        return bool(self.newly_disclosed or self.newly_withheld)


class PoolEnd(NamedTuple):
    """A pool of recipients in the end: how many requests it had, and who agrees with its facts."""

    pool: str
    requests: int
    people_left: Compared


@dataclass(frozen=True, slots=True)
class Summary:
    """A whole history under the policy that is tried.

    ``bits``: means over the requests, None without one; ``asking``: requests with something that
    would have waited for the user; ``pools``: in the order in which they first received a request.
    """

    requests: int
    changed: int
    asking: int
    bits: Compared | None
    pools: tuple[PoolEnd, ...]
    newly_disclosed: Counts
    newly_withheld: Counts
    expected: bool


def summary_of(outcomes: Sequence[Replayed]) -> Summary:
    """Return what the outcomes, in their order, come to."""
    ends = {each.pool: each.people_left for each in outcomes}
    requests = Counter(each.pool for each in outcomes)
    was, would_be = [each.bits.was for each in outcomes], [each.bits.would_be for each in outcomes]
    return Summary(
        requests=len(outcomes),
        changed=sum(each.changed for each in outcomes),
        asking=sum(bool(each.would_ask) for each in outcomes),
        bits=Compared(mean(was), mean(would_be)) if outcomes else None,
        pools=tuple(PoolEnd(pool, requests[pool], left) for pool, left in ends.items()),
        newly_disclosed=_counted(each.newly_disclosed for each in outcomes),
        newly_withheld=_counted(each.newly_withheld for each in outcomes),
        expected=any(each.expected for each in outcomes),
    )


def mean(numbers: Sequence[float]) -> float:
    """Return the mean, which of equal numbers is exactly that number."""
    first = numbers[0]
    return first + fsum(number - first for number in numbers) / len(numbers)


def _counted(shares: Iterable[Shares]) -> Counts:
    counts = Counter(name for each in shares for name, _ in each)
    return tuple(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def replay(
    history: Sequence[PastRequest],
    policy: Policy,
    model: Model,
    worlds: Worlds,
    models: Sequence[Model],
) -> Iterator[Replayed]:
    """Yield for each request what a policy would have disclosed, and what was disclosed.

    ``history``: in order of time; ``worlds``: of the same history and model; ``models``: all that
    the policy is for. In each world a pool of recipients holds what the policy would have disclosed
    to it before, and what other models did: these requests stay as they were, and what the model
    lacks of it makes those who look alike fewer (DESIGN.md 2.8). Pools are the policy's own, for
    what was disclosed too. UsageError where a recipient is no host, or the policy names
    a search that the model is too large for.
    """
    persons = [attribute.name for attribute in model.attributes[: model.persons]]
    book = rulebook(policy, model, models)
    concepts, cache = Concepts((model, *models)), Cache()
    actual, *parallel = (  # by pool
        defaultdict[str, Holdings[str]](partial(Holdings, concepts.replaces))
        for _ in range(1 + len(worlds.rows))
    )
    for place, past in enumerate(history):
        ruling = book.match(past.recipient, past.query, past.at.date())
        terms = replace(terms_under(ruling, model), available=worlds.available(past, model))
        pool, site = ruling.pool, site_of(ruling.host)
        facts = _meant(past.disclosed, model) if past.elsewhere is None else past.elsewhere
        actual[pool].add_facts(past.at, site, facts)
        if past.elsewhere is not None:
            for holdings in parallel:
                holdings[pool].add_facts(past.at, site, facts)
            continue
        left = people_left(
            knowledge_in(actual[pool], model, past.at, concepts=concepts, cache=cache), model, cache
        )
        asked = None if past.asked is None else tuple(sorted(past.asked))
        request = Request(past.query, past.recipient, asked)
        protects_me = terms.limits.protect == "me"  # so that values decide
        known = {name: worlds.code_at(place, name) for name in persons}
        guesses = {name for name, code in known.items() if code is None}
        answers = []
        for holdings, row in zip(parallel, worlds.rows, strict=True):
            own = {name: row[name] if code is None else code for name, code in known.items()}
            held = knowledge_in(holdings[pool], model, past.at, concepts=concepts, cache=cache)
            context = Context(
                request, terms, held, model, own if protects_me else None, cache=cache
            )
            decision = decide_context(context, brief=True)
            sent = {name: own[name] for name in decision.disclosed if name in own}
            holdings[pool].add_facts(past.at, site, _meant(sent.items(), model))
            if decision.disclosed:
                holdings[pool].add_query(site, context.meaning)
            expected = not guesses.isdisjoint(own if protects_me else sent)
            answers.append(
                _Answer(decision, people_left(held.with_facts(sent), model, cache), expected)
            )
        yield _outcome(past, ruling, left, answers, model, cache)


def _meant(codes: Iterable[tuple[str, int]], model: Model) -> list[Meaning]:
    """Return the facts about a person among what a request carried."""
    pairs = ((model.index(name), code) for name, code in codes)
    known = ((model.attributes[at], code) for at, code in pairs if at < model.persons)
    return [meaning_of(each.name, each.values[code], model) for each, code in known]


def bits_of(query: str, names: Iterable[str], model: Model, cache: Cache | None = None) -> float:
    """Return the utility of disclosing these attributes, in bits; 0 for an unknown query.

    That of what the text means, however a policy decides: one measure for policies that are
    compared.
    """
    cache = cache or Cache()
    reading = cache.read(model, query)
    mask = union(model.index(name) for name in names)
    return 0.0 if reading.query is None else mixed(reading, model, cache).value(mask)


class _Answer(NamedTuple):
    """What one world's request carries; who is left then; whether a value was another's."""

    decision: Decision
    people_left: int
    expected: bool


def _outcome(
    past: PastRequest,
    ruling: Ruling,
    left: int,
    answers: Sequence[_Answer],
    model: Model,
    cache: Cache,
) -> Replayed:
    """Return one request in the actual world and the others; ``left``: people, as it was."""
    was = frozenset(name for name, _ in past.disclosed)
    read_as = read_by(cache.read(model, past.query), model)
    sets = [frozenset(each.decision.disclosed) for each in answers]
    waiting = [each.decision.pending for each in answers]
    bits = {names: bits_of(past.query, names, model, cache) for names in {was, *sets}}
    return Replayed(
        past=past,
        host=ruling.host,
        pool=ruling.pool,
        matched_query=None if read_as is None else read_as.query,
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
