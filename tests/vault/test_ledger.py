"""The ledger keeps every entry, and what follows from all of them."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import chain
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.decision.knowledge import LATEST, knowledge_in
from agent.errors import DamagedVaultError, UsageError, VaultError
from agent.model.model import Concepts
from agent.vault.ledger import (
    MOST_SITES,
    Disclosure,
    Forgetting,
    Ledger,
    Record,
    Reset,
    decode,
    encode,
)
from policy.hosts import site_of
from tests.decision.transcripts import knowledge_of
from tests.vault.doubles import MemoryStore, ledger_of
from tests.vault.histories import (
    GROUPINGS,
    HOSTS,
    NOW,
    SITES,
    VALUES,
    disclosed,
    events,
    follows,
    forgotten,
    grouping,
    held,
    histories,
    holdings,
    records,
)
from tests.vault.values import model_of, sexes


def _written(history: Sequence[Record]) -> tuple[Ledger, MemoryStore]:
    store = MemoryStore()
    return ledger_of(history, store), store


@given(st.lists(records(), max_size=8))
def test_what_was_appended_is_read(history: list[Record]) -> None:
    """In the order it was, numbered from 1, also by who opens the vault later."""
    ledger, store = _written(history)
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
    """After a number, of some sites and times, of that the latest; opened again, the same."""
    before, store = _written(history)
    ledger, wanted = Ledger(store), {site_of(host) for host in hosts}
    later = [each for each in enumerate(history, 1) if each[0] > after]

    def chosen(site: str, at: datetime) -> bool:
        return site in wanted and at.day % 2 == 0

    def sites(record: Record) -> tuple[str, ...]:
        return record.sites if isinstance(record, Forgetting) else (site_of(record.host),)

    theirs = [each for each in later if any(chosen(site, each[1].at) for site in sites(each[1]))]
    start = 0 if limit is None else max(0, len(later) - limit)
    assert ledger.read(after, limit) == later[start:]
    start = 0 if limit is None else max(0, len(theirs) - limit)
    assert ledger.read(after, limit, chosen) == theirs[start:]
    assert before.read(after, limit, chosen) == theirs[start:]


@given(histories(), st.sampled_from(GROUPINGS))
def test_whoever_learns_something_has_it_on_the_disk(
    history: list[Record], groups: dict[str, str]
) -> None:
    """Whatever the groups are: an entry that may be lost changes nothing that anybody holds.

    How often a query was heard may then be less by one, which only a plan weighs.
    """
    pools = grouping(groups)
    _, store = _written(history)
    told = events(history)
    for place, durable in enumerate(store.durable):
        pool = pools(history[place].host)
        if not durable:
            before, after = (
                knowledge_of(told[:end], pool, pools, NOW) for end in (place, place + 1)
            )
            assert before == replace(after, queries=before.queries)


@given(histories(), st.lists(st.sampled_from(GROUPINGS), max_size=8))
def test_groups_may_change_at_any_time(history: list[Record], asked: list[dict[str, str]]) -> None:
    """What is held under a grouping does not depend on what was asked before."""
    pools = [grouping(groups) for groups in GROUPINGS]
    ledger, store = _written([])
    for record, groups in zip(history, asked, strict=False):
        ledger.append(record)
        holdings(ledger.disclosures, pools[GROUPINGS.index(groups)])
    for record in history[len(asked) :]:
        ledger.append(record)
    for each in pools:
        again = Ledger(store).disclosures
        assert holdings(ledger.disclosures, each) == holdings(again, each)


@given(histories(), st.sampled_from(HOSTS))
def test_what_was_not_written_did_not_happen(history: list[Record], host: str) -> None:
    """A full disk: the error comes through, and nobody is taken to hold more."""
    ledger, store = _written(history)
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
    _, store = _written([*before, *after])
    found = Ledger(store, reset=Reset(entries=len(before), at=at))
    clipped = [*(msgspec.structs.replace(each, at=min(each.at, at)) for each in before), *after]
    expected, _ = _written(clipped)
    assert follows(found)[:-1] == follows(expected)[:-1]
    assert found.disclosures.latest == max((each.at for each in clipped), default=None)
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
    ledger, pools, alone = ledger_of(history), grouping(groups), grouping({})
    pool, count = pools(named), ledger.count
    before = {site: held(ledger, site, alone) for site in SITES}
    assert ledger.forget(NOW, lambda site: pools(site) == pool) == (ledger.count > count)
    for site in SITES:
        assert held(ledger, site, alone) == ({} if pools(site) == pool else before[site])
    assert held(ledger, pool, pools) == {}


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
    pools = grouping(dict.fromkeys(sites, "@many"))
    assert ledger.forget(NOW, lambda site: pools(site) == "@many")
    said = [record for _, record in ledger.read(after=len(sites))]
    assert [site for each in said if isinstance(each, Forgetting) for site in each.sites] == sites
    assert len(said) == 3
    assert held(ledger, "@many", pools) == {}


ENTRY = disclosed(NOW, "books.example", region="uk", age="old")
MODEL = model_of(persons=VALUES)
GROUPS = st.sampled_from(GROUPINGS)
LATER = {"read_as", "probability", "others", "facts", "context", "spent", "judged"}  # optional
DEEP = b'{"kind":"disclosed","asked":' + b"[" * 100_000  # the interpreter has a limit


@given(records())
def test_an_entry_comes_back(record: Record) -> None:
    """Whatever it holds, to the microsecond, in its zone: whether it was a Monday depends on it."""
    assert decode(encode(record)) == record
    at = datetime.fromisoformat("2027-03-08T00:30:00.000001+05:45")
    back = decode(encode(forgotten("a.example", at=at))).at
    assert (back, back.utcoffset()) == (at, at.utcoffset())


@given(records())
def test_an_older_entry_stands_for_its_own_text(record: Record) -> None:
    """It says nothing of a reading, and counts as the query that it names."""
    document = {n: v for n, v in json.loads(encode(record)).items() if n not in LATER}
    found = decode(json.dumps(document).encode())
    if isinstance(found, Disclosure):
        assert (found.read_as, found.meant) == (None, ((found.query, 1.0),))
        ledger = ledger_of([found])
        times = ledger.disclosures.pool(site_of(found.host), lambda site: site).times
        assert times == ({found.query: 1.0} if found.query else {})


MEANT = st.tuples(st.sampled_from(["sport", "work", "car"]), st.integers(0, 1000))


@given(st.lists(st.lists(MEANT, min_size=1, max_size=3), max_size=8))
def test_readings_count_by_their_probabilities(asked: list[list[tuple[str, int]]]) -> None:
    """The latest of each site, of whatever text; before any entry what came before it."""
    read = [tuple((name, sure / 1000) for name, sure in each) for each in asked]
    entries = [
        msgspec.structs.replace(
            ENTRY, query=f"text {n}", read_as=name, probability=sure, others=tuple(others)
        )
        for n, ((name, sure), *others) in enumerate(read)
    ]
    index = ledger_of(entries).disclosures
    for end in range(len(asked) + 1):
        times: dict[str, int] = {}
        for name, sure in chain.from_iterable(asked[:end]):
            times[name] = times.get(name, 0) + sure
        wanted = {name: each / 1000 for name, each in times.items() if each}
        assert index.pool(site_of(ENTRY.host), lambda site: site, end + 1).times == wanted
    assert index.pool(site_of(ENTRY.host), lambda site: site).times == wanted
    assert [each.meant for each in index.steps] == read


def test_what_means_no_query_takes_no_place() -> None:
    """Neither an older entry without a query, nor a name that was never probable."""
    older = msgspec.structs.replace(ENTRY, query="", read_as=None)
    unlikely = msgspec.structs.replace(ENTRY, read_as="sport", probability=0.0)
    entries = [ENTRY, *[older, unlikely] * LATEST]
    times = ledger_of(entries).disclosures.pool(site_of(ENTRY.host), lambda site: site).times
    assert times == {ENTRY.query: 1.0}


@given(records())
def test_what_is_cut_off_is_no_entry(record: Record) -> None:
    """At any byte, or of any key but that which older ones lack. The error quotes nothing."""
    payload = encode(record)
    document, later = json.loads(payload), LATER | {"means"}
    lacking = [{n: v for n, v in document.items() if n != key} for key in document.keys() - later]
    cut = [payload[:end] for end in range(len(payload))]
    for each in (*cut, *(json.dumps(e).encode() for e in lacking), DEEP):
        with pytest.raises(DamagedVaultError, match=r"an entry of its ledger cannot be read$"):
            decode(each)


NO_ENTRIES: tuple[dict[str, Any], ...] = (
    *({"kind": "told"}, {"kind": "forgotten"}, {"more": 1}, {"host": ""}, {"host": None}),
    *({"at": "2027-03-08T12:00:00"}, {"at": 1}, {"asked": "region"}),
    *({"disclosed": {"region": "uk"}}, {"disclosed": [["region", "uk", "fr"]]}),
    {"disclosed": [["region", ""], ["age", "old"]]},
    {"disclosed": [["region", "uk"], ["age", "old"], ["region", "fr"]]},
    *({"persons": ["region", "region"]}, {"persons": ["job"]}, {"utility_bits": "0.5"}),
    *({"utility_bits": 10**400}, {"people_left": -1}, {"people_left": 1.5}, {"spent": -0.5}),
    *({"facts": [["1", ""]]}, {"context": [["", "home"]]}, {"judged": [["1", 1.5]]}),
)
NO_STATEMENTS: tuple[dict[str, Any], ...] = (
    *({"sites": sites} for sites in ([], [""], "a.example", None, ["b.example", "a.example"])),
    *({"sites": ["a.example"] * 2}, {"query": "editor"}),
    {"sites": [f"{number:02}.example" for number in range(MOST_SITES + 1)]},
)


def test_what_no_entry_says_is_refused() -> None:
    """One thing at a time; of a statement each site once, and that it says of whom."""
    entry, statement = (json.loads(encode(e)) for e in (ENTRY, forgotten("a.example")))
    assert decode(json.dumps(entry).encode()) == ENTRY
    damaged = [*(entry | each for each in NO_ENTRIES), *(statement | e for e in NO_STATEMENTS)]
    for each in (*damaged, {"kind": "forgotten", "at": statement["at"], "host": "a"}):
        with pytest.raises(DamagedVaultError):
            decode(json.dumps(each).encode())


def test_only_attributes_of_the_person_are_facts() -> None:
    """What changes with every request is no knowledge."""
    fields = {name: getattr(ENTRY, name) for name in ENTRY.__struct_fields__}
    assert ENTRY.learnt == (("region", "uk"), ("age", "old"))
    older = fields | {"persons": ("age",), "means": ()}
    assert Disclosure(**older).learnt == (("made.age", "made:old"),)


def test_nothing_private_is_shown() -> None:
    """Neither by repr nor by str."""
    told = str(ENTRY) + repr([ENTRY, forgotten("books.example")])
    for private in ("books", "editor", "uk", "region"):
        assert private not in told


@given(histories(), GROUPS, st.integers(-300, 300), st.data())
def test_it_is_the_fold_over_everything(
    history: list[Record], groups: dict[str, str], hours: int, data: st.DataObject
) -> None:
    """For every pool and at every time; also before an entry, whatever came later."""
    ledger, pools = ledger_of(history), grouping(groups)
    now = NOW + timedelta(hours=hours)
    number = data.draw(st.none() | st.integers(1, len(history) + 1))
    past = history[: None if number is None else number - 1]
    for pool in {pools(host) for host in HOSTS}:
        found = ledger.disclosures.pool(pool, pools, number)
        expected = knowledge_of(events(past), pool, pools, now)
        assert knowledge_in(found, MODEL, now, with_queries=True) == expected
        assert ledger_of(past).disclosures.pool(pool, pools).held == found.held


@given(
    histories(), GROUPS, st.fixed_dictionaries({n: st.sampled_from(v) for n, v in VALUES.items()})
)
def test_who_holds_another_value_will_learn_the_new_one(
    history: list[Record], groups: dict[str, str], values: dict[str, str]
) -> None:
    """Every pool that holds the attribute, unless it holds just this value."""
    ledger, pools = ledger_of(history), grouping(groups)
    found = ledger.disclosures.holders(values, pools)
    for pool in {pools(host) for host in HOSTS}:
        theirs = {name: fact.value for name, fact in held(ledger, pool, pools).items()}
        for name, value in values.items():
            assert (pool in found.get(name, ())) == (theirs.get(name, value) != value)
    assert [*found] == sorted(found)
    assert all(found[name] == tuple(sorted(found[name])) != () for name in found)


def test_a_fact_that_one_model_told_is_held_in_the_others() -> None:
    """By its concept, in entries that say it and in older ones; the latest value counts."""
    one, two = sexes()
    pool_of = grouping({})
    newer = disclosed(NOW, "a.example", gender="male")
    means = (one.meanings["gender", "male"],)
    newer = msgspec.structs.replace(newer, model="one", means=means)
    older = msgspec.structs.replace(newer, disclosed=(("gender", "female"),), means=())
    again = msgspec.structs.replace(newer, means=(one.meanings["gender", "female"],))
    ledger = ledger_of([older, newer, again])
    ledger.disclosures.use(Concepts((two, one)))
    for number, code in ((2, 1), (3, 2), (None, 1)):
        found = ledger.disclosures.pool("a.example", pool_of, number)
        concepts = ledger.disclosures.concepts
        both = (knowledge_in(found, each, NOW, concepts) for each in (one, two))
        assert [each.codes for each in both] == [(("gender", code),), (("sex", code),)]
        assert found.recent(NOW) == {2: 1, 3: 2, None: 3}[number]


def test_what_a_model_leaves_unspecified_takes_back_only_what_it_could_say() -> None:
    """A value that it lacks is still held, and it counts as outside of it."""
    one, two = sexes()
    told = [
        msgspec.structs.replace(
            disclosed(NOW, "a.example", **{name: value}),
            model=model.id,
            means=(model.meanings[name, value],),
        )
        for name, value, model in (
            ("gender", "other", one),
            ("sex", "unspecified", two),
            ("sex", "female", two),
            ("sex", "unspecified", two),
        )
    ]
    ledger, concepts = ledger_of(told), Concepts((two, one))
    ledger.disclosures.use(concepts)
    for number, codes in (
        *((each, [(("gender", 3),), ()]) for each in (2, 3)),
        (4, [(("gender", 1),), (("sex", 1),)]),
        (None, [(), (("sex", 0),)]),  # in the first it may be what the second lacks
    ):
        found = ledger.disclosures.pool("a.example", grouping({}), number)
        assert [knowledge_in(found, each, NOW, concepts).codes for each in (one, two)] == codes
