"""`reticent requests list --follow`: a sentence in each line, from a daemon that comes and goes."""

import json
import select
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from agent.cli.interrupt import Interrupted
from agent.cli.requests import Watcher
from agent.errors import LockedError
from agent.wire.client import Client
from agent.wire.decide import Ask
from agent.wire.state import Entry, Event, EventKind
from tests.cli.conftest import Run, process
from tests.cli.daemon import AT, HOSTILE, LOCKED, OFFER, POLICY, REQUESTS, REVIEW, STATUS, changed
from tests.cli.test_main import START
from tests.waiting import PATIENCE
from tests.wire.fake import FakeDaemon, says, short_folder
from tests.worlds.daemons import LOOK, living

SENT_TWO = (
    "Sent 2 facts to www.weather.example: region and hobby; about 20 people still look like you."
)
Watch = Callable[..., list[str]]
SENT, SILENT, _ = REQUESTS


def happens(*events: tuple[EventKind, int | None]) -> Callable[[], Iterator[Event]]:
    """Return a handler that says what happens, then ends."""
    numbered = enumerate(events, 1)
    told = [Event(number=number, kind=kind, at=AT, id=id_) for number, (kind, id_) in numbered]
    return lambda: iter(told)


def until(word: str, lines: Iterable[str]) -> str:
    """Return the next line with a word in it."""
    return next(line for line in lines if word in line)


def refused(**_given: object) -> None:
    """Answer as a locked daemon does."""
    raise LockedError


@pytest.fixture
def watched(run: Run, fake: FakeDaemon, monkeypatch: pytest.MonkeyPatch) -> Watch:
    """Watch until the daemon has ended; return the lines between its state and its end."""

    def stop(_seconds: float) -> None:
        raise Interrupted

    monkeypatch.setattr("agent.cli.requests.sleep", stop)

    def watch(
        *events: tuple[EventKind, int | None],
        options: tuple[str, ...] = (),
        handled: list[Entry] = REQUESTS,
        before: list[Entry] | None = None,
    ) -> list[str]:
        def begin() -> Iterator[Event]:
            fake.handlers["requests"] = says(handled)
            return happens(*events)()

        # As long as it is locked, nothing is known of before.
        fake.handlers["requests"] = refused if before is None else says(before)
        fake.handlers["events"] = begin
        ran = run("requests", "list", "--follow", *options)
        assert ran.code == 130
        assert ran.err.startswith("reticent: error: interrupted\n")
        assert ran.out.replace("\n", "").isprintable()
        _, *lines, last = ran.out.splitlines()
        assert "The daemon ended; waiting until it is back." in last
        return lines

    return watch


def test_what_was_handled_is_said_once(watched: Watch) -> None:
    """By name alone, without values and query, whichever event tells of it."""
    lines = watched(("nothing", -1), ("answer", 1), ("answer", 1), before=[])
    assert [line.partition(": ")[2] for line in lines] == [
        SENT_TWO,
        "Sent nothing to books.example: one of your rules blocks it.",
        "You marked weather.example as having forgotten everything.",
    ]
    assert all(line.startswith("2026-03-02 ") for line in lines)
    assert "tide" not in "".join(lines)
    assert watched(("answer", 1), ("nothing", -1), before=REQUESTS) == []
    quiet = [changed(SILENT, number=-3), changed(SILENT, number=-2)]
    assert len(watched(("nothing", -3), handled=quiet)) == 1  # the other was there before


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
    problems = "has 2 problems, and the last good rules stay in use: line 2: odd; "
    assert problems in watched(("policy", None))[0]
    fake.handlers["status"] = says(changed(STATUS, policy=changed(POLICY, in_use=False)))
    assert "No policy: nothing is attached" in watched(("policy", None))[0]


def test_a_locked_vault_ends_nothing(
    watched: Watch, fake: FakeDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is said, and what comes next is said as well."""
    fake.handlers |= {"status": says(LOCKED), "reviews": refused}
    monkeypatch.setattr("tests.cli.test_watch.says", lambda _handled: refused)
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
    fake.handlers["reviews"] = says([changed(REVIEW, recipient=HOSTILE, names=[HOSTILE])])
    odd = [changed(SENT, recipient=HOSTILE, disclosed=[HOSTILE])]
    assert len(watched(("answer", 1), ("review", 3), options=options, handled=odd)) == 2


def test_each_line_can_be_an_object(watched: Watch) -> None:
    """With the same message, and no value or query of the user's."""
    events = ("answer", 1), ("review", 3), ("lock", None)
    lines = watched(*events, options=("--json",), before=[])
    *handled, review, lock = map(json.loads, lines)
    assert [each["event"] for each in handled] == ["answer", "nothing", "forget"]
    assert handled[0]["about"]["disclosed"] == ["region", "hobby"]
    assert (review["event"], review["about"]["id"]) == ("review", 3)
    assert lock["about"]["locked"] is False
    assert "query" not in "".join(lines)


def test_it_waits_for_the_daemon_and_says_so_once() -> None:
    """What was written meanwhile is said when it is back."""
    with short_folder() as folder, Client(folder / "s") as client, ExitStack() as later:
        requests = says([changed(SENT, number=7)])
        handlers: dict[str, Any] = {"status": says(STATUS), "events": happens(("profile", None))}
        waits: list[None] = []

        def wait() -> None:
            waits.append(None)
            if len(waits) == 3:
                news = [changed(SENT, number=number) for number in (7, 8, 9)]
                told = {"status": says(STATUS), "requests": says(news)}
                later.enter_context(FakeDaemon(folder / "s", told))

        watching = Watcher(client, lambda: AT).watch(wait)
        with FakeDaemon(folder / "s", handlers | {"requests": requests}):
            said = [next(watching) for _ in range(3)]
        said += [next(watching) for _ in range(3)]
    kinds = ["status", "profile", "ended", "status", "answer", "answer"]
    assert [each.kind for each in said] == kinds
    assert len(waits) == 3


def test_it_follows_a_real_daemon_until_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each line comes at once, through a pipe; then the daemon's end, and its own."""
    with living() as live:
        monkeypatch.setenv("RETICENT_HOME", str(live.paths.config.parent))
        command = [*START, "requests", "list", "--follow"]
        with process(*command) as started, live.client() as client:
            assert started.stdout is not None
            assert "Unlocked: requests are answered." in started.stdout.readline()
            end = time.monotonic() + PATIENCE
            while not select.select([started.stdout], [], [], LOOK)[0]:
                assert time.monotonic() < end
                client.call("reload")  # until it listens
            client.call("decide", Ask(recipient="news.example", query="editor"))
            assert " facts to news.example: " in until("example", started.stdout)
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
