"""`reticent requests ledger`: a table for people, and lines that `policy try` reads."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.cli.policy_try import read_history
from agent.cli.requests import history_line
from agent.wire.base import LATEST_ENTRIES, MOST_ENTRIES
from agent.wire.records import Entry
from tests.cli.conftest import Run
from tests.cli.daemon import ENTRIES, LONG, changed
from tests.cli.examples import ATTRIBUTES, cli_model
from tests.wire.fake import FakeDaemon

MODEL = cli_model()
VALUES = st.fixed_dictionaries(
    {}, optional={each.name: st.sampled_from(each.values) for each in ATTRIBUTES}
)
DISCLOSURES = st.builds(
    Entry,
    number=st.integers(1),
    kind=st.just("disclosed"),
    at=st.datetimes(datetime(1971, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001  (the zone is drawn apart)
    recipient=st.sampled_from(["weather.example", "a.b.example", "b\u00fccher.example"]),
    query=st.text(max_size=20),
    asked=st.none() | st.lists(st.sampled_from([each.name for each in ATTRIBUTES]), max_size=3),
    disclosed=VALUES,
)


@given(st.lists(DISCLOSURES, max_size=5))
def test_its_lines_are_a_history(
    tmp_path_factory: pytest.TempPathFactory, entries: list[Entry]
) -> None:
    """Whatever was asked and disclosed, in order of time."""
    path = tmp_path_factory.mktemp("ledger") / "history.jsonl"
    path.write_text("".join(f"{history_line(each)}\n" for each in entries))
    read = read_history(path, MODEL).requests
    assert [(each.at, each.recipient, each.query, each.asked) for each in read] == [
        (each.at, each.recipient, each.query, None if each.asked is None else frozenset(each.asked))
        for each in sorted(entries, key=lambda each: each.at)
    ]
    for each, entry in zip(read, sorted(entries, key=lambda each: each.at), strict=True):
        named = {
            name: MODEL.attributes[MODEL.index(name)].values[code] for name, code in each.disclosed
        }
        assert named == entry.disclosed


@pytest.mark.usefixtures("fake")
def test_what_it_prints_can_be_tried(run: Run, tmp_path: Path) -> None:
    """What was said to be forgotten is no request."""
    ran = run("requests", "ledger", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.isascii()
    path = tmp_path / "history.jsonl"
    path.write_text(ran.out)
    assert [each.query for each in read_history(path, MODEL).requests] == [
        each.query for each in ENTRIES if each.kind == "disclosed"
    ]


def test_the_table_is_for_people(run: Run, fake: FakeDaemon) -> None:
    """Oldest first, with what was forgotten; none of it steers the terminal."""
    fake.handlers["ledger"] = lambda **_given: [
        *ENTRIES,
        changed(ENTRIES[0], recipient=LONG, query=LONG, number=123_456),
    ]
    ran = run("requests", "ledger")
    assert (ran.code, ran.err) == (0, "")
    said = " ".join(ran.out.split())
    assert "weather.example" in said
    assert "region: coast; hobby: not specified" in said
    assert "forgotten" in said
    assert "nothing" in said
    assert "\x1b" not in ran.out
    assert max(map(len, ran.out.splitlines())) <= 80
    fake.handlers["ledger"] = lambda **_given: []
    assert run("requests", "ledger").out == "Nothing was sent.\n"
    assert run("requests", "ledger", "--json").out == ""


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        ([], {"limit": LATEST_ENTRIES}),
        (["--json"], {"limit": MOST_ENTRIES}),
        (
            ["a.example", "--after", "7"],
            {"recipient": "a.example", "after": 7, "limit": LATEST_ENTRIES},
        ),
        (["--json", "--limit", "5"], {"limit": 5}),
    ],
)
def test_what_is_asked_for_reaches_the_daemon(
    run: Run, fake: FakeDaemon, arguments: list[str], given: dict[str, Any]
) -> None:
    """And nothing else."""
    assert run("requests", "ledger", *arguments).code == 0
    titled: list[object] = [] if "--json" in arguments else [("attributes", {})]
    assert fake.calls == [("ledger", given), *titled]


@pytest.mark.usefixtures("fake")
def test_that_there_may_be_more_is_said_beside_the_output(run: Run) -> None:
    """A history that was cut must not look whole."""
    for arguments in ([], ["--json"]):
        ran = run("requests", "ledger", "--limit", "3", *arguments)
        assert ran.code == 0
        assert ran.err.startswith("reticent: note: these are the latest 3 entries")


@pytest.mark.parametrize("options", [["--limit", "0"], ["--limit", "x"], ["--after", "-1"]])
def test_a_number_that_cannot_be_is_refused(run: Run, options: list[str]) -> None:
    """Before the daemon is asked."""
    assert options[0] in run("requests", "ledger", *options).refusal()[0]
