"""What a whole daemon owes to those it answered, whatever happens to it and to its policy."""

import asyncio
import io
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import (
    AbstractContextManager,
    contextmanager,
    nullcontext,
    redirect_stderr,
    redirect_stdout,
)
from hashlib import sha256
from itertools import count
from pathlib import Path
from random import Random

import pytest

from agent.cli.main import outcome
from agent.daemon.installed_files import COPIES
from agent.errors import VaultError
from agent.model.attributes import UNSPECIFIED
from agent.paths import HOME, Paths
from agent.vault.ledger import Disclosure
from agent.vault.vault import unlock
from agent.vault.vault_files import Location, set_aside_notice, vaults_set_aside
from agent.wire.decide import Answer, Ask
from agent.wire.routes import QUERY
from tests.cli.conftest import Ran
from tests.vault.test_database import ELSEWHERE
from tests.vault.worlds import PASSPHRASE, TYPED
from tests.waiting import until
from tests.worlds.daemons import (
    OPEN,
    PATIENCE,
    QUERIES,
    SIMPLE,
    Crowd,
    Live,
    home,
    living,
    started,
)

ENDS = [
    *(("kill", 1), ("terminate", 1)),
    pytest.param("kill", 200, marks=pytest.mark.soak),
    pytest.param("terminate", 100, marks=pytest.mark.soak),
]
CLIENTS = 8
FEWEST, MOST = 2 * CLIENTS, 10 * CLIENTS  # questions after the first, until a daemon is ended
ENDLESS = 10_000  # questions of each client: more than anybody answers until then
MANY, EACH = 100, [4, pytest.param(100, marks=pytest.mark.soak)]  # clients, requests of each
SITES = 40
ROUNDS = 5  # of a quarter each: two to settle, and three in which nothing may grow
FEW = 8  # sites, soon asked more often than is remembered of each: then their plans stay
GROWTH = 8.0  # MiB: arenas of the allocator; the facts of a ledger are those of its sites

Say = Callable[[str], None]


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Say:
    """Return what prints a line whether or not pytest keeps the others."""

    def said(text: str) -> None:
        with capsys.disabled():
            sys.stdout.write(f"\n{text}\n")

    return said


async def asked(crowd: Crowd, end: Callable[[], object], rng: Random) -> None:
    """Let clients ask without end, recipients new and old, and end the daemon meanwhile.

    Before that it answers once: what it reads for its first decision takes as long as the rest. It
    is ended by the number of questions, so that a busy machine has answered as many as any other.
    """
    await crowd.ask(1, len(QUERIES), lambda *_: "s.example")
    questions, last = count(1), rng.randint(FEWEST, MOST)

    def somewhere(*_: object) -> str:
        if next(questions) == last:
            end()
        return f"s{rng.choice([rng.randrange(SITES), rng.random()])}.example"

    await crowd.ask(CLIENTS, ENDLESS, somewhere)


def lost(places: Paths, crowd: Crowd) -> list[int]:
    """Return the numbers of what somebody was told and the vault does not have so."""
    with unlock(Location.of(places), TYPED) as vault:
        assert vault.notes == ()
        found = dict(vault.ledger.read())
    return [
        number
        for number, told in crowd.told.items()
        if not isinstance(record := found.get(number), Disclosure)
        or {name: value for name, value in record.disclosed if value != UNSPECIFIED} != told
    ]


@pytest.mark.parametrize(("how", "times"), ENDS)
def test_no_end_costs_anything_that_was_answered(say: Say, how: str, times: int) -> None:
    """By a kill or a signal, at any instant, under load; the next daemon starts over what is left.

    After a signal it ends by itself, without an error, and takes its sockets with it. Beyond what
    was answered the ledger has at most what each client was about to be told.
    """
    rng = Random(4)  # noqa: S311  (instants that can be drawn again)
    with home() as places:
        crowd = Crowd(places.control, SIMPLE)
        for end in range(times):
            with started(places) as live:
                live.unlock()
                count = live.status().entries or 0
                assert max(crowd.told, default=0) <= count <= len(crowd.told) + CLIENTS * end
                asyncio.run(asked(crowd, getattr(live.process, how), rng))
                assert how == "kill" or live.process.wait(PATIENCE) == 0
                live.process.wait(PATIENCE)
            assert places.query.exists() == places.control.exists() == (how == "kill")
        log, gone = places.log.read_text(), lost(places, crowd)
    say(f"{times} times {how}, {len(crowd.told)} answers, {len(gone)} lost")
    assert gone == []
    assert how == "terminate" or (crowd.other, crowd.cut) == ([], times * CLIENTS)
    assert how == "kill" or "failed" not in log
    assert len(crowd.told) > times * CLIENTS


@pytest.mark.parametrize("each", EACH)
def test_many_clients_at_once(say: Say, each: int) -> None:
    """No error, no entry lost, and no more memory once a while has passed."""
    with home() as places:
        crowd, resident = Crowd(places.control), []
        with started(places) as live:
            live.unlock()
            for _ in range(ROUNDS):
                asyncio.run(
                    crowd.ask(MANY, each // 4, lambda client, _: f"s{client % FEW}.example")
                )
                resident.append(live.resident())
            count = live.status().entries
            assert live.stop() == 0
        gone = lost(places, crowd)
    _, first, *_, last = resident
    say(
        f"{crowd.answers} requests of {MANY} clients, {len(crowd.other) + crowd.cut} errors, "
        f"{len(crowd.told)} with attributes, {count} entries, {len(gone)} lost, "
        f"{first:.1f} MiB after two rounds, {last:.1f} in the end"
    )
    assert (crowd.answers, crowd.other, crowd.cut) == (MANY * each // 4 * ROUNDS, [], 0)
    assert count == len(crowd.told) > 0.9 * crowd.answers  # a few carry nothing
    assert gone == []
    assert last - first < GROWTH


ASKED = 40
LOOKS = (
    ("status",),
    ("doctor",),
    ("requests", "list"),
    ("vault", "key", "list"),
    ("vault", "backup", "{}/copy.db"),
    ("vault", "restore", "--check", "{}/saved.db"),
)


def answers_of(live: Live, begin: int, many: int) -> list[Answer]:
    with live.client(QUERY) as client:
        return [
            client.call("decide", Ask(query=QUERIES[0], recipient=f"s{number}.example"))
            for number in range(begin, begin + many)
        ]


def run(places: Paths, *words: str) -> Ran:
    """Run a command in this process; the passphrase is at its input."""
    said, wrong = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(said), redirect_stderr(wrong):
        patch.setenv(HOME, str(places.config.parent))
        patch.setenv("COLUMNS", "1000")
        patch.setattr("sys.stdin", io.StringIO(f"{PASSPHRASE}\n"))
        code = outcome([*words])
    return Ran(code, said.getvalue(), wrong.getvalue())


@pytest.mark.parametrize("name", ["replaced", "folder moved"])
def test_nothing_that_was_answered_is_lost_and_everybody_says_so(tmp_path: Path, name: str) -> None:
    """From the next request on nothing is attached; what was set aside has every answer."""
    deed = ELSEWHERE[name]
    with living() as live:
        at, old = Location.of(live.paths), tmp_path / "old.db"
        shutil.copyfile(at.vault, old)
        told = answers_of(live, 0, ASKED)
        assert {each.code for each in told} == {"answered"}
        deed(at, old)
        assert {each.code for each in answers_of(live, ASKED, 3)} <= {"failed", "locked"}
        status, notice = live.status(), set_aside_notice(at)
        assert status.locked
        assert notice is not None
        (aside,) = map(str, vaults_set_aside(at))
        assert status.notice == ": ".join(notice)
        for words in ("ask x.example editor", "requests list", "status", "doctor"):
            ran = run(live.paths, *words.split())
            assert notice[0] in " ".join((ran.out + ran.err).casefold().split())
            assert aside in ran.out + ran.err
        with live.client() as client, pytest.raises(VaultError) as caught:
            client.call("unlock", OPEN)
        assert caught.value.hint == notice[1]
        assert run(live.paths, "vault", "restore", aside).code == 0
        live.unlock()
        assert live.status().notice is None
        assert answers_of(live, 0, ASKED)[0].code == "answered"
        live.stop()
        with unlock(at, TYPED) as vault:
            entries = dict(vault.ledger.read())
        assert {each.id for each in told if each.id} <= entries.keys()


def seen(places: Paths) -> dict[str, tuple[str, int, int]]:
    """Return of each file what is in it, when it was written, and who may read it."""
    found = {}
    for path in sorted(places.config.parent.rglob("*")):
        if path.is_file() and path.name != COPIES:  # where `vault backup` wrote
            status = path.stat()
            digest = sha256(path.read_bytes()).hexdigest()
            found[str(path)] = (digest, status.st_mtime_ns, status.st_mode)
    return found


@contextmanager
def killed(places: Paths) -> Iterator[None]:
    """No daemon any more, and what it wrote last in the log."""
    with started(places) as live:
        live.unlock()
        answers_of(live, 0, ASKED)
        live.kill()
    assert places.vault.with_name("vault.db-wal").stat().st_size
    yield


@contextmanager
def in_use(places: Paths) -> Iterator[None]:
    """A daemon that has the vault open, and has written into its log, and then the witness."""
    with started(places) as live:
        live.unlock()
        answers_of(live, 0, ASKED)
        until(lambda: f'"entries":{ASKED},' in places.witness.read_text())
        yield


@contextmanager
def locked(places: Paths) -> Iterator[None]:
    """A daemon, and a vault that is closed."""
    with started(places):
        yield


@pytest.mark.parametrize(
    "state",
    [killed, in_use, *(pytest.param(s, marks=pytest.mark.soak) for s in (locked, nullcontext))],
)
def test_looking_changes_nothing(
    tmp_path: Path, state: Callable[[Paths], AbstractContextManager[None]]
) -> None:
    """Not a byte, not a time, not a file more or less; whatever state the vault is in."""
    with home() as places:
        with unlock(Location.of(places), TYPED) as vault:
            vault.backup(tmp_path / "saved.db")
        with state(places):
            before = seen(places), (tmp_path / "saved.db").read_bytes()
            for words in LOOKS:
                ran = run(places, *[each.format(tmp_path) for each in words])
                assert ran.code == 0 or words[1:2] not in (("backup",), ("restore",)), ran.err
                assert (words, seen(places)) == (words, before[0])
            assert (tmp_path / "saved.db").read_bytes() == before[1]
        copied = Location(tmp_path / "copy.db", tmp_path / "witness.json")
        with unlock(copied, TYPED) as copy, unlock(Location.of(places), TYPED) as vault:
            assert copy.ledger.read() == vault.ledger.read()
