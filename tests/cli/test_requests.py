"""`reticent requests`: a table of what happened lately, by name."""

from typing import Any

import msgspec
import pytest

from agent.wire.base import LATEST_ENTRIES
from agent.wire.records import Handled
from tests.cli.conftest import Run
from tests.cli.daemon import HOSTILE, LONG, REQUESTS, changed
from tests.daemon.whole_daemon import living
from tests.wire.fake import FakeDaemon, says


def test_the_table_says_what_each_was_told_and_what_not(run: Run, fake: FakeDaemon) -> None:
    """By name; with what waits, what that brought, and who is left."""
    plain = run("requests", "list").out
    assert plain.startswith("3 requests; 1 of them carried facts about you.\n")
    assert "0.412" not in plain
    assert "nothing: one of your rules blocks it" in " ".join(plain.split())
    ran = run("requests", "list", "--explain")
    assert (ran.code, ran.err) == (0, "")
    said = " ".join(ran.out.split())
    assert "region, hobby; 1" in said
    assert "0.412 20" in said
    assert "bits: bits better served" in said
    assert "marked as" in said
    assert max(map(len, ran.out.splitlines())) <= 80
    fake.handlers["requests"] = says([])
    assert run("requests", "list").out == "No requests yet.\n"


def test_nothing_steers_the_terminal(run: Run, fake: FakeDaemon) -> None:
    """A query is anybody's, and so is a name."""
    hostile = changed(REQUESTS[0], recipient=HOSTILE, query=HOSTILE, disclosed=[HOSTILE])
    fake.handlers["requests"] = says([hostile, changed(REQUESTS[0], recipient=LONG, query=LONG)])
    ran = run("requests", "list")
    assert "\x1b" not in ran.out
    assert max(map(len, ran.out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        ([], {"limit": LATEST_ENTRIES}),
        (["--limit", "7", "--recipient", "@adverts"], {"recipient": "@adverts", "limit": 7}),
    ],
)
def test_what_is_asked_for_reaches_the_daemon(
    run: Run, fake: FakeDaemon, arguments: list[str], given: dict[str, Any]
) -> None:
    """And nothing else; that there may be more is said beside the answer."""
    assert run("requests", "list", *arguments).code == 0
    assert fake.calls == [("requests", given), ("attributes", {})]
    ran = run("requests", "list", "--limit", "3")
    assert ran.err.startswith("reticent: note: these are the latest 3 requests")


@pytest.mark.usefixtures("fake")
def test_the_object_has_the_messages(run: Run) -> None:
    """As openapi.json describes them."""
    found = run("requests", "list", "--json").record["requests"]
    assert msgspec.convert(found, list[Handled]) == REQUESTS
    assert "--limit" in run("requests", "list", "--limit", "0").refusal()[0]


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
