"""Entries come back as they were, and the index knows who holds what."""

import json
from datetime import UTC, datetime, timedelta
from itertools import chain, takewhile
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.decision.knowledge import Knowledge, knowledge_in
from agent.errors import DamagedVaultError
from agent.model.concepts import Concepts, meaning_of
from agent.vault.chain import MAX_NAME, MAX_PAYLOAD
from agent.vault.disclosure_index import (
    MOST_SITES,
    Disclosure,
    Forgetting,
    Record,
    decode,
    encode,
)
from tests.decision.events import knowledge_of
from tests.vault.doubles import ledger_of
from tests.vault.histories import (
    GROUPINGS,
    HOSTS,
    NOW,
    VALUES,
    Grouping,
    disclosed,
    events,
    forgotten,
    held,
    histories,
    knowledge,
    records,
)
from tests.vault.values import model_of, sexes

ENTRY = disclosed(NOW, "books.example", region="uk", age="old")
MODEL = model_of(persons=VALUES)
GROUPS = st.sampled_from(GROUPINGS)
LATER = {"read_as", "probability", "others", "facts", "context", "spent", "judged"}  # optional
DEEP = b'{"kind":"disclosed","asked":' + b"[" * 100_000  # the interpreter has a limit


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
def test_an_older_entry_stands_for_its_own_text(record: Record) -> None:
    """It says nothing of a reading, and counts as the query that it names."""
    document = {n: v for n, v in json.loads(encode(record)).items() if n not in LATER}
    found = decode(json.dumps(document).encode())
    if isinstance(found, Disclosure):
        assert (found.read_as, found.meant) == (None, ((found.query, 1.0),))
        ledger = ledger_of([found])
        times = ledger.disclosures.queries(found.site, lambda site: site)
        assert times == {found.query: 1.0}


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
        wanted = {name: each / 1000 for name, each in times.items()}
        assert index.queries(ENTRY.site, lambda site: site, end + 1) == wanted
    assert index.queries(ENTRY.site, lambda site: site) == wanted
    assert [each.meant for each in index.steps] == read


@given(records())
def test_what_is_cut_off_is_no_entry(record: Record) -> None:
    """At any byte, or of any key but that which older ones lack. The error quotes nothing."""
    payload = encode(record)
    document = json.loads(payload)
    later = LATER | {"means"}
    lacking = [{n: v for n, v in document.items() if n != key} for key in document.keys() - later]
    cut = [payload[:end] for end in range(len(payload))]
    for each in (*cut, *(json.dumps(e).encode() for e in lacking), DEEP):
        with pytest.raises(DamagedVaultError, match=r"an entry of its ledger cannot be read$"):
            decode(each)


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
        {"facts": [["1", ""]]},
        {"context": [["", "home"]]},
        {"spent": -0.5},
        {"judged": [["1", 1.5]]},
    ],
    ids=str,
)
def test_what_no_entry_says_is_refused(change: dict[str, Any]) -> None:
    """One thing at a time."""
    document = json.loads(encode(ENTRY))
    assert decode(json.dumps(document).encode()) == ENTRY
    with pytest.raises(DamagedVaultError):
        decode(json.dumps(document | change).encode())


@pytest.mark.parametrize(
    "change",
    [
        *({"sites": sites} for sites in ([], [""], "a.example", None, ["b.example", "a.example"])),
        {"sites": ["a.example"] * 2},
        {"sites": [f"{number:02}.example" for number in range(MOST_SITES + 1)]},
        {"query": "editor"},
    ],
    ids=str,
)
def test_what_no_statement_says_is_refused(change: dict[str, Any]) -> None:
    """One thing at a time, each site once; nor one that does not say of whom."""
    document = json.loads(encode(forgotten("a.example")))
    for damaged in (document | change, {"kind": "forgotten", "at": document["at"], "host": "a"}):
        with pytest.raises(DamagedVaultError):
            decode(json.dumps(damaged).encode())


def test_the_largest_statement_has_room() -> None:
    """As many sites as there may be, each as long as may be, and the host too."""
    sites = [f"{number:04}".rjust(MAX_NAME, "a") for number in range(MOST_SITES)]
    assert len(encode(forgotten(*sites))) <= MAX_PAYLOAD


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


def standing(
    history: list[Record], pool: str, pools: Grouping, name: str
) -> list[tuple[str, datetime]]:
    """Return the values of an attribute that a pool was told and that were not forgotten since."""
    return [
        (dict(each.learnt)[name], each.at)
        for place, each in enumerate(history)
        if isinstance(each, Disclosure) and pools.of(each.host) == pool
        if name in dict(each.learnt)
        if not any(
            isinstance(later, Forgetting) and Grouping({}).of(each.host) in later.sites
            for later in history[place:]
        )
    ]


@given(histories(), GROUPS, st.integers(-300, 300), st.data())
def test_it_is_the_fold_over_everything(
    history: list[Record], groups: dict[str, str], hours: int, data: st.DataObject
) -> None:
    """For every pool and at every time; also before an entry, whatever came later."""
    ledger, pools = ledger_of(history), Grouping(groups)
    now = NOW + timedelta(hours=hours)
    number = data.draw(st.none() | st.integers(1, len(history) + 1))
    past = history[: None if number is None else number - 1]
    for pool in {pools.of(host) for host in HOSTS}:
        found = ledger.disclosures.pool(pool, pools.of, number)
        heard = ledger.disclosures.queries(pool, pools.of, number)
        expected = knowledge_of(events(past), pool, pools.of, now)
        assert knowledge_in(found, MODEL, now, heard) == expected
        assert ledger_of(past).disclosures.pool(pool, pools.of).held == found.held


@given(histories(), GROUPS)
def test_each_value_is_held_since_it_was_new(history: list[Record], groups: dict[str, str]) -> None:
    """Among what was not forgotten: from the first that says it, with no other value after."""
    ledger, pools = ledger_of(history), Grouping(groups)
    for pool in {pools.of(host) for host in HOSTS}:
        expected: dict[str, tuple[str, datetime]] = {}
        for name in VALUES:
            told = standing(history, pool, pools, name)
            same = [*takewhile(lambda each: each[0] == told[-1][0], reversed(told))]  # noqa: B023
            expected |= {name: same[-1]} if same else {}
        assert held(ledger, pool, pools.of) == expected


@given(
    histories(), GROUPS, st.fixed_dictionaries({n: st.sampled_from(v) for n, v in VALUES.items()})
)
def test_who_holds_another_value_will_learn_the_new_one(
    history: list[Record], groups: dict[str, str], values: dict[str, str]
) -> None:
    """Every pool that holds the attribute, unless it holds just this value."""
    ledger, pools = ledger_of(history), Grouping(groups)
    found = ledger.disclosures.holders(values, pools.of)
    for pool in {pools.of(host) for host in HOSTS}:
        theirs = {name: fact.value for name, fact in held(ledger, pool, pools.of).items()}
        for name, value in values.items():
            assert (pool in found.get(name, ())) == (theirs.get(name, value) != value)
    assert [*found] == sorted(found)
    assert all(found[name] == tuple(sorted(found[name])) != () for name in found)


def test_what_no_model_can_tell_leaves_nobody() -> None:
    """An attribute, one of the request, or a value; a later value counts."""
    ledger = ledger_of([disclosed(NOW, "a.example", region="uk", age="old", hours="yes")])
    model = model_of({"age": VALUES["age"]}, {"hours": ("unspecified", "yes")})
    found = knowledge(ledger, "a.example", Grouping({}).of, model, NOW)
    assert found == Knowledge((("age", 2),), recent=3, share=0.0)
    ledger = ledger_of([disclosed(NOW, "a.example", region="uk")])
    model = model_of({"region": ("unspecified", "france")})
    found = knowledge(ledger, "a.example", Grouping({}).of, model, NOW)
    assert found == Knowledge(recent=1, share=0.0)
    ledger.append(disclosed(NOW, "a.example", region="france"))
    found = knowledge(ledger, "a.example", Grouping({}).of, model, NOW)
    assert found == Knowledge((("region", 1),), recent=2)


def test_a_fact_that_one_model_told_is_held_in_the_others() -> None:
    """By its concept, in entries that say it and in older ones; the latest value counts."""
    one, two = sexes()
    pool_of = Grouping({}).of
    newer = disclosed(NOW, "a.example", gender="male")
    means = (meaning_of("gender", "male", one),)
    newer = msgspec.structs.replace(newer, model="one", means=means)
    older = msgspec.structs.replace(newer, disclosed=(("gender", "female"),), means=())
    again = msgspec.structs.replace(newer, means=(meaning_of("gender", "female", one),))
    ledger = ledger_of([older, newer, again])
    ledger.disclosures.concepts = Concepts((two, one))
    for number, code in ((2, 1), (3, 2), (None, 1)):
        found = ledger.disclosures.pool("a.example", pool_of, number)
        concepts = ledger.disclosures.concepts
        both = (knowledge_in(found, each, NOW, {}, concepts) for each in (one, two))
        assert [each.codes for each in both] == [(("gender", code),), (("sex", code),)]
        assert found.recent(NOW) == {2: 1, 3: 2, None: 3}[number]


def test_what_a_model_leaves_unspecified_takes_back_only_what_it_could_say() -> None:
    """A value that it lacks is still held, and it counts as outside of it."""
    one, two = sexes()
    told = [
        msgspec.structs.replace(
            disclosed(NOW, "a.example", **{name: value}),
            model=model.id,
            means=(meaning_of(name, value, model),),
        )
        for name, value, model in (
            ("gender", "other", one),
            ("sex", "unspecified", two),
            ("sex", "female", two),
            ("sex", "unspecified", two),
        )
    ]
    ledger = ledger_of(told)
    ledger.disclosures.concepts = concepts = Concepts((two, one))
    held_after = []
    for number in (2, 3, 4, None):
        found = ledger.disclosures.pool("a.example", Grouping({}).of, number)
        each = [knowledge_in(found, model, NOW, {}, concepts).codes for model in (one, two)]
        held_after.append(each)
    assert held_after[0] == held_after[1] == [(("gender", 3),), ()]
    assert held_after[2] == [(("gender", 1),), (("sex", 1),)]
    assert held_after[3] == [(), (("sex", 0),)]  # in the first it may be what the second lacks


def test_a_week_is_seven_days_of_time_not_of_clocks() -> None:
    """Where summer time began since, a fact of 168 hours ago is just not recent any more."""
    zone = ZoneInfo("Europe/Berlin")
    learnt = datetime(2027, 3, 27, 12, tzinfo=zone)
    ledger = ledger_of([disclosed(learnt, "a.example", age="old")])
    for minutes, recent in ((-1, 1), (0, 0)):
        now = (learnt.astimezone(UTC) + timedelta(hours=168, minutes=minutes)).astimezone(zone)
        assert knowledge(ledger, "a.example", Grouping({}).of, MODEL, now).recent == recent
