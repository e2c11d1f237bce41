"""How the service ranks what requests carry, and who is left."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from agent.lab.attack.heldout import Person, drawn
from agent.lab.attack.ways import Way
from examples.search_service.replay.lines import BEST, NOTHING, PLAIN, SHIPPED, Line
from examples.search_service.replay.served import Served, Service
from tests.lab.attack.made import PEOPLE, model, others, walker

FREE = Line("free", Way(name="free", trade_off=0.0, answered=True))
LINES = (NOTHING, *SHIPPED, BEST, PLAIN, FREE)
EVERYBODY = drawn(others(), PEOPLE, 8, seed=3)

somebody = st.sampled_from(EVERYBODY)
lines = st.sampled_from(LINES)


def served(line: Line, person: Person) -> Served:
    """Return what comes of a person's requests."""
    trace = walker(line.way)(person)
    return Service.of(model(), others().codes).served(line, person, trace)


def prior_ranks(person: Person) -> list[int]:
    """Return the places of what a person chose where the more frequent result comes first."""
    ranks = []
    for asked in person.requests:
        counts = np.bincount(model().rows(asked.query).intent, minlength=4).tolist()
        order = sorted(range(4), key=lambda intent: (-counts[intent], intent))
        ranks.append(order.index(asked.intent) + 1)
    return ranks


def smoothed_ranks(person: Person) -> list[int]:
    """Return the same by smoothed counts on all that there is to know."""
    ranks = []
    for query, intent, request in person.requests:
        rows, beta = model().rows(query), model().queries[query].shrinkage
        chance = (np.bincount(rows.intent, minlength=4) + 0.5) / (len(rows.intent) + 2) * beta
        for user, wanted, code in zip(rows.user, rows.intent, rows.request, strict=True):
            if tuple(rows.person[user]) == person.codes and tuple(code) == request:
                chance[wanted] += 1
        order = sorted(range(4), key=lambda each: (-chance[each], each))
        ranks.append(order.index(intent) + 1)
    return ranks


@given(somebody)
def test_who_tells_nothing_is_ranked_by_the_prior(person: Person) -> None:
    """And stays one of all."""
    found = served(NOTHING, person)
    assert found.ranks.tolist() == prior_ranks(person)
    assert not found.told.any()
    assert (found.left == PEOPLE).all()


@given(somebody)
def test_plain_counts_are_counts_on_everything(person: Person) -> None:
    """Without a choice among attributes, however few people agree; not specified counts too."""
    found = served(PLAIN, person)
    assert found.ranks.tolist() == smoothed_ranks(person)
    assert (found.told == len(model().attributes)).all()


@given(somebody, lines)
def test_people_left_are_never_more_and_the_person_is_one(person: Person, line: Line) -> None:
    """Of the model's people, and of the others."""
    found = served(line, person)
    assert found.left.shape == (len(person.requests), 2)
    assert (np.diff(found.left, axis=0) <= 0).all()
    assert (found.left[:, 1] >= 1).all()


@given(somebody, st.data())
def test_what_is_not_specified_is_not_heard(person: Person, data: st.DataObject) -> None:
    """It does not travel, so the ranking is as if it had not been chosen."""
    blank = data.draw(st.integers(0, model().persons - 1))
    codes = tuple(0 if place == blank else code for place, code in enumerate(person.codes))
    person = person._replace(codes=codes)
    trace = walker(FREE.way)(person)
    without = trace._replace(sent=tuple(sent & ~(1 << blank) for sent in trace.sent))
    service = Service.of(model(), others().codes)
    one, other = (service.served(FREE, person, each) for each in (trace, without))
    assert one.ranks.tolist() == other.ranks.tolist()
