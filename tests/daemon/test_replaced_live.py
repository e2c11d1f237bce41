"""A vault that is replaced under a running daemon, and looks at one that change nothing of it."""

import io
import shutil
from collections.abc import Callable, Iterator
from contextlib import (
    AbstractContextManager,
    contextmanager,
    nullcontext,
    redirect_stderr,
    redirect_stdout,
)
from hashlib import sha256
from pathlib import Path

import pytest

from agent.cli.main import outcome
from agent.errors import VaultError
from agent.paths import HOME, Paths
from agent.vault.backup import check_closed, restore
from agent.vault.vault import unlock
from agent.vault.vault_files import Location, set_aside_notice, vaults_set_aside
from agent.wire.decide import Answer, Ask
from agent.wire.routes import QUERY
from tests.cli.conftest import Ran
from tests.vault.test_database import ELSEWHERE
from tests.vault.worlds import PASSPHRASE, TYPED
from tests.worlds.daemons import OPEN, QUERIES, Live, home, living, started

ASKED = 40
LOOKS = (
    ("status",),
    ("doctor",),
    ("requests", "ledger"),
    ("requests",),
    ("vault", "key", "list"),
    ("vault", "backup", "{}/copy.db"),
    ("vault", "restore", "--check", "{}/saved.db"),
)


def asked(live: Live, begin: int, many: int) -> list[Answer]:
    """Ask in the name of as many sites."""
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
        told = asked(live, 0, ASKED)
        assert {each.code for each in told} == {"answered"}
        deed(at, old)
        assert {each.code for each in asked(live, ASKED, 3)} <= {"failed", "locked"}
        status, notice = live.status(), set_aside_notice(at)
        assert status.locked
        assert notice is not None
        (aside,) = map(str, vaults_set_aside(at))
        assert status.notice == ": ".join(notice)
        for words in (
            ("ask", "x.example", QUERIES[0]),
            ("requests", "ledger"),
            ("status",),
            ("doctor",),
        ):
            ran = run(live.paths, *words)
            assert notice[0] in " ".join((ran.out + ran.err).casefold().split())
            assert aside in ran.out + ran.err
        with live.client() as client, pytest.raises(VaultError) as caught:
            client.call("unlock", OPEN)
        assert caught.value.hint == notice[1]
        assert run(live.paths, "vault", "restore", aside).code == 0
        live.unlock()
        assert live.status().notice is None
        assert asked(live, 0, ASKED)[0].code == "answered"
        live.stop()
        with unlock(at, TYPED) as vault:
            entries = dict(vault.ledger.read())
        assert {each.id for each in told if each.id} <= entries.keys()


def test_it_is_noticed_while_nobody_asks(tmp_path: Path) -> None:
    """As soon as somebody wants to know how the daemon is."""
    with living() as live:
        shutil.copyfile(live.paths.vault, tmp_path / "old.db")
        ELSEWHERE["removed"](Location.of(live.paths), tmp_path / "old.db")
        assert live.status().locked
        assert live.status().notice is not None


def stuck(live: Live, empty: Path) -> Location:
    """Take the vault away, and put a file where it would be set aside; return where it was."""
    at, state = Location.of(live.paths), live.paths.state
    ELSEWHERE["folder removed"](at, empty)
    state.rename(state.with_name("elsewhere"))
    state.write_bytes(b"in the way")
    return at


def test_where_nothing_can_be_written_it_is_kept_in_memory(tmp_path: Path) -> None:
    """Nothing is answered, and it neither locks nor stops; once it can be written, it is."""
    with living() as live:
        told = asked(live, 0, ASKED)
        at, state = stuck(live, tmp_path), live.paths.state
        assert asked(live, ASKED, 1)[0].code == "failed"
        assert any("could not be set aside" in each for each in live.status().notes)
        for call in ("lock", "shutdown"):
            with live.client() as client, pytest.raises(VaultError, match="could not be set aside"):
                client.call(call)
        assert not live.status().locked
        state.unlink()
        state.with_name("elsewhere").rename(state)
        assert live.status().locked
        (aside,) = vaults_set_aside(at)
        with unlock(Location(aside, tmp_path / "witness.json"), TYPED) as vault:
            assert vault.ledger.count == len(told)


def seen(places: Paths) -> dict[str, tuple[str, int, int]]:
    """Return of each file what is in it, when it was written, and who may read it."""
    found = {}
    for path in sorted(places.config.parent.rglob("*")):
        if path.is_file():
            status = path.stat()
            digest = sha256(path.read_bytes()).hexdigest()
            found[str(path)] = (digest, status.st_mtime_ns, status.st_mode)
    return found


@contextmanager
def killed(places: Paths) -> Iterator[None]:
    """No daemon any more, and what it wrote last in the log."""
    with started(places) as live:
        live.unlock()
        asked(live, 0, ASKED)
        live.kill()
    assert places.vault.with_name("vault.db-wal").stat().st_size
    yield


@contextmanager
def in_use(places: Paths) -> Iterator[None]:
    """A daemon that has the vault open, and writes into its log."""
    with started(places) as live:
        live.unlock()
        asked(live, 0, ASKED)
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


def test_the_log_of_another_file_is_damage(tmp_path: Path) -> None:
    """An old copy that was put beside the log of a killed daemon is not called whole."""
    with home() as places:
        at = Location.of(places)
        with started(places) as live:
            live.unlock()
            shutil.copyfile(at.vault, tmp_path / "old.db")
            asked(live, 0, 4 * ASKED)
            live.stop()
        with killed(places):
            check_closed(at)
            ELSEWHERE["replaced"](at, tmp_path / "old.db")
            at.vault.chmod(0o600)
            before = seen(places)
            with pytest.raises(VaultError, match=r"damaged|older"):
                check_closed(at)
            with pytest.raises(VaultError, match=r"damaged|older"):
                unlock(at, TYPED)
            assert seen(places) == before
            restore(at, tmp_path / "old.db", TYPED)
