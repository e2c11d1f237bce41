"""What the user says that a text means: for it, for texts that say nearly the same, no others."""

import asyncio
from dataclasses import replace
from functools import cache
from random import Random

import numpy as np
import pytest

from agent.daemon.model_registry import TextReader
from agent.errors import LockedError, UsageError
from agent.model.file import read, shipped_models
from agent.model.model import Model
from agent.model.reading import encode
from agent.model.unwrapping import unwrapped
from agent.model.world import world_of
from agent.vault.corrections import NEAR, Corrections
from agent.vault.store import Items
from agent.wire.decide import Ask
from agent.wire.policy import Word
from agent.wire.state import ReadingEdit
from agent.words.notices import asks, settled
from agent.words.titles import read_as
from tests.daemon.test_reading import PYTHON, SHOP, TEXT, loaded, reads
from tests.vault.doubles import MemoryStore
from tests.worlds.homes import OPEN, Home

__all__ = ["reads"]

OTHER = "restaurants today"  # the second query of every made model
TAUGHT = 2  # a topic of medicine, that none of the texts below is read as
NO = Word(disclose="never")
YES = Word(disclose="auto")
ALIKE = (  # texts that say nearly the same
    ("how to sort a python list", "sort a list in python"),
    ("cheap flights to rome in may", "cheap flight to rome may"),
    ("best running shoes for flat feet", "which running shoes are best for flat feet"),
    ("quick dinner ideas", "ideas for a quick dinner"),
    ("vegan lasagna recipe", "recipe for vegan lasagne"),
    ("how to get rid of a headache", "getting rid of headaches"),
    ("laptop under 800 euros", "good laptops for less than 800 euro"),
    ("knee pain when running", "my knee hurts when I run"),
    ("schnelles abendessen ideen", "quick dinner ideas"),
    ("jobs for nurses in leipzig", "nursing jobs leipzig"),
)
UNLIKE = (  # those that only look so
    ("python list sort", "python dict sort"),
    ("cheap flights to rome", "cheap hotels in rome"),
    ("vegan lasagna recipe", "vegan lasagna restaurant"),
    *(("dog food", "cat food"), ("car insurance", "health insurance")),
    *(("jobs for nurses", "jobs for teachers"), ("gift for dad", "gift for mum")),
    ("knee pain when running", "back pain when running"),
    ("best running shoes", "best hiking shoes"),
)


@cache
def shipped() -> Model:
    return world_of([*map(read, shipped_models())])


def taught(model: Model, *lessons: tuple[str, int]) -> TextReader:
    """Return a reader that was told that texts mean queries."""
    reader = loaded([model])
    reader.corrections = Corrections(Items(MemoryStore()), [model])
    for text, query in lessons:
        name, place = model.queries[query].text, reader.place(text)
        assert reader.corrections.add(text, model.id, name, means=True, place=place)
    return reader


def test_a_text_means_what_the_user_says_however_it_is_written() -> None:
    """Also the phrasing of another topic, be it of another member."""
    world = shipped()
    for other in (0, world.members[1].first):
        [*_, phrasing] = world.queries[other].phrasings
        for text in ("zqxj", phrasing, f"Hello, {phrasing}? Thanks!"):
            reader = taught(world, (text, 1))
            for written in (text, text.upper(), unwrapped(text), f"Hi, {unwrapped(text)}. Thanks"):
                reading = reader.read(world, written)
                assert reading.certain == 1
                assert reading.candidates[0].taught
        assert reader.read(world, world.queries[other].text).certain == other
        assert reader.read(world, phrasing).certain == 1
        assert reader.read(world.members[1].model, phrasing).query is None


@pytest.mark.parametrize(("text", "like"), [*ALIKE, *((b, a) for a, b in ALIKE)])
def test_what_says_nearly_the_same_is_drawn_to_it(text: str, like: str) -> None:
    """By as much as it is like it; and no further where the user says "not that" of the like."""
    world = shipped()
    reader = taught(world, (text, TAUGHT))
    reading = reader.read(world, like)
    cosine = float(encode([text])[0] @ encode([like])[0])
    assert reading.query == TAUGHT
    assert cosine - 1e-3 >= NEAR
    assert reading.candidates[0].probability >= cosine - 1e-3
    shares = [each.probability for each in reader.read(world.members[1].model, like).candidates]
    assert max(shares, default=0) <= 1 - cosine + 1e-3
    assert reader.corrections is not None
    reader.corrections.add(like, world.id, world.queries[TAUGHT].text, place=reader.place(like))
    assert TAUGHT not in {each.query for each in reader.read(world, like).candidates}
    assert reader.read(world, text).certain == TAUGHT


@pytest.mark.parametrize(("text", "other"), UNLIKE)
def test_what_only_looks_so_is_not(text: str, other: str) -> None:
    plain = loaded([shipped()])
    for first, second in ((text, other), (other, text)):
        reader = taught(shipped(), (first, 3))
        for model in (shipped(), *shipped().every):
            assert reader.read(model, second) == plain.read(model, second)


def test_a_lesson_changes_no_other_reading() -> None:
    """Of 40 lessons and all shipped phrasings, as if those were none: at most 1 in 10,000 pairs.

    No name and no phrasing changes at all but the text itself.
    """
    rng, world = Random(9), shipped()  # noqa: S311  (a sample)
    texts = [
        (at, text)
        for at, query in enumerate(world.queries)
        for text in rng.sample(query.phrasings, min(16, len(query.phrasings)))
    ]
    vectors = encode([text for _, text in texts])
    lessons = rng.sample(range(len(texts)), 40)
    changed = 0
    for each in lessons:
        query, text = texts[each]
        reader = taught(world, (text, (query + 1) % len(world.queries)))
        cosines = vectors @ vectors[each]
        for at in np.flatnonzero(cosines >= NEAR - 0.01):
            own, other = texts[at]
            near = at != each and own != query
            changed += bool(near and cosines[at] >= NEAR)
            if at != each and world.texts.find(other) == own:
                assert reader.read(world, other).certain == own
    assert changed <= len(lessons) * len(texts) / 10_000


def test_a_topic_that_is_gone_counts_for_nothing() -> None:
    """As if nobody had said anything of it; it counts in whatever model has it."""
    one, other = shipped().every
    reader, plain = taught(one, (ALIKE[0][0], 1)), loaded([one])
    renamed = replace(one, queries=tuple(replace(e, text=f"x {e.text}") for e in one.queries))
    assert reader.corrections is not None
    for models in ([other], [world_of([renamed, other])]):
        reader.corrections.use(models)
        for text in ALIKE[0]:
            for model in models:
                assert reader.read(model, text) == plain.read(model, text)
    assert [reader.read(replace(one, id="new"), text).query for text in ALIKE[0]] == [1, 1]


def test_what_is_said_is_kept_shown_and_taken_back(reads: Home) -> None:
    """By entry or by text; by a name, a title or a beginning; not while the vault is locked."""
    calls = reads.calls
    answer = calls.decide(Ask(query=TEXT, recipient=SHOP))
    found = calls.correct(ReadingEdit(entry=answer.id, topic="RESTAUR"))
    assert (found.done, [each.query for each in found.read_as]) == (True, [OTHER])
    assert read_as(found.now) == f"'{OTHER}', as you said"
    assert not calls.correct(ReadingEdit(query=TEXT, topic=OTHER)).done
    again = calls.decide(Ask(query=TEXT.title(), recipient=SHOP))
    assert (again.summary.read_as.query, again.summary.read_as.taught) == (OTHER, True)
    entries = [each.read_as for each in calls.ledger()]
    assert [(each.query, each.taught) for each in entries] == [(PYTHON, False), (OTHER, True)]
    assert calls.topics(Ask(query=TEXT, recipient=SHOP))[0].query == OTHER
    assert "Said what a text means: undone." in calls.undo().what
    assert calls.decide(Ask(query=TEXT, recipient=SHOP)).summary.read_as.query == PYTHON
    calls.correct(ReadingEdit(query=TEXT, topic=OTHER))
    calls.lock()
    for call, body in (("correct", ReadingEdit(query=TEXT, topic=OTHER)), ("topics", Ask)):
        with pytest.raises(LockedError):
            getattr(calls, call)(body)
    assert reads.agent.reader.corrections is None
    asyncio.run(calls.unlock(OPEN))
    assert calls.decide(Ask(query=TEXT, recipient=SHOP)).summary.read_as.query == OTHER
    back = calls.correct(ReadingEdit(query=TEXT, undo=True))
    assert ([each.query for each in back.read_as], back.now.query) == ([OTHER], PYTHON)
    for body, error in (
        (ReadingEdit(query=TEXT, topic="resturants today"), "unknown topic"),
        (ReadingEdit(query=TEXT, topic=" "), "several topics begin with"),
        (ReadingEdit(query=" ", topic=OTHER), "empty"),
        (ReadingEdit(topic=OTHER), "not one text"),
    ):
        with pytest.raises(UsageError, match=error) as raised:
            calls.correct(body)
        if error == "unknown topic":
            assert raised.value.hint == f"the nearest is '{OTHER}'"


def test_a_program_proposes_and_the_user_decides(reads: Home) -> None:
    """Nothing is read otherwise before a yes; a yes can be undone, and then it waits again."""
    calls = reads.calls
    proposal = ReadingEdit(query=TEXT, recipient=SHOP, topic="restaurants")

    def now() -> str:
        return str(calls.decide(Ask(query=TEXT, recipient=SHOP)).summary.read_as.query)

    for body in (ReadingEdit(query=TEXT), ReadingEdit(entry=1, topic=OTHER)):
        with pytest.raises(UsageError, match="of a text and a topic"):
            calls.means(body)
    with pytest.raises(UsageError, match="unknown topic"):
        calls.means(ReadingEdit(query=TEXT, topic="no such topic"))
    for _ in range(2):
        assert calls.means(proposal).done
    waits = [each for each in calls.reviews() if each.kind == "means"]
    assert [(each.query, each.topic.query, each.names) for each in waits] == [(TEXT, OTHER, [])]
    assert asks(waits[0]) == f"Read {TEXT!r} as '{OTHER}' from now on?"
    assert now() == PYTHON
    calls.verdict(NO, id=waits[0].id)
    assert (now(), [each for each in calls.reviews() if each.topic]) == (PYTHON, [])
    calls.means(proposal)
    [review] = [each for each in calls.reviews() if each.topic]
    with pytest.raises(UsageError, match="approved or denied"):
        calls.verdict(Word(disclose="always"), id=review.id)
    calls.verdict(YES, id=review.id)
    assert now() == OTHER
    assert settled(review, YES) == f"The text is read as '{OTHER}' from now on."
    calls.undo()
    assert (now(), [each.topic.query for each in calls.reviews() if each.topic]) == (
        PYTHON,
        [OTHER],
    )
