"""Laws of replaying the past under another policy."""

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from agent.decision.cache import Cache
from agent.decision.values import ReplayedRequest
from agent.decision.what_if import Codes, PastRequest, bits_of, replay
from agent.model.model import Model
from tests.decision.histories import (
    MODELS,
    START,
    Rules,
    lived,
    meaning,
    models,
    people,
    policies,
    policy,
    streams,
)
from tests.decision.made import NAMES, PERSONS

OPEN = Rules(policy("lambda = 0"), protects_me=False)


def tried(
    history: Sequence[PastRequest], rules: Rules, model: Model, person: Codes
) -> list[ReplayedRequest]:
    """Return the outcomes of a replay with a person's values."""
    own = {model.id: {name: person[name] for name in NAMES[:PERSONS]}}
    return [*replay(history, rules.policy, [model], own, Cache())]


@given(models, streams(), policies(), people)
def test_the_same_policy_changes_nothing(
    model: Model, stream: tuple[PastRequest, ...], rules: Rules, person: Codes
) -> None:
    """Whatever it rules; each request carries what it did, to as many people who are left."""
    history = lived(stream, rules, [person] * len(stream), model)
    outcomes = tried(history, rules, model, person)
    assert [(each.at, each.query) for each in outcomes] == [
        (each.at, each.query) for each in history
    ]
    for each, past in zip(outcomes, history, strict=True):
        assert each.disclosed == past.disclosed
        assert {*each.would_disclose} == {*past.disclosed}
        assert (each.utility, each.people_left) == (each.utility_was, each.people_left_was)


@given(models, streams(), policies(), policies(), people)
def test_what_would_be_sent_depends_on_the_tried_policy_alone(
    model: Model, stream: tuple[PastRequest, ...], old: Rules, new: Rules, person: Codes
) -> None:
    """It is what that policy would have decided from the start; what was sent is no matter."""
    persons = [person] * len(stream)
    outcomes = tried(lived(stream, old, persons, model), new, model, person)
    afresh = lived(stream, new, persons, model)
    for each, past in zip(outcomes, afresh, strict=True):
        assert {*each.would_disclose} == {*past.disclosed}
        assert not {*each.would_ask} & {*each.would_disclose}
        assert each.utility == bits_of(past.query, past.disclosed, model)


@given(models, streams(), people)
def test_nothing_is_sent_where_nothing_may_be(
    model: Model, stream: tuple[PastRequest, ...], person: Codes
) -> None:
    """Then all people of the model are left."""
    history = lived(stream, OPEN, [person] * len(stream), model)
    silent = Rules(policy("nothing = true"), protects_me=False)
    for each in tried(history, silent, model, person):
        assert (each.would_disclose, each.utility) == ((), 0.0)
        assert each.people_left >= each.people_left_was


@given(person=people, forgets=st.booleans())
def test_what_another_model_told_stays_as_it_was(*, person: Codes, forgets: bool) -> None:
    """Its recipient knows it in both worlds, until it is said to have forgotten."""
    model, name = MODELS[0], NAMES[0]
    known = PastRequest(
        START, "a.example", "python today", None, (name,), (meaning(name, person[name], model),)
    )
    gone = [PastRequest(START, "a.example", forgets=True)] if forgets else []
    last = replace(known, disclosed=(), facts=(), model=model)
    silent = Rules(policy("nothing = true"), protects_me=False)
    (only,) = tried([known, *gone, last], silent, model, person)
    assert only.people_left == only.people_left_was
    (alone,) = tried([last], silent, model, person)
    assert only.people_left <= alone.people_left
    assert not forgets or only.people_left == alone.people_left
