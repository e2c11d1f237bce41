"""The theorem of DESIGN.md 2.6 under policies: groups, verdicts, caps, days that end."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.decision.decide import decide
from agent.decision.knowledge import Forgotten, Told, knowledge_of
from agent.decision.request import Request
from agent.decision.under import terms_under
from agent.model.model import Model
from policy.load import preset
from policy.match import Rulebook, Ruling
from policy.read import read
from tests.decision.made import NAMES, PERSONS, made_model

Person = tuple[int, ...]
Values = dict[str, int]

START = datetime(2027, 3, 1, 9, tzinfo=UTC)
HOSTS = ("shop.example", "www.shop.example", "books.example", "a.ads.test", "b.ads.test")
QUERIES = ("python today", "python today", "restaurants today", "something else")
LOOSE = "lambda = 0.1\nk = 10\nrisk = 0.2\n"
ATTRIBUTES = """
[attributes]
age = "ask"
region = "always"
gender = { disclose = "auto", sensitivity = 0.01, guard = 0.0 }
job = { guard = 0.5 }
"""
MANY_RULES = """
lambda = 0.02
k = 3
violations = 0.2

[groups]
adverts = ["www.ads.test"]

[attributes]
age = "ask"
region = "always"

[[rule]]
recipient = "adverts"
attribute = ["gender", "j*"]
disclose = "never"
expires = 2027-03-04

[[rule]]
recipient = "adverts"
new_facts_per_week = 1

[[rule]]
recipient = "shop.example"
attributes_per_request = 3
new_facts_per_week = 2

[[rule]]
recipient = "www.shop.example"
attribute = "g*"
disclose = "ask"

[[rule]]
recipient = "books.example"
unknown_queries = "standing"
mode = "standing"
expires = 2027-03-09

[[rule]]
query = "restaurants"
attribute = "job"
guard = 0.5
"""
FORGETFUL = """
lambda = 0.01
risk = 0.2

[[rule]]
recipient = "*.ads.test"
memory = "forgets"

[[rule]]
recipient = "shop.example"
disclose = "ask"
"""
POLICIES = {
    **{name: f'preset = "{name}"\n' for name in ("generous", "balanced", "strict")},
    **{
        f"{name} for these": f'preset = "{name}"\n{LOOSE}{ATTRIBUTES}'
        for name in ("generous", "strict")
    },
    "many rules": MANY_RULES,
    "forgetful": FORGETFUL,
}


class Step(NamedTuple):
    """What a recipient sees of one answer: names in order, with values; and the status."""

    status: str
    names: tuple[str, ...]
    codes: tuple[int, ...]


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
        request = Request(draw(st.sampled_from(QUERIES)), asked=asked)
        requests.append((at, draw(st.sampled_from(HOSTS)), request))
    pools = st.sampled_from(["shop.example", "books.example", "ads.test", "@adverts"])
    pairs = st.tuples(pools, st.sampled_from(NAMES))
    forgotten = draw(st.frozensets(st.integers(0, 7), max_size=1))
    return Stream(tuple(requests), forgotten, draw(st.frozensets(pairs, max_size=12)))


@cache
def the_model(seed: int) -> Model:
    """Return a model with enough people that presets let something leave."""
    return made_model(seed, people=300)


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
                self.events.append(Forgotten(at, ruling.host))
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
        self.answers[ruling.pool].append(Step(decision.status, decision.disclosed, codes))
        told = [each for each in zip(decision.disclosed, codes, strict=True) if each[0] in PERSON]
        self.events.append(Told(at, ruling.host, tuple(told)))
        return decision.pending.names if decision.pending else ()

    def pool(self, host: str) -> str:
        """Return who pools with a host."""
        return self.rulebook.match(host, "", START.date()).pool


PERSON = frozenset(NAMES[:PERSONS])


def followed(text: str, stream: Stream, seed: int) -> dict[Person, Mapping[str, list[Step]]]:
    """Return what each pool sees of each person of the model."""
    model = the_model(seed)
    rulebook = Rulebook(read(text, "test", preset), NAMES)
    people = sorted({tuple(row) for row in model.population.codes.tolist()})
    return {
        person: Agent(dict(zip(NAMES, (*person, 1), strict=True)), rulebook, model).follow(stream)
        for person in people
    }


def told(steps: list[Step]) -> Values:
    """Return the person attributes that answers name, with their values."""
    pairs = (each for step in steps for each in zip(step.names, step.codes, strict=True))
    return {name: code for name, code in pairs if name in PERSON}


def holds(said: Mapping[Person, list[Step]]) -> bool:
    """Say whether at every step the people with a transcript are those with its values.

    And whether all of these are about to say the same names, in the same order.
    """
    for steps in said.values():
        for count in range(len(steps) + 1):
            values = told(steps[:count])
            agree = {
                other
                for other in said
                if all(other[NAMES.index(name)] == code for name, code in values.items())
            }
            if agree != {other for other in said if said[other][:count] == steps[:count]}:
                return False
            following = {step[:2] for other in agree for step in said[other][count : count + 1]}
            if len(following) > 1:
                return False
    return True


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


def test_what_waited_leaves_once_allowed() -> None:
    """From the next request on, and to nobody else."""
    text = 'lambda = 0.0\ndisclose = "ask"\n'
    verdicts = frozenset(("shop.example", name) for name in NAMES)
    for answers in followed(text, replace(EVERY_DAY, verdicts=verdicts), 1).values():
        assert answers["shop.example"][0].names == ()
        assert answers["shop.example"][1].names != ()
        assert {step.names for step in answers["ads.test"]} == {()}
