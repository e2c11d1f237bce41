"""What texts do not mean: kept sealed, however a text is written, and gone when taken back."""

from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.decision.values import Correction
from agent.errors import DamagedVaultError, UsageError
from agent.model.reading import normalise, spelling
from agent.vault import profile
from agent.vault.backup import restore
from agent.vault.profile import CORRECTIONS, Corrections
from agent.vault.secrets import Secret
from agent.vault.store import Items
from agent.vault.vault import Vault, unlock
from agent.vault.vault_files import Location
from tests.vault.worlds import PASSPHRASE
from tests.worlds.people import Memory

TEXTS = st.sampled_from(["Jobs", "job!", "ＪＯＢＳ", "sport", "a b", "a-  B", "?!", "C#"])
NAMES = st.sampled_from(["one", "two"])
SECRET = "divorce lawyer zqxj"  # noqa: S105  (what was searched)


@dataclass
class Rows:
    """A vault in memory."""

    items: Items

    def again(self) -> Corrections:
        """Return what is kept, read afresh."""
        return Corrections(self.items)


def empty() -> Rows:
    """Return one without corrections."""
    return Rows(Memory())


@given(st.lists(st.tuples(TEXTS, NAMES, NAMES, st.booleans()), max_size=12))
def test_what_is_kept_is_what_was_said_last(said: list[tuple[str, str, str, bool]]) -> None:
    """Against a plain set of spellings; read afresh it is the same."""
    rows = empty()
    kept, wanted = rows.again(), set[tuple[str, str, str]]()
    for text, model, query, undo in said:
        if undo:
            kept.replace(text, ())
            wanted = {each for each in wanted if each[0] != spelling(text)}
        else:
            new = (spelling(text), model, query)
            assert kept.add(text, model, query) == (new not in wanted)
            wanted.add(new)
        for one in (kept, rows.again()):
            for each, by in (
                (each, by) for each in ("JOBS", "sport", "A B", "?!", "c") for by in ("one", "two")
            ):
                found = {q for t, m, q in wanted if (t, m) == (spelling(each), by)}
                assert one.rejected(each, by) == found
    assert (rows.items.get(CORRECTIONS) is None) == (not wanted)


def test_what_an_older_vault_holds_counts() -> None:
    """It kept texts as they are normalised, and was told that one is not read so."""
    rows = empty()
    old = [
        Correction(text=normalise(text), model="one", query="work")
        for text in ("Photo editors", "photo editor")
    ]
    rows.items.put(CORRECTIONS, msgspec.json.encode(old))
    kept = rows.again()
    assert kept.rejected("photo editors", "one") == {"work"}
    assert not kept.add("PHOTO EDITOR", "one", "work")
    kept.replace("Photo editors", ())
    assert kept.kept == frozenset()


def test_what_was_there_before_comes_back() -> None:
    """For whoever undoes the last correction."""
    kept = empty().again()
    kept.add("jobs", "one", "work")
    before = kept.of("jobs")
    kept.add("JOBS", "two", "work")
    kept.replace("jobs", before)
    assert kept.of("jobs") == [Correction(text="job", model="one", query="work")]


@pytest.mark.parametrize("limit", ["MOST_CORRECTIONS", "MAX_ITEM_BYTES"])
def test_a_full_list_takes_no_more(monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    """One sentence says so, and what was kept stays."""
    rows = empty()
    kept = rows.again()
    kept.add("jobs", "one", "work")
    monkeypatch.setattr(profile, limit, 1 if limit == "MOST_CORRECTIONS" else 70)
    with pytest.raises(UsageError, match="no room for more than 1 texts read wrongly"):
        kept.add("sport", "one", "sport")
    assert rows.again().of("jobs") == kept.of("jobs") != []
    assert rows.again().of("sport") == kept.of("sport") == []


@given(st.binary(max_size=40) | st.just(b'[{"text":"","model":"a","query":"b"}]'))
def test_damage_is_said_and_quotes_nothing(payload: bytes) -> None:
    """Whatever else than a list of corrections stands there."""
    rows = empty()
    rows.items.put(CORRECTIONS, payload)
    try:
        msgspec.json.decode(payload, type=list[Correction])
    except msgspec.MsgspecError:
        with pytest.raises(DamagedVaultError, match="what texts do not mean cannot be read"):
            rows.again()
    except UnicodeDecodeError:
        with pytest.raises(DamagedVaultError):
            rows.again()


def test_it_is_sealed_and_part_of_a_backup(vault: Vault, at: Location, tmp_path: Path) -> None:
    """No file has the text; a copy of the vault has the correction."""
    kept = Corrections(vault.items)
    kept.add(SECRET, "one", "law")
    assert SECRET not in repr(kept.of(SECRET))
    copy = tmp_path / "copy.db"
    vault.backup(copy)
    vault.close()
    for path in filter(Path.is_file, tmp_path.rglob("*")):
        for text in (SECRET, "zqxj"):
            assert text.encode() not in path.read_bytes(), path
    with unlock(at, Secret("passphrase", PASSPHRASE)) as again:
        assert Corrections(again.items).rejected(SECRET.upper(), "one") == {"law"}
    at.vault.unlink()
    at.witness.unlink(missing_ok=True)
    restore(at, copy, Secret("passphrase", PASSPHRASE))
    with unlock(at, Secret("passphrase", PASSPHRASE)) as back:
        assert Corrections(back.items).rejected(SECRET, "one") == {"law"}
