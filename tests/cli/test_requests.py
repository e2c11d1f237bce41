"""`reticent requests`: what was asked and sent, who knows what, and that one forgot."""

import sys
from datetime import UTC, datetime
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.cli.policy_try import read_history
from agent.cli.printing import BAR_COLUMNS, sparkline
from agent.cli.requests import history_line
from agent.errors import LockedError
from agent.tui.charts import BARS
from agent.wire.base import LATEST_ENTRIES, MOST_ENTRIES, Done
from agent.wire.records import Entry, Forget, Handled, Held, Inferred, Recipient
from tests.cli.conftest import Run
from tests.cli.daemon import ENTRIES, HELD, HOSTILE, LONG, RECIPIENTS, REQUESTS, changed
from tests.cli.examples import ATTRIBUTES, cli_model
from tests.daemon.whole_daemon import living
from tests.wire.fake import FakeDaemon, says

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


def test_the_table_says_what_each_was_told_and_what_not(run: Run, fake: FakeDaemon) -> None:
    """By name; with what waits, what that brought, and who is left."""
    plain = run("requests", "list").out
    assert plain.startswith("2 requests; 1 of them carried facts about you.\n")
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
    once = changed(REQUESTS[0], waiting=0)
    fake.handlers["requests"] = says([once, once, changed(once, pool="other.example")])
    assert run("requests", "list").out.count("the same facts again") == 1
    fake.handlers["requests"] = says([])
    assert run("requests", "list").out == "No requests yet.\n"


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
def test_what_is_asked_for_reaches_the_daemon_of_ledger(
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


@pytest.mark.usefixtures("fake")
def test_the_table_says_who_holds_what_and_how_few_are_left(run: Run) -> None:
    """With the numbers beside the bars; of a group, by way of whom it was told."""
    ran = run("requests", "recipients")
    assert (ran.code, ran.err) == (0, "")
    head, *lines = ran.out.splitlines()
    assert head == "2 recipients know something about you."
    assert "how many of the 60 people in the model do so" in " ".join(ran.out.split())
    [weather] = [line for line in lines if "weather.example" in line]
    assert weather.split() == [
        *("weather.example", "1,204", "hobby,", "region"),
        *("60", sparkline([60, 24, 20], 60), "20"),
    ]
    said = " ".join(ran.out.split())
    assert "@adverts: " in said
    assert "more.example" in said
    assert "(blocked)" in said
    assert "nothing" in said
    assert max(map(len, ran.out.splitlines())) <= 80


def test_what_is_not_the_same_of_all_is_not_said_of_them(run: Run, fake: FakeDaemon) -> None:
    """As the number of people of two models; one alone is one."""
    other = changed(RECIPIENTS[0], people=61)
    fake.handlers["recipients"] = says([other, RECIPIENTS[1]])
    assert "in the model" not in run("requests", "recipients").out
    fake.handlers["recipients"] = says([other])
    assert run("requests", "recipients").out.startswith("1 recipient knows something about you.\n")
    fake.handlers["recipients"] = says([])
    assert run("requests", "recipients").out == "Nobody knows anything about you.\n"


@given(st.lists(st.integers(0, 20_000), max_size=60), st.integers(0, 20_000))
def test_a_line_has_a_bar_for_each_number_there_is_room_for(numbers: list[int], most: int) -> None:
    """Never taller for fewer people; the first and the last are always there."""
    line = sparkline(numbers, most)
    assert len(line) == min(len(numbers), BAR_COLUMNS)
    heights = [BARS.index(sparkline([each], most)) for each in sorted(numbers)]
    assert heights == sorted(heights)
    if numbers:
        assert line[0] == sparkline(numbers[:1], most)
        assert line[-1] == sparkline(numbers[-1:], most)


def test_one_person_is_the_lowest_bar_and_all_the_highest() -> None:
    """Whatever the model's size is."""
    for most in (2, 60, 18_991):
        assert sparkline([0, 1, most], most) == BARS[0] * 2 + BARS[-1]


def test_a_terminal_without_bars_gets_the_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rather than the names of characters."""
    monkeypatch.setattr(sys, "stdout", TextIOWrapper(BytesIO(), encoding="ascii"))
    assert sparkline([60, 20], 60) == ""


def test_the_page_says_what_and_since_when_and_how_much_that_is(run: Run, fake: FakeDaemon) -> None:
    """The recipient may be a group."""
    ran = run("requests", "knows", "@weather")
    assert (ran.code, ran.err) == (0, "")
    assert fake.calls == [("knowledge", {"recipient": "@weather"}), ("attributes", {})]
    said = " ".join(ran.out.split())
    head = (
        "weather.example knows 2 facts about you. To it, you blend in with 20 of 60 people in the"
    )
    assert said.startswith(f"{head} model village; 1 new in the last seven days.")
    assert "region coast 2026-03-02" in said
    assert max(map(len, ran.out.splitlines())) <= 80


def test_what_is_unspecified_is_said_to_be_a_fact(run: Run, fake: FakeDaemon) -> None:
    """Nobody in the model may be like that; where all says something, nothing is said of it."""
    said = " ".join(run("requests", "knows", "a.example").out.split())
    assert "It also knows that you did not specify hobby." in said
    two = {"region": "unspecified", "hobby": "unspecified"}
    fake.handlers["knowledge"] = says(changed(HELD, values=two))
    said = " ".join(run("requests", "knows", "a.example").out.split())
    assert "you did not specify region and hobby." in said
    fake.handlers["knowledge"] = says(changed(HELD, values={"region": "coast"}))
    assert "did not specify" not in run("requests", "knows", "a.example").out


def test_whoever_holds_nothing_is_said_to(run: Run, fake: FakeDaemon) -> None:
    """Without a table."""
    fake.handlers["knowledge"] = says(changed(HELD, values={}, since={}, recent=0))
    assert run("requests", "knows", "a.example").out.startswith(
        "weather.example knows nothing about you."
    )


def test_each_guarded_fact_has_a_sentence(run: Run, fake: FakeDaemon) -> None:
    """What is told of it; or that it is less certain now; or that nothing can be said."""
    more = Inferred(
        name="salary", title="Pay", bits=0.25, bits_in_all=1.5, best_guess=0.62, by_chance=0.5
    )
    less = changed(more, name="smokes", title=HOSTILE, bits=-0.125)
    none = changed(more, name="rare", title="Rare", bits=0.0, best_guess=0.0)
    fake.handlers["knowledge"] = says(changed(HELD, inferred=[more, less, none]))
    ran = run("requests", "knows", "a.example")
    said = " ".join(ran.out.split())
    assert (
        "Pay (guarded): its best guess is right for 62% of people like you, and 50% by chance; it "
        "has learned 0.25 of 1.50 bits about it." in said
    )
    assert "it is 0.12 bits less certain than before." in said
    assert "Rare: too few people look like you to tell what it could guess." in said
    assert "\x1b" not in ran.out
    assert max(map(len, ran.out.splitlines())) <= 80


def test_it_says_what_it_means_and_asks(
    run: Run, fake: FakeDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is made to forget, and the ledger keeps everything."""
    ran = run("requests", "forget", "a.example")
    assert (ran.code, ran.out) == (2, "")
    assert "can no longer link" in " ".join(ran.err.split())
    assert "the ledger keeps what was sent" in " ".join(ran.err.split())
    assert "agree with --yes" in ran.err
    assert fake.calls == []
    monkeypatch.setattr("agent.cli.requests.agree", says(None))
    assert run("requests", "forget", "a.example").code == 0
    assert fake.calls == [("forget", {"body": Forget(recipient="a.example")})]


def test_agreed_beforehand_it_is_done_and_said(run: Run, fake: FakeDaemon) -> None:
    """With an object for programs."""
    ran = run("requests", "forget", "a.example", "--yes")
    assert (ran.code, ran.err) == (0, "")
    assert "a.example counts as knowing nothing about you" in " ".join(ran.out.split())
    assert run("requests", "forget", "a.example", "--yes", "--json").record == {"done": True}
    assert len(fake.calls) == 2


def test_who_was_never_told_anything_has_nothing_to_forget(run: Run, fake: FakeDaemon) -> None:
    """Nothing is stated then."""
    fake.handlers["forget"] = says(Done(done=False))
    never = "{} already knows nothing about you, so there is nothing to forget."
    assert run("requests", "forget", "zz", "--yes").out == f"{never.format('zz')}\n"
    said = " ".join(run("requests", "forget", "wether.example", "--yes").out.split())
    assert said == f"{never.format('wether.example')} Did you mean 'weather.example'?"


ODD = changed(REQUESTS[0], recipient=LONG, query=LONG, disclosed=[HOSTILE])


@pytest.mark.parametrize(
    ("command", "call", "message"),
    [
        (("list",), "requests", [ODD, changed(ODD, recipient=HOSTILE, query=HOSTILE)]),
        (("ledger",), "ledger", [changed(ENTRIES[0], recipient=LONG, query=HOSTILE)]),
        (
            ("recipients",),
            "recipients",
            [changed(RECIPIENTS[0], pool=LONG, sites=[LONG], held=[HOSTILE, LONG])],
        ),
        (
            ("knows", "a.example"),
            "knowledge",
            changed(HELD, pool=LONG, values={LONG: HOSTILE}, model=HOSTILE),
        ),
    ],
)
def test_nothing_steers_the_terminal(
    run: Run, fake: FakeDaemon, command: tuple[str, ...], call: str, message: object
) -> None:
    """A query is anybody's, and so is a name; a long one fits."""
    fake.handlers[call] = says(message)
    ran = run("requests", *command)
    assert ran.code == 0
    assert "\x1b" not in ran.out
    assert max(map(len, ran.out.splitlines())) <= 80


@pytest.mark.usefixtures("fake")
def test_the_objects_are_the_messages(run: Run) -> None:
    """As openapi.json describes them."""
    listed = run("requests", "list", "--json").record["requests"]
    assert msgspec.convert(listed, list[Handled]) == REQUESTS
    holders = run("requests", "recipients", "--json").record["recipients"]
    assert msgspec.convert(holders, list[Recipient]) == RECIPIENTS
    assert msgspec.convert(run("requests", "knows", "a.example", "--json").record, Held) == HELD
    assert "--limit" in run("requests", "list", "--limit", "0").refusal()[0]
    assert run("requests", "knows").refusal()[0] == "missing argument 'RECIPIENT'"


@pytest.mark.parametrize("call", ["recipients", "requests", "ledger", "knowledge"])
def test_a_locked_vault_is_an_error(run: Run, fake: FakeDaemon, call: str) -> None:
    """In the daemon's words."""

    def locked(**_given: object) -> None:
        raise LockedError("the vault is locked", "unlock it")

    fake.handlers[call] = locked
    command = {"requests": ["list"], "knowledge": ["knows", "a.example"]}.get(call, [call])
    assert run("requests", *command).refusal(code=1) == ("the vault is locked", "unlock it")
