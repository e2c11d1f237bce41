"""Passphrases, recovery codes and the keyring open a vault, and no secret stays in a crash."""

import subprocess
import sys
import unicodedata
from functools import partial
from itertools import chain, repeat
from threading import Event
from unittest.mock import Mock

import keyring
import keyring.backend
import keyring.backends.fail
import keyring.backends.null
import keyring.errors
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import UsageError, VaultError, WrongSecretError
from agent.vault import secrets
from agent.vault.secrets import CODE_BYTES, MAX_BYTES, Secret, code_bytes, code_text, normalised
from agent.vault.vault import Vault, make, unlock
from agent.vault.vault_files import Location
from tests.house.tree import ROOT
from tests.vault.doubles import NEVER, Memory
from tests.vault.worlds import FAST, PASSPHRASE, TYPED, stream

PROGRAM = """
from agent.vault.secrets import forbid_dumps
from tests.vault.doubles import state
print(state())
forbid_dumps()
forbid_dumps()
print(state())
"""
TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=60)
CODES = st.binary(min_size=CODE_BYTES, max_size=CODE_BYTES)
DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
RING = Secret("keyring")


def test_there_is_no_core_file_any_more() -> None:
    """However often that is said; for the sake of the test there might have been one before."""
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, timeout=60)
    before, after = done.stdout.splitlines()
    assert before.endswith(" 1")
    assert after == NEVER


@given(TEXTS)
def test_forms_of_one_text_are_one_passphrase(text: str) -> None:
    """Composed or not, and whatever space the keyboard gives."""
    composed = unicodedata.normalize("NFC", text)
    spaced = text.replace(" ", "\u00a0")
    assert normalised(text) == normalised(unicodedata.normalize("NFD", text))
    assert normalised(spaced) == normalised(composed)


@pytest.mark.parametrize("text", ["", "\udc80", "x" * (MAX_BYTES + 1), "é" * 513])
def test_what_is_no_passphrase_is_refused(text: str) -> None:
    """Nothing, what is no text, and what is too long."""
    with pytest.raises(UsageError) as caught:
        normalised(text)
    assert text == "" or text not in str(caught.value)


@given(CODES)
def test_a_code_that_was_written_is_read(code: bytes) -> None:
    """In six groups of six."""
    text = code_text(code)
    assert [len(group) for group in text.split("-")] == [6] * 6
    assert code_bytes(text) == code


@given(CODES)
def test_how_it_is_typed_does_not_matter(code: bytes) -> None:
    """Case, spaces, lines, and letters that look like digits."""
    text = code_text(code)
    assert code_bytes(text.lower().replace("-", " ")) == code
    assert code_bytes(text.replace("-", "\n").replace("0", "O").replace("1", "l")) == code
    assert code_bytes(text.replace("-", "").replace("0", "o").replace("1", "i")) == code


@given(CODES, st.integers(0, 35), st.sampled_from(DIGITS))
def test_one_wrong_digit_is_noticed(code: bytes, where: int, digit: str) -> None:
    """Of 2**20 mistakes one passes; the examples drawn here are none of those."""
    plain = code_text(code).replace("-", "")
    wrong = plain[:where] + digit + plain[where + 1 :]
    if wrong == plain:
        assert code_bytes(wrong) == code
        return
    with pytest.raises(WrongSecretError, match="mistyped"):
        code_bytes(wrong)


@given(st.text(max_size=60))
def test_any_text_is_a_code_or_refused(text: str) -> None:
    """In one sentence, never otherwise."""
    said = None
    try:
        code_bytes(text)
    except WrongSecretError as error:
        said = error
    assert said is None or (said.what + said.hint).isprintable()


def once(trouble: BaseException) -> Mock:
    """Return what raises something when it is first called."""
    return Mock(side_effect=chain([trouble], repeat(None)))


def test_the_keyring_opens_the_vault(ring: Memory, at: Location, vault: Vault) -> None:
    """Until its slot is removed, and with it what the keyring keeps."""
    number, _ = vault.add_slot("keyring")
    assert (vault.keys()[-1].id, vault.keys()[-1].kind) == (number, "keyring")
    assert [service for service, _ in ring.kept] == [secrets.SERVICE]
    vault.close()
    with unlock(at, RING) as again:
        assert again.notes == ()
        again.remove_slot(number)
    assert ring.kept == {}
    with pytest.raises(WrongSecretError, match="no key for this vault"):
        unlock(at, RING)


def test_rotation_writes_the_keyring_anew(ring: Memory, at: Location, vault: Vault) -> None:
    """Under another account, with other bytes; the old ones go."""
    vault.add_slot("keyring")
    before = dict(ring.kept)
    vault.rotate(PASSPHRASE)
    vault.close()
    assert len(ring.kept) == 1
    assert before.keys().isdisjoint(ring.kept)
    unlock(at, RING).close()
    ring.kept = before
    with pytest.raises(WrongSecretError):
        unlock(at, RING)


def test_a_write_that_fails_leaves_nothing_in_the_keyring(ring: Memory, vault: Vault) -> None:
    """Neither when a slot is added nor when the key is replaced."""
    vault.add_slot("keyring")
    before = dict(ring.kept)
    database = vault._store.database  # noqa: SLF001  (to fill the disk)
    database.rows("PRAGMA query_only=ON")
    with pytest.raises(VaultError, match="read-only"):
        vault.add_slot("keyring")
    with pytest.raises(VaultError, match="read-only"):
        vault.rotate(PASSPHRASE)
    database.rows("PRAGMA query_only=OFF")
    assert ring.kept == before


@pytest.mark.parametrize(
    "trouble", [RuntimeError("D-Bus: no reply"), SystemExit(1), keyring.errors.KeyringLocked()]
)
def test_whatever_it_raises_is_one_error(
    ring: Memory, at: Location, vault: Vault, trouble: BaseException
) -> None:
    """Backends have libraries of their own, and each of these its own errors."""
    before = vault.keys()
    ring.asked = once(trouble)
    with pytest.raises(VaultError, match="did not store the key") as caught:
        vault.add_slot("keyring")
    assert caught.value.__cause__ is trouble
    assert (vault.keys(), ring.kept) == (before, {})
    vault.add_slot("keyring")
    vault.close()
    ring.asked = once(trouble)
    with pytest.raises(VaultError, match="did not return the key"):
        unlock(at, RING)
    ring.asked = once(trouble)
    with unlock(at, TYPED) as again:
        again.remove_slot(3)
    assert len(ring.kept) == 1


def test_what_is_not_kept_is_no_key(
    ring: Memory, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some take everything and keep nothing, or something else."""
    before = vault.keys()
    for found in (None, "00" * 32):
        monkeypatch.setattr(ring, "get_password", Mock(return_value=found))
        with pytest.raises(VaultError, match="did not store the key"):
            vault.add_slot("keyring")
        assert vault.keys() == before


def test_a_keyring_that_waits_is_not_waited_for(
    ring: Memory, at: Location, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the vault can be opened in another way meanwhile."""
    vault.add_slot("keyring")
    vault.close()
    ring.asked = Mock(side_effect=lambda: unlock(at, TYPED).close())
    unlock(at, RING).close()
    ring.asked.assert_called_once_with()
    answered = Event()
    ring.asked = partial(answered.wait, 60)
    monkeypatch.setattr(secrets, "SECONDS", 0)
    try:
        with pytest.raises(VaultError, match="did not answer within 0 seconds"):
            unlock(at, RING)
        assert not secrets.forget("00")
        unlock(at, TYPED).close()
    finally:
        answered.set()


def test_without_the_extra_everything_else_works(
    monkeypatch: pytest.MonkeyPatch, at: Location, vault: Vault
) -> None:
    """It says what to install."""
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(VaultError, match="extra `keyring` is not installed"):
        vault.add_slot("keyring")
    assert not secrets.forget("00")
    vault.rotate(PASSPHRASE)
    vault.close()
    unlock(at, TYPED).close()


def test_which_keyring_this_session_has(monkeypatch: pytest.MonkeyPatch, ring: Memory) -> None:
    """Its name; none where the library found nothing that could keep a key, or is not there."""
    assert secrets.backend() == ring.name
    for kind in (keyring.backends.fail.Keyring, keyring.backends.null.Keyring):
        keyring.set_keyring(kind())
        assert (secrets.installed(), secrets.backend()) == (True, None)
    monkeypatch.setattr(secrets, "find_spec", lambda _name: None)
    assert (secrets.installed(), secrets.backend()) == (False, None)


def test_a_vault_that_is_not_to_be_leaves_no_key(at: Location, ring: Memory) -> None:
    """What failed after a key was added takes it back."""

    def fill(vault: Vault) -> None:
        vault.add_slot("keyring")
        assert len(ring.kept) == 1
        raise VaultError("the disk is full", "make room")

    with pytest.raises(VaultError, match="the disk is full"):
        make(at, PASSPHRASE, FAST, stream(), fill)
    assert ring.kept == {}
