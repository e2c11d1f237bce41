"""The demo's story, told on the small model, and its facts on the shipped ones."""

import csv
import gzip
from collections import UserDict

import pytest

from agent.cli import demo as story
from agent.cli.demo import (
    RECIPIENTS,
    StoryEntry,
    converse,
    fewest,
    held_by,
    known,
    meanings,
    recipients_text,
    request_text,
)
from agent.decision.cache import Cache
from agent.decision.decide import decide
from agent.decision.knowledge import Knowledge, people_left
from agent.decision.terms import Terms
from agent.decision.values import Decision, Request
from agent.model.concepts import Concepts
from agent.model.file import read, shipped_models
from agent.model.model import Model
from tests.cli.conftest import Run
from tests.cli.examples import cli_model
from tests.house.tree import ROOT

TABLE = ROOT / "examples/data/so2017/users.csv.gz"
VILLAGER = {"region": "hills", "shoe_size": "s7"}  # neither hobby nor at_work is set
ASKED = [("a.example", "music"), ("b.example", "weather"), ("a.example", "weather")]


@pytest.fixture(scope="module")
def model() -> Model:
    """The small model; it remembers what it computed, and says the same all the same."""
    return cli_model()


@pytest.fixture(scope="module")
def shipped() -> list[Model]:
    """The models that the demo is told on."""
    return [read(each) for each in shipped_models()]


def test_each_request_is_decided_from_what_its_recipient_holds(model: Model) -> None:
    """That of another recipient plays no part."""
    terms = Terms(trade_off=1, available=frozenset(VILLAGER))
    entries = converse(ASKED, {model.id: VILLAGER}, [model], Terms(trade_off=1))
    held: dict[str, dict[str, int]] = {"a.example": {}, "b.example": {}}
    for (recipient, query), entry in zip(ASKED, entries, strict=True):
        before = Knowledge(tuple(sorted(held[recipient].items())))
        assert entry.decision == decide(Request(query, recipient), terms, before, model)
        for name, value in entry.values.items():
            held[recipient][name] = model.attributes[model.index(name)].code(value)
    concepts = Concepts([model])
    for recipient in ("a.example", "b.example"):
        assert known(held_by(recipient, entries), model, concepts).codes == (("region", 2),)
    assert held_by("c.example", entries) == {}


def test_without_memory_each_request_is_the_first(model: Model) -> None:
    """But what the recipient knows adds up all the same."""
    entries = converse(ASKED, {model.id: VILLAGER}, [model], Terms(), memory=False)
    for (recipient, query), entry in zip(ASKED, entries, strict=True):
        terms = Terms(available=frozenset(VILLAGER))
        first = decide(Request(query, recipient), terms, Knowledge(), model)
        assert entry.decision == first
    fitting = people_left(known(held_by("a.example", entries), model, Concepts([model])), model)
    assert entries[-1].people_left == fitting


def test_a_value_is_read_only_once_the_set_is_fixed(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this order for every request, and no value that does not leave (DESIGN.md 2.6)."""
    events: list[str] = []

    class Watched(UserDict[str, str]):
        def __getitem__(self, name: str) -> str:
            events.append(name)
            return self.data[name]

    def spy(
        request: Request, terms: Terms, knowledge: Knowledge, model: Model, *, cache: Cache
    ) -> Decision:
        decision = decide(request, terms, knowledge, model, cache=cache)
        events.append("decided")
        return decision

    monkeypatch.setattr("agent.cli.demo.decide", spy)
    entries = converse(ASKED, {model.id: Watched(VILLAGER)}, [model], Terms())
    expected: list[str] = []
    for entry in entries:
        expected += ["decided", *entry.decision.disclosed]
    assert events == expected


def test_what_was_told_is_remembered_of_the_person_alone(model: Model) -> None:
    """An attribute of the request says nothing about her (2.2); the latest value counts."""
    concepts = Concepts([model])
    held = meanings({"region": "hills", "at_work": "yes"}, model)
    assert known(held, model, concepts) == Knowledge((("region", 2),))
    assert people_left(known(held, model, concepts), model) == 20
    assert people_left(Knowledge(), model) == model.population.rows
    later = {**held, **meanings({"region": "town", "hobby": "no"}, model)}
    assert known(later, model, concepts).codes == (("hobby", 1), ("region", 3))


def test_what_is_not_set_never_leaves(model: Model) -> None:
    """Nor does it count as withheld; with all of it set the same requests carry it."""
    entries = converse(ASKED, {model.id: VILLAGER}, [model], Terms())
    assert {name for each in entries for name in each.values} <= VILLAGER.keys()
    whole = converse(ASKED, {model.id: {**VILLAGER, "hobby": "yes"}}, [model], Terms())
    assert any("hobby" in each.values for each in whole)
    page = request_text(1, entries[0], explain=True)
    assert '1. a.example is asked "music"' in page
    assert "withheld" in page
    assert "hobby" not in page
    assert "b.example  Region: hills" in recipients_text(entries, [model])


def test_the_story_is_told_in_words_of_the_shipped_models(shipped: list[Model]) -> None:
    """Eight requests to three recipients, one of them about what no model should know."""
    for model in shipped:
        for name, value in story.PROFILE[model.id].items():
            assert model.attributes[model.index(name)].code(value) > 0
    entries = converse(story.REQUESTS, story.PROFILE, shipped, story.TERMS)
    assert {each.model.id for each in entries} == {model.id for model in shipped}
    unread = [each.decision.request.query for each in entries if not each.decision.read_as]
    assert unread == ["why does my knee hurt"]
    assert not any(each.values for each in entries if not each.decision.read_as)


def test_software_is_asked_of_people_counted_in_the_table(shipped: list[Model]) -> None:
    """Counted anew in the table that the model was built from, whose rows are people."""
    with gzip.open(TABLE, "rt", encoding="utf-8", newline="") as file:
        people = [*csv.DictReader(file)]
    entries = converse(story.REQUESTS, story.PROFILE, shipped, story.TERMS)
    [entry] = [each for each in entries if each.model.id == "so2017"]
    assert entry.values
    missing = len(people) - entry.model.population.rows  # users without events are not in a model
    found = sum(all(row[name] == value for name, value in entry.values.items()) for row in people)
    assert found - missing <= entry.people_left <= found


def test_what_one_model_told_the_other_one_knows(shipped: list[Model]) -> None:
    """Her sex is her gender; a fact that the other lacks leaves fewer people in it."""
    concepts = Concepts(shipped)
    atus, so2017 = shipped
    told = meanings({"sex": "female", "age": "35_44"}, atus)
    found = known(told, so2017, concepts)
    assert found.names == {"gender"}
    assert 0 < found.share < 1


def test_the_demo_shows_every_request(run: Run) -> None:
    """The verdicts, and on demand the figures, in 80 columns of ASCII."""
    plain = " ".join(run("demo").out.split())
    assert "people of the US aged 15 and up still look like her." in plain
    assert "of the 18,991 people of the survey still look like her." in plain
    assert not any(word in plain for word in ("bits", "how good", "int_", "=", "0.000"))
    assert plain.endswith("each site could have recognised her.")
    ran = run("demo", "--explain")
    assert (ran.code, ran.err) == (0, "")
    for number, (recipient, query) in enumerate(story.REQUESTS, 1):
        assert f'{number}. {recipient} is asked "{query}"' in ran.out
    for word in ("new", "again", "read as", "withheld", "helps", "how good"):
        assert f"\n  {word} " in ran.out
    for way in ("reticent, as above", "deciding without memory", "one standing set", "sharing all"):
        assert f"\n  {way}" in ran.out
    assert ran.out.isascii()
    assert max(map(len, ran.out.splitlines())) <= 80
    assert "0.000" not in ran.out.rpartition("sharing all")[2]


def test_the_same_is_there_for_programs(run: Run, shipped: list[Model]) -> None:
    """What left, and how many people it leaves, in the order of the story."""
    requests = run("demo", "--json").record["requests"]
    assert [(each["recipient"], each["query"]) for each in requests] == [*story.REQUESTS]
    lived = converse(story.REQUESTS, story.PROFILE, shipped, story.TERMS)
    assert [each["model"] for each in requests] == [each.model.id for each in lived]
    assert [each["disclosed"] for each in requests] == [dict(each.values) for each in lived]
    assert [each["people_left"] for each in requests] == [each.people_left for each in lived]


def test_memory_keeps_more_people_alike(shipped: list[Model]) -> None:
    """What the comparison at the end of the demo is there to show."""

    def least(entries: tuple[StoryEntry, ...]) -> int:
        return min(fewest(entries, each, shipped) for each in RECIPIENTS)

    remembered = converse(story.REQUESTS, story.PROFILE, shipped, story.TERMS)
    forgotten = converse(story.REQUESTS, story.PROFILE, shipped, Terms(), memory=False)
    assert least(remembered) >= least(forgotten)
