"""The ledger keeps every entry, and what follows from all of them."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import DamagedVaultError, UsageError, VaultError
from agent.vault.disclosure_index import (
    MOST_SITES,
    Forgetting,
    Record,
)
from agent.vault.ledger import Ledger, Reset
from policy.hosts import site_of
from tests.decision.events import knowledge_of
from tests.vault.doubles import MemoryStore, ledger_of
from tests.vault.histories import (
    GROUPINGS,
    HOSTS,
    NOW,
    SITES,
    Grouping,
    disclosed,
    events,
    follows,
    forgotten,
    held,
    histories,
    holdings,
    records,
)


def written(history: Sequence[Record]) -> tuple[Ledger, MemoryStore]:
    """Return a ledger of these entries, and where it is kept."""
    store = MemoryStore()
    return ledger_of(history, store), store


@given(st.lists(records(), max_size=8))
def test_what_was_appended_is_read(history: list[Record]) -> None:
    """In the order it was, numbered from 1, also by who opens the vault later."""
    ledger, store = written(history)
    assert ledger.count == len(history)
    for each in (ledger, Ledger(store), Ledger(store, store.entries())):
        assert each.read() == list(enumerate(history, 1))
        assert [each.entry(number) for number in range(1, len(history) + 1)] == history
        for number in (-1, 0, len(history) + 1):
            with pytest.raises(UsageError, match=f"no entry {number}"):
                each.entry(number)


@given(
    histories(), st.integers(0, 15), st.none() | st.integers(0, 15), st.sets(st.sampled_from(HOSTS))
)
def test_a_part_is_read(
    history: list[Record], after: int, limit: int | None, hosts: set[str]
) -> None:
    """After a number, of some sites, and of what is left the latest; opened again, the same."""
    before, store = written(history)
    ledger, sites = Ledger(store), {site_of(host) for host in hosts}
    later = [each for each in enumerate(history, 1) if each[0] > after]
    theirs = [each for each in later if site_of(each[1].host) in sites]
    start = 0 if limit is None else max(0, len(later) - limit)
    assert ledger.read(after, limit) == later[start:]
    start = 0 if limit is None else max(0, len(theirs) - limit)
    assert ledger.read(after, limit, sites.__contains__) == theirs[start:]
    assert before.read(after, limit, sites.__contains__) == theirs[start:]


@given(histories(), st.sampled_from(GROUPINGS))
def test_whoever_learns_something_has_it_on_the_disk(
    history: list[Record], groups: dict[str, str]
) -> None:
    """Whatever the groups are: an entry that may be lost changes nothing that anybody holds.

    How often a query was heard may then be less by one, which only a plan weighs.
    """
    pools = Grouping(groups)
    _, store = written(history)
    told = events(history)
    for place, durable in enumerate(store.durable):
        pool = pools.of(history[place].host)
        if not durable:
            before, after = (
                knowledge_of(told[:end], pool, pools.of, NOW) for end in (place, place + 1)
            )
            assert before == replace(after, queries=before.queries)


@given(histories())
def test_an_entry_waits_for_the_disk_only_where_it_must(history: list[Record]) -> None:
    """What repeats the last that this site was told, with nothing in between, is lazy."""
    _, store = written([*history, *history[-1:]])
    if history:
        assert store.durable[-1] == isinstance(history[-1], Forgetting)


def test_repeating_is_lazy_and_learning_is_not() -> None:
    """Hosts of one site are one; another site learns for itself; who forgot learns anew."""
    history: list[tuple[Record, bool]] = [
        (disclosed(NOW, "www.a.example", age="old"), True),
        (disclosed(NOW, "a.example", age="old"), False),
        (disclosed(NOW, "b.example", age="old"), True),
        (disclosed(NOW, "a.example", age="old"), False),
        (disclosed(NOW, "a.example", age="old", region="uk"), True),
        (disclosed(NOW, "a.example", age="young"), True),
        (disclosed(NOW, "b.example", age="old"), True),  # it may be the first to hear of it again
        (disclosed(NOW, "a.example"), False),
        (forgotten("b.example"), True),
        (disclosed(NOW, "b.example", age="old"), True),
        (disclosed(NOW, "b.example", age="old"), False),
        (disclosed(NOW, "a.example", region="uk"), False),  # of whom nothing was stated
        (forgotten("a.example", "b.example"), True),
        (disclosed(NOW, "a.example", region="uk"), True),
        (disclosed(NOW, "a.example", region="uk"), False),
        (
            msgspec.structs.replace(disclosed(NOW, "e.example", hours="yes"), persons=(), means=()),
            False,
        ),
    ]
    _, store = written([record for record, _ in history])
    assert store.durable == [durable for _, durable in history]


@given(histories(), st.lists(st.sampled_from(GROUPINGS), max_size=8))
def test_groups_may_change_at_any_time(history: list[Record], asked: list[dict[str, str]]) -> None:
    """What is held under a grouping does not depend on what was asked before."""
    pools = [Grouping(groups) for groups in GROUPINGS]
    ledger, store = written([])
    for record, groups in zip(history, asked, strict=False):
        ledger.append(record)
        holdings(ledger.disclosures, pools[GROUPINGS.index(groups)].of)
    for record in history[len(asked) :]:
        ledger.append(record)
    for each in pools:
        again = Ledger(store).disclosures
        assert holdings(ledger.disclosures, each.of) == holdings(again, each.of)


@given(histories(), st.sampled_from(HOSTS))
def test_what_was_not_written_did_not_happen(history: list[Record], host: str) -> None:
    """A full disk: the error comes through, and nobody is taken to hold more."""
    ledger, store = written(history)
    before = follows(ledger)
    store.full = True
    for record in (disclosed(NOW, host, age="old"), forgotten(host)):
        with pytest.raises(VaultError, match="the disk is full"):
            ledger.append(record)
    assert follows(ledger) == before


@given(histories(), histories(), st.integers(-250, 250))
def test_what_was_later_than_a_reset_counts_as_of_then(
    before: list[Record], after: list[Record], hours: int
) -> None:
    """In all that follows from entries; these stay as they were written, and so do later ones."""
    at = NOW + timedelta(hours=hours)
    _, store = written([*before, *after])
    found = Ledger(store, reset=Reset(entries=len(before), at=at))
    clipped = [*(msgspec.structs.replace(each, at=min(each.at, at)) for each in before), *after]
    expected, _ = written(clipped)
    assert follows(found)[:-1] == follows(expected)[:-1]
    assert found.latest == max((each.at for each in clipped), default=None)
    assert [record for _, record in found.read()] == [*before, *after]


@pytest.mark.parametrize("written_so", [b"", b"[]", b'{"entries":1}', b'{"entries":-1,"at":"x"}'])
def test_a_reset_that_cannot_be_read_is_damage(written_so: bytes) -> None:
    """Nobody guesses at a time."""
    with pytest.raises(DamagedVaultError, match="of its clock"):
        Reset.read(written_so)
    assert Reset.read(None) is None


@given(histories(), st.sampled_from(SITES), st.sampled_from(GROUPINGS))
def test_those_forget_of_whom_it_is_said(
    history: list[Record], named: str, groups: dict[str, str]
) -> None:
    """The sites that are in the pool then forget everything, and all others nothing."""
    ledger, pools, alone = ledger_of(history), Grouping(groups), Grouping({})
    pool, count = pools.of(named), ledger.count
    before = {site: held(ledger, site, alone.of) for site in SITES}
    assert ledger.forget(NOW, lambda site: pools.of(site) == pool) == (ledger.count > count)
    for site in SITES:
        assert held(ledger, site, alone.of) == ({} if pools.of(site) == pool else before[site])
    assert held(ledger, pool, pools.of) == {}


def test_it_says_whom_the_user_named() -> None:
    """A host, though it was told nothing itself; of those who were told, or nothing is said."""
    ledger = Ledger(MemoryStore())
    assert not ledger.forget(NOW, lambda _: True, "a.example")
    assert ledger.count == 0
    ledger.append(disclosed(NOW, "www.b.example", age="old"))
    assert ledger.forget(NOW, lambda _: True, "a.example")
    expected = Forgetting(at=NOW, host="a.example", sites=("b.example",))
    assert ledger.read(after=1) == [(2, expected)]


def test_a_large_pool_forgets_in_parts() -> None:
    """As many entries as it takes, which together are said of each once."""
    sites = [f"{number:03}.example" for number in range(2 * MOST_SITES + 1)]
    ledger = ledger_of(disclosed(NOW, site, age="old") for site in sites)
    pools = Grouping(dict.fromkeys(sites, "@many"))
    assert ledger.forget(NOW, lambda site: pools.of(site) == "@many")
    said = [record for _, record in ledger.read(after=len(sites))]
    assert [site for each in said if isinstance(each, Forgetting) for site in each.sites] == sites
    assert len(said) == 3
    assert held(ledger, "@many", pools.of) == {}
