"""One backup, one restore: all of it or nothing, wherever it is killed."""

import os
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.backup_files import POLICY, contents_of, files_of, unpack
from agent.errors import UsageError
from agent.paths import Paths
from agent.vault import store
from agent.vault.backup import check_backup, restore
from agent.vault.vault import unlock
from agent.vault.vault_files import Location
from tests.daemon.test_installed_files import RENAMING, looking, made_folders
from tests.vault.worlds import FAST, FEW, PASSPHRASE, TOLD, TYPED, create
from tests.worlds.homes import Home
from tests.worlds.people import machine_at

NEW, OLD, KILLED = b"new" * 9, b"old", 9


@FEW
@given(st.dictionaries(st.text("./am-\U0001f98a", min_size=1), st.binary(max_size=40), max_size=5))
def test_what_goes_in_comes_out(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes]
) -> None:
    """Whatever its name, and in however many parts; the vault itself keeps nothing of it."""
    at = tmp_path_factory.mktemp("vault")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "MAX_ITEM_BYTES", 7)
        vault, _ = create(Location(at / "vault.db", at / "witness.json"), PASSPHRASE, FAST)
        with vault:
            vault.backup(at / "backup.db", files)
            assert vault.enclosed == {}
    assert check_backup(at / "backup.db", TYPED) == (0, files)


def _made(home: Paths, data: bytes, backup: Path | None = None) -> None:
    """Make a vault with one entry more in the new one, a policy and a model; back them up."""
    home.models.mkdir(0o700, exist_ok=True)
    for file in (home.policy, home.models / "mine.safetensors", home.models / "mine.sig"):
        file.write_bytes(data)
    vault, _ = create(Location.of(home), PASSPHRASE, FAST)
    with vault:
        if data == NEW:
            vault.ledger.append(TOLD)
        if backup:
            vault.backup(backup, files_of(home.policy, home.models, machine_at(home.config.parent)))


def _found(home: Paths) -> tuple[bytes, ...]:
    """Open the vault, as the daemon does; return what there is, as which of NEW and OLD it is."""
    with unlock(Location.of(home), TYPED) as vault:
        unpack(vault, home.policy, home.models)
        files = home.policy, home.models / "mine.safetensors", home.models / "mine.sig"
        return NEW if vault.ledger.count else OLD, *(each.read_bytes() for each in files)


def _restore_until(last: int, home: Paths, backup: Path) -> None:
    """Restore, and end this process right before the last of so many instants."""
    left = [*range(last)]

    def look() -> None:
        left.pop()
        if not left:
            os._exit(KILLED)

    try:
        with looking(look, *RENAMING):
            restore(Location.of(home), backup, TYPED)
            _found(home)
        os._exit(0)
    finally:
        os._exit(1)


def test_killed_at_any_instant_it_is_the_old_or_the_new(tmp_path: Path) -> None:
    """Once the vault is open again; before that nothing is attached."""
    backup, seen = tmp_path / "backup.db", list[tuple[bytes, ...]]()
    with made_folders() as home:
        _made(home, NEW, backup)
    for last in count(1):
        with made_folders() as home:
            _made(home, OLD)
            if (child := os.fork()) == 0:
                _restore_until(last, home, backup)
            ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            assert ended in (0, KILLED)
            seen.append(_found(home))
            assert len({*seen[-1]}) == 1, last
            if ended == 0:
                break
    assert {each[0] for each in seen} == {OLD, NEW}
    assert seen == sorted(seen, reverse=True)


def test_what_was_there_is_kept_and_nothing_else_is_written(tmp_path: Path) -> None:
    """What is the same already has no second name; a file that no backup has is left alone."""
    backup = tmp_path / "backup.db"
    with made_folders() as home:
        _made(home, NEW, backup)
    with made_folders() as home:
        _made(home, OLD)
        (home.models / "mine.sig").write_bytes(NEW)
        restore(Location.of(home), backup, TYPED)
        with unlock(Location.of(home), TYPED) as vault:
            files = vault.enclosed
            kept = unpack(vault, home.policy, home.models)
            assert vault.enclosed == {}
        assert [each.name for each in kept] == [
            "mine.safetensors.replaced-1",
            "policy.toml.replaced-1",
        ]
        assert {each.read_bytes() for each in kept} == {OLD}
        assert contents_of(files).models == ["mine"]
    assert contents_of({POLICY: b"", "connected.json": b"[]"}).connected == {}


def test_the_daemon_goes_on_where_a_restore_was_killed(tmp_path: Path) -> None:
    """Before it answers anything; what cannot be written keeps the vault locked."""
    with made_folders() as home:
        _made(home, b'preset = "strict"\n', tmp_path / "backup.db")
    user = Home(tmp_path)
    restore(user.agent.place, tmp_path / "backup.db", TYPED)
    policy = user.paths.policy.read_text()
    user.paths.policy.unlink()
    user.paths.policy.mkdir()
    with pytest.raises(UsageError, match="is a directory"):
        user.unlock()
    user.paths.policy.rmdir()
    user.paths.policy.write_text(policy)
    with user:
        user.unlock()
        assert user.paths.policy.read_text() == 'preset = "strict"\n'
        assert user.agent.open_vault.enclosed == {}
