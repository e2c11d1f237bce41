"""Generators of entries of the ledger, and the events that they stand for."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone

import msgspec
from hypothesis import strategies as st

from agent.decision.knowledge import HeldValue
from agent.model.model import Meaning
from agent.vault.ledger import Disclosure, DisclosureIndex, Forgetting, Ledger, PoolOf, Record
from tests.decision.transcripts import Forgotten, Told

NOW = datetime(2027, 3, 8, 12, tzinfo=UTC)
VALUES = {"age": ("unspecified", "young", "old"), "region": ("unspecified", "uk")}
HOSTS = ("www.a.example", "a.example", "b.example", "shop.c.example", "d.example")
SITES = ("a.example", "b.example", "c.example", "d.example")
GROUPINGS: tuple[dict[str, str], ...] = (
    {},
    {"a.example": "@ads", "b.example": "@ads"},
    {"a.example": "@ads", "c.example": "@shops", "d.example": "@shops"},
    dict.fromkeys(SITES, "@all"),
)
QUERIES = ("python today", "Python_Today", "restaurants")  # the last is none of a model's
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
NAMED = TEXTS.filter(bool)
# At a fixed offset: a time that a clock shows twice is equal to none in another zone.
TIMES = st.datetimes(timezones=st.timezones()).map(
    lambda at: at.replace(tzinfo=timezone(at.utcoffset() or timedelta()), fold=0)
)


def held(ledger: Ledger, pool: str, pool_of: PoolOf) -> dict[str, HeldValue[str]]:
    """Return the values that a pool holds by a ledger, by attribute, and since when."""
    return dict(ledger.disclosures.pool(pool, pool_of).held)


def grouping(groups: dict[str, str]) -> PoolOf:
    """Return the pool of a host by its site: a mapping where it says so, else the site."""

    def pool_of(host: str) -> str:
        site = ".".join(host.split(".")[-2:])
        return groups.get(site, site)

    return pool_of


def forgotten(*sites: str, at: datetime = NOW) -> Forgetting:
    """Return an entry that states that sites forget."""
    return Forgetting(at=at, host=sites[0], sites=tuple(sorted(sites)))


def disclosed(at: datetime, host: str, **values: str) -> Disclosure:
    """Return an entry that tells a host values of the person."""
    return Disclosure(
        at=at,
        host=host,
        query="editor",
        asked=None,
        disclosed=tuple(values.items()),
        persons=tuple(values),
        model="made",
        digest="00",
        utility_bits=0.5,
        people_left=3,
        means=tuple(Meaning(*pair) for pair in values.items()),
    )


ADS = grouping(GROUPINGS[1])


def record_at(number: int) -> Record:
    """Return the entry that has a number in every vault that is killed or replaced."""
    rng = random.Random(number)  # noqa: S311  (a stream that can be repeated)
    at, host = NOW + timedelta(minutes=number), rng.choice(HOSTS)
    if rng.random() < 0.05:
        return forgotten(rng.choice(SITES), at=at)
    names = rng.sample(sorted(VALUES), rng.randint(0, len(VALUES)))
    return disclosed(at, host, **{name: rng.choice(VALUES[name]) for name in names})


def holdings(facts: DisclosureIndex, pool_of: PoolOf = ADS) -> list[tuple[str, object, int]]:
    return [(name, dict(each.held), each.recent(NOW)) for name, each in facts.pools(pool_of)]


def follows(ledger: Ledger) -> list[object]:
    """Return all that can be asked of what follows from a ledger, and at the end its entries."""
    months = [NOW.replace(month=month) for month in (2, 3, 4)]
    found: list[object] = [[*ledger.disclosures.steps], ledger.disclosures.latest, ledger.count]
    for pool_of in map(grouping, GROUPINGS):
        for name, pool in ledger.disclosures.pools(pool_of):
            found.append((name, dict(pool.held), [pool.recent(now) for now in months]))
        for name in sorted({pool_of(host) for host in HOSTS}):
            found.append((name, ledger.disclosures.pool(name, pool_of).times))
            found.append(
                [ledger.disclosures.pool(name, pool_of, n).times for n in range(ledger.count)]
            )
    found.append(
        [ledger.disclosures.news(disclosed(NOW, host, age="old", region="uk")) for host in HOSTS]
    )
    found.append([record for _, record in ledger.read(chosen=lambda *_: True)])
    return found


@st.composite
def histories(draw: st.DrawFn) -> list[Record]:
    """Draw what happened, around the last seven days; clocks may be set back."""
    hours = draw(st.lists(st.integers(-200, 5), max_size=14))
    return [draw(_event(NOW + timedelta(hours=each))) for each in hours]


@st.composite
def _event(draw: st.DrawFn, at: datetime) -> Record:
    host = draw(st.sampled_from(HOSTS))
    if draw(st.integers(0, 6)) == 0:
        return forgotten(*draw(st.sets(st.sampled_from(SITES), min_size=1)), at=at)
    each = {name: st.sampled_from(values) for name, values in VALUES.items()}
    found = disclosed(at, host, **draw(st.fixed_dictionaries({}, optional=each)))
    return msgspec.structs.replace(found, query=draw(st.sampled_from(QUERIES)))


@st.composite
def records(draw: st.DrawFn) -> Record:
    at, host = draw(TIMES), draw(NAMED)
    if draw(st.booleans()):
        sites = draw(st.sets(NAMED, min_size=1, max_size=4))
        return Forgetting(at=at, host=host, sites=tuple(sorted(sites)))
    values = draw(st.dictionaries(NAMED, NAMED, max_size=4))
    persons = tuple(name for name in values if draw(st.booleans()))
    return Disclosure(
        at=at,
        host=host,
        query=draw(TEXTS),
        asked=draw(st.none() | st.lists(TEXTS, max_size=3).map(tuple)),
        disclosed=tuple(values.items()),
        persons=persons,
        means=draw(st.just(()) | st.just(tuple(Meaning(name, values[name]) for name in persons))),
        model=draw(TEXTS),
        digest=draw(TEXTS),
        utility_bits=draw(st.floats(allow_nan=False, allow_infinity=False)),
        people_left=draw(st.integers(0, 2**40)),
        read_as=draw(st.none() | st.just("") | TEXTS),
        probability=draw(st.integers(0, 1000)) / 1000,
        others=draw(
            st.lists(st.tuples(NAMED, st.sampled_from([0.125, 0.25])), max_size=2).map(tuple)
        ),
        facts=draw(st.lists(st.tuples(NAMED, NAMED), max_size=2).map(tuple)),
        context=draw(st.lists(st.tuples(NAMED, NAMED), max_size=2).map(tuple)),
        spent=draw(st.sampled_from([0.0, 0.25])),
        judged=draw(st.lists(st.tuples(NAMED, st.floats(0, 1)), max_size=2).map(tuple)),
    )


def events(history: Sequence[Record]) -> list[Told | Forgotten]:
    """Return the same as the decision's room has it."""
    return [
        Forgotten(each.at, frozenset(each.sites))
        if isinstance(each, Forgetting)
        else Told(
            at=each.at,
            host=each.host,
            codes=tuple((n, VALUES[n].index(v)) for n, v in each.learnt),
            query=0 if each.query in QUERIES[:-1] else None,
        )
        for each in history
    ]
