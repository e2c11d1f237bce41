"""The file of an open vault replaced, removed or moved: nothing acknowledged is lost."""

import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from threading import Thread

import pytest

from agent.daemon.agent import assemble, now
from agent.daemon.events import Bus
from agent.errors import DamagedVaultError, ReplacedVaultError, VaultError
from agent.files import create_private, left_unfinished, private_folder
from agent.paths import Paths
from agent.vault.backup import restore
from agent.vault.database import snapshot
from agent.vault.vault import Vault, unlock
from agent.vault.vault_files import Location, read_notice, vaults_set_aside
from tests.vault.histories import record_at
from tests.vault.worlds import FAST, PASSPHRASE, TYPED, create, place

Deed = Callable[[Location, Path], object]
LATEST_SECONDS = 0.03
VALUE = b"what the user set"


def log_of(at: Location) -> Path:
    """Return the log beside a vault."""
    return at.vault.with_name("vault.db-wal")


def put_over(at: Location, old: Path) -> None:
    """Do what file sync and editors do: write beside, and rename."""
    copy = at.vault.with_name("sync.tmp")
    shutil.copyfile(old, copy)
    copy.replace(at.vault)


def moved_away(at: Location, _old: Path) -> None:
    """Give the folder another name."""
    at.vault.parent.rename(at.vault.parent.with_name("elsewhere"))


def all_moved(at: Location, old: Path) -> None:
    """Give every folder of ours another name."""
    moved_away(at, old)
    at.witness.parent.rename(at.witness.parent.with_name("elsewhere too"))


def overwritten(at: Location, old: Path) -> None:
    """Write an older vault into the file itself, as `cp` does."""
    shutil.copyfile(old, at.vault)


ELSEWHERE: dict[str, Deed] = {
    "replaced": put_over,
    "removed": lambda at, _old: at.vault.unlink(),
    "folder moved": moved_away,
    "all folders moved": all_moved,
    "folder removed": lambda at, _old: shutil.rmtree(at.vault.parent),
    "log removed": lambda at, _old: log_of(at).unlink(),
    "log replaced": lambda at, old: shutil.copyfile(old, at.vault.with_name("x")).replace(
        log_of(at)
    ),
}
IN_PLACE: dict[str, Deed] = {
    "overwritten": overwritten,
    "truncated": lambda at, _old: os.truncate(at.vault, 0),
    "cut": lambda at, _old: os.truncate(at.vault, 8192),
    "log truncated": lambda at, _old: os.truncate(log_of(at), 0),
}


@cache
def prepared() -> dict[str, bytes]:
    """Return the files of a vault with an item and some entries, and of a backup before these."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with create(place(folder), PASSPHRASE, FAST)[0] as vault:
            vault.items.put("mark", VALUE)
            vault.backup(folder / "old.db")
            for number in range(1, 40):
                vault.ledger.append(record_at(number))
        files = (path for path in folder.rglob("*") if path.is_file())
        return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def begun(folder: Path) -> tuple[Location, Path]:
    """Put that vault and its backup into a folder."""
    for name, data in prepared().items():
        private_folder((folder / name).parent)
        create_private(data, folder / name)
    return place(folder), folder / "old.db"


def appended(vault: Vault, until: float) -> int:
    """Append until that fails or it is time; return the last number that was acknowledged."""
    acknowledged = vault.ledger.count
    try:
        while time.perf_counter() < until:
            acknowledged = vault.ledger.append(record_at(acknowledged + 1))
    except ReplacedVaultError:
        with pytest.raises(VaultError):
            vault.ledger.append(record_at(acknowledged + 1))
    return acknowledged


def survived(folder: Path, deed: Deed, seconds: float) -> int:
    """Do something to a vault that is written to, restore what is set aside, and hold it to that.

    Returns how many entries were acknowledged.
    """
    at, old = begun(folder)
    vault = unlock(at, TYPED)

    def do() -> None:
        time.sleep(seconds)
        deed(at, old)

    meanwhile = Thread(target=do, daemon=True)
    meanwhile.start()
    acknowledged = appended(vault, time.perf_counter() + 2 * seconds)
    meanwhile.join(60)
    assert not meanwhile.is_alive()
    theirs = {path: path.read_bytes() for path in (at.vault, log_of(at)) if path.exists()}
    ours = vault.intact or deed in IN_PLACE.values()
    if deed in IN_PLACE.values():
        with suppress(DamagedVaultError):  # said once: then there is nothing to set aside
            vault.close()
    vault.close()
    notice = read_notice(at)
    if notice is None:
        assert deed in IN_PLACE.values()
        assert vaults_set_aside(at) == left_unfinished(at.vault) == []
        return acknowledged
    for path, before in theirs.items():  # but for our own log, which would be read into another's
        assert ours or not path.exists() or path.read_bytes() == before
    restore(at, Path(notice.file), TYPED)
    assert read_notice(at) is None
    assert vaults_set_aside(at) == []
    with unlock(at, TYPED) as vault:
        assert vault.ledger.count in (acknowledged, acknowledged + 1)  # written, and refused
        assert vault.items.get("mark") == VALUE
        expected = [record_at(number) for number in range(1, vault.ledger.count + 1)]
        assert [each.record for each in vault.ledger.read()] == expected
    return acknowledged


@pytest.mark.parametrize("name", [*ELSEWHERE, *IN_PLACE])
def test_nothing_that_was_acknowledged_is_lost(tmp_path: Path, name: str) -> None:
    """Whatever is done to the file under load: what is set aside opens, and has every entry.

    Where the open file itself is overwritten, that is said, and nothing is acknowledged any more.
    """
    survived(tmp_path, (ELSEWHERE | IN_PLACE)[name], LATEST_SECONDS / 2)


def test_the_notice_goes_where_a_vault_is_opened_that_has_everything(tmp_path: Path) -> None:
    """Else its hint would take back what came after; of an older one it stays."""
    at, old = begun(tmp_path)
    vault = unlock(at, TYPED)
    put_over(at, at.vault)
    vault.close()
    assert read_notice(at) is not None
    unlock(at, TYPED).close()
    assert read_notice(at) is None
    assert len(vaults_set_aside(at)) == 1
    vault = unlock(at, TYPED)
    put_over(at, old)
    vault.close()
    restore(at, old, TYPED)
    with unlock(at, TYPED) as vault:
        for number in range(1, 50):  # as many entries, and others
            vault.ledger.append(record_at(number + 1))
    unlock(at, TYPED).close()
    assert read_notice(at) is not None


def test_nothing_needs_the_folder_for_what_is_temporary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where that is full or gone, a vault is set aside all the same; others say what failed."""
    at, _ = begun(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    with pytest.raises(VaultError, match=r"none.*: no such file"), snapshot(at.vault):
        pass
    vault = unlock(at, TYPED)
    put_over(at, at.vault)
    vault.close()
    assert read_notice(at) is not None
    assert left_unfinished(at.vault) == []


def test_a_vault_that_cannot_be_set_aside_while_it_is_closed_stays_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where it is replaced only after it was looked at for the last time but one."""
    at, old = begun(tmp_path)
    vault = unlock(at, TYPED)
    agent = assemble(Paths(*[tmp_path / "home"] * 4), Bus(now), now())
    agent.vault = vault

    def sync() -> object:
        put_over(at, old)
        raise ReplacedVaultError("it was replaced", "")

    def fail(*_others: object) -> object:
        raise ReplacedVaultError("it could not be set aside", "")

    with monkeypatch.context() as patched:
        patched.setattr(vault._store, "sync", sync)  # noqa: SLF001  (no other moment is as late)
        patched.setattr("agent.vault.vault.set_aside", fail)
        with pytest.raises(ReplacedVaultError, match="could not be set aside"):
            agent.lock()
    kept = [agent.vault]
    agent.lock()
    assert [*kept, agent.vault] == [vault, None]
    assert read_notice(at) is not None


def test_a_backup_that_was_restored_meanwhile_keeps_its_witness(tmp_path: Path) -> None:
    """It could not be unlocked otherwise."""
    at, old = begun(tmp_path)
    vault = unlock(at, TYPED)
    at.vault.rename(at.vault.with_name("moved"))
    log_of(at).rename(at.vault.with_name("moved-wal"))
    restore(at, old, TYPED)
    vault.close()
    assert read_notice(at) is not None
    unlock(at, TYPED).close()


@pytest.mark.soak
def test_two_hundred_times_nothing_is_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """At instants drawn at random; the counts are printed."""
    rng = random.Random(7)  # noqa: S311  (instants that can be drawn again)
    rounds, acknowledged = Counter[str](), 0
    for number in range(200):
        name = rng.choice([*ELSEWHERE, *IN_PLACE])
        folder = tmp_path / str(number)
        folder.mkdir()
        deed = (ELSEWHERE | IN_PLACE)[name]
        acknowledged += survived(folder, deed, rng.uniform(0, LATEST_SECONDS))
        rounds[name] += 1
        shutil.rmtree(folder)
    with capsys.disabled():
        sys.stdout.write(f"\n{dict(rounds)}: {acknowledged} acknowledged, 0 lost\n")
