"""The theorem of DESIGN.md 2.6 under policies: groups, verdicts, caps, days that end."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.decision.decide import decide
from agent.decision.terms import terms_under
from agent.decision.values import Request
from agent.model.model import Model
from policy.hosts import site_of
from policy.match import Rulebook, Ruling, known
from policy.read import preset, read
from tests.decision.events import Forgotten, Told, knowledge_of
from tests.decision.made import NAMES
from tests.decision.transcripts import (
    HOSTS,
    PERSON,
    POLICIES,
    QUERIES,
    START,
    Person,
    Step,
    Values,
    holds,
    the_model,
)


@dataclass(frozen=True)
class Stream:
    """What is the same for everybody: requests, each with its host and time, and the user's word.

    ``forgotten``: the requests after which the host is made to forget; ``verdicts``: for a pool
    and a name, whether the user lets it leave once asked.
    """

    requests: tuple[tuple[datetime, str, Request], ...]
    forgotten: frozenset[int]
    verdicts: frozenset[tuple[str, str]]


@st.composite
def streams(draw: st.DrawFn) -> Stream:
    """Draw up to eight requests within a few weeks."""
    requests, at = [], START
    for _ in range(draw(st.integers(2, 8))):
        at += timedelta(hours=draw(st.sampled_from([1, 1, 30, 100])))
        asked = draw(st.none() | st.none() | st.frozensets(st.sampled_from(NAMES), min_size=2))
        names = None if asked is None else tuple(sorted(asked))
        request = Request(draw(st.sampled_from(QUERIES)), asked=names)
        requests.append((at, draw(st.sampled_from(HOSTS)), request))
    pools = st.sampled_from(["shop.example", "books.example", "ads.test", "@adverts"])
    pairs = st.tuples(pools, st.sampled_from(NAMES))
    forgotten = draw(st.frozensets(st.integers(0, 7), max_size=1))
    return Stream(tuple(requests), forgotten, draw(st.frozensets(pairs, max_size=12)))


class Agent:
    """One person's agent: it answers, keeps a ledger and does what the user says."""

    def __init__(self, values: Values, rulebook: Rulebook, model: Model) -> None:
        self.values, self.rulebook, self.model = values, rulebook, model
        self.events: list[Told | Forgotten] = []
        self.allowed: set[tuple[str, str]] = set()
        self.answers: defaultdict[str, list[Step]] = defaultdict(list)

    def follow(self, stream: Stream) -> Mapping[str, list[Step]]:
        """Return what each pool of recipients sees of a stream."""
        for place, (at, host, request) in enumerate(stream.requests):
            ruling = self.rulebook.match(host, request.query, at.date())
            asked = self.answer(ruling, at, request)
            self.allowed |= {(ruling.pool, name) for name in asked} & stream.verdicts
            if place in stream.forgotten:
                pooled = (each for each in HOSTS if self.pool(each) == ruling.pool)
                self.events.append(Forgotten(at, frozenset(map(site_of, pooled))))
        return self.answers

    def answer(self, ruling: Ruling, at: datetime, request: Request) -> tuple[str, ...]:
        """Answer a request, and return what the user is asked about."""
        terms = terms_under(ruling, self.model)
        allowed = {name for name in terms.ask if (ruling.pool, name) in self.allowed}
        terms = replace(terms, ask=terms.ask - allowed)
        known = knowledge_of(self.events, ruling.pool, self.pool, at)
        own = self.values if terms.limits.protect == "me" else None
        decision = decide(request, terms, known, self.model, own)
        codes = tuple(self.values[name] for name in decision.disclosed)
        self.answers[ruling.pool].append(Step(decision.code, decision.disclosed, codes))
        told = [each for each in zip(decision.disclosed, codes, strict=True) if each[0] in PERSON]
        query = self.model.match(request.query) if codes else None
        self.events.append(Told(at, ruling.host, tuple(told), query))
        return decision.pending.names if decision.pending else ()

    def pool(self, host: str) -> str:
        """Return who pools with a host."""
        return self.rulebook.match(host, "", START.date()).pool


def followed(text: str, stream: Stream, seed: int) -> dict[Person, Mapping[str, list[Step]]]:
    """Return what each pool sees of each person of the model."""
    model = the_model(seed)
    rulebook = Rulebook(read(text, "test", preset), known(*NAMES))
    people = sorted({tuple(row) for row in model.population.codes.tolist()})
    return {
        person: Agent(dict(zip(NAMES, (*person, 1), strict=True)), rulebook, model).follow(stream)
        for person in people
    }


@pytest.mark.parametrize("text", POLICIES.values(), ids=POLICIES.keys())
@settings(max_examples=25)
@given(streams(), st.integers(1, 2))
def test_absence_says_nothing(text: str, stream: Stream, seed: int) -> None:
    """Not to a recipient, and not to a group of them together."""
    said = followed(text, stream, seed)
    for pool in next(iter(said.values())):
        assert holds({person: answers[pool] for person, answers in said.items()})


EVERY_DAY = Stream(
    tuple(
        (START + timedelta(days=8 * day), host, Request(query))
        for day, query in enumerate(QUERIES[1:3])
        for host in ("shop.example", "a.ads.test", "shop.example")
    ),
    frozenset(),
    frozenset((pool, name) for pool in ("shop.example", "ads.test") for name in NAMES),
)


@pytest.mark.parametrize("text", POLICIES.values(), ids=POLICIES.keys())
def test_something_is_said_under_each(text: str) -> None:
    """The theorem is not about silence: people differ, and some of it waited for a word."""
    said = followed(text, EVERY_DAY, 1)
    first = {tuple(answers["shop.example"]) for answers in said.values()}
    assert len(first) > 1
    silent = followed(text, replace(EVERY_DAY, verdicts=frozenset()), 1)
    assert (said != silent) == ("ask" in text or "strict" in text or "balanced" in text)


def test_protecting_the_user_breaks_it() -> None:
    """The one exception: what is withheld of the rare says that they are rare."""
    text = 'lambda = 0.0\nk = 50\nviolations = 0.9\nprotect = "{}"\n'
    for protect, expected in (("everyone", True), ("me", False)):
        said = followed(text.format(protect), EVERY_DAY, 1)
        pools = {person: answers["shop.example"] for person, answers in said.items()}
        assert holds(pools) == expected
