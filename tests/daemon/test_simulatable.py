"""The theorem of DESIGN.md 2.6 through the whole of the daemon: what is left out says nothing."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from operator import ne
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.errors import UsageError
from agent.model.model import Model
from agent.wire.base import RecipientName
from agent.wire.decide import Ask, Offer
from agent.wire.policy import About, Disclose, Lasting, Word
from policy.hosts import host_of
from tests.decision.made import NAMES, PERSONS, judged
from tests.decision.transcripts import (
    HOSTS,
    PERSON,
    POLICIES,
    QUERIES,
    START,
    Person,
    Rules,
    Step,
    holds,
    policies,
    the_model,
)
from tests.vault.values import change
from tests.worlds.homes import Calls
from tests.worlds.people import FixedRules, MemoryVault, agent_of


@dataclass(frozen=True)
class Event:
    """What is the same for everybody: a request, and what the user does after it, about its pool.

    ``verdict``: on what waits for that pool; ``overrides``: words on attributes that need not wait,
    each with whether it is taken back; ``offered``: names that the recipient offers and the user
    approves; ``forgets``: whether it is stated to forget; ``locked``: whether the vault is;
    ``edits``: attributes that are set, or unset, before the request.
    """

    at: datetime
    ask: Ask
    verdict: Word | None = None
    overrides: tuple[tuple[Word, bool], ...] = ()
    offered: tuple[str, ...] = ()
    forgets: bool = False
    locked: bool = False
    edits: tuple[tuple[str, bool], ...] = ()


@st.composite
def streams(draw: st.DrawFn) -> tuple[Event, ...]:
    """Draw up to six requests within a few weeks."""
    events, at = [], START
    for _ in range(draw(st.integers(2, 6))):
        at += timedelta(hours=draw(st.sampled_from([1, 1, 30, 100])))
        asked = draw(st.none() | st.none() | st.lists(st.sampled_from(NAMES), min_size=2))
        ask = Ask(
            query=draw(st.sampled_from(QUERIES)),
            recipient=draw(st.sampled_from(HOSTS)),
            asked=asked,
        )
        events.append(
            Event(
                at,
                ask,
                draw(st.none() | verdicts()),
                tuple(draw(st.just([]) | st.lists(overrides(), min_size=1, max_size=3))),
                draw(st.just(()) | st.lists(st.sampled_from(NAMES), max_size=3).map(tuple)),
                draw(st.integers(0, 7)) == 0,
                draw(st.integers(0, 7)) == 0,
                draw(st.just(()) | edits()),
            )
        )
    return tuple(events)


def edits() -> st.SearchStrategy[tuple[tuple[str, bool], ...]]:
    """Draw attributes of the person, and whether each is set or unset."""
    names = st.sampled_from(NAMES[:PERSONS])
    return st.dictionaries(names, st.booleans(), min_size=1).map(lambda drawn: (*drawn.items(),))


def verdicts() -> st.SearchStrategy[Word]:
    """Draw a word that is not written down."""
    disclose: st.SearchStrategy[Disclose] = st.sampled_from(["auto", "auto", "never"])
    lasting: st.SearchStrategy[Lasting] = st.just("once")
    return st.builds(Word, disclose=disclose, lasting=lasting)


def overrides() -> st.SearchStrategy[tuple[Word, bool]]:
    """Draw a word on attributes that is not written down, and whether it is taken back."""
    lasting: st.SearchStrategy[Lasting] = st.just("once")
    word = st.builds(
        Word,
        recipient=st.sampled_from(HOSTS),
        names=st.lists(st.sampled_from(NAMES), min_size=1, max_size=3),
        disclose=st.sampled_from(get_args(Disclose)),
        lasting=lasting,
        about=st.sampled_from(get_args(About)),
    )
    return st.tuples(word, st.integers(0, 3).map(lambda number: number == 0))


class Life:
    """One person with a daemon, and what each pool of recipients sees of them."""

    def __init__(self, person: Person, policy: str, model: Model) -> None:
        own = dict(zip(NAMES[:PERSONS], person, strict=True))
        self.values = {name: model.attributes[model.index(name)].values[own[name]] for name in own}
        for each in model.attributes:  # what cannot be is refused
            self.values |= each.implies.get(self.values.get(each.name, ""), {})
        self.model = model
        self.vault = MemoryVault(self.values, model)
        self.agent, self.now = agent_of(FixedRules(policy), model, self.vault), START
        self.calls = Calls(self.agent, lambda: self.now)
        self.seen: defaultdict[str, list[Step]] = defaultdict(list)
        self.own: defaultdict[str, list[Person]] = defaultdict(list)
        self.set_at: list[frozenset[str]] = []
        self.words = 0

    def follow(self, stream: Sequence[Event]) -> Mapping[str, list[Step]]:
        for event in stream:
            self.now = event.at
            pool = self.agent.rules.active.pool_of(host_of(event.ask.recipient))
            self._edit(event)
            self.set_at.append(self.vault.profile.names(self.model))
            codes = self.vault.profile.codes(self.model)
            self.own[pool].append(tuple(codes.get(name, 0) for name in NAMES[:PERSONS]))
            self.agent.vault = None if event.locked else self.vault
            self.seen[pool].append(self._step(event.ask))
            self.agent.vault = self.vault
            self._after(event, pool)
        return self.seen

    def _edit(self, event: Event) -> None:
        """Set and unset attributes, each to the person's own value, with what hangs on them."""
        given = {name: self.values[name] for name, set_ in event.edits if set_}
        gone = [name for name, set_ in event.edits if not set_]
        change(self.vault.profile, given, gone, [self.model], self.now)

    def _step(self, ask: Ask) -> Step:
        answer = self.calls.decide(ask)
        told = self.vault.disclosures[-1].disclosed if answer.id else ()
        assert self.set_at[-1].issuperset({name for name, _ in told} & PERSON)
        codes = [
            self.model.attributes[self.model.index(name)].values.index(value)
            for name, value in told
        ]
        summary = answer.summary
        why = (summary.because, summary.pending, summary.titles) if summary else ()
        said = repr((answer.code, why))  # reasons and what waits too are nobody's own
        return Step(said, tuple(name for name, _ in told), tuple(codes))

    def _after(self, event: Event, pool: str) -> None:
        if event.offered:
            self.calls.offer(Offer(recipient=event.ask.recipient, names=[*event.offered]))
        for review in self.calls.reviews():
            if review.pool != pool:
                continue
            if review.kind == "offer":
                self.calls.verdict(Word(disclose="auto", lasting="always"), id=review.id)
            elif event.verdict is not None:
                self.calls.verdict(event.verdict, id=review.id)
        for word, taken_back in event.overrides:
            with suppress(UsageError):  # what is guarded, and who gets nothing
                self.calls.override(word)
                self.words += 1
                if taken_back:
                    self.calls.undo()
        if event.forgets:
            self.calls.forget(RecipientName(recipient=event.ask.recipient))


def lived(policy: str, stream: Sequence[Event], model: Model, every: int = 1) -> dict[Person, Life]:
    """Return the lives of everybody in the model, or of one in so many."""
    people = sorted({tuple(row) for row in model.population.codes.tolist()})[::every]
    lives = {person: Life(person, policy, model) for person in people}
    for life in lives.values():
        life.follow(stream)
    return lives


def implying(model: Model) -> Model:
    """Return a model in which some values imply others, so that setting one sets more."""
    then = {"age": {"age1": {"region": "region1"}}, "job": {"job2": {"gender": "gender1"}}}
    attributes = (replace(each, implies=then.get(each.name, {})) for each in model.attributes)
    return replace(model, attributes=tuple(attributes))


def assert_holds(lives: Mapping[Person, Life]) -> None:
    """Fail where a pool could conclude something from what it was not told."""
    assert len({tuple(life.set_at) for life in lives.values()}) == 1
    for pool in next(iter(lives.values())).seen:
        said = {person: life.seen[pool] for person, life in lives.items()}
        assert holds(said, {person: life.own[pool] for person, life in lives.items()})


ALWAYS = {"many rules", "planned", "words"}  # the others under soak
POLICY_CASES = [
    pytest.param(text, id=name, marks=() if name in ALWAYS else pytest.mark.soak)
    for name, text in POLICIES.items()
]
FEW = settings().max_examples // 6  # in each, everybody in the model lives through it
MODELS = st.sampled_from([the_model(1), implying(the_model(2)), judged(the_model(1), 1)])


@pytest.mark.parametrize("policy", POLICY_CASES)
@settings(max_examples=FEW // 3)
@given(streams(), MODELS)
def test_absence_says_nothing(policy: str, stream: tuple[Event, ...], model: Model) -> None:
    """Whoever agrees with what was disclosed would have disclosed the same, in the same order."""
    assert_holds(lived(policy, stream, model))


@settings(max_examples=FEW // 2)
@given(policies(["everyone"]), streams(), MODELS)
def test_absence_says_nothing_under_any_policy(
    rules: Rules, stream: tuple[Event, ...], model: Model
) -> None:
    """The same of policies that nobody wrote."""
    assert_holds(lived(rules.policy.text, stream, model))


@settings(max_examples=FEW)
@given(policies(["everyone"]), streams(), st.integers(1, 2), st.integers(0, 7))
def test_what_is_not_set_never_waits_or_leaves(
    rules: Rules, stream: tuple[Event, ...], seed: int, place: int
) -> None:
    """From the moment that all of it is unset, whatever was told, ruled or approved before."""
    model = the_model(seed)
    person = tuple(model.population.codes[0].tolist())
    nothing = tuple((name, False) for name in PERSON)
    silent = [replace(each, edits=() if at < place else nothing) for at, each in enumerate(stream)]
    life = Life(person, rules.policy.text, model)
    life.follow(silent[:place])
    told = len(life.vault.disclosures)
    for review in life.calls.reviews():
        life.calls.dismiss(id=review.id)
    life.follow([replace(each, offered=()) for each in silent[place:]])
    for entry in life.vault.disclosures[told:]:
        assert not {name for name, _ in entry.disclosed} & PERSON
    assert not {name for each in life.calls.reviews() for name in each.names} & PERSON


EVERY_DAY = tuple(
    Event(
        START + timedelta(days=8 * day),
        Ask(query=QUERIES[1 + day], recipient=host),
        Word(disclose="auto", lasting="once"),
    )
    for day in range(2)
    for host in ("shop.example", "a.ads.test", "shop.example")
)


@pytest.mark.parametrize("policy", POLICY_CASES)
def test_something_is_said_under_each(policy: str) -> None:
    """The theorem is not about silence: people differ, and some of it waited for a word."""
    stream = [replace(each, verdict=None) for each in EVERY_DAY]
    said, silent = (
        {person: life.seen for person, life in lived(policy, each, the_model(1), 8).items()}
        for each in (EVERY_DAY, stream)
    )
    assert len({tuple(seen["shop.example"]) for seen in said.values()}) > 1
    assert (said != silent) == ("ask" in policy or "strict" in policy or "balanced" in policy)


@pytest.mark.parametrize("disclose", get_args(Disclose))
def test_a_word_is_followed_by_everybody(disclose: Disclose) -> None:
    """The theorem is not about words that change nothing: what is said of an attribute holds."""
    model, name = the_model(1), "gender"
    word = Word(recipient="shop.example", names=[name], disclose=disclose)
    stream = [replace(EVERY_DAY[0], verdict=None, overrides=((word, False),)), *EVERY_DAY[1:]]
    for person in sorted({tuple(row) for row in model.population.codes.tolist()})[::8]:
        life = Life(person, 'preset = "none"\ndisclose = "never"\nanonymity_price = 0.0\n', model)
        seen = life.follow(stream)["shop.example"]
        assert life.words == 1
        carried = [name in step.names for step in seen]
        assert carried == [False, disclose in ("auto", "always"), *[False] * (len(seen) - 2)]


def test_an_offer_narrows_what_is_said() -> None:
    """Once it is approved, and to that site alone."""
    stream = [replace(EVERY_DAY[0], offered=("gender",)), *EVERY_DAY[1:]]
    lives = lived('preset = "generous"\nanonymity_price = 0.0\n', stream, the_model(1), 4)
    for seen in (life.seen for life in lives.values()):
        assert len(seen["shop.example"][0].names) > 1
        assert {name for step in seen["shop.example"][1:] for name in step.names} == {"gender"}
        assert len(seen["ads.test"][0].names) > 1


def both(policy: str) -> tuple[str, str]:
    return policy, policy.replace('protect = "everyone"', 'protect = "me"')


def assert_stops(everyone: Mapping[Person, Life], alone: Mapping[Person, Life]) -> set[bool]:
    """Fail unless a life for the user alone is that for everyone until it stops, pool by pool.

    From then on only what the pool holds is sent. Returns whether it stopped, of all lives.
    """
    stopped = set[bool]()
    for person, life in everyone.items():
        for pool, steps in life.seen.items():
            mine = alone[person].seen[pool]
            pairs = enumerate(zip(steps, mine, strict=True))
            same = next((at for at, pair in pairs if ne(*pair)), len(steps))
            held = {name for step in mine[:same] for name in step.names}
            for step in mine[same:]:
                assert step.status.startswith("('you would stand out'") or not step.names
                assert held.intersection(PERSON).issuperset(step.names)
            stopped.add(same < len(steps))
    return stopped


@settings(max_examples=FEW // 2)
@given(policies(["everyone"]), streams(), st.integers(1, 2))
def test_the_stop_is_the_one_exception(rules: Rules, stream: tuple[Event, ...], seed: int) -> None:
    """Answers are those for everyone up to a moment, and carry what is held from then on.

    So all that the choice says of values that were not disclosed is when that moment was: at most
    log2(T + 1) bits in T answers.
    """
    calm = [replace(each, edits=(), forgets=False) for each in stream]
    assert_stops(*(lived(each, calm, the_model(seed), 4) for each in both(rules.policy.text)))


def test_some_stop_and_some_do_not() -> None:
    """The law is not about nobody; and what stops the rare says that they are rare."""
    policy = (
        'preset = "none"\nanonymity_price = 0\nk = 50\nviolations = 0.9\nprotect = "everyone"\n'
    )
    everyone, alone = (lived(each, EVERY_DAY, the_model(1)) for each in both(policy))
    assert assert_stops(everyone, alone) == {True, False}
    for lives, expected in ((everyone, True), (alone, False)):
        assert holds({each: life.seen["shop.example"] for each, life in lives.items()}) == expected
