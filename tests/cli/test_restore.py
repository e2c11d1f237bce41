"""`reticent vault restore`: a backup in the place of the vault, verified, and the old one kept."""

from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from agent.errors import RolledBackError
from agent.paths import paths
from agent.vault.database import Database
from tests.cli.conftest import Ran, Run
from tests.cli.vaults import PASSPHRASE, Memory, made, opened
from tests.vault.killed import record_at

Restored = Callable[..., Ran]


@pytest.fixture
def saved(memory: Memory, home: Path, tmp_path: Path) -> Path:
    """A backup of a vault that has changed since."""
    assert memory.kept == {}
    made(home)
    file = tmp_path / "saved.db"
    with opened() as vault:
        vault.items.put("other/n", b"1")
        vault.backup(file)
        vault.items.put("other/n", b"2")
    return file


@pytest.fixture
def restore(piped: Run) -> Restored:
    """Run `reticent vault restore` with a line as its standard input."""
    return partial(piped, "vault", "restore")


def number() -> bytes | None:
    """Return what the vault holds now."""
    with opened() as vault:
        return vault.items.get("other/n")


def test_a_backup_takes_the_place_of_the_vault(restore: Restored, saved: Path) -> None:
    """The witness goes with it, and what was there is kept beside."""
    record = restore(saved, "--json").record
    assert number() == b"1"
    kept = Path(record["kept"])
    assert kept.parent == paths().vault.parent
    assert restore(kept).code == 0
    assert number() == b"2"


def test_where_nothing_is_nothing_is_kept(restore: Restored, saved: Path) -> None:
    """As on a new machine."""
    for path in (paths().vault, paths().witness):
        path.unlink()
    assert restore(saved, "--json").record["kept"] is None
    assert number() == b"1"


def test_a_damaged_vault_is_replaced(restore: Restored, saved: Path) -> None:
    """That is what backups are for; an old copy by hand is noticed, and can be vouched for."""
    paths().vault.write_bytes(b"rubbish")
    assert restore(saved).code == 0
    assert number() == b"1"
    with opened() as vault:
        vault.items.put("other/n", b"3")
    paths().vault.write_bytes(saved.read_bytes())
    with pytest.raises(RolledBackError):
        opened()
    assert restore(paths().vault).code == 0
    assert number() == b"1"


@pytest.mark.parametrize(
    ("spoil", "given", "refusal"),
    [
        (lambda file: file.unlink(), "", (2, "no such file")),
        (lambda file: (file.unlink(), file.mkdir()), "", (2, "saved.db: not a file")),
        (lambda file: file.write_bytes(b"rubbish"), "", (1, "saved.db: the backup is damaged")),
        (
            lambda file: file.write_bytes(file.read_bytes()[:-4096]),
            f"{PASSPHRASE}\n",
            (1, "damaged"),
        ),
        (lambda file: file.touch(), "wrong\n", (1, "the passphrase is wrong")),
        (lambda file: file.touch(), "", (2, "no passphrase was given")),
    ],
)
def test_what_is_no_backup_replaces_nothing(
    restore: Restored,
    saved: Path,
    spoil: Callable[[Path], None],
    given: str,
    refusal: tuple[int, str],
) -> None:
    """One sentence; the vault is as it was, and nothing lies beside it."""
    spoil(saved)
    before = paths().vault.read_bytes()
    code, said = refusal
    assert said in restore(saved, given=given).refusal(code)[0]
    assert paths().vault.read_bytes() == before
    assert [each.name for each in paths().data.iterdir()] == ["vault.db"]


def test_while_the_daemon_has_it_open_nothing_is_asked(restore: Restored, saved: Path) -> None:
    """The way out is `reticent lock`."""
    with closing(Database.open(paths().vault)):
        assert "reticent lock" in restore(saved, given="").refusal(1)[1]


def test_what_is_lost_by_it_is_said(restore: Restored, saved: Path) -> None:
    """The recipients know what the ledger knows no more."""
    out = restore(saved).out
    assert "the recipients do" in " ".join(out.split())
    assert "vault.db.replaced-1" in out


@pytest.mark.parametrize("later", [False, True])
def test_what_was_set_aside_is_not_taken_for_everything(
    restore: Restored, saved: Path, *, later: bool
) -> None:
    """The warning is left out only where it has as many entries as the vault it replaces."""
    with opened() as vault:
        if later:
            vault.ledger.append(record_at(1))
    ran = restore(saved.rename(paths().vault.with_name("vault.db.set-aside-1")))
    assert (ran.code, "Its ledger lacks" in " ".join(ran.out.split())) == (0, later)
