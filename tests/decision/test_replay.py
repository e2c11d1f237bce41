"""Laws of replaying the past under another policy, and of the person who made it."""

from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.decision.cache import Cache
from agent.decision.decide import decide
from agent.decision.matching import share_of
from agent.decision.replay import (
    MOST_PEOPLE,
    Codes,
    PastRequest,
    mean,
    replay,
    summary_of,
    worlds_of,
)
from agent.decision.request import Knowledge, people_left
from agent.decision.terms import rulebook, terms_under
from agent.decision.values import Request
from agent.model.concepts import Concepts, Meaning, meaning_of
from agent.model.model import Model
from tests.decision.histories import (
    HOSTS,
    MODELS,
    QUERIES,
    START,
    Rules,
    lived,
    models,
    people,
    policies,
    policy,
    streams,
    told,
    tried,
)
from tests.decision.made import CARDS, NAMES, PERSONS
from tests.decision.test_lacking import others


@given(models, streams(), policies(), people)
def test_the_same_policy_changes_nothing(
    model: Model, stream: tuple[PastRequest, ...], rules: Rules, person: Codes
) -> None:
    """Whatever it rules, and whether the person's values are given or only in the history."""
    history = lived(stream, rules, [person] * len(stream), model)
    for profile in (person, None):
        if profile is None and rules.protects_me:
            continue  # there values decide that nobody was told
        outcomes = tried(history, rules, model, profile)
        assert [each.past for each in outcomes] == [*history]
        for each in outcomes:
            assert (each.newly_disclosed, each.newly_withheld) == ((), ())
            assert each.bits.was == each.bits.would_be
            assert each.people_left.was == each.people_left.would_be
            assert not each.expected
        assert summary_of(outcomes).changed == 0


@given(models, streams(), policies(["everyone"]), people, people)
def test_the_same_policy_changes_nothing_for_a_person_who_changed(
    model: Model, stream: tuple[PastRequest, ...], rules: Rules, before: Codes, after: Codes
) -> None:
    """What changed is new to whoever holds the old value, and counts as such."""
    half = len(stream) // 2
    persons = [before] * half + [after] * (len(stream) - half)
    history = lived(stream, rules, persons, model)
    for each in tried(history, rules, model):
        assert not each.changed
        assert each.people_left.was == each.people_left.would_be


def test_something_was_disclosed_at_all() -> None:
    """The law above is not about silence: a generous policy discloses, and to a few people."""
    model = MODELS[0]
    stream = [PastRequest(START, "a.example", query, None, ()) for query in QUERIES]
    rules = Rules(policy("lambda = 0.01"), protects_me=False)
    person = dict(zip(NAMES, (*model.population.codes[0].tolist(), 1), strict=True))
    outcomes = tried(lived(stream, rules, [person] * len(stream), model), rules, model)
    assert outcomes[0].past.disclosed
    assert outcomes[0].bits.was > 0
    assert outcomes[0].people_left.was < model.population.rows
    assert outcomes[-1].bits.was == 0


@given(models, policies(), people, st.sampled_from(NAMES), st.data())
def test_what_may_never_leave_is_never_newly_disclosed(
    model: Model, rules: Rules, person: Codes, name: str, data: st.DataObject
) -> None:
    """And wherever it did leave, it is newly withheld for certain."""
    text = rules.policy.text + f'\n[[rule]]\nattribute = "{name}"\ndisclose = "never"'
    stricter = Rules(policy(text), rules.protects_me)
    history = data.draw(told(person))
    for each in tried(history, stricter, model):
        assert name not in dict(each.newly_disclosed)
        left = name in dict(each.past.disclosed)
        assert dict(each.newly_withheld).get(name, 0) == left


@given(models, policies(), people, st.data())
def test_one_pool_of_recipients_does_not_know_what_another_was_told(
    model: Model, rules: Rules, person: Codes, data: st.DataObject
) -> None:
    """Its outcomes are those of a history without any other recipient."""
    history = data.draw(told(person))
    outcomes = tried(history, rules, model, person)
    for pool in {each.pool for each in outcomes}:
        its = [each for each in outcomes if each.pool == pool]
        assert tried([each.past for each in its], rules, model, person) == its


@given(models, people, st.sampled_from([0.01, 0.1, 1]), st.data())
def test_a_group_is_one_recipient(
    model: Model, person: Codes, trade_off: float, data: st.DataObject
) -> None:
    """It does not matter which of its members was asked."""
    text = f'lambda = {trade_off}\n[groups]\nboth = ["a.example", "b.example"]'
    rules = Rules(policy(text), protects_me=False)
    history = data.draw(told(person))
    merged = [replace(past, recipient="a.example") for past in history]
    one, other = (tried(each, rules, model, person) for each in (history, merged))
    assert {each.pool for each in one} == {"@both"}
    same = (replace(each, past=history[0], host="") for each in one)
    assert [*same] == [replace(each, past=history[0], host="") for each in other]


@given(models, policies(), people, st.data())
def test_where_all_values_are_known_nobody_has_to_stand_for_the_person(
    model: Model, rules: Rules, person: Codes, data: st.DataObject
) -> None:
    """The expectation over people, whoever they are, is then the plain replay."""
    everything = tuple(person.items())
    somebody = PastRequest(START, "z.example", "zebra crossing", None, everything)
    history = (somebody, *data.draw(told(person)))
    plain = tried(history, rules, model, person)
    assert tried(history, rules, model) == plain
    worlds = worlds_of(history, model, person)
    rows = tuple(row for each in MODELS for row in worlds_of((), each).rows)
    many = replace(worlds, rows=rows)
    assert [*replay(history, rules.policy, model, many, ())] == plain
    assert not any(each.expected for each in plain)


@given(models, policies(), st.integers(0, 39), st.data())
def test_an_expectation_is_the_mean_over_people(
    model: Model, rules: Rules, row: int, data: st.DataObject
) -> None:
    """Each of whom is replayed as if the profile were theirs."""
    person = dict(zip(NAMES, (*model.population.codes[row].tolist(), 1), strict=True))
    history = data.draw(told(person))
    worlds = worlds_of(history, model)
    assert worlds.alike
    replays = [tried(history, rules, model, {**each, "hours": 1}) for each in worlds.rows]
    for place, each in enumerate(tried(history, rules, model)):
        alone = [outcomes[place] for outcomes in replays]
        assert each.bits.would_be == mean([one.bits.would_be for one in alone])
        assert each.people_left.would_be == mean([one.people_left.would_be for one in alone])
        for field in ("newly_disclosed", "newly_withheld", "would_ask"):
            shares = {
                name: sum(name in dict(getattr(one, field)) for one in alone) / len(alone)
                for name in NAMES
            }
            assert dict(getattr(each, field)) == {n: share for n, share in shares.items() if share}


def test_limits_for_the_person_need_all_values() -> None:
    """Where they are not known, what stays is an expectation as well."""
    history = [PastRequest(START, "a.example", QUERIES[0], None, ())]
    rules = Rules(policy('protect = "me"\nk = 1000'), protects_me=True)
    person = dict.fromkeys(NAMES, 1)
    for profile, expected in ((None, True), (person, False)):
        (outcome,) = tried(history, rules, MODELS[0], profile)
        assert not outcome.changed
        assert outcome.expected == expected


@pytest.mark.parametrize(
    ("before", "after", "field"),
    [
        ("nothing = true", "lambda = 0.01", "newly_disclosed"),
        ("lambda = 0.01", "nothing = true", "newly_withheld"),
    ],
)
def test_a_summary_counts_requests(before: str, after: str, field: str) -> None:
    """The most frequent attribute first, and each pool as it was left."""
    model = MODELS[0]
    one, other = (Rules(policy(text), protects_me=False) for text in (before, after))
    person = dict(zip(NAMES, (*model.population.codes[0].tolist(), 1), strict=True))
    stream = [PastRequest(START, host, query, None, ()) for host in HOSTS for query in QUERIES]
    outcomes = tried(lived(stream, one, [person] * len(stream), model), other, model, person)
    summary = summary_of(outcomes)
    counts: dict[str, Any] = dict(getattr(summary, field))
    assert counts
    for name, count in counts.items():
        assert count == sum(name in dict(getattr(each, field)) for each in outcomes)
    assert [*counts.values()] == sorted(counts.values(), reverse=True)
    assert [(each.pool, each.requests) for each in summary.pools] == [
        ("a.example", 6),
        ("b.example", 3),
    ]
    assert summary.pools[0].people_left == outcomes[-1].people_left
    assert summary_of([]).bits is None


@given(models, people, st.data())
def test_people_stand_for_the_person_whom_they_are_like(
    model: Model, person: Codes, data: st.DataObject
) -> None:
    """As few as there are, and never more than MOST_PEOPLE; anybody, where there is nobody."""
    history = data.draw(told(person))
    said = {name for past in history for name, _ in past.disclosed if name in NAMES[:PERSONS]}
    pairs = [(model.index(name), person[name]) for name in said]
    fitting = Cache().anonymity_set(model, pairs).people
    worlds = worlds_of(history, model)
    assert worlds.alike == (fitting > 0)
    assert len(worlds.rows) == min(fitting or model.population.rows, MOST_PEOPLE)
    for row in worlds.rows if worlds.alike else ():
        assert {name: row[name] for name in said} == {name: person[name] for name in said}
    assert worlds == worlds_of(history, model)


def test_a_person_like_nobody_is_replayed_with_anybody() -> None:
    """What is known of the person holds in each of the worlds."""
    model = MODELS[0]
    seen = set(map(tuple, model.population.codes.tolist()))
    codes = min(set(product(*map(range, CARDS[:PERSONS]))) - seen)
    disclosed = tuple(zip(NAMES, codes, strict=False))
    worlds = worlds_of([PastRequest(START, "a.example", QUERIES[0], None, disclosed)], model)
    assert not worlds.alike
    assert len(worlds.rows) == MOST_PEOPLE
    assert all(worlds.code_at(0, name) == code for name, code in disclosed)


@given(models, people, others("other", MODELS[0]), st.lists(st.booleans(), max_size=8), st.data())
def test_what_other_models_told_counts_for_every_limit(
    model: Model, person: Codes, other: Model, own: list[bool], data: st.DataObject
) -> None:
    """As the agent itself decides that knows it, fact by fact; and it is not decided anew."""
    rules, concepts = policy("lambda = 0.01\nk = 3"), Concepts((model, other))
    persons = other.attributes[: other.persons]
    facts = tuple(
        Meaning(each.concept, data.draw(st.sampled_from(each.values[1:]))) for each in persons
    )
    history = [
        PastRequest(START, "a.example", QUERIES[place % 2], None, (), None if mine else facts)
        for place, mine in enumerate(own)
    ]
    found = replay(history, rules, model, worlds_of(history, model, person), [other])
    held: dict[str, str] = {}
    for past in history:
        if past.elsewhere is not None:
            held |= {each.concept: each.value for each in past.elsewhere}
            continue
        known = [Meaning(*each) for each in held.items()]
        told = (concepts.code(each, model) for each in known)
        codes = tuple(sorted(each for each in told if each is not None))
        knowledge = Knowledge(codes, share=share_of(known, model, concepts))
        request = Request(past.query, past.recipient)
        terms = terms_under(
            rulebook(rules, model, [other]).match("a.example", "", START.date()), model
        )
        decision = decide(request, terms, knowledge, model)
        outcome = next(found)
        assert {name for name, _ in outcome.newly_disclosed} == {*decision.disclosed}
        sent = {name: person[name] for name in decision.disclosed if name in NAMES[:PERSONS]}
        assert outcome.people_left.would_be == people_left(knowledge.with_facts(sent), model)
        for name, code in sent.items():
            attribute = model.attributes[model.index(name)]
            held[name] = meaning_of(name, attribute.values[code], model).value
    assert next(found, None) is None


def test_a_value_is_looked_up_near_by() -> None:
    """This request, then the profile, then the last request before, then the first after."""
    values: list[dict[str, int]] = [{}, {"age": 1}, {}, {"age": 2}, {}]
    history = [PastRequest(START, "a.example", "", None, tuple(each.items())) for each in values]
    worlds = worlds_of(history, MODELS[0])
    assert [worlds.code_at(place, "age") for place in range(5)] == [1, 1, 1, 2, 2]
    assert worlds.code_at(0, "job") is None
    worlds = worlds_of(history, MODELS[0], {"age": 0, "job": 1})
    assert [worlds.code_at(place, "age") for place in range(5)] == [0, 1, 0, 2, 0]
    assert (worlds.code_at(0, "job"), worlds.code_at(0, "region")) == (1, 0)


def test_people_are_spaced_evenly_and_agree_with_the_latest_values() -> None:
    """Who stands for the person depends on the history alone."""
    model = MODELS[0]
    names, codes = NAMES[:PERSONS], model.population.codes.tolist()
    assert len(codes) == 2 * MOST_PEOPLE
    everybody = [dict(zip(names, row, strict=True)) for row in codes]
    assert [*worlds_of([], model).rows] == everybody[::2]
    moved = [
        PastRequest(START, "a.example", "", None, (("region", region), ("hours", 1)))
        for region in (1, 2)
    ]
    assert {row["region"] for row in worlds_of(moved, model).rows} == {2}
