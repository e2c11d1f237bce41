"""Corrections: what texts mean, and what they do not."""

from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from agent.errors import UsageError, normalise
from agent.model.reading import DIMENSIONS, NOTHING, Interpretation, spelling
from agent.vault import corrections
from agent.vault.backup import restore
from agent.vault.corrections import CORRECTIONS, Correction, Corrections
from agent.vault.vault import Vault, unlock
from agent.vault.vault_files import Location
from tests.decision.made import made_model
from tests.vault.worlds import TYPED
from tests.worlds.people import Memory

TEXTS = st.sampled_from(["Jobs", "job!", "ＪＯＢＳ", "sport", "a b", "a-  B", "?!", "C#"])
NAMES_CORRECTIONS = st.sampled_from(["one", "two"])
SECRET = "divorce lawyer zqxj"  # noqa: S105  (what was searched)


@given(st.lists(st.tuples(TEXTS, *[NAMES_CORRECTIONS] * 2, st.booleans() | st.none()), max_size=12))
def test_what_is_kept_is_what_was_said_last(said: list[tuple[str, str, str, bool | None]]) -> None:
    """Against a plain dict by spelling and query; None takes back. Read afresh it is the same.

    A text means one query at most, and whether it does is said of it once, whatever the model.
    """
    items = Memory()
    kept, wanted = Corrections(items), dict[tuple[str, str], bool]()
    vector = np.linspace(-0.1, 0.1, DIMENSIONS, dtype=np.float32)
    for text, model, query, means in said:
        spelt = spelling(text)
        if means is None:
            kept.replace(text, ())
            wanted = {key: each for key, each in wanted.items() if key[0] != spelt}
            continue
        new = wanted.get((spelt, query)) is not means
        assert kept.add(text, model, query, means=means, place=vector) == new
        if new and means:
            wanted = {key: each for key, each in wanted.items() if not each or key[0] != spelt}
        wanted[spelt, query] = means
    for one in (kept, Corrections(items)):
        assert {(e.text, e.query): e.means for e in one.kept} == wanted
        for each in ("JOBS", "sport", "A B", "?!", "c"):
            found = {q: means for (t, q), means in wanted.items() if t == spelling(each)}
            assert {e.query: e.means for e in one.of(each)} == found
    for correction in kept.kept:
        assert np.abs(np.frombuffer(correction.vector, "<f2") - vector).max() < 1e-4
    assert (items.get(CORRECTIONS) is None) == (not wanted)


def test_the_nearest_text_counts_most() -> None:
    """A place of another encoder, or of another size, is near to none."""
    items, model = Memory(), made_model(1, queries=2)
    queries = [each.text for each in model.queries]

    def place(angle: float) -> NDArray[np.float32]:
        return np.array([np.cos(angle), np.sin(angle), *[0] * (DIMENSIONS - 2)], np.float32)

    kept = Corrections(items, [model])
    three = ("a", 0, True, 0.0), ("b", 1, True, 0.5), ("c", 0, False, 0.9)
    for text, query, means, angle in three:
        kept.add(text, model.id, queries[query], means=means, place=place(angle))

    def read(angle: float, text: str = "zqxj") -> Interpretation:
        return Corrections(items, [model]).apply(NOTHING, text, model, place(angle))

    assert [read(angle).query for angle in (0.1, 0.4, 0.6, 1.4, 2.0)] == [0, 1, 1, None, None]
    assert read(0.2).candidates[0].probability == pytest.approx(np.cos(0.2), abs=2e-3)
    assert [read(angle, "A").certain for angle in (0.1, 0.5, 2.0)] == [0, 0, 0]
    stored = msgspec.json.decode(items.get(CORRECTIONS) or b"")
    for change_ in ({"encoder": "0.1"}, {"vector": "AAAA"}, {"vector": ""}):
        items.put(CORRECTIONS, msgspec.json.encode([each | change_ for each in stored]))
        assert (read(0.1), read(0.1, "A").certain) == (NOTHING, 0)


def test_what_an_older_vault_holds_counts() -> None:
    """It kept texts as they are normalised, and was told that one is not read so."""
    items = Memory()
    old = [
        Correction(text=normalise(text), model="one", query="work")
        for text in ("Photo editors", "photo editor")
    ]
    items.put(CORRECTIONS, msgspec.json.encode(old))
    kept = Corrections(items)
    assert [each.query for each in kept.of("photo editors")] == ["work"]
    assert not kept.add("PHOTO EDITOR", "one", "work")
    kept.replace("Photo editors", ())
    assert kept.kept == frozenset()


@pytest.mark.parametrize("limit", ["MOST_CORRECTIONS", "MAX_ITEM_BYTES"])
def test_a_full_list_takes_no_more(monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    """One sentence says so, and what was kept stays."""
    items = Memory()
    kept = Corrections(items)
    kept.add("jobs", "one", "work")
    monkeypatch.setattr(corrections, limit, 1 if limit == "MOST_CORRECTIONS" else 70)
    with pytest.raises(UsageError, match="no room for more than 1 corrected texts"):
        kept.add("sport", "one", "sport")
    assert Corrections(items).of("jobs") == kept.of("jobs") != []
    assert Corrections(items).of("sport") == kept.of("sport") == []


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
    with unlock(at, TYPED) as again:
        assert [each.query for each in Corrections(again.items).of(SECRET.upper())] == ["law"]
    at.vault.unlink()
    at.witness.unlink(missing_ok=True)
    restore(at, copy, TYPED)
    with unlock(at, TYPED) as back:
        assert [each.query for each in Corrections(back.items).of(SECRET)] == ["law"]
