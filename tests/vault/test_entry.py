"""Entries as bytes: there and back, and nothing else is read."""

import json
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import DamagedVaultError
from agent.vault import chain
from agent.vault.disclosure_index import MOST_SITES, Disclosure, Forgetting, Record, decode, encode
from tests.vault.histories import NOW, disclosed, forgotten, records

ENTRY = disclosed(NOW, "books.example", region="uk", age="old")


@given(records())
def test_an_entry_comes_back(record: Record) -> None:
    """Whatever it holds, to the microsecond."""
    assert decode(encode(record)) == record


def test_the_offset_of_the_time_comes_back() -> None:
    """Whether it was a Monday depends on it."""
    at = datetime.fromisoformat("2027-03-08T00:30:00.000001+05:45")
    back = decode(encode(forgotten("a.example", at=at))).at
    assert (back, back.utcoffset()) == (at, at.utcoffset())


@given(records())
def test_what_is_cut_off_is_no_entry(record: Record) -> None:
    """At any byte."""
    payload = encode(record)
    for end in range(len(payload)):
        with pytest.raises(DamagedVaultError):
            decode(payload[:end])


@given(st.binary(max_size=40))
def test_other_bytes_are_no_entry(payload: bytes) -> None:
    """They are refused, without being quoted."""
    with pytest.raises(DamagedVaultError, match="an entry of its ledger cannot be read"):
        decode(payload)


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "told"},
        {"kind": "forgotten"},
        {"more": 1},
        {"at": "2027-03-08T12:00:00"},
        {"at": 1},
        {"host": ""},
        {"host": None},
        {"asked": "region"},
        {"disclosed": {"region": "uk"}},
        {"disclosed": [["region", "uk", "fr"]]},
        {"disclosed": [["region", ""], ["age", "old"]]},
        {"disclosed": [["region", "uk"], ["age", "old"], ["region", "fr"]]},
        {"persons": ["region", "region"]},
        {"persons": ["job"]},
        {"utility_bits": "0.5"},
        {"utility_bits": 10**400},
        {"people_left": -1},
        {"people_left": 1.5},
    ],
    ids=str,
)
def test_what_no_entry_says_is_refused(change: dict[str, Any]) -> None:
    """One thing at a time."""
    document = json.loads(encode(ENTRY))
    assert decode(json.dumps(document).encode()) == ENTRY
    with pytest.raises(DamagedVaultError):
        decode(json.dumps(document | change).encode())


@pytest.mark.parametrize("key", json.loads(encode(ENTRY)))
def test_every_key_is_there(key: str) -> None:
    """Nothing has a default."""
    document = json.loads(encode(ENTRY))
    del document[key]
    with pytest.raises(DamagedVaultError):
        decode(json.dumps(document).encode())


def test_deep_nesting_is_refused() -> None:
    """The interpreter's limit is no crash of ours."""
    with pytest.raises(DamagedVaultError):
        decode(b'{"kind":"disclosed","asked":' + b"[" * 100_000)


@pytest.mark.parametrize(
    "change",
    [
        {"at": NOW.replace(tzinfo=None)},
        {"host": ""},
        {"disclosed": (("region", "uk"),) * 2},
        {"disclosed": (("", "uk"),), "persons": ()},
        {"persons": ("job",)},
        {"utility_bits": float("nan")},
        {"people_left": -1},
    ],
    ids=str,
)
def test_what_could_not_be_read_is_not_made(change: dict[str, Any]) -> None:
    """So no vault is written that cannot be opened."""
    fields = {name: getattr(ENTRY, name) for name in ENTRY.__struct_fields__}
    with pytest.raises(ValueError, match=r".") as caught:
        Disclosure(**fields | change)
    assert "uk" not in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        {"at": NOW.replace(tzinfo=None)},
        {"host": ""},
        {"sites": ()},
        {"sites": ("",)},
        {"sites": ("b.example", "a.example")},
        {"sites": ("a.example", "a.example")},
        {"sites": tuple(f"{number:02}.example" for number in range(MOST_SITES + 1))},
    ],
    ids=str,
)
def test_a_statement_says_of_whom_it_is(change: dict[str, Any]) -> None:
    """And when, as any entry; each site once, so that there is one way to say it."""
    with pytest.raises(ValueError, match=r".") as caught:
        Forgetting(**{"at": NOW, "host": "a.example", "sites": ("a.example",), **change})
    assert "example" not in str(caught.value)


@pytest.mark.parametrize(
    "change", [{"sites": []}, {"sites": "a.example"}, {"sites": None}, {"query": "editor"}], ids=str
)
def test_what_no_statement_says_is_refused(change: dict[str, Any]) -> None:
    """One thing at a time; nor one that does not say of whom."""
    document = json.loads(encode(forgotten("a.example")))
    for damaged in (document | change, {"kind": "forgotten", "at": document["at"], "host": "a"}):
        with pytest.raises(DamagedVaultError):
            decode(json.dumps(damaged).encode())


def test_the_largest_statement_has_room() -> None:
    """As many sites as there may be, each as long as may be, and the host too."""
    sites = [f"{number:04}".rjust(chain.MAX_NAME, "a") for number in range(MOST_SITES)]
    assert len(encode(forgotten(*sites))) <= chain.MAX_PAYLOAD


def test_only_attributes_of_the_person_are_facts() -> None:
    """What is set anew for every request is no knowledge."""
    fields = {name: getattr(ENTRY, name) for name in ENTRY.__struct_fields__}
    assert ENTRY.facts == (("region", "uk"), ("age", "old"))
    assert Disclosure(**fields | {"persons": ("age",)}).facts == (("age", "old"),)


def test_nothing_private_is_shown() -> None:
    """Neither by repr nor by str."""
    told = str(ENTRY) + repr([ENTRY, forgotten("books.example")])
    for private in ("books", "editor", "uk", "region"):
        assert private not in told
