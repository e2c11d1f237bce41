"""`reticent requests`, `approve` and `deny`: what was sent, who knows what, what waits."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace as changed

from agent.cli.options import midnight
from agent.wire.base import LATEST_ENTRIES, MOST_ENTRIES
from agent.wire.policy import Word
from agent.wire.state import Corrected, Event, ReadingEdit
from agent.words.notices import overridden, settled
from tests.cli.conftest import Run
from tests.cli.daemon import AT, HELD, OFFER, REQUESTS, REVIEW, RULED
from tests.wire.fake import FakeDaemon, says
from tests.worlds.messages import ASSISTANT


def test_what_is_asked_for_reaches_the_daemon(run: Run, fake: FakeDaemon) -> None:
    """And nothing else; that there may be more is said beside the output."""
    cases: list[tuple[str, str, dict[str, Any]]] = [
        ("list", "requests", {"limit": LATEST_ENTRIES}),
        ("list --limit 3 --recipient @a", "requests", {"recipient": "@a", "limit": 3}),
        ("list --values", "ledger", {"limit": LATEST_ENTRIES}),
        ("list --values --limit 3", "ledger", {"limit": 3}),
        ("list weather", "requests", {"limit": MOST_ENTRIES}),
        ("list --until 2026-11-01", "requests", {"limit": 100, "until": midnight("2026-11-02")}),
    ]
    for arguments, call, given in cases:
        fake.calls.clear()
        ran = run("requests", *arguments.split())
        assert ran.code == 0
        assert fake.calls == [("status", {}), ("attributes", {}), (call, given)]
        latest = ran.err.startswith("reticent: note: these are the latest 3 ")
        assert latest == (given["limit"] == 3)


def test_each_new_request_is_shown_once_until_the_daemon_ends(run: Run, fake: FakeDaemon) -> None:
    """Of those that are meant; as a table, as CSV, and as objects."""
    news = [[changed(REQUESTS[0], number=each)] for each in (7, 7, 9)]
    event = Event(number=1, kind="answer", at=AT)
    events = [event] * 2 + [changed(event, kind="lock"), event]
    fake.handlers["events"] = lambda: iter(events)
    for form, begins in (("", "{} "), ("--csv", "{},"), ("--json", '"number": {},')):
        lists = iter([REQUESTS, *news])
        fake.handlers["requests"] = lambda lists=lists, **_: next(lists)
        ran = run("log", "--follow", "weather", *form.split())
        assert (ran.code, ran.err.count("not running")) == (4, 1)
        lines = [line.strip() for line in ran.out.splitlines()]
        for number in (7, 9):
            assert [line.startswith(begins.format(number)) for line in lines].count(True) == 1


@pytest.mark.parametrize("command", [("recipients",), ("forget", "--yes")])
def test_who_was_probably_meant_is_said(
    run: Run, fake: FakeDaemon, command: tuple[str, ...]
) -> None:
    """Of those that were sent anything; nothing is stated of another."""
    known = fake.handlers["recipients"]
    nobody = changed(HELD, pool="wether.example", values={}, recent=0)
    fake.handlers["recipients"] = lambda recipient=None: [nobody] if recipient else known()
    said = run("requests", *command, "wether.example").page
    assert said.endswith(". Did you mean 'weather.example'?")
    assert "meant" not in run("requests", *command, "zz.example").page
    assert "forget" not in [name for name, _ in fake.calls]


def test_what_a_text_means_and_does_not_is_said(run: Run, fake: FakeDaemon) -> None:
    """By the number of its entry, or as it stands; a topic as words; and taken back."""
    fake.handlers["correct"] = says(Corrected(query="jobs", read_as=[], now=None))
    meant = "not-that 12", "not-that jobs --undo", "means 12 Sport and", "means x --undo"
    for arguments in meant:
        assert run("requests", *arguments.split()).code == 0
    assert run("requests", "means", "12").code == 2
    bodies = [
        *(ReadingEdit(entry=12), ReadingEdit(query="jobs", undo=True)),
        *(ReadingEdit(entry=12, topic="Sport and"), ReadingEdit(query="x", undo=True)),
    ]
    assert fake.calls == [("correct", {"body": each}) for each in bodies]


WORDS: list[tuple[str, dict[str, Any]]] = [
    ("", {"lasting": "always"}),
    ("--days 1", {"lasting": "days", "days": 1}),
    ("--once", {"lasting": "once"}),
    ("--everyone", {"lasting": "always", "about": "everyone"}),
    ("hobby hobby", {"lasting": "always", "names": ["hobby"]}),
]


@pytest.mark.parametrize("decided", ["approve", "deny"])
def test_every_word_reaches_the_daemon(run: Run, fake: FakeDaemon, decided: str) -> None:
    """For as long, and about whom and what, as it is said; a rule of the user's may win still."""
    ruled = changed(RULED, written="r1", without_effect=["hobby"], decided_by=["no"])
    fake.handlers["verdict"] = says(ruled)
    for options, fields in WORDS:
        fake.calls.clear()
        said = run(decided, "3", *options.split()).page
        shown = {"names": REVIEW.names, "recipient": REVIEW.pool}
        disclose = "auto" if decided == "approve" else "never"
        word = msgspec.convert({"disclose": disclose, **shown, **fields}, Word)
        assert ("verdict", {"body": word, "id": 3}) in fake.calls
        assert said.startswith(settled(REVIEW, word))
        assert "Written into /home/u/policy.toml as 'r1'." in said
        assert "No effect on hobby: 'no' still wins." in said


def test_all_that_waits_for_one_recipient_is_settled(run: Run, fake: FakeDaemon) -> None:
    """And for whoever it pools with, but no offer; an assistant is approved without facts."""
    other = changed(REVIEW, id=7, recipient="a.weather.example", names=["region"])
    theirs = changed(OFFER, id=8, pool="weather.example")
    fake.handlers["reviews"] = says([REVIEW, OFFER, theirs, other])
    said = run("deny", "www.weather.example", "--days", "2").page
    word = Word(disclose="never", lasting="days", days=2, recipient="weather.example")
    assert fake.calls == [
        ("reviews", {}),
        ("recipients", {"recipient": "www.weather.example"}),
        *(
            ("verdict", {"body": changed(word, names=each.names), "id": each.id})
            for each in (REVIEW, other)
        ),
        ("attributes", {}),
    ]
    assert "hobby and shoe_size will not be sent to weather.example for 2" in said
    assert "region will not be sent to weather.example for 2 days." in said
    assert "What it asks for still waits: settle it by ID: 8." in said
    made = run("approve", "weather.example", "--json").record
    assert [each["id"] for each in made["ruled"]] == [3, 7]
    assert made["offers"] == [8]
    fake.handlers["reviews"] = says([ASSISTANT])
    run("approve", "5", "--days", "2")
    assert [given["body"] for name, given in fake.calls if name == "verdict"][-1].names is None


def test_a_host_that_is_probably_misspelt_is_noted(run: Run, fake: FakeDaemon) -> None:
    """Not one that was sent something."""
    fake.handlers["reviews"] = says([])
    for host, noted in (("wether.example", 1), ("api.weather.example", 0), ("shop.example", 0)):
        assert run("deny", host, "region").err.count("did you mean") == noted


@pytest.mark.parametrize("decided", ["approve", "deny"])
def test_facts_that_do_not_wait_are_decided_about_in_advance(
    run: Run, fake: FakeDaemon, decided: str
) -> None:
    """For as long, and about whom, as it is said; those that do wait are answered."""
    fake.handlers["recipients"] = says([changed(HELD, pool="shop.example")])
    for options, fields in (
        ("", {"lasting": "always", "about": "recipient"}),
        ("--everyone --days 2", {"lasting": "days", "days": 2, "about": "everyone"}),
    ):
        names = ("shop.example", "region", "hobby", "region")
        said = run(decided, *names, *options.split()).page
        disclose = "auto" if decided == "approve" else "never"
        told = {"recipient": "shop.example", "names": ["region", "hobby"], "disclose": disclose}
        word = msgspec.convert({**told, **fields}, Word)
        assert ("override", {"body": word}) in fake.calls
        assert said.startswith(overridden(word))
    fake.calls.clear()
    fake.handlers["recipients"] = says([HELD])
    run(decided, "weather.example", "hobby")
    [(_, given)] = [call for call in fake.calls if call[0] == "verdict"]
    assert (given["id"], given["body"].names) == (3, ["hobby"])
