"""What the popup shows: of a search, of a message in a chat box, and where something is wrong.

`pytest tests/examples/extension/test_popup.py --accept` writes `popup.txt` anew.
"""

import subprocess
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import to_builtins
from msgspec.structs import replace

from agent.decision.values import Code, Reading
from agent.model.file import read, shipped_models
from agent.wire.decide import Answer, Because, Draft, DraftedFact, Summary
from agent.words.titles import about
from policy.services import assistants
from tests.examples.extension.conftest import HERE, Modules
from tests.programs import needs
from tests.waiting import PATIENCE

TRANSCRIPT = HERE / "popup.txt"
BECAUSE = [
    Because(name="region", reason="worth it", gain_bits=0.2149, cost_bits=0.02),
    Because(name="int_python", reason="always", gain_bits=None, cost_bits=None),
    Because(name="gender", reason="worth it", gain_bits=1.0, cost_bits=0.25),
    Because(name="age", reason="worth it", gain_bits=0.1, cost_bits=0.02),
]
SUMMARY = Summary(
    pool="a.example", model="m", utility_bits=0.3, people_left=1234.4, waiting=1, because=BECAUSE
)
SENT = {"int_python": "yes", "age": "very_young", "region": "west_europe"}
VC = Reading(query="vc", title="version control", probability=1, model="so")
SPORT = Reading(query="sport", title="sport", probability=0.879, model="us")
OFF = {"code": "no host", "what": "no relay", "hint": "install it"}
FAULTS = ("no daemon", "no host", "too slow", "too large", "withheld")
STATES = {"lock": ("",), "off": ("no daemon", "no host"), "slow": ("too slow",)}
NOTHING = {"search": None, "state": "", "fault": None, "offered": None, "refused": None}
NO_ADDITIONS: dict[str, object] = {"words": "", "parameters": []}
ADDED = (
    ({"words": "python"}, {**NO_ADDITIONS, "words": "python"}),
    ({"parameters": {"kl": "de", "hl": "x"}}, {**NO_ADDITIONS, "parameters": [["kl", "de"]]}),
    ({"words": "python"}, NO_ADDITIONS),
    ({"header": "int_python"}, NO_ADDITIONS),
)
FACT = DraftedFact(name="age", title="age", value="35 to 44", phrase="35 to 44 years old")
DRAFT = Draft(code="answered", id="x", facts=[FACT], line="…", waiting=["gender"], people="one: 9")
CHAT = {"origin": "https://chat.example", "text": "what to do?", "draft": None, "fault": None}
CHAT_FAULTS = (
    *("empty", "no message", "elsewhere", "other frame", "closed", "in part"),
    *("too large", "not put in", "too slow", "conflict"),
)


def searched(answer: Answer | None, fault: object = None, **more: object) -> dict[str, Any]:
    """Make what the background knows of a search."""
    known = None if answer is None else to_builtins(answer)
    return {"recipient": "a.example", "query": "git", "answer": known, "fault": fault, **more}


def shown(modules: Modules, **given: object) -> Any:  # noqa: ANN401  (JSON)
    """Make the popup of a tab, without what it leaves empty."""
    found = modules("popup/page.js", "page", {**NOTHING, **given})
    found["search"] = {**(found["search"] or {}), "answer": None}
    return {name: each for name, each in found.items() if each not in (None, [], {"answer": None})}


def searches(modules: Modules) -> Iterator[object]:
    """Yield the popup of searches, of sites that ask or are refused, and of each addition."""
    whole = Answer(code="answered", attributes=SENT, unspecified=["gender"], summary=SUMMARY)
    yield shown(modules)
    yield shown(modules, search=searched(whole))
    for reading in (VC, SPORT, None):
        told = replace(whole, summary=replace(SUMMARY, read_as=reading))
        yield shown(modules, search=searched(told))["search"]["readAs"]
    yield shown(modules, refused="a.example")
    yield shown(modules, offered="a.example")
    for parts, additions in ADDED:
        search = {**searched(None), "answer": {"code": "answered", **parts}}
        yield shown(modules, search={**search, "additions": additions}).get("added")


def nothing_sent(modules: Modules) -> Iterator[object]:
    """Yield why a search carried nothing, or why nobody said what it may carry."""
    for code in get_args(Code):
        found = shown(modules, search=searched(Answer(code=code)))["search"]
        yield f"{code}: {found['headline']}{found['readAs']}"
    for code in FAULTS:
        found = shown(modules, search=searched(None, {**OFF, "code": code}))["search"]
        yield f"{code}: {found['headline']}"
    for state, codes in STATES.items():
        for code in codes:
            fault = {**OFF, "code": code} if code else None
            yield shown(modules, search=searched(None, fault), state=state, fault=fault)["state"]
    yield shown(modules, search=searched(Answer(code="answered")), stale=True)["state"]


def chats(modules: Modules) -> Iterator[object]:
    """Yield what is shown of a draft, and of what went wrong before it was put in, or after."""
    unhelpful = Draft(code="answered", headline="Nothing helps enough.", people="expected: 9")
    for draft in (DRAFT, unhelpful):
        yield modules("popup/chat.js", "talk", {**CHAT, "draft": to_builtins(draft)})
    yield modules("popup/chat.js", "failed", {"told": None})
    for code in CHAT_FAULTS:
        fault = {"code": code, "what": "your rules have changed"}
        yield code + ": " + modules("popup/chat.js", "talk", {**CHAT, "fault": fault})["fault"]
        for line in (None, "About me: x"):
            yield modules("popup/chat.js", "failed", {"told": line, "fault": fault})


def test_what_the_popup_says_is_what_is_written_down(
    modules: Modules, request: pytest.FixtureRequest
) -> None:
    """The verdict first, what helps most before the rest; each fault in words of its own."""
    groups = searches, nothing_sent, chats
    parts = (f"# {each.__name__}\n" + "\n".join(map(_lines, each(modules))) for each in groups)
    found = "\n\n".join(parts) + "\n"
    if request.config.getoption("--accept"):
        TRANSCRIPT.write_text(found, encoding="utf-8")
    assert found == TRANSCRIPT.read_text(encoding="utf-8")


def _lines(value: Any) -> str:  # noqa: ANN401  (JSON)
    if not isinstance(value, dict):
        return str(value)
    return "\n".join(f"{name} = {each}" for name, each in value.items()) or "nothing"


@given(st.lists(st.none() | st.floats(0, 9), max_size=6))
def test_what_helps_most_comes_first(modules: Modules, gains: list[float | None]) -> None:
    """Of what is not said as well, and what has no figure last; of equals, as they were chosen."""
    because = [
        Because(name=f"n{number}", reason="worth it", gain_bits=gain, cost_bits=gain)
        for number, gain in enumerate(gains)
    ]
    names = [each.name for each in because]
    summary, sent = replace(SUMMARY, because=because), dict.fromkeys(names, "yes")
    answer = Answer(code="answered", attributes=sent, unspecified=names, summary=summary)
    page = modules("popup/page.js", "page", {**NOTHING, "search": searched(answer)})
    wanted = sorted(because, key=lambda each: (each.gain_bits is None, -(each.gain_bits or 0)))
    for rows in (page["sent"], page["unspecified"]):
        assert [each["name"] for each in rows] == [each.name for each in wanted]


def test_every_fact_has_the_title_of_its_model(modules: Modules) -> None:
    """The second and third of a kind as well; its name where two models call it differently."""
    titles = defaultdict[str, set[str]](set)
    for each in (attribute for path in shipped_models() for attribute in read(path).attributes):
        titles[each.name].add(each.title)
    answer = Answer(code="answered", attributes=dict.fromkeys(titles, "yes"), summary=SUMMARY)
    rows = modules("popup/page.js", "page", {**NOTHING, "search": searched(answer)})["sent"]
    wanted = {each.pop() if len(each) == 1 else name for name, each in titles.items()}
    assert len(rows) == len(titles)
    assert {each["name"] for each in rows} == wanted


@given(st.floats(0, 1e6))
def test_bits_are_short_and_near(modules: Modules, number: float) -> None:
    """Within half a hundredth of what they are."""
    figure, unit = modules("popup/page.js", "bits", number).split(" ")
    assert float(figure) == pytest.approx(number, rel=0.005)
    assert unit == ("bit" if float(figure) == 1 else "bits")


@given(st.lists(st.text(min_size=1, max_size=9) | st.just("vegan, no nuts"), max_size=6))
def test_the_line_is_the_daemons(modules: Modules, phrases: list[str]) -> None:
    """Each phrase once."""
    assert modules("popup/chat.js", "lineOf", phrases) == about(phrases)


def test_the_well_known_are_told_by_their_whole_origin(modules: Modules) -> None:
    """Any page of it, and nothing that only looks like it."""
    for each in assistants():
        found = modules("popup/chat.js", "wellKnown", f"{each.address}chat/1?x=2#y")
        assert found == {"name": each.name, "address": each.address, "recipient": each.recipient}
        host = each.address.removeprefix("https://").rstrip("/")
        for other in (f"http://{host}/", f"https://{host}.evil.example/", f"https://x.{host}/"):
            assert modules("popup/chat.js", "wellKnown", other) is None
    for other in ("", "about:blank", "https://__proto__/", "chrome://settings"):
        assert modules("popup/chat.js", "wellKnown", other) is None


@pytest.mark.parametrize("scenes", sorted(HERE.glob("*.test.mjs")), ids=lambda path: path.name)
def test_scenes(scenes: Path) -> None:
    """Every one of a file."""
    command = [needs("node"), "--test", "--test-reporter=tap", str(scenes)]
    done = subprocess.run(command, check=False, capture_output=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stdout.decode()
    assert b"# fail 0" in done.stdout
    assert b"# pass 0" not in done.stdout
