"""Backups are whole, and restored whole or not at all."""

import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import copyfile
from types import ModuleType

import msgspec
import pytest

from agent.errors import (
    BusyVaultError,
    DamagedVaultError,
    RolledBackError,
    VaultError,
    WrongSecretError,
)
from agent.vault import backup as backups
from agent.vault import database
from agent.vault.backup import restore
from agent.vault.rotation import rotate
from agent.vault.secrets import Secret
from agent.vault.vault import Vault, make, staging, unlock
from agent.vault.vault_files import (
    MISSING,
    UNWRITTEN,
    Location,
    Witness,
    read_witness,
    write_witness,
)
from tests.vault import worlds


@pytest.fixture
def backup(tmp_path: Path, vault: Vault) -> Path:
    """A backup of a vault, which had one more entry before it was closed."""
    backup = tmp_path / "backup.db"
    vault.backup(backup)
    vault.ledger.append(worlds.TOLD)
    vault.close()
    return backup


def test_a_backup_is_a_vault(tmp_path: Path, at: Location, backup: Path) -> None:
    """In one file of its owner's, taken while the vault is in use; a copy that is used like one."""
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["backup.db", "data", "state"]
    assert worlds.count(at) == 2
    with unlock(Location(backup, tmp_path / "own" / "witness.json"), worlds.TYPED) as copy:
        assert copy.ledger.count == 1


def test_a_restored_backup_is_the_vault(tmp_path: Path, at: Location, backup: Path) -> None:
    """The replaced one stays beside it, each time under a new name; the backup is untouched."""
    before, kept = backup.read_bytes(), restore(at, backup, worlds.TYPED)
    assert worlds.count(at) == 1
    assert kept == at.vault.with_name("vault.db.replaced-1")
    with unlock(Location(kept, tmp_path / "own" / "witness.json"), worlds.TYPED) as replaced:
        assert replaced.ledger.count == 2
    restore(at, backup, worlds.TYPED)
    assert worlds.names_beside(at) == ["vault.db", "vault.db.replaced-1", "vault.db.replaced-2"]
    assert backup.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir() if "part" in path.name] == []


def test_a_backup_that_does_not_open_changes_nothing(
    tmp_path: Path, at: Location, vault: Vault
) -> None:
    """A wrong secret, a damaged or missing file, or a vault that is open."""
    to, spoiled = tmp_path / "backup.db", tmp_path / "spoiled.db"
    vault.backup(to)
    with pytest.raises(BusyVaultError):
        restore(at, to, worlds.TYPED)
    vault.close()
    spoiled.write_bytes(to.read_bytes()[:-4096])
    before = (at.vault.read_bytes(), at.witness.read_bytes())
    with pytest.raises(WrongSecretError):
        restore(at, to, Secret("passphrase", "another"))
    with pytest.raises(DamagedVaultError, match="not a vault, or one that is damaged") as caught:
        restore(at, spoiled, worlds.TYPED)
    assert caught.value.where == str(spoiled)
    assert "restore" not in caught.value.hint
    with pytest.raises(VaultError, match="no such file"):
        restore(at, tmp_path / "none", worlds.TYPED)
    with pytest.raises(VaultError, match="not a file"):
        restore(at, tmp_path, worlds.TYPED)
    assert (at.vault.read_bytes(), at.witness.read_bytes()) == before
    assert worlds.names_beside(at) == ["vault.db"]
    assert [path.name for path in at.witness.parent.iterdir()] == ["witness.json"]


@pytest.mark.parametrize("opens", [True, False])
def test_a_damaged_vault_is_replaced(
    tmp_path: Path, at: Location, vault: Vault, monkeypatch: pytest.MonkeyPatch, opens: bool
) -> None:
    """It is kept as it is, and so is its log, which SQLite would take for the restored file's."""
    vault.backup(tmp_path / "backup.db")
    vault.ledger.append(worlds.TOLD)
    log = at.vault.with_name("vault.db-wal")
    left = log.read_bytes()
    vault.close()
    at.vault.write_bytes(b"damaged")
    log.write_bytes(left)
    if not opens:
        monkeypatch.setattr(backups, "_opened", lambda _: None)
    restore(at, tmp_path / "backup.db", worlds.TYPED)
    assert worlds.count(at) == 1
    assert worlds.names_beside(at) == ["vault.db", "vault.db.replaced-1", "vault.db.replaced-1-wal"]
    kept = at.vault.with_name("vault.db.replaced-1")
    assert kept.read_bytes() == b"damaged"
    assert kept.with_name(f"{kept.name}-wal").read_bytes() == left


def test_an_old_copy_put_there_by_hand_can_be_vouched_for(at: Location, backup: Path) -> None:
    """As the error says: by restoring the vault from itself."""
    copyfile(backup, at.vault)
    with pytest.raises(RolledBackError) as caught:
        unlock(at, worlds.TYPED)
    assert "reticent vault restore" in caught.value.hint
    restore(at, at.vault, worlds.TYPED)
    assert worlds.count(at) == 1


def test_what_a_crash_left_in_the_log_is_restored_too(
    tmp_path: Path, at: Location, vault: Vault
) -> None:
    """A copy of both files, as a snapshot of the disk has them."""
    copyfile(at.vault, tmp_path / "copy.db")
    copyfile(at.vault.with_name("vault.db-wal"), tmp_path / "copy.db-wal")
    vault.close()
    restore(at, tmp_path / "copy.db", worlds.TYPED)
    assert worlds.count(at) == 1


def test_another_thread_may_copy_while_this_one_writes(tmp_path: Path) -> None:
    """Each copy is the vault as it was after some transaction."""
    at, key, _ = worlds.made(tmp_path)
    copies = [tmp_path / f"{number}.db" for number in range(4)]
    with worlds.store_of(at, key) as store, ThreadPoolExecutor(1) as beside:
        for copy in copies:
            copying = beside.submit(store.database.copy, copy)
            for _ in range(25):
                store.append_entry("a.example", bytes(900), durable=False)
                store.put("n", bytes(3000))
            copying.result(60)
            assert stat.S_IMODE(copy.stat().st_mode) == 0o600
        whole, _ = worlds.contents(store)
    for copy in copies:
        with worlds.store_of(Location(copy, copy.with_name("own.json")), key) as store:
            entries, _ = worlds.contents(store)
        assert entries == whole[: len(entries)]


def test_a_copy_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does it replace what appears under its name meanwhile."""
    at, key, _ = worlds.made(tmp_path)
    folder = tmp_path / "usb"
    folder.mkdir()
    to = folder / "copy.db"
    with worlds.store_of(at, key) as store:
        before(monkeypatch, "fsync", lambda: to.write_bytes(b"theirs"), of=database)
        with pytest.raises(VaultError, match="the file already exists") as caught:
            store.database.copy(to)
        assert (caught.value.where, to.read_bytes()) == (str(to), b"theirs")
        with pytest.raises(VaultError, match="no such file or directory") as caught:
            store.database.copy(folder / "none" / "copy.db")
        assert caught.value.where == str(folder / "none" / "copy.db")
    assert [*folder.iterdir()] == [to]


def before(
    monkeypatch: pytest.MonkeyPatch, step: str, deed: Callable[[], object], of: ModuleType = backups
) -> None:
    """Let something happen right before a step of `restore`, or of another module."""
    real = getattr(of, step)

    def stepped(*given: object, **named: object) -> object:
        deed()
        return real(*given, **named)

    monkeypatch.setattr(of, step, stepped)


@pytest.mark.parametrize("itself", [False, True])
def test_nobody_opens_the_vault_that_is_replaced(
    tmp_path: Path, at: Location, vault: Vault, monkeypatch: pytest.MonkeyPatch, itself: bool
) -> None:
    """From the first look at it on: what it told in between would be lost."""
    vault.backup(tmp_path / "backup.db")
    vault.close()
    said: list[str] = []
    for step in ("unlock", "install"):
        before(monkeypatch, step, lambda: said.append(worlds.second(at)))
    restore(at, at.vault if itself else tmp_path / "backup.db", worlds.TYPED)
    assert said == ["the vault is open in another process"] * 2
    assert worlds.second(at) == ""
    assert worlds.count(at) == 1


def _seen(at: Location) -> Witness:
    witness = read_witness(at.witness)
    assert witness is not None
    return witness


def test_an_unreadable_witness_is_as_a_missing_one(tmp_path: Path) -> None:
    """It is told, and written anew by the next sync."""
    at, key, _ = worlds.made(tmp_path)
    whole = at.witness.read_bytes()
    for spoilt in (
        *(b"", whole[:-3], whole + whole, b"[" * 1000, b" " * 2000 + whole, b"\xff" + whole),
        whole.replace(b'"format":1', b'"format":2'),
        whole.replace(b'"generation":', b'"more":1,"generation":'),
        whole.replace(b'"generation":1', b'"generation":-1'),
        whole.replace(b'"generation":1', b'"generation":1.5'),
    ):
        at.witness.write_bytes(spoilt)
        with worlds.store_of(at, key) as store:
            assert store.notes == [MISSING]
            store.sync()
        with worlds.store_of(at, key) as store:
            assert store.notes == []


def test_the_witness_follows_what_is_synced(tmp_path: Path) -> None:
    """At once after what had to be on the disk, at the next sync after the rest."""
    at, key, _ = worlds.made(tmp_path)
    with worlds.store_of(at, key) as store:
        for deed in (
            lambda: store.append_entry("a", b"1", durable=True),
            lambda: store.put("a", b"1"),
            lambda: store.delete("a"),
            lambda: rotate(store, worlds.PASSPHRASE, worlds.stream("later")),
        ):
            before = _seen(at)
            store.append_entry("a", b"2", durable=False)
            assert _seen(at) == before
            deed()
            assert _seen(at) == store.state.witness(store.seals.vault_id) != before
        store.append_entry("a", b"3", durable=False)
        store.sync()
        assert (_seen(at).entries, _seen(at).head) == (6, store.state.head.hex())


def test_a_witness_can_be_renewed_afterwards(tmp_path: Path) -> None:
    """So that nobody waits for it; closing renews it at once, and what comes later does nothing."""
    at, later = worlds.made(tmp_path)[0], list[Callable[[], object]]()
    with unlock(at, worlds.TYPED) as vault:
        vault.renew_witness_by(later.append)
        vault.items.put("a", b"1")
        before = _seen(at)
        later[0]()
        assert _seen(at).generation == before.generation + 1
        vault.items.put("b", b"1")
    later[1]()
    assert _seen(at).generation == before.generation + 2


def test_each_count_may_only_grow(tmp_path: Path) -> None:
    """One less than was seen is a rollback."""
    at, key, _ = worlds.made(tmp_path)
    own = _seen(at)
    for name in ("generation", "rotations", "entries"):
        raised = msgspec.structs.replace(own, **{name: getattr(own, name) + 1})
        assert write_witness(raised, at.witness)
        with pytest.raises(RolledBackError), worlds.store_of(at, key):
            pass


def test_a_witness_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """The vault goes on; a daemon that refused would lose what was answered."""
    at, key, _ = worlds.made(tmp_path)
    with worlds.store_of(at, key) as store:
        at.witness.unlink()
        at.witness.parent.rmdir()
        store.append_entry("a", b"1", durable=True)
        store.put("a", b"1")
        assert store.notes == [UNWRITTEN]
        at.witness.parent.mkdir()
        store.sync()
        assert _seen(at).generation == store.state.generation


def killed(at: Location, vault: Vault) -> None:
    """Leave a vault as the kill of its process does: with a log beside it."""
    kept = {suffix: at.vault.with_name(f"vault.db{suffix}") for suffix in ("", "-wal")}
    data = {path: path.read_bytes() for path in kept.values()}
    vault.close()
    for path, content in data.items():
        path.write_bytes(content)


def test_the_log_of_a_vault_that_was_moved_stays(at: Location, vault: Vault) -> None:
    """Its latest entries are nowhere else; moved as well, they are in it again."""
    killed(at, vault)
    old = Location(at.vault.with_name("old.db"), at.witness.with_name("old.json"))
    at.vault.replace(old.vault)
    at.witness.replace(old.witness)
    log = at.vault.with_name("vault.db-wal")
    for attempt in (
        lambda: make(at, worlds.PASSPHRASE, worlds.FAST),
        lambda: restore(at, old.vault, worlds.TYPED),
    ):
        with pytest.raises(VaultError, match=r"latest entries .* in vault\.db-wal") as caught:
            attempt()
        assert caught.value.where == str(log)
        assert "where vault.db is now" in caught.value.hint
    log.replace(old.vault.with_name("old.db-wal"))
    make(at, worlds.PASSPHRASE, worlds.FAST)
    with unlock(old, worlds.TYPED) as found:
        assert found.ledger.count == 1


def test_a_vault_that_vanished_is_missed(at: Location, vault: Vault) -> None:
    """Its witness knows of it; a backup can be restored, and nothing new takes its place."""
    backup = at.vault.with_name("copy.db")
    vault.backup(backup)
    vault.close()
    at.vault.unlink()
    before = at.witness.read_bytes()
    with pytest.raises(VaultError, match=r"a vault was here \(1 entry\)") as caught:
        make(at, worlds.PASSPHRASE, worlds.FAST)
    assert "`reticent vault restore FILE`" in caught.value.hint
    assert at.witness.read_bytes() == before
    assert restore(at, backup, worlds.TYPED) is None
    unlock(at, worlds.TYPED).close()


def test_what_killed_ones_left_goes_once_the_vault_is_open(at: Location, vault: Vault) -> None:
    """Whole copies, which secrets of then open; but not what somebody makes just now."""
    vault.close()
    copies = [at.vault.with_name(f".vault.db.0a1b2c3d.part{end}") for end in ("", "-wal")]
    left = [*copies, at.witness.with_name(".witness.json.0a1b2c3d.part")]
    for path in left:
        copyfile(at.vault, path)
    with pytest.raises(WrongSecretError):
        unlock(at, Secret("passphrase", "another"))
    with staging(Location(at.vault.with_name("other.db"), at.witness)):
        unlock(at, worlds.TYPED).close()
    assert all(path.exists() for path in left)
    unlock(at, worlds.TYPED).close()
    assert not any(path.exists() for path in left)
