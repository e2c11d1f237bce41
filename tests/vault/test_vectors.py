"""FORMAT.md says what the code does, and so does every vector, one scenario per file."""

import re
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path
from shutil import copyfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.decision.locale import LOCALE
from agent.errors import ReticentError, VaultVersionError, WrongSecretError
from agent.files import private_folder
from agent.model.file import read as read_model
from agent.model.file import shipped_models
from agent.vault import chain, seal, slots, store
from agent.vault.backup import bring_over, check_backup, check_format, old_facts, restore
from agent.vault.database import APPLICATION_ID, TABLES
from agent.vault.disclosure_index import MOST_SITES, Disclosure
from agent.vault.ledger import Ledger
from agent.vault.profile import Corrections
from agent.vault.seal import FORMAT
from agent.vault.secrets import Secret
from agent.vault.vault import unlock
from agent.vault.vault_files import Location
from tests.vault.doubles import MemoryStore
from tests.vault.histories import NOW, Grouping, held, record_at
from tests.vault.make_vectors import vectors
from tests.vault.values import model_of, new_id, own_values, sexes
from tests.vault.vector_files import FOLDER, Expected, build, read, text
from tests.vault.worlds import TYPED, contents, names_beside, place, store_of

BOTH = ("one.example", "two.example")
TEXT = (Path(__file__).parents[2] / "agent/vault/FORMAT.md").read_text()
FILES = sorted(FOLDER.glob("*.json"))


def opened(at_file: Path, folder: Path) -> Expected | ReticentError:
    """Return what opening the vault of a vector brings."""
    vector = read(at_file)
    at = place(folder)
    build(vector, at)
    try:
        with store_of(at, Secret(*vector.secret)) as store:
            entries, items = contents(store)
            notes = len(store.notes)
    except ReticentError as error:
        return error
    return Expected(
        None,
        [(number, payload.decode()) for number, payload in entries],
        {name: (payload or b"").decode() for name, payload in items.items()},
        notes,
    )


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_vector_is_what_it_says(path: Path, tmp_path: Path) -> None:
    """It opens to what was put in, or is refused with the error named; its file is free then."""
    found, expected = opened(path, tmp_path), read(path).expect
    if isinstance(found, ReticentError):
        assert type(found).__name__ == expected.error
        assert (found.what + found.hint).isprintable()
    else:
        assert found == expected
    with closing(sqlite3.connect(place(tmp_path).vault, timeout=0)) as connection:
        assert connection.execute("SELECT count(*) FROM slot").fetchone()


def test_who_is_stated_to_forget_holds_nothing() -> None:
    """And the other, whether or not the two are a group by now."""
    entries = read(FOLDER / "forgotten.json").expect.entries
    ledger = Ledger(MemoryStore(), [(number, payload.encode()) for number, payload in entries])
    for pool, groups in (("two.example", {}), ("@both", dict.fromkeys(BOTH, "@both"))):
        assert {*held(ledger, pool, Grouping(groups).of)} == {"age"}
    assert held(ledger, "one.example", Grouping({}).of) == {}


def test_the_files_are_those_that_are_made() -> None:
    """Byte for byte: what this version writes is what the vectors say, nothing is by hand."""
    made = {name: text(each) for name, each in vectors().items()}
    assert {path.stem: path.read_bytes() for path in FILES} == made


def test_the_tables_are_those_of_the_page() -> None:
    """Word for word: they are compared with the file's."""
    found = re.search(r"```sql\n(.*?)```", TEXT, re.DOTALL)
    assert found is not None
    assert tuple(found[1].splitlines()) == TABLES


def test_the_numbers_are_those_of_the_page() -> None:
    """Limits, and what tells a vault from another file."""
    said = (
        f"`application_id` is 0x{APPLICATION_ID:08X}",
        f"# The vault file, format {FORMAT}\n",
        f"| slots | {slots.MAX_SLOTS}, bodies of at most {slots.MAX_BODY // 1024} KiB |",
        f"| payload of an entry | {chain.MAX_PAYLOAD // 1024} KiB |",
        f"that time; 1 to {MOST_SITES}, ascending",
        f"A pool of more than {MOST_SITES} sites",
        f"{store.MAX_ITEMS:,}; {store.MAX_ITEM_BYTES // 2**20} MiB |",
        f"m ≤ {seal.MAX_MEMORY_KIB:,} (1 GiB), 1 ≤ t ≤ {seal.MAX_ITERATIONS}",
        f"1 ≤ p ≤ {seal.MAX_LANES}",
        f"m ≥ {seal.FLOOR.memory_kib:,} (64 MiB), t = {seal.FLOOR.iterations}",
        f"up to {seal.CALIBRATED_KIB // 1024} MiB",
    )
    assert [each for each in said if each not in TEXT.replace("\n", " ") + TEXT] == []


OLD = Path(__file__).with_name("old") / "format-1.db"
CODE = Secret("recovery", "JFRVWK-Z3YF29-30KEKX-B136AP-HGZQ14-DEY7WB")
MODELS = [*map(read_model, shipped_models()), LOCALE]
NEW = partial(bring_over, models=MODELS, now=NOW, new_id=new_id)
NO_JOB = ("atus.employer", "atus.hours", "atus.industry", "atus.occupation")
FACTS = dict.fromkeys(NO_JOB, "no_job") | {
    "atus.region": "west",
    "atus.work": "not_working",
    "country": "de",
    "gone.pet": "gone:cat",
    "sex": "so2017:other",
    "so2017.region": "east_se_asia_other",
}


def holds_everything(at: Location) -> None:
    """Assert that a vault has all that the old one had."""
    with unlock(at, TYPED) as vault:
        assert vault.notes == ()
        assert own_values(vault.profile) == FACTS
        *entries, last = [record for _, record in vault.ledger.read()]
        assert entries == [record_at(number) for number in range(1, 12)]
        assert isinstance(last, Disclosure)
        assert last.learnt == (("sex", "female"),)
        assert vault.items.get("offers") == b"[]"
        assert [each.query for each in Corrections(vault.items).kept] == ["python"]
        assert vault.ledger.latest is not None
        assert vault.ledger.latest < last.at  # the clock was reset


@pytest.mark.parametrize("secret", [TYPED, CODE], ids=lambda each: each.kind)
def test_an_old_backup_is_restored(at: Location, secret: Secret) -> None:
    """By each of its secrets, and is not touched."""
    before = OLD.read_bytes()
    check_format(OLD)
    assert check_backup(OLD, secret, NEW) == 12
    assert restore(at, OLD, secret, NEW) is None
    assert OLD.read_bytes() == before
    holds_everything(at)
    restore(at, OLD, secret, NEW)  # over itself
    holds_everything(at)


def test_an_old_vault_in_its_place_is_refused_and_brought_over(at: Location) -> None:
    """By restoring it over itself; the old one is kept beside it."""
    private_folder(at.vault.parent)
    copyfile(OLD, at.vault)
    with pytest.raises(VaultVersionError, match="format 1, older than") as caught:
        unlock(at, TYPED)
    assert "`reticent vault restore`" in caught.value.hint
    with pytest.raises(WrongSecretError):
        restore(at, at.vault, Secret("passphrase", "wrong"), NEW)
    assert names_beside(at) == ["vault.db"]
    restore(at, at.vault, TYPED, NEW)
    assert names_beside(at) == ["vault.db", "vault.db.replaced-1"]
    holds_everything(at)


def test_nothing_of_an_old_profile_is_lost() -> None:
    """Of a fact that models shared, what says something; of the others their own names."""
    one, two = sexes()
    assert old_facts({"one": {"gender": "other"}, "two": {"sex": "unspecified"}}, [two, one]) == {
        "sex": "one:other"
    }
    assert old_facts({"two": {"sex": "male"}, "one": {"gender": "female"}}, [one, two]) == {
        "sex": "female"
    }
    assert old_facts({"one": {"gender": "unspecified", "lost": "x"}}, [one]) == {
        "sex": "unspecified",
        "one.lost": "one:x",
    }


@given(st.dictionaries(st.sampled_from(["a", "b"]), st.sampled_from(["unspecified", "x", "y"])))
def test_an_old_profile_reads_the_same(values: dict[str, str]) -> None:
    """Whether its model was there when it was brought over, or came later."""
    model = model_of(dict.fromkeys(("a", "b"), ("unspecified", "x", "y")), name="m")
    found = old_facts({"m": values}, [model])
    assert found == values
    assert old_facts({"m": values}, []).keys() == {f"m.{name}" for name in values}
