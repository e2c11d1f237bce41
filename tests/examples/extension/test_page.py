"""What the popup shows of a search, the verdict first."""

import subprocess
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import to_builtins
from msgspec.structs import replace

from agent.decision.values import Code, Reading
from agent.wire.decide import Answer, Because, Summary
from agent.words.titles import REASONS
from tests.examples.extension.modules import Modules
from tests.programs import needs
from tests.waiting import PATIENCE

BECAUSE = [
    Because(name="region", reason="worth it", gain_bits=0.2149, cost_bits=0.02),
    Because(name="int_python", reason="always", gain_bits=None, cost_bits=None),
    Because(name="gender", reason="worth it", gain_bits=1.0, cost_bits=0.25),
]
SUMMARY = Summary(
    headline="Disclose two facts: 99 people look like you.",
    pool="a.example",
    model="m",
    utility_bits=0.3,
    people_left=1234.4,
    waiting=1,
    because=BECAUSE,
)
WORTH_IT = REASONS["worth it"]
OFF = {"code": "no host", "what": "no relay", "hint": "install it"}
NOTHING = {"search": None, "state": "", "fault": None, "offered": None, "refused": None}


def page(modules: Modules, answer: Answer | None, state: str = "", fault: object = None) -> Any:  # noqa: ANN401  (JSON)
    """Return what stands in the popup of a search."""
    said = None if answer is None else to_builtins(answer)
    search = {"recipient": "a.example", "query": "git", "answer": said, "fault": fault}
    return modules("popup/page.js", "page", {"search": search, "state": state, "fault": fault})


def test_what_was_sent_and_why(modules: Modules) -> None:
    """What helps most comes first, what is ruled last, and what is not said apart."""
    sent = {"int_python": "yes", "age": "very_young", "region": "west_europe"}
    more = Because(name="age", reason="worth it", gain_bits=0.1, cost_bits=0.02)
    summary = replace(SUMMARY, because=[*BECAUSE, more])
    answer = Answer(code="answered", attributes=sent, unspecified=["gender"], summary=summary)
    shown = page(modules, answer)
    assert shown["state"] is None
    assert shown["search"]["headline"] == "Sent 3 facts to a.example:"
    assert shown["sent"] == [
        {"name": "region", "value": "Western Europe", "why": WORTH_IT},
        {"name": "age", "value": "very young", "why": WORTH_IT},
        {"name": "interested in Python", "value": "yes", "why": REASONS["always"]},
    ]
    assert shown["unspecified"] == [{"name": "gender", "value": "not said", "why": WORTH_IT}]
    assert shown["facts"] == [
        "To a.example, about 1,200 people still look like you.",
        "1 more fact waits for your approval.",
    ]
    assert shown["figures"] == [
        "region: helps by 0.215 bits, costs 0.02 bits",
        "gender: helps by 1 bit, costs 0.25 bits",
        "age: helps by 0.1 bits, costs 0.02 bits",
    ]


@pytest.mark.parametrize(
    ("known", "said"),
    [
        (
            Reading(query="vc", title="version control", probability=1, model="so"),
            "version control”.",
        ),
        (
            Reading(query="sport", title="sport", probability=0.879, model="us"),
            "sport” (87 % sure).",
        ),
        (None, "Not recognised."),
    ],
)
def test_what_the_query_was_read_as(modules: Modules, known: Reading | None, said: str) -> None:
    """Or that it was not; of a search that nobody decided, nothing."""
    shown = page(modules, Answer(code="answered", summary=replace(SUMMARY, read_as=known)))
    assert shown["search"]["readAs"] == (said if known is None else f"Read as “{said}")
    assert page(modules, Answer(code="locked"))["search"]["readAs"] == ""
    assert page(modules, None)["search"]["readAs"] == ""


@given(st.lists(st.none() | st.floats(0, 9), max_size=6))
def test_what_helps_most_comes_first(modules: Modules, gains: list[float | None]) -> None:
    """Of what is not said as well, and what has no figure last; of equals, as they were chosen."""
    because = [
        Because(name=f"n{number}", reason="worth it", gain_bits=gain, cost_bits=gain)
        for number, gain in enumerate(gains)
    ]
    names = [each.name for each in because]
    answer = Answer(
        code="answered",
        attributes=dict.fromkeys(names, "yes"),
        unspecified=names,
        summary=replace(SUMMARY, because=because),
    )
    shown = page(modules, answer)
    wanted = sorted(because, key=lambda each: (each.gain_bits is None, -(each.gain_bits or 0)))
    for rows in (shown["sent"], shown["unspecified"]):
        assert [each["name"] for each in rows] == [each.name for each in wanted]


@pytest.mark.parametrize("code", ["no daemon", "no host", "too slow", "too large", "withheld"])
def test_why_nobody_said_what_it_may_carry(modules: Modules, code: str) -> None:
    """Each in words of its own."""
    headline = page(modules, None, fault={**OFF, "code": code})["search"]["headline"]
    assert headline.startswith("Sent nothing: ")
    assert "internal error" not in headline


@pytest.mark.parametrize("code", get_args(Code))
def test_why_it_carried_nothing(modules: Modules, code: Code) -> None:
    """Likewise."""
    headline = page(modules, Answer(code=code))["search"]["headline"]
    assert headline.startswith("Sent nothing: ")
    assert ("internal error" in headline) == (code == "failed")


@pytest.mark.parametrize(
    ("state", "fault", "words", "hint"),
    [
        ("lock", None, "is locked", "reticent unlock"),
        ("off", {**OFF, "code": "no daemon"}, "is not running", "reticent daemon"),
        ("off", OFF, "cannot find Reticent", "reticent connect browsers"),
        ("slow", {**OFF, "code": "too slow"}, "took too long", "reticent status"),
    ],
)
def test_what_is_wrong_and_what_to_run(
    modules: Modules, state: str, fault: object, words: str, hint: str
) -> None:
    """Always a command; a relay that the browser does not find is no daemon that does not run."""
    shown = page(modules, None, state, fault)["state"]
    assert words in shown["text"]
    assert shown["hint"] == hint


def test_without_a_search(modules: Modules) -> None:
    """There is nothing but the state."""
    shown = modules("popup/page.js", "page", NOTHING)
    assert shown == {
        "state": None,
        "word": None,
        "search": None,
        "sent": [],
        "unspecified": [],
        "added": None,
        "facts": [],
        "figures": [],
    }


def test_a_site_that_was_refused(modules: Modules) -> None:
    """By whom, and the command that takes it back."""
    word = modules("popup/page.js", "page", {**NOTHING, "refused": "a.example"})["word"]
    assert word["text"] == "a.example gets nothing, because you said so."
    assert word["command"] == "reticent policy block --undo a.example"


def test_a_site_that_has_offered(modules: Modules) -> None:
    """What it says, and where it is answered, which is not here."""
    word = modules("popup/page.js", "page", {**NOTHING, "offered": "a.example"})["word"]
    assert word["text"] == "a.example asks for facts about you:"
    assert (word["command"], word["rest"]) == ("reticent requests list --waiting", "")


@given(st.floats(0, 1e6))
def test_bits_are_short_and_near(modules: Modules, number: float) -> None:
    """Within half a hundredth of what they are."""
    figure, unit = modules("popup/page.js", "bits", number).split(" ")
    assert float(figure) == pytest.approx(number, rel=0.005)
    assert unit == ("bit" if float(figure) == 1 else "bits")


NONE: dict[str, object] = {"words": "", "parameters": []}


@pytest.mark.parametrize(
    ("answer", "additions", "text"),
    [
        (
            {"words": "python"},
            {**NONE, "words": "python"},
            "Added to your search on a.example: python",
        ),
        (
            {"parameters": {"kl": "de-de", "hl": "de"}},
            {**NONE, "parameters": [["kl", "de-de"], ["hl", "de"]]},
            "Added to the address on a.example: kl=de-de, hl=de",
        ),
        ({"words": "python"}, NONE, "Nothing was added: your search has it already."),
        ({"header": "int_python"}, NONE, None),
        ({}, NONE, None),
    ],
)
def test_what_was_added_to_a_search(
    modules: Modules, answer: dict[str, object], additions: dict[str, object], text: str | None
) -> None:
    """It is named with the site, and can be taken away where it was added."""
    search = {"recipient": "a.example", "query": "git", "answer": {"code": "answered", **answer}}
    shown = modules(
        "popup/page.js", "page", {**NOTHING, "search": {**search, "additions": additions}}
    )
    undo = additions != NONE
    assert shown["added"] == (None if text is None else {"text": text, "undo": undo})


SCENES = sorted(Path(__file__).parent.glob("*.test.mjs"))


@pytest.mark.parametrize("scenes", [pytest.param(each, id=each.name) for each in SCENES])
def test_scenes(scenes: Path) -> None:
    """Every one of a file."""
    done = subprocess.run(
        [needs("node"), "--test", "--test-reporter=tap", str(scenes)],
        check=False,
        capture_output=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stdout.decode()
    assert b"# fail 0" in done.stdout
    assert b"# pass 0" not in done.stdout
