"""The ledger and the profile in a real vault: as beside the double, by way of the file."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.errors import UsageError
from agent.vault.disclosure_index import Record
from agent.vault.ledger import Ledger
from agent.vault.vault import unlock_with
from tests.vault.doubles import MemoryStore
from tests.vault.histories import GROUPINGS, NOW, Grouping, disclosed, histories, records
from tests.vault.killed import new_vault
from tests.vault.values import model_of

FEW = settings(max_examples=20)  # each waits for the disk
MODEL = model_of({"region": ("unspecified", "uk", "france")}, name="one")


def held(ledger: Ledger) -> list[object]:
    """Return what every pool holds, under each grouping."""
    return [
        (name, dict(pool.held), pool.recent(NOW))
        for groups in GROUPINGS
        for name, pool in ledger.disclosures.pools(Grouping(groups).of)
    ]


def apart(history: Sequence[Record]) -> Ledger:
    """Return a ledger of these entries that is kept in memory."""
    ledger = Ledger(MemoryStore())
    for record in history:
        ledger.append(record)
    return ledger


@FEW
@given(histories(), histories())
def test_who_opens_it_again_knows_the_same(
    tmp_path_factory: pytest.TempPathFactory, before: list[Record], after: list[Record]
) -> None:
    """What recipients hold is read from the file, and goes on from there."""
    with new_vault(tmp_path_factory.getbasetemp()) as (at, key):
        for history in (before, after):
            with unlock_with(at, key) as vault:
                for record in history:
                    vault.ledger.append(record)
        with unlock_with(at, key) as vault:
            expected = apart([*before, *after])
            assert vault.ledger.read() == expected.read()
            assert held(vault.ledger) == held(expected)


@FEW
@given(st.lists(records(), min_size=1, max_size=5), st.data())
def test_a_part_is_read_from_the_file(
    tmp_path_factory: pytest.TempPathFactory, history: list[Record], data: st.DataObject
) -> None:
    """As from memory, whatever the entries hold."""
    after, limit = data.draw(st.integers(0, 6)), data.draw(st.none() | st.integers(0, 6))
    hosts = data.draw(st.none() | st.sets(st.sampled_from([each.host for each in history])))
    chosen = None if hosts is None else hosts.__contains__
    with new_vault(tmp_path_factory.getbasetemp()) as (at, key), unlock_with(at, key) as vault:
        for record in history:
            vault.ledger.append(record)
        expected = apart(history)
        assert vault.ledger.read(after, limit, chosen) == expected.read(after, limit, chosen)


def test_values_stay_with_the_vault(tmp_path: Path) -> None:
    """They are revealed to a later process, and a copy of the file has none in the clear."""
    with new_vault(tmp_path) as (at, key):
        with unlock_with(at, key) as vault:
            vault.profile.change({"region": "france"}, (), [MODEL])
            vault.ledger.append(disclosed(NOW, "books.example", region="france"))
        with unlock_with(at, key) as vault:
            assert vault.profile.reveal(["region"], MODEL) == {"region": "france"}
        data = at.vault.read_bytes()
        for private in (b"france", b"region", b"books", b"editor"):
            assert private not in data


def test_an_entry_that_is_too_large_did_not_happen(tmp_path: Path) -> None:
    """The recipient holds no more, and the ledger goes on."""
    with new_vault(tmp_path) as (at, key), unlock_with(at, key) as vault:
        with pytest.raises(UsageError):
            vault.ledger.append(disclosed(NOW, "a.example", region="x" * 2**17))
        assert held(vault.ledger) == []
        assert vault.ledger.append(disclosed(NOW, "a.example", region="uk")) == 1
