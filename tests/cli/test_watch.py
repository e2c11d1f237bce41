"""`reticent requests list --follow`: a sentence in each line, from a daemon that comes and goes."""

import json
import select
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from agent.cli.interrupt import Interrupted
from agent.cli.watch import Watcher
from agent.errors import LockedError
from agent.wire.client import Client
from agent.wire.decide import Ask
from agent.wire.state import Event, EventKind
from tests.cli.conftest import Run, process
from tests.cli.daemon import (
    AT,
    ENTRIES,
    HOSTILE,
    LOCKED,
    OFFER,
    POLICY,
    REQUESTS,
    REVIEW,
    STATUS,
    changed,
)
from tests.waiting import PATIENCE
from tests.wire.fake import FakeDaemon, says, short_folder
from tests.worlds.daemons import LOOK, living

START = [
    sys.executable,
    "-c",
    "from agent.cli.main import run; run()",
    "requests",
    "list",
    "--follow",
]
FIRST = (
    "Sent to weather.example: region, and “prefer not to say” for hobby; 0.412 bits more useful, "
    "about 20 people left."
)
Watch = Callable[..., list[str]]
UNTOLD = changed(STATUS, entries=0)


def happens(*events: tuple[EventKind, int | None]) -> Callable[[], Iterator[Event]]:
    """Return a handler that says what happens, then ends."""
    made = [
        Event(number=number, kind=kind, at=AT, id=about)
        for number, (kind, about) in enumerate(events, 1)
    ]
    return lambda: iter(made)


def until(word: str, lines: Iterable[str]) -> str:
    """Return the next line with a word in it."""
    return next(line for line in lines if word in line)


def refused() -> None:
    """Answer as a locked daemon does."""
    raise LockedError


@pytest.fixture
def watched(run: Run, fake: FakeDaemon, monkeypatch: pytest.MonkeyPatch) -> Watch:
    """Watch until the daemon has ended; return the lines between its state and its end."""

    def stop(_seconds: float) -> None:
        raise Interrupted

    monkeypatch.setattr("agent.cli.watch.sleep", stop)
    fake.handlers["status"] = says(UNTOLD)

    def watch(*events: tuple[EventKind, int | None], options: tuple[str, ...] = ()) -> list[str]:
        fake.handlers["events"] = happens(*events)
        ran = run("requests", "list", "--follow", *options)
        assert ran.code == 130
        assert ran.err.startswith("reticent: error: interrupted\n")
        assert ran.out.replace("\n", "").isprintable()
        _, *lines, last = ran.out.splitlines()
        assert "The daemon ended; waiting until it is back." in last
        return lines

    return watch


def test_an_answer_is_said_by_name_alone(watched: Watch) -> None:
    """Without values and query; each entry once, whichever event tells of it."""
    lines = watched(("answer", 1), ("forget", None), ("answer", 3))
    assert [line.partition(": ")[2] for line in lines] == [
        FIRST,
        "You marked weather.example as having forgotten everything.",
        "Sent to books.example: nothing.",
    ]
    assert all(line.startswith("2026-03-02 ") for line in lines)


def test_what_was_there_before_is_no_news(watched: Watch, fake: FakeDaemon) -> None:
    """Nor is what comes after asked for twice."""
    fake.handlers["status"] = says(changed(STATUS, entries=2))
    assert len(watched(("answer", 3), ("answer", 3))) == 1
    assert next(given for name, given in fake.calls if name == "ledger")["after"] == 2


def test_what_carried_nothing_is_said_once(watched: Watch, fake: FakeDaemon) -> None:
    """With the reason, and without the query; what came before is no news, nor what is repeated."""
    quiet = changed(REQUESTS[1], number=-3)
    before, later = changed(quiet, number=-2), changed(quiet, number=-5, code="answered", waiting=2)
    last = changed(quiet, number=-4, code="answered")
    fake.handlers["requests"] = says([REQUESTS[0], before, quiet, last, later])
    lines = watched(*(("nothing", number) for number in (-3, -4, -5)))
    assert [line.partition(": ")[2] for line in lines] == [
        "Sent nothing to books.example: one of your rules blocks it.",
        "Sent nothing to books.example: no fact helps enough to be worth sharing.",
        "Sent nothing to books.example: 2 facts wait for your approval.",
    ]
    assert [name for name, _ in fake.calls].count("requests") == 1
    [gone] = watched(("nothing", -6))
    assert gone.endswith(": A request carried nothing.")
    said = watched(("nothing", -3), options=("--json",))
    assert "tide" not in "".join(said)
    assert json.loads(said[0])["code"] == "blocked"


def test_what_waits_has_the_commands_that_settle_it(watched: Watch) -> None:
    """A review and an offer; then that one is settled."""
    ask, offer, gone = watched(("review", REVIEW.id), ("offer", OFFER.id), ("review", 9))
    assert "Send hobby and shoe_size to www.weather.example (and weather.example)? +0.12" in ask
    assert ask.endswith(": `reticent approve 3` or `reticent deny 3`.")
    assert "books.example asks for region: `reticent approve 4`" in offer
    assert gone.endswith("Nothing waits under 9 any more.")
    [said] = watched(("review", None))
    assert said.endswith(": Your decisions about facts have changed.")


def test_what_changes_is_said(watched: Watch, fake: FakeDaemon) -> None:
    """The policy with its problems, the lock, the models, the profile."""
    lines = watched(("policy", None), ("models", None), ("profile", None), ("lock", None))
    assert [line.partition(": ")[2] for line in lines] == [
        "The policy changed: 4 rules, no problems.",
        "The models changed: village: 4 attributes, 2 queries; comes with reticent.",
        "The profile changed.",
        "Unlocked: requests are answered.",
    ]
    broken = changed(POLICY, problems=["line 2: odd", HOSTILE])
    fake.handlers["status"] = says(changed(STATUS, policy=broken))
    assert (
        "has 2 problems, and the last good rules stay in use: line 2: odd; "
        in watched(("policy", None))[0]
    )
    fake.handlers["status"] = says(changed(STATUS, policy=changed(POLICY, in_use=False)))
    assert "No policy: nothing is attached" in watched(("policy", None))[0]


def test_a_locked_vault_ends_nothing(watched: Watch, fake: FakeDaemon) -> None:
    """It is said, and what comes next is said as well."""
    fake.handlers |= {"status": says(LOCKED), "ledger": lambda **_: refused(), "reviews": refused}
    fake.handlers["requests"] = lambda **_: refused()
    lines = watched(
        ("answer", 1), ("forget", None), ("review", 1), ("nothing", -1), ("profile", None)
    )
    assert all("the vault is locked: `reticent unlock`" in line for line in lines[:4])
    assert lines[4].endswith("The profile changed.")


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_nothing_steers_the_terminal(
    watched: Watch, fake: FakeDaemon, options: tuple[str, ...]
) -> None:
    """Whatever a name or a recipient is; an event stays one line."""
    entry = changed(ENTRIES[0], recipient=HOSTILE, disclosed={HOSTILE: "coast"})
    fake.handlers["ledger"] = says([entry])
    fake.handlers["reviews"] = says([changed(REVIEW, recipient=HOSTILE, names=[HOSTILE])])
    fake.handlers["requests"] = says([changed(REQUESTS[1], recipient=HOSTILE)])
    assert len(watched(("answer", 1), ("review", 3), ("nothing", -1), options=options)) == 3


def test_each_line_can_be_an_object(watched: Watch) -> None:
    """With the same, in parts, and no value or query of the user's."""
    lines = watched(("answer", 1), ("review", 3), ("lock", None), options=("--json",))
    first, *_, second, third = map(json.loads, lines)
    assert (first["event"], first["id"], first["recipient"]) == ("answer", 1, "weather.example")
    assert (first["disclosed"], first["unspecified"]) == (["region"], ["hobby"])
    assert (second["event"], second["id"], third["locked"]) == ("review", 3, False)
    assert "coast" not in "".join(lines)
    assert "query" not in second


def test_it_waits_for_the_daemon_and_says_so_once() -> None:
    """What was written meanwhile is said when it is back."""
    with short_folder() as folder, Client(folder / "s") as client, ExitStack() as later:
        handlers: dict[str, Any] = {"status": says(UNTOLD), "events": happens(("profile", None))}
        waits: list[None] = []

        def wait() -> None:
            waits.append(None)
            if len(waits) == 3:
                told = {"status": says(changed(STATUS, entries=3)), "ledger": says(ENTRIES)}
                later.enter_context(FakeDaemon(folder / "s", told))

        watching = Watcher(client, lambda: AT).watch(wait)
        with FakeDaemon(folder / "s", handlers):
            said = [next(watching) for _ in range(3)]
        said += [next(watching) for _ in range(4)]
    kinds = ["status", "profile", "ended", "status", "answer", "forget", "answer"]
    assert [each.kind for each in said] == kinds
    assert len(waits) == 3


def test_it_follows_a_real_daemon_until_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each line comes at once, through a pipe; then the daemon's end, and its own."""
    with living() as live:
        monkeypatch.setenv("RETICENT_HOME", str(live.paths.config.parent))
        with process(*START) as started, live.client() as client:
            assert started.stdout is not None
            assert "Unlocked: requests are answered." in started.stdout.readline()
            end = time.monotonic() + PATIENCE
            while not select.select([started.stdout], [], [], LOOK)[0]:
                assert time.monotonic() < end
                client.call("reload")  # until it listens
            client.call("decide", Ask(recipient="news.example", query="editor"))
            assert "Sent to news.example: " in until("example", started.stdout)
            client.call("decide", Ask(recipient="odd.example", query="what nobody knows"))
            assert "Sent nothing to odd.example: not recognised" in until("example", started.stdout)
            client.call("lock")
            assert "Locked: nothing is attached" in until("ocked", started.stdout)
            live.stop()
            assert "The daemon ended" in until("ended", started.stdout)
            started.send_signal(signal.SIGINT)
            _, err = started.communicate(timeout=PATIENCE)
    assert started.returncode == 130
    assert err.startswith("reticent: error: interrupted\n")
