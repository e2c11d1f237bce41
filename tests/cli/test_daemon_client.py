"""The way to the daemon: where it is not to be found, and what commands make of what it says."""

import fcntl
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from agent.cli.daemon_client import running
from agent.errors import UsageError
from agent.paths import paths
from agent.wire.decide import Allowed
from agent.wire.routes import SEE
from tests.cli.conftest import Run, process
from tests.cli.daemon import ANSWERS, HOSTILE, LONG, steering
from tests.cli.policing import REGION
from tests.wire.fake import FakeDaemon, says

WAITING = [sys.executable, "-c", "import sys; print(flush=True); sys.stdin.read()"]

# Commands, the route whose answer each shows, and the key it has in the object, where not alone.
SHOWN: dict[tuple[str, ...], tuple[str, str | None]] = {
    ("ask", "a.example", "weather"): ("decide", None),
    ("ask", "a.example", "weather", "--explain"): ("explain", None),
    ("lock",): ("lock", None),
    ("model", "list"): ("models", "models"),
    ("policy", "block", "a.example"): ("refuse", None),
    ("policy", "block", "a.example", "--undo"): ("allow", None),
    ("profile", "set", "region="): ("change_profile", None),
    ("approve", "3"): ("verdict", None),
    ("requests", "forget", "weather.example", "--yes"): ("forget", None),
    ("requests", "recipients", "a.example"): ("knowledge", None),
    ("requests", "list"): ("requests", "requests"),
    ("requests", "list", "--waiting"): ("reviews", "waiting"),
    ("requests", "recipients"): ("recipients", "recipients"),
    ("requests", "undo"): ("undo", None),
    ("status",): ("status", None),
    ("unlock",): ("status", None),
}
SAID = {**ANSWERS, "allow": Allowed(rule="mine"), "attributes": [REGION]}
WITH = ("ask", "a.example", "weather", "--explain", "--with", "hobby")
PAGES = [
    *SHOWN,
    ("profile", "show", "--reveal"),
    ("requests", "ledger"),
    ("requests", "list", "--explain"),
    WITH,
]


@pytest.fixture
def lock(home: Path) -> Path:
    """The daemon's lock, which is not there yet."""
    assert home.is_dir()
    paths().daemon_lock.parent.mkdir(parents=True)
    return paths().daemon_lock


@pytest.fixture(params=["daemon", "editor"])
def waiting(request: pytest.FixtureRequest) -> Iterator[tuple[str, int]]:
    """A process that waits, and what it is called."""
    with process(*WAITING, request.param) as started:
        assert started.stdout is not None
        started.stdout.readline()  # before, it may have no words yet
        yield request.param, started.pid


def test_a_daemon_that_listens_elsewhere_is_named(
    run: Run, lock: Path, waiting: tuple[str, int]
) -> None:
    """Where the id is another program's meanwhile, no daemon runs."""
    name, number = waiting
    lock.write_text(f"{number}\n")
    error, hint = run("status").refusal(code=1)
    if name == "daemon" or not Path("/proc/self/cmdline").exists():
        place = paths().control
        assert error == f"the daemon runs as process {number}, but does not listen at {place}"
        assert "XDG_RUNTIME_DIR" in hint
        assert f"`kill {number}`" in hint
    else:
        assert error == "the daemon is not running"


@pytest.mark.parametrize("text", ["", "\n", "0", "-1", "x", "1" * 30, "9" * 18])
def test_a_lock_that_names_nobody_is_passed_over(lock: Path, text: str) -> None:
    """As one that is not there."""
    assert running(lock) is None
    lock.write_text(text)
    assert running(lock) is None


def test_looking_does_not_take_the_lock(lock: Path, waiting: tuple[str, int]) -> None:
    """Whoever holds it holds it still, and whoever comes next can take it."""
    lock.write_text(f"{waiting[1]}\n")
    with lock.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        found = running(lock)
    with lock.open() as taken:
        assert running(lock) == found
        fcntl.flock(taken, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_what_the_daemon_says_is_passed_on(run: Run, lock: Path, fake: FakeDaemon) -> None:
    """A lock with an id in it changes nothing where the daemon answers."""
    lock.write_text("1\n")
    assert run("status").code == 0
    del fake.handlers["status"]
    assert run("status").refusal()[0] == "there is no such call"


def test_a_person_is_not_sent_to_the_document_for_programs(run: Run, fake: FakeDaemon) -> None:
    """What is wrong is said by the daemon, and the command says what it takes."""

    def refuse(**_given: object) -> None:
        raise UsageError("recipient has over 2,048 characters", SEE)

    fake.handlers["knowledge"] = refuse
    error, hint = run("requests", "recipients", "a.example").refusal()
    assert error == "recipient has over 2,048 characters"
    assert hint == "see what the command takes, with --help"


def test_the_object_is_the_message(run: Run, fake: FakeDaemon) -> None:
    """As openapi.json describes it."""
    fake.handlers |= {route: says(SAID[route]) for route, _ in SHOWN.values()}
    for command, (route, key) in SHOWN.items():
        message = msgspec.json.decode(msgspec.json.encode(SAID[route]))
        shown = run(*command, "--json").record
        assert shown == (message if key is None else {key: message}), command


def test_nothing_that_the_daemon_says_steers_the_terminal(run: Run, fake: FakeDaemon) -> None:
    """Names of sites, queries and rules may come from anywhere; a long one fits in 80 columns."""
    for text in (HOSTILE, LONG[:40]):
        fake.handlers |= {name: says(steering(message, text)) for name, message in SAID.items()}
        for command in PAGES:
            ran = run(*command)
            assert (ran.out + ran.err).replace("\n", "").isprintable(), command
            assert max(map(len, ran.out.splitlines())) <= 80, command
