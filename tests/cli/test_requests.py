"""`reticent requests`: what was asked and sent, who knows what, and that one forgot."""

import json
from typing import Any

import pytest

from agent.decision.values import Reading
from agent.wire.base import LATEST_ENTRIES, MOST_ENTRIES, Done, RecipientName
from agent.wire.state import Corrected, NotThat
from tests.cli.conftest import Run
from tests.cli.daemon import ENTRIES, HELD, changed
from tests.cli.examples import cli_model
from tests.wire.fake import FakeDaemon, says
from tests.worlds.daemons import living

MODEL = cli_model()


def page(run: Run, *arguments: str) -> str:
    """Return what a command about requests prints, in one line."""
    return run("requests", *arguments).page


@pytest.mark.parametrize(
    ("arguments", "call", "given"),
    [
        ("list", "requests", {"limit": LATEST_ENTRIES}),
        ("list --limit 7 --recipient @a", "requests", {"recipient": "@a", "limit": 7}),
        ("ledger", "ledger", {"limit": LATEST_ENTRIES}),
        ("ledger --json", "ledger", {"limit": MOST_ENTRIES}),
        ("ledger a --after 7", "ledger", {"recipient": "a", "after": 7, "limit": LATEST_ENTRIES}),
        ("ledger --json --limit 5", "ledger", {"limit": 5}),
    ],
)
def test_what_is_asked_for_reaches_the_daemon(
    run: Run, fake: FakeDaemon, arguments: str, call: str, given: dict[str, Any]
) -> None:
    """And nothing else."""
    assert run("requests", *arguments.split()).code == 0
    titled: list[object] = [] if "--json" in arguments else [("attributes", {})]
    assert fake.calls == [(call, given), *titled]


@pytest.mark.usefixtures("fake")
@pytest.mark.parametrize(
    ("arguments", "what"),
    [("list", "requests"), ("ledger", "entries"), ("ledger --json", "entries")],
)
def test_that_there_may_be_more_is_said_beside_the_output(
    run: Run, arguments: str, what: str
) -> None:
    """A history that was cut must not look whole."""
    ran = run("requests", *arguments.split(), "--limit", "3")
    assert ran.code == 0
    assert ran.err.startswith(f"reticent: note: these are the latest 3 {what}")


def test_a_real_daemon_tells_of_what_it_gave_and_did_not(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the request to the page, and to the one that lists who was told."""
    with living() as live:
        monkeypatch.setenv("RETICENT_HOME", str(live.paths.config.parent))
        assert run("ask", "news.example", "editor").code == 0
        assert run("ask", "odd.example", "what nobody knows").code == 0
        told, silent = run("requests", "list", "--json").record["requests"]
        assert (told["number"], told["pool"], silent["number"]) == (1, "news.example", -1)
        assert (silent["recipient"], silent["code"]) == ("odd.example", "unknown query")
        [found] = run("requests", "recipients", "--json").record["recipients"]
        assert (found["pool"], found["requests"]) == ("news.example", 1)
        assert found["people_left"] == found["history"][-1]["people_left"] == told["people_left"]
        assert {*found["held"]} <= {*told["disclosed"]}


@pytest.mark.usefixtures("fake")
def test_each_request_is_one_line_of_json(run: Run) -> None:
    """What was said to be forgotten is no request."""
    ran = run("requests", "ledger", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.isascii()
    lines = [json.loads(line) for line in ran.out.splitlines()]
    kept = [each for each in ENTRIES if each.kind == "disclosed"]
    assert [each["query"] for each in lines] == [each.query for each in kept]
    assert [each["values"] for each in lines] == [each.values for each in kept]


@pytest.mark.parametrize("command", [("recipients",), ("forget", "--yes")])
def test_who_was_probably_meant_is_said(
    run: Run, fake: FakeDaemon, command: tuple[str, ...]
) -> None:
    """Of those that were sent anything; nothing is stated of another."""
    fake.handlers["knowledge"] = says(changed(HELD, pool="wether.example", values={}, recent=0))
    said = page(run, *command, "wether.example")
    assert said.endswith(". Did you mean 'weather.example'?")
    assert "meant" not in page(run, *command, "zz")
    assert "forget" not in [name for name, _ in fake.calls]


def test_it_says_what_it_means_and_asks(
    run: Run, fake: FakeDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is made to forget, the ledger keeps everything, and there is no way back."""
    forget = ("forget", {"body": RecipientName(recipient="weather.example")})
    ran = run("requests", "forget", "weather.example")
    assert (ran.code, ran.out) == (2, "")
    said = " ".join(ran.err.split())
    for each in ("can no longer link", "the ledger keeps what was sent, and you cannot undo it"):
        assert each in said
    assert "agree with --yes" in ran.err
    assert forget not in fake.calls
    monkeypatch.setattr("agent.cli.requests.agree", says(None))
    done = " ".join(run("requests", "forget", "weather.example").out.split())
    assert "weather.example counts as knowing nothing about you" in done
    assert fake.calls[-1] == forget
    fake.handlers["forget"] = says(Done(done=False))
    said = page(run, "forget", "weather.example", "--yes")
    assert said == "weather.example already knows nothing about you, so there is nothing to forget."


def test_a_text_that_was_read_wrongly_is_said_so(run: Run, fake: FakeDaemon) -> None:
    """By the number of its entry, or as it stands; and taken back."""
    meant = Reading(query="sport", title="sport and exercise", probability=0.87, model="village")
    found = Corrected(query="jobs", read_as=[meant], now=None)
    fake.handlers["not_that"] = says(found)
    said = run("requests", "not-that", "12")
    assert said.page.startswith("It will not be read as 'sport and exercise' again. ")
    assert run("requests", "not-that", "jobs", "--undo").page.startswith("It may be read as ")
    bodies = [NotThat(entry=12), NotThat(query="jobs", undo=True)]
    assert fake.calls == [("not_that", {"body": each}) for each in bodies]
