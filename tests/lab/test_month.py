"""A month of requests: whose facts are told, who needs them, and the same from a real daemon."""

import gzip
import json
from datetime import timedelta
from functools import cache
from itertools import accumulate
from operator import or_

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.build.options import read_description
from agent.build.topics import CLEARLY
from agent.decision.engine import load_model
from agent.decision.topics import Judgements
from agent.errors import UsageError
from agent.lab.attack.material import DESCRIPTION, EVERYDAY, USUAL
from agent.lab.attack.month import BALANCED, RELEVANT, YES, Ground, ground_of, parts_of, tallied
from agent.lab.attack.profiles import drawn_people, whole_profile
from agent.lab.attack.simulation import (
    PAUSE,
    Codes,
    HeldOutRequest,
    Person,
    Reticent,
    Trace,
    chooser,
    requests_of,
    walk,
)
from agent.lab.attack.strategies import Strategy
from agent.model.file import read, shipped_models
from agent.model.reading import Interpretation
from agent.model.world import in_country, world_of
from agent.tradeoff import members
from agent.wire.decide import Ask
from agent.wire.state import ProfileChange
from tests.developer import PROFILE
from tests.lab.worlds import model as small
from tests.worlds.daemons import living

MANY = 500


@cache
def ground() -> Ground:
    return ground_of(EVERYDAY, load_model())


@cache
def profiles() -> Codes:
    """The codes of many people with the same columns, those of one row."""
    model, random = ground().model, np.random.default_rng(5)
    row = model.population.codes[7].tolist()
    return np.array([whole_profile(model, row, random) for _ in range(MANY)], np.uint8)


def test_kinds_are_drawn_by_the_shares_of_what_they_depend_on() -> None:
    """Within five standard errors, fewer where more are held than set; none that exclude others."""
    model, codes = ground().model, profiles()
    shares = model.population.shares
    assert shares is not None
    columns, tried = model.persons - len(shares.attributes), 0
    for at, (kind, named) in enumerate(zip(shares.kinds, model.kinds, strict=True)):
        places = [columns + e for e, of in enumerate(shares.attributes) if of == at]
        for line in codes[:, places].tolist() if named.excludes else ():
            held = {named.values[code - 1] for code in line if code}
            assert not any(held & {*named.excludes.get(each, ())} for each in held)
        if kind.parent is not None or kind.holders is not None or named.excludes:
            continue
        given = kind.shares if kind.given is None else kind.given[codes[0, kind.column or 0]]
        wanted = given if kind.several else given / given.sum()
        alike = codes[:, places, None] == np.arange(1, len(given) + 1)
        found = alike.any(axis=1).mean(axis=0)
        room = 5 * np.sqrt(wanted * (1 - wanted) / MANY) + 0.002
        assert (found <= wanted + room).all()
        assert alike.sum(axis=1).max() <= 1
        assert kind.several or ((found >= wanted - room).all() and codes[:, places].all())
        tried += 1
    assert tried > 40


def test_people_begin_alike_however_many_they_are() -> None:
    """Nor how much they ask; and they ask what is asked."""
    model = ground().model
    asked = np.eye(len(model.queries))[[3, 7, 7, 7]].mean(axis=0)
    some, more = (drawn_people(model, asked, *size, seed=2) for size in ((3, 5), (4, 50)))
    for one, other in zip(some, more, strict=False):
        assert (one.place, one.codes, one.requests) == (*other[:2], other.requests[:5])
    queries = [each.query for person in more for each in person.requests]
    assert {*queries} == {3, 7}
    assert queries.count(7) > queries.count(3)
    with pytest.raises(UsageError, match="no kinds of facts"):
        drawn_people(small(), asked, 1, 1, 0)


def test_the_model_is_the_first_judges_and_needs_are_the_seconds() -> None:
    """As the tables have it, topic by topic, of those without a twin."""
    model, needs, judged, *_ = ground()
    table = gzip.decompress((EVERYDAY / "topics.jsonl.gz").read_bytes()).splitlines()
    named = {each["id"]: each for each in map(json.loads, table)}
    note, likely = read_description(EVERYDAY / DESCRIPTION).topics, model.tables.judged
    assert note is not None
    assert likely is not None
    kinds = [each.shared or each.name for each in model.attributes[: model.persons]]
    for at, query in enumerate(model.queries):
        if query.text in note.merge.values():
            continue
        line, grades = named[query.text], named[query.text]["second"] or {}
        assert judged[at] == (line["second"] is not None)
        assert needs[at].tolist() == [grades.get(kind, 0) >= CLEARLY for kind in kinds]
        assert query.bits == (line["bits"] if line["relevance"] else 0)
        helps = {kind for kind, each in zip(kinds, likely.likely[at], strict=True) if each}
        assert helps == {*line["relevance"]} & {*kinds}
    assert 90 < judged.sum() < 120
    with pytest.raises(UsageError, match="has no topics"):
        ground_of(USUAL, load_model())
    with pytest.raises(UsageError, match="of other topics"):
        ground_of(EVERYDAY, small())


@given(st.data())
def test_facts_are_counted_once_for_each_recipient(data: st.DataObject) -> None:
    """As sets of recipients and facts, request by request."""
    needed_by = data.draw(st.tuples(*[st.frozensets(st.integers(0, 3))] * 3))
    needs = np.array([np.isin(np.arange(4), [*each]) for each in needed_by])
    asked = data.draw(st.lists(st.integers(0, 2), min_size=1, max_size=7))
    many, codes = data.draw(st.tuples(st.integers(1, 3), st.tuples(*[st.integers(0, 2)] * 4)))
    person = Person(0, codes, tuple(HeldOutRequest(each, 0, ()) for each in asked))
    parts, traces = parts_of(person, many), list[Trace]()
    for part in parts:
        assert part.pause == many * PAUSE
        masks = [data.draw(st.integers(0, 15)) for _ in part.requests]
        traces.append(Trace((), tuple(accumulate(masks, or_))))
    found = tallied([person], [traces], needs)
    told, needed = set[tuple[int, int]](), set[tuple[int, int]]()
    for at, query in enumerate(asked):
        to = at % many
        told |= {(to, each) for each in members(traces[to].disclosed[at // many])}
        needed |= {(to, each) for each in needed_by[query] if codes[each]}
        counts = len(needed), len(told), len(told & needed), len(told - needed)
        assert tuple(each[0, at] for each in (*found, found.needless)) == counts


def test_all_relevant_sends_what_the_model_says_helps() -> None:
    """Of what is set; with nothing else, every time."""
    model = ground().model
    judged = Judgements.of(model)
    [person] = drawn_people(model, np.ones(len(model.queries)), 1, 6, seed=3)
    trace = walk(chooser(RELEVANT, model), model, person)
    for request, mask in zip(person.requests, trace.sent, strict=True):
        helps = judged.helpful(Interpretation.exact(request.query)) & np.array(person.codes, bool)
        assert [*members(mask)] == np.flatnonzero(helps).tolist()


SHIPPED = 'preset = "balanced"'
YES_TO_ALL = 'preset = "strict"\ndisclose = "auto"\n[attributes]\n"@health" = "auto"\n'
YES_TO_ALL += "".join(f'{e} = "auto"\n' for e in ("debt", "religion", "orientation", "legal"))


@pytest.mark.parametrize(
    ("seed", "strategy", "policy"),
    [(1, BALANCED[1], SHIPPED), (5, BALANCED[1], SHIPPED), (4, YES[2], YES_TO_ALL)],
    ids=["what it was asked counts", "what limits allow is spent", "the week is full"],
)
def test_a_real_daemon_answers_a_stream_alike(seed: int, strategy: Strategy, policy: str) -> None:
    """The same facts in the same order, request by request, all of them within a moment."""
    world = world_of([in_country(read(each), "us") for each in shipped_models()])
    topics = np.isin(np.arange(len(world.queries)), range(0, 200, 25)) / 8.0
    [person] = drawn_people(world, topics, 1, 24, seed)
    pairs = zip(world.attributes, person.codes, strict=True)
    values = {each.name: each.values[code] for each, code in pairs if code}
    agent, expected = Reticent(strategy, world), list[list[list[str]]]()
    for part in parts_of(person, 2):
        steps = requests_of(agent.chosen, world, part._replace(pause=timedelta(0)))
        expected.append([[world.attributes[e].name for e in each.order] for _, each, _ in steps])
    with living(policy) as live:
        unset = [each for each in PROFILE if each not in values]
        live.call("change_profile", ProfileChange(set=values, unset=unset))
        for at, request in enumerate(person.requests):
            text, to = world.queries[request.query].text, f"s{at % 2}.example"
            answer = live.call("decide", Ask(query=text, recipient=to))
            assert [*answer.attributes] == expected[at % 2][at // 2]
    assert all(map(any, expected))
