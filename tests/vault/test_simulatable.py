"""The theorem of DESIGN.md 2.6 with what a recipient holds taken from the ledger."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from agent.decision.context import Limits, Terms
from agent.decision.knowledge import knowledge_in
from agent.decision.values import Fact, Request
from agent.model.model import Concepts, Model
from agent.vault.ledger import Ledger
from agent.vault.profile import Profile, planned, values_of
from tests.decision.made import CACHE, decide, made_model
from tests.vault.doubles import MemoryStore
from tests.vault.histories import ADS, NOW, disclosed
from tests.vault.values import change, model_of, new_id

TERMS = {
    "generous": Terms(trade_off=0.05),
    "free": Terms(trade_off=0.0),
    "k": Terms(trade_off=0.05, limits=Limits(k=3)),
    "a cap": Terms(trade_off=0.05, limits=Limits(new_facts_per_week=2)),
    "planned": Terms(trade_off=0.05, mode="planned", limits=Limits(k=2)),
    "ask": Terms(trade_off=0.05, ask=frozenset({"age"})),
}
Values = Mapping[str, str]


class Step(NamedTuple):
    """One answer: by which model, how it came about, what waits, and the values in their order."""

    model: str
    status: str
    waiting: tuple[str, ...]
    values: tuple[tuple[str, str], ...]


def pair() -> tuple[Model, Model]:
    """Return two models of the same people that share two facts, one of them not in all values."""
    one, two = made_model(1, people=60), made_model(2, people=60)
    names = {"age": "years", "region": "shoe", "gender": "sex", "job": "house"}
    attributes = [
        replace(
            each,
            name=names.get(each.name, each.name),
            concept=each.name if each.name in ("age", "gender") else f"made-2.{each.name}",
            value_concepts=("unspecified", "age1", None) if each.name == "age" else each.values,
        )
        for each in two.attributes
    ]
    return one, replace(two, attributes=tuple(attributes))


def transcript(
    person: Values,
    terms: Terms,
    models: tuple[Model, Model],
    edits: Mapping[int, Values] | None = None,
) -> list[Step]:
    """What a person's agent answers where two models decide in turn, by one ledger.

    ``edits``: values that are set before a step.
    """
    ledger, profile, concepts = Ledger(MemoryStore()), Profile(MemoryStore()), Concepts(models)
    ledger.disclosures.use(concepts)
    change(profile, person, (), models)
    steps = []
    for place in range(8):
        model, now = models[place // 2 % 2], NOW + timedelta(days=place)
        change(profile, (edits or {}).get(place, {}), (), models)
        held = ledger.disclosures.pool("a.example", ADS)
        known = knowledge_in(held, model, now, concepts)
        query, names = model.queries[place % 2].text, profile.names(model)
        there = replace(terms, available=names, ask=terms.ask & names)
        decision = decide(Request(query, "a.example"), there, known, model, cache=CACHE)
        values = profile.reveal(decision.disclosed, model)
        means = tuple(model.meanings[name, value] for name, value in values.items())
        entry = disclosed(now, "www.a.example", **values)
        ledger.append(structs.replace(entry, model=model.id, means=means))
        steps.append(Step(model.id, decision.code, decision.waiting, tuple(values.items())))
    return steps


def drawn(models: tuple[Model, Model], number: int) -> list[Values]:
    """So many people with random facts, the same ones each time."""
    facts = [*Concepts(models).kinds.values()]
    rng = random.Random(1)  # noqa: S311  (a stream that can be repeated)
    return [{fact.name: rng.choice(fact.values) for fact in facts} for _ in range(number)]


@pytest.mark.parametrize("terms", TERMS.values(), ids=TERMS.keys())
def test_an_edit_shows_only_in_the_values(terms: Terms) -> None:
    """Which attributes leave does not depend on an edit until its new value was disclosed."""
    models, shown = pair(), 0
    first, other = drawn(models, 2)
    before = transcript(first, terms, models)
    for place in range(len(before)):
        after = transcript(first, terms, models, {place: other})
        for old, new in zip(before, after, strict=True):
            assert old[:3] == new[:3]
            assert dict(old.values).keys() == dict(new.values).keys()
            if old != new:  # from here on the recipient holds the new value
                shown += 1
                break
    assert shown


@pytest.mark.parametrize("terms", [TERMS[each] for each in ("free", "k", "planned")])
def test_across_models_absence_says_nothing_either(terms: Terms) -> None:
    """At every step those with a transcript are those who agree with what it disclosed.

    And the same facts follow for all of them, whichever model decides.
    """
    models = pair()
    people = drawn(models, 20)
    said, own = [transcript(each, terms, models) for each in people], []
    for person in people:
        profile = Profile(MemoryStore())
        change(profile, person, (), models)
        own.append({m.id: profile.reveal([*profile.names(m)], m) for m in models})
    for steps in said:
        for count in range(len(steps) + 1):
            told = [(s.model, *fact) for s in steps[:count] for fact in s.values]
            agree = [all(o[m][n] == v for m, n, v in told) for o in own]
            assert agree == [other[:count] == steps[:count] for other in said]
            following = {
                (other[count].status, tuple(dict(other[count].values)))
                for other, agrees in zip(said, agree, strict=True)
                if agrees and count < len(other)
            }
            assert len(following) <= 1
    if terms == TERMS["free"]:
        assert len({str(steps) for steps in said}) > 1


IMPLYING = {
    "work": ("unspecified", "employed", "unemployed", "not_working"),
    "hours": ("unspecified", "full_time", "part_time", "no_job"),
    "employer": ("unspecified", "private", "no_job"),
    "age": ("unspecified", "young", "old"),
    "student": ("unspecified", "no", "yes", "not_asked"),
    "region": ("unspecified", "south", "west"),
}
NO_JOB = {"hours": "no_job", "employer": "no_job"}
IMPLIES: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    "work": {"unemployed": NO_JOB, "not_working": NO_JOB},
    "age": {"old": {"student": "not_asked"}},
}
HANGS_ON = {"hours": "work", "employer": "work", "student": "age"}


def model(name: str, values: Mapping[str, tuple[str, ...]], *, implying: bool = True) -> Model:
    """Return a model whose attributes are one fact with those of its name elsewhere."""
    made = model_of(values, name=name)
    attributes = (
        replace(each, implies=IMPLIES.get(each.name, {}) if implying else {})
        for each in made.attributes
    )
    return replace(made, attributes=tuple(attributes))


LIFE = model("life", IMPLYING)
OTHER = model(
    "other",
    {"student": IMPLYING["student"][:-1], "work": IMPLYING["work"], "region": IMPLYING["region"]},
    implying=False,
)
LIVES = (LIFE, OTHER)
DRAWN = {name: st.sampled_from(values) for name, values in IMPLYING.items()}
LIFE_VALUES = st.fixed_dictionaries({}, optional=DRAWN)

STEPS = st.lists(st.dictionaries(st.sampled_from([*IMPLYING]), st.booleans()), max_size=5)


def possible(given_: Mapping[str, str], held: Mapping[str, str]) -> dict[str, str]:
    """Return what is stated without what cannot be: that is refused, and says so to the user."""
    values = {**held, **given_}
    follow = {n: IMPLIES[by].get(values.get(by, ""), {}).get(n) for n, by in HANGS_ON.items()}
    stated = {n: follow.get(n) if value != "unspecified" else None for n, value in given_.items()}
    return {name: stated[name] or value for name, value in given_.items()}


def after(
    facts: Sequence[Fact],
    given_: Mapping[str, str],
    unset: Sequence[str] = (),
    models: Sequence[Model] = LIVES,
) -> tuple[Fact, ...]:
    return planned(facts, given_, unset, models, NOW, new_id)


@given(STEPS, st.sampled_from([LIVES, (LIFE,), (OTHER, LIFE)]), st.data())
def test_which_facts_are_set_depends_on_no_value(
    steps: list[Mapping[str, bool]], models: tuple[Model, ...], data: st.DataObject
) -> None:
    """Two people who set and unset the same names have set the same, at every moment.

    Also where a file has lost a value since.
    """
    people: list[tuple[Fact, ...]] = [(), ()]
    lost = model("life", IMPLYING | {"region": IMPLYING["region"][:2]})
    for names in steps:
        gone = [name for name, set_ in names.items() if not set_]
        for at, own in enumerate(people):
            given_ = {name: data.draw(DRAWN[name]) for name in names if name not in gone}
            stays = {kind: each for kind, each in values_of(own).items() if kind not in gone}
            people[at] = after(own, possible(given_, stays), gone, models)
        one, two = ({each.kind for each in own} for own in people)
        assert one == two
    one, two = ({each.kind for each in after(own, {}, (), [lost, OTHER])} for own in people)
    assert one == two


@given(LIFE_VALUES, LIFE_VALUES, st.sets(st.sampled_from([*IMPLYING])))
def test_a_change_changes_what_it_names_and_what_hangs_on_that(
    before: dict[str, str], given_: dict[str, str], unset: set[str]
) -> None:
    """Against a computation by the table; what is named stays as it is stated.

    Whoever opens the vault later finds the same; what did not change keeps its time.
    """
    gone = sorted(unset - given_.keys())
    facts = after((), possible(before, {}))
    then = values_of(facts)
    stays = {n: v for n, v in then.items() if n not in gone}
    given_ = possible(given_, stays)
    expected = stays | given_
    for name, by in HANGS_ON.items():
        past, now = (IMPLIES[by].get(own.get(by, ""), {}) for own in (then, given_))
        if name in given_ or name in gone:
            continue
        if by in gone and by in then:
            expected.pop(name, None)
        elif by in given_ and (name in now or then.get(name) in (None, past.get(name))):
            expected[name] = now.get(name, "unspecified")
    later, old, store = NOW + timedelta(days=1), {each.kind: each for each in facts}, MemoryStore()
    changed = planned(facts, given_, gone, LIVES, later, new_id)
    assert values_of(changed) == expected
    assert after(changed, given_, gone) == changed
    Profile(store).keep(changed)
    assert Profile(store).facts == changed
    for fact in changed:
        assert fact.set_at == (NOW if then.get(fact.kind) == fact.value else later)
        assert fact.kind not in old or fact.id == old[fact.kind].id
    assert len({each.id for each in changed}) == len(changed)


@given(LIFE_VALUES, st.randoms(use_true_random=False), st.permutations(LIVES))
def test_no_order_matters(given_: dict[str, str], random: object, models: list[Model]) -> None:
    """Neither of the facts nor of the models; one by one they come to the same."""
    given_, names = possible(given_, {}), sorted(given_)
    random.shuffle(names)  # type: ignore[attr-defined]  # Hypothesis draws a Random
    whole = values_of(after((), given_))
    assert values_of(after((), {name: given_[name] for name in names}, (), models)) == whole
    facts: tuple[Fact, ...] = ()
    for name in sorted(names, key=lambda name: name in HANGS_ON):
        facts = after(facts, {name: given_[name]})
    assert values_of(facts) == whole
