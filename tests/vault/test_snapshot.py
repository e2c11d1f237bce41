"""The snapshot, by which old entries need no opening: never believed against the entries."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import DamagedVaultError, RolledBackError, VaultError
from agent.vault import chain, ledger
from agent.vault.disclosure_index import Record
from agent.vault.seal import Key, Seals
from agent.vault.vault import unlock_with
from agent.vault.vault_files import Location
from tests.vault.doubles import ledger_of
from tests.vault.histories import HOSTS, NOW, disclosed, follows, histories
from tests.vault.worlds import FEW, altered, new_vault


@contextmanager
def every(entries: int) -> Iterator[list[int]]:
    """Rewrite it after so many entries; yield the numbers of the entries that are opened."""
    opened: list[int] = []
    real = chain.opened_entry

    def noted(seals: Seals, row: chain.EntryRow) -> chain.OpenedEntry:
        opened.append(row.number)
        return real(seals, row)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ledger, "EVERY", entries)
        patched.setattr(chain, "opened_entry", noted)
        yield opened


def filled(at: Location, key: Key, history: list[Record]) -> None:
    """Append entries to a vault."""
    with unlock_with(at, key) as vault:
        for record in history:
            vault.ledger.append(record)


HISTORY: list[Record] = [
    disclosed(NOW + timedelta(hours=hour), HOSTS[hour % 5], age="young") for hour in range(7)
]


@FEW
@given(st.lists(histories(), min_size=1, max_size=3), st.integers(1, 4))
def test_what_follows_is_the_same_without_opening_what_is_old(
    tmp_path_factory: pytest.TempPathFactory, histories: list[list[Record]], entries: int
) -> None:
    """Whoever goes on from it; only the entries after it are opened."""
    with new_vault(tmp_path_factory.getbasetemp()) as (at, key), every(entries) as opened:
        whole: list[Record] = []
        saved = 0
        for history in histories:
            filled(at, key, history)
            whole += history
            saved = len(whole) if len(whole) - saved >= entries else saved
            opened.clear()
            with unlock_with(at, key) as vault:
                assert opened == [*range(saved + 1, len(whole) + 1)]
                assert follows(vault.ledger) == follows(ledger_of(whole))


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE entry SET sealed = zeroblob(length(sealed)) WHERE number = {}",
        "UPDATE entry SET generation = generation + 1 WHERE number = {}",
        "UPDATE entry SET site = x'00112233445566778899aabbccddeeff' WHERE number = {}",
        "UPDATE entry SET number = -number WHERE number = {}",
        "DELETE FROM entry WHERE number = {}",
    ],
)
def test_an_old_entry_that_was_altered_is_damage(tmp_path: Path, change: str) -> None:
    """Each of them, by the sentence that it would have without the snapshot."""
    with new_vault(tmp_path) as (at, key), every(3):
        filled(at, key, HISTORY)
        whole = at.vault.read_bytes()
        for number in range(1, len(HISTORY) + 1):
            altered(at, change.format(number))
            with pytest.raises(DamagedVaultError):
                unlock_with(at, key)
            at.vault.with_name(f"{at.vault.name}-wal").unlink(missing_ok=True)
            at.vault.write_bytes(whole)
        unlock_with(at, key).close()


def test_another_history_than_the_machine_has_seen_is_noticed(tmp_path: Path) -> None:
    """Also where the witness saw less than the snapshot covers."""
    with new_vault(tmp_path) as (at, key), every(3):
        filled(at, key, HISTORY[:2])
        early = at.witness.read_bytes()
        filled(at, key, HISTORY[2:])
        at.witness.write_bytes(early)
        unlock_with(at, key).close()
        head = early.split(b'"head":"')[1][:64]
        at.witness.write_bytes(early.replace(head, head[::-1]))
        with pytest.raises(RolledBackError, match="differs from the one this machine has seen"):
            unlock_with(at, key)


def test_what_does_not_fit_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After another key, a clock that was reset, by another version: all entries are opened."""
    with new_vault(tmp_path) as (at, key), every(2) as opened:
        filled(at, key, HISTORY)
        with unlock_with(at, key) as vault:
            vault.reset_clock(NOW + timedelta(hours=3))
            clipped = follows(vault.ledger)
            assert vault.ledger.latest == NOW + timedelta(hours=3)
        opened.clear()
        with unlock_with(at, key) as vault:
            assert opened == []
            assert follows(vault.ledger) == clipped
            vault.rotate("correct horse")
            fresh = vault._key  # noqa: SLF001  (so that no derivation is waited for)
        everything = [*range(1, 8)]
        opened.clear()
        for version, expected in ((1, everything), (1, []), (2, everything), (2, [])):
            monkeypatch.setattr(ledger, "VERSION", version)
            opened.clear()
            with unlock_with(at, fresh) as vault:
                assert opened == expected
                assert follows(vault.ledger) == clipped


@pytest.mark.parametrize("limit", ["full", "large"])
def test_an_entry_is_kept_though_the_snapshot_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    """What makes unlocking fast is worth no vault that does not close."""

    def full(*_: object, **__: object) -> None:
        raise VaultError("the disk is full", "make room")

    with new_vault(tmp_path) as (at, key), every(2) as opened:
        with monkeypatch.context() as patched:
            if limit == "full":
                patched.setattr("agent.vault.store.Store.put", full)
            else:
                patched.setattr(ledger, "MAX_ITEM_BYTES", 100)
            filled(at, key, HISTORY)
        opened.clear()
        with unlock_with(at, key) as vault:
            assert len(opened) == len(HISTORY)
            assert follows(vault.ledger) == follows(ledger_of(HISTORY))
