"""The file of an open vault replaced, removed, moved or damaged: nothing acknowledged is lost."""

import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given

from agent.daemon.agent import assemble, now
from agent.daemon.events import Bus
from agent.errors import ReplacedVaultError, VaultError
from agent.files import create_private, left_unfinished, private_folder
from agent.paths import Paths
from agent.vault import making
from agent.vault.backup import restore
from agent.vault.connection import damaged, snapshot
from agent.vault.disclosure_index import Record
from agent.vault.vault import Vault, unlock
from agent.vault.vault_files import Location, read_notice, vaults_set_aside
from tests.vault.doubles import ledger_of
from tests.vault.histories import histories, holdings, record_at
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


def survived(folder: Path, deed: Deed, seconds: float) -> tuple[int, int]:
    """Do something to a vault that is written to, restore what is set aside, and hold it to that.

    Returns how many entries were acknowledged, and how many of them could not be read again.
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
    vault.close()
    notice = read_notice(at)
    assert notice is not None
    for path, before in theirs.items():  # but for our own log, which would be read into another's
        assert ours or not path.exists() or path.read_bytes() == before
    restore(at, Path(notice.file), TYPED)
    assert read_notice(at) is None
    assert vaults_set_aside(at) == []
    with unlock(at, TYPED) as vault:
        assert vault.ledger.count in (acknowledged, acknowledged + 1)  # written, and refused
        assert vault.items.get("mark") == VALUE
        expected = [record_at(number) for number in range(1, vault.ledger.count + 1)]
        again = ledger_of(expected)
        assert holdings(vault.ledger.disclosures) == holdings(again.disclosures)
        found = [each.record for each in vault.ledger.read()]
        differing = sum(one != other for one, other in zip(found, expected, strict=True))
        assert differing <= notice.lost
    return acknowledged, notice.lost


@pytest.mark.parametrize("name", [*ELSEWHERE, *IN_PLACE])
def test_nothing_that_was_acknowledged_is_lost(tmp_path: Path, name: str) -> None:
    """Whatever is done to the file under load: what is set aside opens, and has every entry."""
    deed = (ELSEWHERE | IN_PLACE)[name]
    _, lost = survived(tmp_path, deed, LATEST_SECONDS / 2)
    assert name in IN_PLACE or not lost


def test_a_log_that_is_cut_off_past_what_is_at_hand_costs_parts_of_entries(tmp_path: Path) -> None:
    """A page that no memory has any more fails to be read, and is no reason to give up."""
    at, _ = begun(tmp_path)
    vault = unlock(at, TYPED)
    vault._store.database.rows("PRAGMA cache_size=1")  # noqa: SLF001  (9,000 entries would do, too)
    last = [vault.ledger.append(record_at(number)) for number in range(40, 200)][-1]
    os.truncate(log_of(at), 0)
    vault.close()
    notice = read_notice(at)
    assert notice is not None
    assert (notice.seen.entries, notice.lost > 0) == (last, True)
    restore(at, Path(notice.file), TYPED)
    with unlock(at, TYPED) as vault:
        assert (vault.ledger.count, vault.items.get("mark")) == (last, VALUE)


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


def test_a_copy_stays_until_it_is_verified_or_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One in each folder, however often that is tried; what is written anew is verified, too."""
    at, _ = begun(tmp_path)
    vault = unlock(at, TYPED)
    put_over(at, at.vault)
    verified: list[Path] = []

    def verify(file: Path, *_others: object, **_more: object) -> None:
        verified.append(file)
        raise damaged("it is not whole")

    with monkeypatch.context() as patched:
        patched.setattr(making, "_verify", verify)
        for _ in range(2):
            with pytest.raises(ReplacedVaultError, match="could not be set aside"):
                vault.close()
    assert len(verified) > len(set(verified))
    assert (len(vaults_set_aside(at)), left_unfinished(at.vault), read_notice(at)) == (2, [], None)
    vault.close()
    notice = read_notice(at)
    assert notice is not None
    assert vaults_set_aside(at) == [Path(notice.file)]
    assert notice.lost == 0


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


def test_a_vault_of_which_only_the_time_was_changed_opens_by_itself(tmp_path: Path) -> None:
    """It is set aside, since somebody may have written to it; its own log stays."""
    at, _ = begun(tmp_path)
    vault = unlock(at, TYPED)
    last = vault.ledger.append(record_at(40))
    os.utime(at.vault, (1, 1))
    vault.close()
    assert read_notice(at) is not None
    with unlock(at, TYPED) as vault:
        assert vault.ledger.count == last
    assert read_notice(at) is None


@pytest.mark.soak
def test_two_hundred_times_nothing_is_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """At instants drawn at random; the counts are printed."""
    rng = random.Random(7)  # noqa: S311  (instants that can be drawn again)
    rounds, acknowledged, lost = Counter[str](), 0, 0
    for number in range(200):
        name = rng.choice([*ELSEWHERE, *IN_PLACE])
        folder = tmp_path / str(number)
        folder.mkdir()
        deed = (ELSEWHERE | IN_PLACE)[name]
        entries, unread = survived(folder, deed, rng.uniform(0, LATEST_SECONDS))
        assert name in IN_PLACE or not unread
        rounds[name] += 1
        acknowledged, lost = acknowledged + entries, lost + unread
        shutil.rmtree(folder)
    with capsys.disabled():
        sys.stdout.write(f"\n{dict(rounds)}: {acknowledged} acknowledged, 0 lost, {lost} in part\n")


@given(histories())
def test_what_memory_has_of_a_ledger_is_all_that_matters(records: list[Record]) -> None:
    """Knowledge, plans and the overview are the same, whatever the groups are."""
    ledger = ledger_of(records)
    again = ledger_of(ledger.remembered().values())
    assert again.count == ledger.count
    assert holdings(again.disclosures) == holdings(ledger.disclosures)
    assert [*again.disclosures.steps] == [*ledger.disclosures.steps]
    assert again.remembered() == ledger.remembered()
