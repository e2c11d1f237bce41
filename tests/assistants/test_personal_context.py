"""What an assistant is told: facts as people read them, and nothing that steers it."""

from dataclasses import replace
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.assistants.server import (
    PersonalContext,
    SharedFact,
    personal_context,
    undecided,
)
from agent.daemon.handle import handle
from agent.decision.values import UNDECIDED, Code, CountedAmong, Reading
from agent.errors import DaemonError, LockedError, ReticentError, UsageError
from agent.model.file import read, shipped_model
from agent.wire.decide import Answer, Summary
from agent.words.titles import LONGEST, WHY_NOTHING, plain, value_title
from tests.words.test_titles import HOSTILE, TEXT
from tests.worlds.people import MODEL, MONDAY, OPEN, SHOP, living

NAMES = st.sampled_from(["age", "region", "sex"])


def summary(**fields: Any) -> Summary:  # noqa: ANN401  (of any field)
    """Return the figures of an answer."""
    usual: dict[str, Any] = {
        "headline": "h",
        "pool": "p",
        "model": "m",
        "utility_bits": 0.1,
        "people_left": 303.0,
        "waiting": 0,
    }
    return Summary(**{**usual, **fields})


def texts(found: PersonalContext) -> list[str]:
    """Return every text that is told."""
    parts = [found.line, found.understood_as or "", found.people_left or "", *found.waiting]
    return [*parts, *(text for each in found.facts for text in (each.title, each.value))]


@pytest.mark.parametrize("name", ["atus", "so2017"])
def test_titles_and_values_of_shipped_models_stay(name: str) -> None:
    """What is cut or left out would read as another fact."""
    model = read(shipped_model(name))
    found = [model.stands_for, *(each.title for each in model.queries)]
    for each in model.attributes:
        found += [each.title, *(value_title(value, each.title) for value in each.values)]
    assert [plain(each) for each in found] == found


@given(
    values=st.dictionaries(NAMES, TEXT, max_size=3),
    titles=st.dictionaries(NAMES, TEXT, max_size=3),
    pending=st.lists(NAMES, max_size=3, unique=True),
    topic=TEXT,
    people=TEXT,
    probability=st.floats(0, 1),
)
def test_nothing_that_a_hostile_model_says_gets_through(
    *,
    values: dict[str, str],
    titles: dict[str, str],
    pending: list[str],
    topic: str,
    people: str,
    probability: float,
) -> None:
    """In whatever place: every text is printable, short and without markup of its own."""
    answer = Answer(
        code="answered",
        attributes=values,
        summary=summary(
            headline=HOSTILE,
            titles=titles,
            pending=pending,
            read_as=Reading(query=topic, title=topic, probability=probability, model=topic),
            among=CountedAmong(people=people, count=60, estimated=True),
        ),
    )
    found = personal_context(answer)
    assert [len(found.facts), len(found.waiting)] == [len(values), len(pending)]
    assert 0 <= found.certainty <= probability
    for text in texts(found):
        assert text.isprintable()
        assert not set(text.replace("`reticent requests list --waiting`", "")) & set("<>[]{}`|\\")
    assert len(found.line) <= 4 * LONGEST * (2 + len(values) + len(pending))


def test_a_hostile_model_in_use_steers_nobody() -> None:
    """Through a decision of the daemon: what is told is short, plain and one line."""
    evil = [
        replace(
            each,
            title=f"{each.name}{HOSTILE}",
            values=_evil(each.values),
            value_concepts=(),
            words={},
        )
        for each in MODEL.attributes
    ]
    hostile = replace(MODEL, attributes=tuple(evil), stands_for=HOSTILE)
    agent, _ = living(OPEN, model=hostile)
    answer = handle(SHOP, MONDAY, agent, "assistant")
    found = personal_context(answer)
    assert len(found.facts) == len(answer.attributes) >= 1
    assert any(HOSTILE in each for each in answer.attributes.values())
    for text in texts(found):
        assert text.isprintable()
        assert not {*"<>[]{}`|\\\n"} & {*text}
    assert max(len(each.value) for each in found.facts) <= LONGEST


def _evil(values: tuple[str, ...]) -> tuple[str, ...]:
    return (values[0], *(f"{each} {HOSTILE}" for each in values[1:]))


def test_facts_are_told_as_people_read_them() -> None:
    """By titles and in words, with how the question was read and how many people are left."""
    among = CountedAmong(people="people of the survey", count=18_991, estimated=False)
    answer = Answer(
        code="answered",
        attributes={"years": "lt_3", "remote": "few_days_month"},
        unspecified=["gender"],
        summary=summary(
            titles={
                "years": "years since learning to program",
                "gender": "gender",
                "remote": "share of work done from home",
                "salary": "salary",
            },
            waiting=1,
            pending=["salary"],
            read_as=Reading(query="q", title="job_sites", probability=0.999, model="m"),
            among=among,
        ),
    )
    found = personal_context(answer)
    assert found.model_dump() == {
        "line": (
            "About the user: years since learning to program: less than 3 years; "
            "share of work done from home: a few days a month. "
            "Question read as 'job sites' (99 % sure). "
            "People who fit all that you were told: 303 of the 18,991 people of the survey. "
            "Waiting for the user's approval: salary (`reticent requests list --waiting` lists it)."
        ),
        "facts": (
            {"title": "years since learning to program", "value": "less than 3 years"},
            {"title": "share of work done from home", "value": "a few days a month"},
        ),
        "understood_as": "job_sites",
        "certainty": 0.99,
        "people_left": "303 of the 18,991 people of the survey",
        "waiting": ("salary",),
    }
    assert "gender" not in found.model_dump_json()
    assert "unspecified" not in found.model_dump_json()


@pytest.mark.parametrize("code", get_args(Code))
def test_where_nothing_is_sent_it_says_why_and_carries_nothing(code: Code) -> None:
    """In the words that the user is told, whatever was decided, or nothing."""
    decided = None if code in UNDECIDED else summary()
    found = personal_context(Answer(code=code, summary=decided))
    assert WHY_NOTHING[code] in found.line
    assert (found.facts, found.waiting, found.people_left) == ((), (), None)
    if code in UNDECIDED:
        assert found == PersonalContext(line=found.line)


def test_what_waits_is_not_said_to_be_of_no_help() -> None:
    """An assistant that reads both would tell the user one of them."""
    found = personal_context(Answer(code="answered", summary=summary(pending=["salary"])))
    assert WHY_NOTHING["answered"] not in found.line
    assert "what would help waits for their approval" in found.line


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (LockedError(), "the vault is locked; unlock it with `reticent unlock`"),
        (DaemonError("the daemon is not running", "start it"), "not running; start it"),
        (UsageError("'x' is not a host", "see /home/somebody", "/home/somebody"), "refused"),
    ],
)
def test_without_an_answer_it_says_so(error: ReticentError, words: str) -> None:
    """And names no file of the user's."""
    found = undecided(error)
    assert words in found.line
    assert found == PersonalContext(line=found.line)
    assert "/home" not in found.line


def test_what_shows_a_fact_to_a_developer_masks_its_value() -> None:
    """In a report of a defect it would be the user's own, as is the question."""
    fact = SharedFact(title="age", value="25 to 34")
    found = [repr(fact), repr(PersonalContext(line="25 to 34", facts=(fact,)))]
    assert "25" not in "".join(found)
