"""A model of topics: from judgements to weights, and from files to a model that reads."""

import gzip
import json
from collections.abc import Mapping, Sequence
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from agent.build.build import _costs, build_model
from agent.build.kinds import read_kinds
from agent.build.options import BuildOptions, TopicsNote, read_description
from agent.build.topics import Topic, judged_of, read_topics
from agent.errors import ReticentError, UsageError
from agent.model.attributes import Attribute
from agent.model.file import decode, encode, read, shipped_model
from agent.model.relevance import vectors_of
from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.coverage import GRADES, Coverage, resolved
from tests.build.worlds import QUIET, write_everyday
from tests.house.tree import ROOT
from tests.model.examples import same

pytestmark = QUIET
DATA = ROOT / "examples" / "data" / "everyday"
ATTRIBUTES = (
    Attribute("age", "age", "person", ("unspecified", "young")),
    *(
        Attribute(name, name, "person", ("unspecified", "a", "b"), shared=kind)
        for name, kind in (("pets", "pets"), ("pets_2", "pets"), ("diet", "diet"))
    ),
)
KINDS = ("age", "pets", "diet")
GRADES_OF = st.dictionaries(st.sampled_from(KINDS), st.integers(1, 3))
JUDGEMENTS = st.lists(st.tuples(st.floats(0, 3), GRADES_OF), min_size=1, max_size=3)
RELIABILITY = np.array([0, 0.1, 0.66, 0.98])


def write_lines(path: Path, lines: Sequence[Mapping[str, object]]) -> Path:
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, lines)).encode()))
    return path


def topics_note(file: Path, merge: dict[str, str]) -> TopicsNote:
    other = file.parent
    return TopicsNote(file, other, other, other, other, merge)


def line(name: str, **changes: object) -> dict[str, object]:
    plain = {"id": name, "title": f"all of {name}", "bits": 2.0, "relevance": {"pets": 3}}
    return plain | {"phrasings": [f"{name} {each}" for each in range(8)]} | changes


@given(every=st.lists(JUDGEMENTS, min_size=1, max_size=4))
def test_judgements_weigh_by_grade_and_by_how_surely_it_holds(
    every: list[list[tuple[float, dict[str, int]]]],
) -> None:
    """Averaged over all judges, one by one; a kind counts once, and each of its slots as much."""
    topics = [Topic(str(at), "", tuple(each), ()) for at, each in enumerate(every)]
    judged = judged_of(topics, RELIABILITY, ATTRIBUTES)
    for at, judgements in enumerate(every):
        grades = {kind: [each.get(kind, 0) for _, each in judgements] for kind in KINDS}
        weights = {
            kind: np.mean([GRADES[each] * RELIABILITY[each] for each in some])
            for kind, some in grades.items()
        }
        likely = {
            kind: np.mean([each >= 2 for each in some]) if some[1:] else RELIABILITY[some[0]]
            for kind, some in grades.items()
        }
        own = [each.shared or each.name for each in ATTRIBUTES]
        assert judged.weights[at] == pytest.approx([weights[each] for each in own], abs=1e-6)
        assert judged.likely[at] == pytest.approx([likely[each] for each in own], abs=1e-6)
        assert judged.totals[at] == pytest.approx(sum(weights.values()), abs=1e-6)
        bits = np.mean([each for each, _ in judgements]) if any(weights.values()) else 0
        assert topics[at].bits == pytest.approx(bits)


def test_a_grade_counts_by_what_a_second_judge_says(tmp_path: Path) -> None:
    """Of those judged twice; twins are one topic, with all their texts and judgements."""
    lines = [
        line("dogs", relevance={"pets": 3, "age": 1}, second={"pets": 2}, second_bits=1.0),
        line("cats", relevance={"pets": 3, "diet": 2}, second={"diet": 3}, second_bits=0.0),
        line("cars", relevance={"age": 2}),
    ]
    note = topics_note(write_lines(tmp_path / "t", lines), {"cats": "dogs"})
    (dogs, cars), reliability = read_topics(note)
    assert reliability.tolist() == pytest.approx([0, 0, 1, 0.5])
    assert (dogs.id, dogs.title, dogs.bits) == ("dogs", "all of dogs", 1.25)
    assert len(dogs.judgements) == 4
    assert len(dogs.phrasings) == 16
    assert (cars.id, cars.bits) == ("cars", 2.0)
    for twin in ({"cats": "dog"}, {"cat": "dogs"}, {"cats": "cars", "cars": "dogs"}):
        with pytest.raises(UsageError, match="unknown topic"):
            read_topics(topics_note(note.file, twin))
    (tmp_path / "t").write_bytes(gzip.compress(b'{"id": "x"}'))
    with pytest.raises(UsageError, match="title is missing"):
        read_topics(note)


def shipped() -> tuple[list[Topic], NDArray[np.float64], list[str]]:
    """The topics of the shipped model, how surely each grade matters, and the kinds of facts."""
    described = read_description(DATA / "model.toml")
    assert described.topics is not None
    assert described.kinds is not None
    return *read_topics(described.topics), [*read_kinds(described.kinds)]


def test_the_shipped_topics_fit_the_kinds() -> None:
    """Two hundred; and of two decisive kinds the second keeps 30 % of its own first gain."""
    topics, reliability, kinds = shipped()
    assert len(topics) == 200
    assert reliability == pytest.approx([0, 0.10, 0.66, 0.98], abs=0.01)
    attributes = [Attribute(each, each, "person", ("unspecified", "a")) for each in kinds]
    judged = judged_of(topics, reliability, attributes)
    parts = resolved(judged.weights.astype(float), judged.totals.astype(float))
    decisive = 0
    for at, topic in enumerate(topics):
        assert (judged.totals[at] > 0) == bool(topic.bits) or topic.bits == 0
        covers = Coverage(np.ones(1), parts[at : at + 1])
        grades = [each for _, each in topic.judgements]
        surest = [at for at, kind in enumerate(kinds) if all(g.get(kind) == 3 for g in grades)]
        for one, other in permutations(surest, 2):
            more = covers.value(1 << one | 1 << other) - covers.value(1 << one)
            assert more >= 0.3 * covers.value(1 << other)
        decisive += len(surest) > 1
    assert decisive > 50


def test_the_shipped_model_holds_its_tables() -> None:
    """Its people and kinds are those of the tables, its topics those that were judged."""
    model = read(shipped_model("everyday"), whole=True)
    topics, reliability, kinds = shipped()
    wanted = [(each.id, each.bits) for each in topics]
    assert [(each.text, each.bits) for each in model.queries] == wanted
    assert [each.phrasings for each in model.queries] == [each.phrasings for each in topics]
    judged, stored = judged_of(topics, reliability, model.attributes), model.tables.judged
    assert stored is not None
    for each in ("weights", "totals", "likely"):
        assert np.array_equal(getattr(stored, each), getattr(judged, each))
    assert {each.shared or each.name for each in model.attributes} == {*kinds}
    assert model.population.rows == 145_257
    assert model.people == pytest.approx(241e6, rel=0.01)
    assert [each.name for each in model.donors] == ["health", "homes"]
    assert model.validation["reading_texts"] == sum(len(each.phrasings) for each in topics)
    people, some = AnonymitySet(model.population, model.cards), range(0, len(model.attributes), 20)
    assert model.tables.singles.costs[:, ::20] == pytest.approx(_costs(people, 0, some), rel=1e-9)


PROGRAMMERS: tuple[dict[str, str], ...] = (
    {"study_now": "four-year college", "programming": "Python"},
    {"occupation": "health care", "programming": "Python"},
    {"occupation": "health care", "sex": "female", "programming": "SQL", "software": "Excel"},
)


@pytest.mark.parametrize("facts", PROGRAMMERS)
def test_a_student_and_a_nurse_who_program_are_not_alone(facts: dict[str, str]) -> None:
    """More than 10,000 people of the US are alike: they are counted among all, not in a survey."""
    model = read(shipped_model("everyday"))
    codes = ((model.index(name), value) for name, value in facts.items())
    disclosed = [(place, model.attributes[place].code(value)) for place, value in codes]
    people = AnonymitySet(model.population, model.cards, disclosed)
    assert people.people_left(0) > 10_000


def write_own_words(folder: Path) -> tuple[list[str], list[str]]:
    """Write statements on dogs and loans, and one sheet of both; their texts and kinds."""
    statements = [
        {"text": f"{words} {each}", "kind": kind, "topics": topics}
        for words, kind, topics in (
            ("my dog", "pets", {"dogs": 2}),
            ("I owe", "debt", {"loans": 2}),
            ("we speak Welsh", "languages", {}),
        )
        for each in ("is old", "a lot", "and more", "every day")
    ]
    write_lines(folder / "statements.jsonl.gz", statements)
    facts = [str(each["text"]) for each in statements]
    asked = [("my dog", "barks limps eats bites", range(4)), ("a loan", "", range(4, 8))]
    asked += [("two", "", range(0))]
    sheet = {
        "facts": facts,
        "questions": [
            {"text": f"{text} {each}".strip(), "helps": {str(at): 2 - at % 2 for at in helps}}
            for text, words, helps in asked
            for each in words.split(" ")
        ],
    }
    for name in ("judged", "profiles"):
        write_lines(folder / f"{name}.jsonl.gz", [sheet, sheet])
    return facts, [str(each["kind"]) for each in statements]


def test_a_model_of_topics_is_built_from_users_alone(tmp_path: Path) -> None:
    """It holds their kinds, reads texts, and can be written; events beside it are refused."""
    folder = tmp_path
    write_everyday(folder)
    lines = [
        line("dogs", phrasings=[f"my dog {each}" for each in ("barks", "limps", "eats", "bites")]),
        line("loans", relevance={"debt": 3}, phrasings=["a loan", "pay a debt", "lend me money"]),
        line("sums", relevance={}, phrasings=["two and two", "seven times six", "half of nine"]),
    ]
    write_lines(folder / "topics.jsonl.gz", lines)
    idle = [
        {"text": f"what is {word} in {tongue}", "kind": tongue}
        for tongue in ("French", "Greek", "Danish", "Latin")
        for word in ("bread", "snow", "red")
    ]
    write_lines(folder / "idle.jsonl.gz", idle)
    facts, kinds = write_own_words(folder)
    described = (folder / "model.toml").read_text()
    begin, end = described.index("[topics.merge]"), described.index("[attributes.sex]")
    (folder / "model.toml").write_text(described[:begin] + described[end:])
    note, users = read_description(folder / "model.toml"), folder / "users.csv.gz"
    given = BuildOptions(users=users, description=note)
    model = build_model(given, lambda _what, _share: None)
    assert same(decode(encode(model)), model)
    bits = {each.text: each.bits for each in model.queries}
    assert [*bits.items()] == [("dogs", 2.0), ("loans", 2.0), ("sums", 0.0)]
    assert model.estimator == "judged"
    assert model.tables.judged is not None
    assert model.tables.judged.weights.shape == (3, model.persons)
    assert model.population.shares is not None
    assert model.population.persons == model.persons == 199
    assert (model.tables.singles.costs[0] > 0).all()
    reading = model.read("why does my dog limp")
    assert reading.candidates[0].query == 0
    assert model.read("what is snow in French").chance < reading.chance
    relevance, vectors = model.tables.relevance, vectors_of(facts, question=False)
    assert relevance is not None
    surest = relevance.kinds(vectors).argmax(axis=1)
    assert [relevance.kind_names[each] for each in surest] == kinds
    topics, vector = relevance.topics(vectors), vectors_of(["my dog limps"], question=True)
    assert (topics[:4, 0] > topics[:4, 1]).all()
    helping = relevance.helps(reading, vector, vectors, topics)[:, 0]
    assert helping[:4].min() > helping[4:].max()
    assert model.validation["relevance_helps"] == 1
    beside = BuildOptions(users=users, events=folder / "events.csv", description=note)
    with pytest.raises(UsageError, match="no events"):
        build_model(beside, print)
    write_lines(folder / "topics.jsonl.gz", [line("dogs", relevance={"dogs": 2})])
    with pytest.raises(ReticentError, match="unknown kind 'dogs'"):
        build_model(given, lambda _what, _share: None)
