"""The demo's story, told on the small model, and its facts on the shipped one."""

import csv
import gzip
from collections import UserDict
from collections.abc import Mapping

import pytest

from agent.cli import demo as story
from agent.cli.demo import (
    RECIPIENTS,
    Entry,
    converse,
    known_to,
    recipients_text,
    request_text,
    told,
)
from agent.decision.decide import Decision, decide
from agent.decision.request import Knowledge, Request, people_left
from agent.decision.terms import Terms
from agent.model.file import read, shipped_model
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
def shipped() -> Model:
    """The model that the demo is told on."""
    return read(shipped_model("so2017"))


def test_each_request_is_decided_from_what_its_recipient_holds(model: Model) -> None:
    """That of another recipient plays no part."""
    terms = Terms(trade_off=1, available=frozenset(VILLAGER))
    entries = converse(ASKED, VILLAGER, model, Terms(trade_off=1))
    held: dict[str, dict[str, int]] = {"a.example": {}, "b.example": {}}
    for (recipient, query), entry in zip(ASKED, entries, strict=True):
        known = Knowledge(tuple(sorted(held[recipient].items())))
        assert entry.decision == decide(Request(query, recipient), terms, known, model)
        for name, value in entry.values.items():
            held[recipient][name] = model.attributes[model.index(name)].code(value)
    assert known_to("a.example", entries).codes == (("region", 2),)
    assert known_to("b.example", entries).codes == (("region", 2),)
    assert known_to("c.example", entries) == Knowledge()


def test_without_memory_each_request_is_the_first(model: Model) -> None:
    """But what the recipient knows adds up all the same."""
    entries = converse(ASKED, VILLAGER, model, Terms(), memory=False)
    for (recipient, query), entry in zip(ASKED, entries, strict=True):
        terms = Terms(available=frozenset(VILLAGER))
        first = decide(Request(query, recipient), terms, Knowledge(), model)
        assert entry.decision == first
    fitting = people_left(known_to("a.example", entries), model)
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

    def spy(request: Request, terms: Terms, knowledge: Knowledge, model: Model) -> Decision:
        decision = decide(request, terms, knowledge, model)
        events.append("decided")
        return decision

    monkeypatch.setattr("agent.cli.demo.decide", spy)
    entries = converse(ASKED, Watched(VILLAGER), model, Terms())
    expected: list[str] = []
    for entry in entries:
        expected += ["decided", *entry.decision.disclosed]
    assert events == expected


def test_what_was_told_is_remembered_of_the_person_alone(model: Model) -> None:
    """An attribute of the request says nothing about her (2.2); the latest value counts."""
    known = told(Knowledge(), {"region": "hills", "at_work": "yes"}, model)
    assert known == Knowledge((("region", 2),))
    assert people_left(known, model) == 20
    assert people_left(Knowledge(), model) == model.population.rows
    assert told(known, {"region": "town", "hobby": "no"}, model).codes == (
        ("hobby", 1),
        ("region", 3),
    )


def test_what_is_not_set_never_leaves(model: Model) -> None:
    """Nor does it count as withheld; with all of it set the same requests carry it."""
    entries = converse(ASKED, VILLAGER, model, Terms())
    assert {name for each in entries for name in each.values} <= VILLAGER.keys()
    whole = converse(ASKED, {**VILLAGER, "hobby": "yes"}, model, Terms())
    assert any("hobby" in each.values for each in whole)
    page = request_text(1, entries[0], model, explain=True)
    assert '1. a.example is asked "music"' in page
    assert "withheld" in page
    assert "hobby" not in page
    assert "b.example  Region: hills" in recipients_text(entries, model)


def test_the_story_is_told_in_words_of_the_shipped_model(shipped: Model) -> None:
    """Eight requests to two recipients, one of them about what no model should know."""
    for name, value in story.PROFILE.items():
        assert shipped.attributes[shipped.index(name)].code(value) > 0
    assert len(story.REQUESTS) == 8
    assert {recipient for recipient, _ in story.REQUESTS} == set(RECIPIENTS)
    unknown = [query for _, query in story.REQUESTS if shipped.match(query) is None]
    assert unknown == ["knee pain"]


def fitting(people: list[dict[str, str]], values: Mapping[str, str]) -> int:
    """Count the rows of the survey that have these values, an empty cell being unspecified."""
    wanted = {name: "" if value == "unspecified" else value for name, value in values.items()}
    return sum(all(row[name] == value for name, value in wanted.items()) for row in people)


def test_the_people_left_are_those_of_the_survey(shipped: Model) -> None:
    """Counted anew in the table that the model was built from."""
    with gzip.open(TABLE, "rt", encoding="utf-8", newline="") as file:
        people = [*csv.DictReader(file)]
    entries = converse(story.REQUESTS, story.PROFILE, shipped, Terms())
    known: dict[str, dict[str, str]] = {recipient: {} for recipient in RECIPIENTS}
    missing = len(people) - shipped.population.rows  # users without events are not in a model
    for entry in entries:
        known[entry.recipient] |= entry.values
        counted = fitting(people, known[entry.recipient])
        assert counted - missing <= entry.people_left <= counted


def test_the_demo_shows_every_request(run: Run) -> None:
    """The verdicts, and on demand the figures, in 80 columns of ASCII."""
    plain = run("demo").out
    assert "\n  Sent 6 facts; 1,150 people still look like her.\n" in plain
    assert not any(word in plain for word in ("bits", "proven", "int_", "=", "0.000"))
    end = " ".join(plain.split()).rpartition("Had she sent ")[2]
    assert end == (
        "all 35 facts, nobody else would have looked like her: each site could have recognised her."
    )
    ran = run("demo", "--explain")
    assert (ran.code, ran.err) == (0, "")
    for number, (recipient, query) in enumerate(story.REQUESTS, 1):
        assert f'{number}. {recipient} is asked "{query}"' in ran.out
    for word in ("new", "again", "withheld", "helps", "proven"):
        assert f"\n  {word} " in ran.out
    for way in ("reticent, as above", "deciding without memory", "one standing set", "sharing all"):
        assert f"\n  {way}" in ran.out
    assert ran.out.isascii()
    assert max(map(len, ran.out.splitlines())) <= 80
    assert "0.000" not in ran.out.rpartition("sharing all")[2]


def test_the_same_is_there_for_programs(run: Run, shipped: Model) -> None:
    """What left, and how many people it leaves, in the order of the story."""
    requests = run("demo", "--json").record["requests"]
    assert [(each["recipient"], each["query"]) for each in requests] == [*story.REQUESTS]
    lived = converse(story.REQUESTS, story.PROFILE, shipped, Terms())
    assert [each["disclosed"] for each in requests] == [dict(each.values) for each in lived]
    assert [each["people_left"] for each in requests] == [each.people_left for each in lived]


def test_memory_keeps_more_people_alike(shipped: Model) -> None:
    """What the comparison at the end of the demo is there to show."""

    def least(entries: tuple[Entry, ...]) -> int:
        return min(people_left(known_to(each, entries), shipped) for each in RECIPIENTS)

    remembered = converse(story.REQUESTS, story.PROFILE, shipped, Terms())
    forgotten = converse(story.REQUESTS, story.PROFILE, shipped, Terms(), memory=False)
    assert least(remembered) > least(forgotten)
