"""What doctor finds of a vault that it cannot open: all that shows without a key."""

from collections.abc import Iterator
from shutil import copyfile

import pytest

from agent.daemon.artifacts import Machine
from agent.vault.vault import unlock
from agent.vault.vault_files import Location
from tests.daemon.test_doctor import (
    NOW,
    Spoil,
    State,
    alone,
    healthy,
    named,
    only,
    recorded,
    states,
)
from tests.vault.histories import disclosed
from tests.vault.worlds import TYPED, altered


@pytest.fixture
def here() -> Iterator[Machine]:
    """A machine with a vault that has entries, as it should be."""
    with healthy() as found:
        yield found


def rewritten(data: bytes) -> Spoil:
    """Return a way to put something else in the vault's place."""
    return lambda here: here.paths.vault.write_bytes(data)


def run(*statements: str) -> Spoil:
    """Return a way to alter the file of a vault."""
    return lambda here: altered(Location.of(here.paths), *statements)


def flipped(place: int) -> Spoil:
    """Return a way to alter one byte of it."""

    def flip(here: Machine) -> None:
        data = bytearray(here.paths.vault.read_bytes())
        data[place] ^= 0xFF
        here.paths.vault.write_bytes(data)

    return flip


def truncated(here: Machine) -> None:
    """Take its last page."""
    here.paths.vault.write_bytes(here.paths.vault.read_bytes()[:-4096])


def replaced(here: Machine) -> None:
    """Put another's vault in its place."""
    with healthy() as other:
        copyfile(other.paths.vault, here.paths.vault)


def older(here: Machine) -> None:
    """Put a copy back that was made before it was last used."""
    copy = here.paths.vault.read_bytes()
    recorded(here)
    here.paths.vault.write_bytes(copy)


def vanished(here: Machine) -> None:
    """Take it away, with all that tells of it but a replaced one."""
    here.paths.vault.rename(here.paths.vault.with_name("vault.db.replaced-1"))
    here.paths.witness.unlink()


def beside(name: str) -> Spoil:
    """Return a way to leave another copy beside it."""
    return lambda here: copyfile(here.paths.vault, here.paths.vault.with_name(name)).chmod(0o600)


WRONG: list[tuple[Spoil, State, str]] = [
    (lambda m: m.paths.vault.unlink(), "bad", "a vault was here (3 entries)"),
    (vanished, "bad", "a vault was here"),
    (rewritten(b""), "bad", "not a vault"),
    (rewritten(b"not a vault"), "bad", "not a valid database"),
    (truncated, "bad", "not a valid database"),
    (flipped(20), "bad", "not a valid database"),
    (flipped(100), "bad", "not a valid database"),
    (run("PRAGMA user_version=9"), "bad", "format 9, newer"),
    (run("CREATE INDEX faster ON entry(site)"), "bad", "tables"),
    (run("DELETE FROM slot"), "bad", "no key slots"),
    (run("UPDATE slot SET digest = zeroblob(32) WHERE id = 2"), "bad", "slot 2 is damaged"),
    (run("UPDATE slot SET body = x'7b7d'"), "bad", "no passphrase or recovery code"),
    (run("DELETE FROM state"), "bad", "row with its state"),
    (run("DELETE FROM entry WHERE number = 2"), "bad", "entries are missing"),
    (run("DELETE FROM entry WHERE number = 3"), "bad", "older than when last used"),
    (run("DELETE FROM entry"), "bad", "older than when last used"),
    (run("UPDATE entry SET generation = 99 WHERE number = 3"), "bad", "different states"),
    (run("UPDATE item SET generation = 'x'"), "bad", "come from different states"),
    (run("DELETE FROM meta"), "bad", "its number"),
    (replaced, "bad", "not the vault that belongs here"),
    (older, "bad", "older than when last used"),
    (lambda m: m.paths.witness.unlink(), "warn", "an old copy would"),
    (beside("vault.db.replaced-3"), "warn", "vault.db.replaced-3 was replaced"),
    (beside(".vault.db.0a1b2c3d.part"), "warn", "left unfinished"),
]


@pytest.mark.parametrize(("spoil", "state", "what"), WRONG, ids=named)
def test_what_is_wrong_with_it_is_found(
    here: Machine, spoil: Spoil, state: State, what: str
) -> None:
    """Nothing else becomes bad by it."""
    spoil(here)
    assert what in alone(here, "vault", state).what


def test_where_there_was_no_vault_there_is_none_yet(here: Machine) -> None:
    """Which is nothing bad."""
    for path in (here.paths.vault, here.paths.witness):
        path.unlink()
    assert only(here, "vault", "warn").fix == "reticent init"


def test_a_vault_that_is_open_is_left_alone(here: Machine) -> None:
    """It was verified when it was opened, and goes on."""
    assert states(here)["vault"] == "ok"
    with unlock(Location.of(here.paths), TYPED) as vault:
        assert states(here)["vault"] == "ok"
        vault.ledger.append(disclosed(NOW, "late.example", region="uk"))
    assert states(here)["vault"] == "ok"
