"""What is ours on this machine, and what only lies beside it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.belongings import accounts, belongings, remove
from agent.daemon.token import TOKEN
from agent.errors import BusyVaultError
from agent.paths import Paths, paths
from agent.vault.derivation import Derivation
from agent.vault.location import Location
from agent.vault.vault import create
from tests.wire.fake import short_folder

FAST = Derivation(memory_kib=64, iterations=1, lanes=1)
FOREIGN = ["notes.txt", "vault.db.mine", "policy.toml~", "backup.db", "models.txt", "control"]


@pytest.fixture
def home() -> Iterator[Paths]:
    """Folders of ours with one of everything that is made there."""
    with short_folder() as folder:
        found = paths({"RETICENT_HOME": str(folder)})
        for each in (found.config, found.models, found.state, found.runtime):
            each.mkdir(0o700, parents=True)
        for path in (*made(found), found.policy, found.control, found.query):
            path.touch()
        yield found


def made(home: Paths) -> list[Path]:
    """Return the paths of what is made, as its makers name it."""
    data, state = home.data, home.state
    return [
        *(data / f"vault.db{end}" for end in ("", "-wal", "-shm", "-journal", ".replaced-12")),
        *(data / name for name in (".vault.db.0a1b2c3d.part", "vault.db.unfinished-wal")),
        *(home.models / name for name in ("village.safetensors", "village.sig")),
        *(state / name for name in ("witness.json", "daemon.log", "daemon.log.1", "daemon.lock")),
        state / TOKEN,
    ]


def everything(home: Paths) -> set[Path]:
    """Return all that there is."""
    return {*home.config.parent.rglob("*")}


def test_everything_of_ours_goes(home: Paths) -> None:
    """With the folders, and the vault first."""
    before = everything(home)
    found = belongings(home)
    assert found.ours[0] == home.vault
    assert found.others == ()
    assert {*remove(found)} == before
    assert everything(home) == set()


@pytest.mark.parametrize("name", FOREIGN)
def test_what_is_not_ours_stays(home: Paths, name: str) -> None:
    """With the folder that it lies in, and nothing else."""
    for folder in (home.config, home.data, home.models, home.state, home.runtime):
        (folder / name).write_text("precious")
    found = belongings(home)
    assert len(found.others) == 5
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
    found = belongings(home)
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
    remove(belongings(home))
    assert (tmp_path / "policy.toml").read_text() == "mine"
    assert (tmp_path / "models" / "big.safetensors").read_text() == "mine"
    left = everything(home)
    assert {each.name for each in left} == {"elsewhere", "control.sock", "query.sock"}


def test_without_anything_there_is_nothing(tmp_path: Path) -> None:
    """And nothing is made by looking."""
    found = belongings(paths({"RETICENT_HOME": str(tmp_path)}))
    assert (found.ours, found.others, found.folders) == ((), (), ())
    assert [*tmp_path.iterdir()] == []


@given(st.text(st.characters(codec="ascii", exclude_characters="/\0"), min_size=1, max_size=20))
def test_what_we_did_not_name_is_not_ours(name: str) -> None:
    """A name in which nothing of ours is stays."""
    words = ("vault", "daemon", "witness", "policy", "listen", ".sock", ".safetensors", ".sig")
    if name in {".", ".."} or any(word in name for word in words):
        return
    with short_folder() as folder:
        found = paths({"RETICENT_HOME": str(folder)})
        found.data.mkdir(parents=True)
        (found.data / name).touch()
        assert belongings(found).others == (found.data / name,)


def test_the_accounts_in_the_keyring(tmp_path: Path) -> None:
    """None of a vault without, of none, or of rubbish; one that is open is said to be."""
    place = Location(tmp_path / "v" / "vault.db", tmp_path / "w" / "witness.json")
    assert accounts(place.vault) == []
    vault, _ = create(place, "a passphrase", FAST)
    with pytest.raises(BusyVaultError):
        accounts(place.vault)
    vault.close()
    assert accounts(place.vault) == []
    place.vault.write_bytes(b"rubbish")
    assert accounts(place.vault) == []
