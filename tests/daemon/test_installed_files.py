"""What is ours on this machine, what only lies beside it, and that a purge leaves nothing."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.cli.assistants import TOKEN, token_of
from agent.cli.vault import forget
from agent.daemon import events
from agent.daemon.installed_files import accounts, installed_files, remove
from agent.daemon.sockets import alone, doors
from agent.errors import BusyVaultError, VaultError
from agent.files import private_folder
from agent.paths import Paths, paths
from agent.vault import secrets
from agent.vault.backup import restore
from agent.vault.vault import unlock
from agent.vault.vault_files import Location
from tests.vault.doubles import Memory
from tests.vault.worlds import FAST, PASSPHRASE, TYPED, create
from tests.worlds.doors import short_home

FOREIGN = ["notes.txt", "vault.db.mine", "policy.toml~", "backup.db", "models.txt", "control"]
RENAMING = ("link", "rename", "replace", "unlink", "rmdir")  # of os: what tells a crash's instants

Maker = Callable[[Paths], object]


@pytest.fixture
def home() -> Iterator[Paths]:
    with made_folders() as found:
        found.models.mkdir(0o700)
        for path in (*made(found), found.policy, found.control, found.query):
            path.touch()
        yield found


def made(home: Paths) -> list[Path]:
    data, state = home.data, home.state
    return [
        *(data / f"vault.db{end}" for end in ("", "-wal", "-shm", "-journal", ".replaced-12")),
        *(folder / "vault.db.set-aside-3" for folder in (data, state)),
        *(data / f".{name}.part" for name in ("vault.db.0a1b2c3d", ".vault.db.0a.part.witness.0b")),
        *(home.models / name for name in ("village.safetensors", "village.sig")),
        *(state / name for name in ("witness.json", "daemon.log", "daemon.log.1", "daemon.lock")),
        *(state / TOKEN, home.relay, data / ".browser-relay.0a1b2c3d.part"),
    ]


def everything(home: Paths) -> set[Path]:
    return {*home.config.parent.rglob("*")}


def test_what_is_not_ours_stays(home: Paths) -> None:
    """With the folder that it lies in, and nothing else; the vault goes first."""
    for folder in (home.config, home.data, home.models, home.state, home.runtime):
        for name in FOREIGN:
            (folder / name).write_text("precious")
    found = installed_files(home)
    assert len(found.others) == 5 * len(FOREIGN)
    assert found.ours[0] == home.vault
    remove(found)
    assert {each for each in everything(home) if each.is_file()} == {*found.others}


def test_a_folder_is_never_taken_for_a_file(home: Paths) -> None:
    """Whatever its name; but one in which a model was being copied is ours."""
    home.vault.unlink()
    home.vault.mkdir()
    (home.vault / "precious").touch()
    copying = home.models / ".tmp4x7q_"
    copying.mkdir()
    (copying / "village.safetensors").touch()
    found = installed_files(home)
    assert home.vault in found.others
    remove(found)
    assert (home.vault / "precious").exists()
    assert not copying.exists()


def test_no_link_is_followed(home: Paths, tmp_path: Path) -> None:
    """Not of a file, not of a folder, not within what is removed whole."""
    (tmp_path / "policy.toml").write_text("mine")
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "big.safetensors").write_text("mine")
    home.policy.unlink()
    home.policy.symlink_to(tmp_path / "policy.toml")
    for path in home.models.iterdir():
        path.unlink()
    (home.models / ".tmp4x7q_").mkdir()
    (home.models / ".tmp4x7q_" / "out").symlink_to(tmp_path / "models")
    home.runtime.rename(home.runtime.with_name("elsewhere"))
    home.runtime.symlink_to(home.runtime.with_name("elsewhere"))
    remove(installed_files(home))
    assert (tmp_path / "policy.toml").read_text() == "mine"
    assert (tmp_path / "models" / "big.safetensors").read_text() == "mine"
    left = everything(home)
    assert {each.name for each in left} == {"elsewhere", "control.sock", "query.sock"}


def test_without_anything_there_is_nothing(tmp_path: Path) -> None:
    """And nothing is made by looking."""
    found = installed_files(paths({"RETICENT_HOME": str(tmp_path)}))
    assert (found.ours, found.others, found.folders) == ((), (), ())
    assert [*tmp_path.iterdir()] == []


@given(st.text(st.characters(codec="ascii", exclude_characters="/\0"), min_size=1, max_size=20))
def test_what_we_did_not_name_is_not_ours(name: str) -> None:
    """A name in which nothing of ours is stays."""
    words = ("vault", "daemon", "witness", "policy", "listen", ".sock", ".safetensors", ".sig")
    if name in {".", ".."} or any(word in name for word in words):
        return
    with short_home() as found:
        found.data.mkdir(parents=True)
        (found.data / name).touch()
        assert installed_files(found).others == (found.data / name,)


def keyed(home: Paths, name: str) -> str:
    """Make a vault of a name, with a key in the keyring; return the account of that."""
    before = {*accounts(installed_files(home))[0]}
    elsewhere = home.data.with_name("elsewhere")
    place = Location(elsewhere / "vault.db", elsewhere / "witness.json")
    vault, _ = create(place, PASSPHRASE, FAST)
    with vault:
        vault.add_slot("keyring")
    private_folder(home.data)
    place.vault.replace(home.data / name)
    place.witness.unlink()
    [account] = {*accounts(installed_files(home))[0]} - before
    return account


def test_the_accounts_of_every_vault_are_found(ring: Memory) -> None:
    """Of replaced and unfinished ones too; each once, and none of a vault that has none."""
    with short_home() as home:
        assert accounts(installed_files(home)) == ([], [])
        names = ("vault.db.replaced-1", "vault.db.replaced-20", ".vault.db.0a1b2c3d.part")
        made = {keyed(home, name) for name in names}
        (home.data / "vault.db").write_bytes((home.data / names[0]).read_bytes())
        found, unread = accounts(installed_files(home))
        assert (sorted(found), unread) == (sorted(made), [])
        assert {account for _, account in ring.kept} == made
        assert forget(found) == []
        assert ring.kept == {}
        assert forget(found) == [], "what is not there any more is no failure"


def test_what_cannot_be_read_or_let_go_is_named(
    ring: Memory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A key may be in the keyring still; of a vault that is open nothing may go."""
    with short_home() as home:
        account = keyed(home, "vault.db")
        for name in ("vault.db.replaced-1", "vault.db.replaced-1-wal", ".vault.db.0a.part.witness"):
            (home.data / name).write_bytes(b"rubbish")
        unread = home.data / "vault.db.replaced-1"
        assert accounts(installed_files(home)) == ([account], [unread])
        (home.data / "vault.db").rename(tmp_path / "vault.db")
        (home.data / "vault.db").symlink_to(tmp_path / "vault.db")  # and stays where it is
        assert accounts(installed_files(home)) == ([], [unread])
        unread.unlink()
        home.vault.unlink()
        vault, _ = create(Location.of(home), PASSPHRASE, FAST)
        with vault, pytest.raises(BusyVaultError):
            accounts(installed_files(home))
    assert len(ring.kept) == 1

    def fetched(accounts: Sequence[str]) -> dict[str, bytes]:
        if "silent" in accounts:
            raise VaultError("the keyring did not return the key", "start it")
        return {each: bytes(32) for each in accounts if each == "kept"}

    monkeypatch.setattr(secrets, "forget", lambda _account: False)
    monkeypatch.setattr(secrets, "fetched", fetched)
    assert forget(["kept", "gone", "silent"]) == ["kept", "silent"]


def restore_twice(home: Paths) -> None:
    """Make a vault and a backup, restore it, and once more over rubbish with a log beside it."""
    create(Location.of(home), PASSPHRASE, FAST)[0].close()
    backup = home.config.parent / "backup.db"
    with unlock(Location.of(home), TYPED) as vault:
        vault.backup(backup)
    restore(Location.of(home), backup, TYPED)
    home.vault.write_bytes(b"rubbish")
    home.vault.with_name("vault.db-wal").write_bytes(b"rubbish")
    restore(Location.of(home), backup, TYPED)


def rotate(home: Paths) -> None:
    """Make a vault and give it another key."""
    create(Location.of(home), PASSPHRASE, FAST)[0].close()
    with unlock(Location.of(home), TYPED) as vault:
        vault.rotate(PASSPHRASE)


def run_daemon(home: Paths) -> None:
    with alone(home.daemon_lock), events.logging_to(home.log), doors(home):
        token_of(home.state / TOKEN)
        for _ in range(3):
            events.LOG.info("x" * events.MOST_BYTES)


MAKERS: tuple[Maker, ...] = (restore_twice, rotate, run_daemon)


@contextmanager
def made_folders() -> Iterator[Paths]:
    with short_home() as home:
        for each in (home.config, home.data, home.state, home.runtime):
            private_folder(each)
        yield home


@contextmanager
def looking(look: Callable[[], None], *names: str) -> Iterator[None]:
    """Look before each call of these functions of os."""

    def seen(whole: Callable[..., Any], *given: Any, **named: Any) -> Any:  # noqa: ANN401  (any of os)
        look()
        return whole(*given, **named)

    with pytest.MonkeyPatch.context() as patch:
        for name in names:
            patch.setattr(os, name, partial(seen, getattr(os, name)))
        yield


@pytest.mark.parametrize("make", MAKERS, ids=lambda each: each.__name__)
def test_nothing_else_is_there_at_any_instant(make: Maker) -> None:
    """Each file is known by the name that its maker gives it: so all goes, wherever one is killed.

    The instants are those before a name changes.
    """
    instants = 0
    with made_folders() as home:

        def look() -> None:
            nonlocal instants
            instants += 1
            assert installed_files(home).others == ()

        with looking(look, *RENAMING):
            make(home)
        assert instants, "nothing was renamed: is it still by os?"
        files = installed_files(home)
        assert files.ours
        assert files.others == ()
        remove(files)
        assert not any(e.exists() for e in (home.config, home.data, home.state, home.runtime))
