"""A vault of format 1 is refused by name, and restored whole: made by the version that wrote it."""

from functools import partial
from pathlib import Path
from shutil import copyfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.decision.locale import LOCALE
from agent.errors import VaultVersionError, WrongSecretError
from agent.files import private_folder
from agent.model.file import read, shipped_models
from agent.vault.backup import bring_over, check_backup, check_format, old_facts, restore
from agent.vault.corrections import Corrections
from agent.vault.disclosure_index import Disclosure
from agent.vault.secrets import Secret
from agent.vault.vault import unlock
from agent.vault.vault_files import Location
from tests.vault.histories import NOW, record_at
from tests.vault.values import model_of, new_id, own_values, sexes
from tests.vault.worlds import TYPED, names_beside

OLD = Path(__file__).with_name("old") / "format-1.db"
CODE = Secret("recovery", "JFRVWK-Z3YF29-30KEKX-B136AP-HGZQ14-DEY7WB")
MODELS = [*map(read, shipped_models()), LOCALE]
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
        *entries, last = [each.record for each in vault.ledger.read()]
        assert entries == [record_at(number) for number in range(1, 12)]
        assert isinstance(last, Disclosure)
        assert last.learnt == (("sex", "female"),)
        assert vault.items.get("offers") == b"[]"
        assert [each.query for each in Corrections(vault.items).all] == ["python"]
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
