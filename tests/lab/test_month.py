"""A month of requests: whose facts are told, who needs them, and the same from a real daemon."""

import gzip
import json
from datetime import timedelta
from functools import cache
from itertools import accumulate, chain
from operator import or_

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.build.options import read_description
from agent.build.relevance import Sheet
from agent.build.topics import CLEARLY
from agent.decision.engine import load_model
from agent.decision.own_facts import NONE, chances_of
from agent.decision.topics import Judgements
from agent.errors import UsageError
from agent.facts.proposals import judging
from agent.lab import StudyOptions
from agent.lab.attack import month, simulation
from agent.lab.attack.material import DESCRIPTION, EVERYDAY, USUAL
from agent.lab.attack.month import BALANCED, RELEVANT, YES, Ground, ground_of, parts_of, tallied
from agent.lab.attack.profiles import Sender, senders, whole_profile
from agent.lab.attack.simulation import Person, Reticent, Trace, chooser, requests_of, walk
from agent.lab.attack.strategies import Strategy
from agent.model.file import read, shipped_models
from agent.model.model import Model
from agent.model.reading import Interpretation
from agent.model.world import in_country, world_of
from agent.tradeoff import members
from agent.tradeoff.tables import Codes
from agent.wire.decide import Ask
from agent.wire.state import FactEdit, FactTexts, ProfileChange
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


def drawn(sheet: Sheet, people: int, requests: int, model: Model | None = None) -> list[Sender]:
    options, often = StudyOptions(people, requests, seed=2), np.ones(len(ground().model.queries))
    return [*senders(ground().needs, often, [(sheet, model or ground().model)], options)]


def test_people_begin_alike_however_many_they_are() -> None:
    """Nor how much they ask; and they ask and say what is on their sheet, which says what helps."""
    sheet = ground().sheets[0]
    some, more = drawn(sheet, 2, 5), drawn(sheet, 3, 50)
    for one, other in zip(some, more, strict=False):
        assert one.person == other.person._replace(requests=other.person.requests[:5])
    helps = {each.text: each.helps for each in sheet.questions}
    for sender in more:
        facts = [sheet.facts.index(each.words or "") for each in sender.own.facts]
        for request, needed in zip(sender.person.requests, sender.needs, strict=True):
            wanted = np.append(ground().needs[request.query], np.zeros(len(sender.model.own), bool))
            wanted[sender.words] |= [helps[request.text].get(each) == 2 for each in facts]
            assert needed.tolist() == wanted.tolist()
    with pytest.raises(UsageError, match="no kinds of facts"):
        drawn(sheet, 1, 1, small())


def test_models_do_not_learn_from_what_is_kept_apart() -> None:
    """Neither of a third of the sheets, nor of the profile that somebody has."""
    sheets = [Sheet(each.facts, each.questions[:8]) for each in ground().sheets[:4]]
    one, *both = [Sheet(each.facts, each.questions[:8]) for each in ground().profiles[:3]]
    some, *rest = (
        month.apart(ground()._replace(sheets=(*each,), profiles=(profile, *both)))
        for each, profile in ((sheets, one), ([sheets[1], *sheets[1:3], sheets[2]], both[0]))
    )
    assert [sheet for sheet, _ in some[0]] == sheets[::3]
    before, after = ([judging(each)[1] for _, each in (*e[0][:1], *e[1])] for e in (some, *rest))
    assert (before[0].bilinear == after[0].bilinear).all()
    assert (before[0].bilinear != judging(ground().model)[1].bilinear).any()
    assert [(a.pair == b.pair).all() for a, b in zip(before, after, strict=True)] == [1, 1, 0, 0]


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
    person = Person(0, codes, tuple(simulation.HeldOutRequest(each, 0, ()) for each in asked))
    parts, traces = parts_of(person, many), list[Trace]()
    for part in parts:
        assert part.pause == many * simulation.PAUSE
        masks = [data.draw(st.integers(0, 15)) for _ in part.requests]
        traces.append(Trace((), tuple(accumulate(masks, or_))))
    words = np.array(data.draw(st.lists(st.integers(0, 3), unique=True)), int)
    found = tallied([Sender(person, small(), NONE, needs[asked], words)], [traces])
    told, needed = set[tuple[int, int]](), set[tuple[int, int]]()
    for at, query in enumerate(asked):
        to = at % many
        told |= {(to, each) for each in members(traces[to].disclosed[at // many])}
        needed |= {(to, each) for each in needed_by[query] if codes[each]}
        own = {(recipient, each) for recipient in range(many) for each in words.tolist()}
        sets = needed, told, told & needed, needed & own, told & own, told & needed & own
        counts = *map(len, sets), len(told - needed)
        assert tuple(each[0, at] for each in (*found, found.needless)) == counts


def test_all_relevant_sends_what_the_model_says_helps() -> None:
    """Of what is set, or written; with nothing else, every time."""
    [(person, model, own, _, words)] = drawn(ground().sheets[3], 1, 12)
    judged, sent = Judgements.of(model), 0
    trace = walk(chooser(RELEVANT, model, own=own), model, person)
    for request, mask in zip(person.requests, trace.sent, strict=True):
        reading = Interpretation.exact(request.query)
        helps, chances = judged.helpful(reading), chances_of(own, request.text, reading, model, ())
        helps[words] |= chances[:, 0] >= judged.least[words]
        assert [*members(mask)] == np.flatnonzero(helps & np.array(person.codes, bool)).tolist()
        sent |= mask
    assert {*members(sent)} & {*words.tolist()}


SHIPPED = 'preset = "balanced"\n'
YES_TO_ALL = 'preset = "strict"\ndisclose = "auto"\n[attributes]\n"@health" = "auto"\n'
YES_TO_ALL += "".join(f'{e} = "auto"\n' for e in ("debt", "religion", "orientation", "legal"))
RULE = '[[rule]]\nrecipient = "s{0}.example"\naddress = "https://s{0}.example/"\nassistant = true\n'


@pytest.mark.parametrize(
    ("sheet", "strategy", "policy"),
    [(39, BALANCED[1], SHIPPED), (66, BALANCED[1], SHIPPED), (28, YES[2], YES_TO_ALL)],
    ids=["what it was asked counts", "what limits allow is spent", "the week is full"],
)
def test_a_real_daemon_answers_a_stream_alike(sheet: int, strategy: Strategy, policy: str) -> None:
    """The same facts in the same order, in own words too, all of them within a moment."""
    world = world_of([in_country(read(each), "us") for each in shipped_models()])
    few = Sheet(ground().sheets[sheet].facts, ground().sheets[sheet].questions[:8])
    [(person, model, own, _, words)] = drawn(few, 1, 24, world)
    pairs = zip(world.attributes[: world.persons], person.codes, strict=False)
    values = {each.name: each.values[code] for each, code in pairs if code}
    agent, expected = Reticent(strategy, model, own=own), list[list[list[str]]]()
    for part in parts_of(person, 2):
        steps = requests_of(agent.chosen, model, part._replace(pause=timedelta(0)))
        expected.append([[model.attributes[e].name for e in each.order] for _, each, _ in steps])
    with living(policy + RULE.format(0) + RULE.format(1)) as live:
        live.call("change_profile", ProfileChange(set=values, unset=[*PROFILE.keys() - values]))
        draft = live.call("propose", FactTexts(texts=[e.words or "" for e in own.facts]))
        keep = [FactEdit(id=each.fact.id) for each in draft.proposals]
        live.call("change_profile", ProfileChange(draft=draft.draft, keep=keep))
        for at, request in enumerate(person.requests):
            answer = live.call("decide", Ask(query=request.text, recipient=f"s{at % 2}.example"))
            assert [e.name for e in answer.summary.because] == expected[at % 2][at // 2]
    assert all(map(any, expected))
    assert {model.attributes[each].name for each in words} & {*chain(*chain(*expected))}
