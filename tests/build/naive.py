"""What tables hold, counted with dictionaries and loops: slow, and nothing else."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from hashlib import blake2b
from math import log2

import numpy as np

from agent.build.canonical import Observed
from agent.build.fitting import FEW, LUCKY
from agent.build.log_schema import TOPICS
from agent.build.observe import Observations
from agent.errors import normalise
from agent.tradeoff.tables import QueryRows
from tests.build.worlds import Page, Row, SmallLog, World
from tests.tradeoff.naive import group, louo_scores

Profile = tuple[str, ...]
Asked = tuple[str, Profile]  # an intent, and the values of the request attributes
Person = tuple[Profile, tuple[Asked, ...]]  # the values of the person attributes, and the rows


def value(text: str) -> str:
    """Return what a field means as the value of an attribute."""
    return text or "unspecified"


def usable(world: World) -> list[Row]:
    """Return the events by a known user, with a query and an intent."""
    known = {row[0] for row in world.users[1:]}
    return [row for row in world.events[1:] if row[0] in known and normalise(row[1]) and row[2]]


def queries(world: World, min_users: int) -> dict[str, list[Person]]:
    """Return, for each query that is kept, its users and their rows, in order."""
    profiles = {row[0]: tuple(map(value, row[1:])) for row in world.users[1:]}
    asked: dict[str, dict[str, list[Asked]]] = defaultdict(lambda: defaultdict(list))
    for user, query, intent, *request in usable(world):
        asked[normalise(query)][user].append((intent, tuple(map(value, request))))
    return {
        query: sorted((profiles[user], tuple(sorted(rows))) for user, rows in users.items())
        for query, users in asked.items()
        if len(users) >= min_users
    }


def population(world: World) -> list[tuple[Profile, tuple[tuple[tuple[str, int], ...], ...]]]:
    """Return the people: their values, and how often each request attribute had which value."""
    requests = range(3, len(world.events[0]))
    people = []
    for user, *values in world.users[1:]:
        rows = [row for row in usable(world) if row[0] == user]
        counts = (Counter(value(row[j]) for row in rows) for j in requests)
        often = tuple(tuple(sorted(each.items())) for each in counts)
        people.append((tuple(map(value, values)), often))
    return sorted(people)


def people_of(seen: Observations) -> list[tuple[Profile, tuple[tuple[tuple[str, int], ...], ...]]]:
    """Return the people of an observed population in words, in order."""
    persons = seen.population.persons
    counts = (each.counts[each.of_row] for each in seen.population.requests)
    tables = [*zip(seen.attributes[persons:], counts, strict=True)]
    people = []
    for y, codes in enumerate(seen.population.codes):
        rows = [(each.values, table[y]) for each, table in tables]
        often = (
            sorted((values[v], int(row[v])) for v in np.flatnonzero(row)) for values, row in rows
        )
        people.append((words(codes, seen, 0)[:persons], tuple(map(tuple, often))))
    return sorted(people)


def users_of(query: Observed, seen: Observations) -> list[Person]:
    """Return the users of an observed query and their rows in words, in order."""
    rows = query.rows
    people = []
    for user, codes in enumerate(rows.person):
        own = np.flatnonzero(rows.user == user)
        meant = ((query.intents[rows.intent[r]], rows.request[r]) for r in own)
        asked = ((intent, words(each, seen, rows.persons)) for intent, each in meant)
        people.append((words(codes, seen, 0), tuple(sorted(asked))))
    return sorted(people)


def words(codes: Iterable[int], seen: Observations, first: int) -> Profile:
    """Return codes of the attributes from ``first`` on as values."""
    attributes = seen.attributes[first:]
    return tuple(each.values[code] for each, code in zip(attributes, codes, strict=False))


def heldout(rows: QueryRows, trained: Sequence[bool], shrinkage: float, mask: int) -> float | None:
    """Return the held-out score, row by row (DESIGN.md 2.1)."""
    training = [r for r in range(len(rows.user)) if trained[r]]
    frequency = Counter(int(rows.intent[r]) for r in training)
    scores = []
    for r in range(len(rows.user)):
        x = int(rows.intent[r])
        if trained[r] or not frequency[x]:
            continue
        prior = (frequency[x] + 0.5) / (len(training) + len(frequency) / 2)
        alike = [s for s in training if group(rows, s, mask) == group(rows, r, mask)]
        same = sum(rows.intent[s] == x for s in alike)
        chance = (same + shrinkage * prior) / (len(alike) + shrinkage)
        scores.append(log2(chance) - log2(prior))
    return sum(scores) / len(scores) if scores else None


def in_half_a(users: Sequence[str], key: bytes) -> list[bool]:
    """Return whether the keyed hash of each user is even."""
    return [blake2b(user.encode(), key=key, digest_size=1).digest()[0] % 2 == 0 for user in users]


def price_of(rows: QueryRows, attribute: int, beta: float) -> float:
    """Return what the best of many sets owes to luck, by the scores of single users."""
    scores = louo_scores(rows, 1 << attribute, beta)
    excess = np.array(scores) - np.mean(scores)
    of_users = [excess[rows.user == each].sum() for each in range(len(rows.person))]
    return float(LUCKY / (len(scores) + FEW) * np.sqrt(np.square(of_users).sum() / len(scores)))


Fields = dict[str, str | None]


def events(log: SmallLog) -> list[Fields]:
    pages: dict[tuple[str, datetime, str | None], list[Page]] = defaultdict(list)
    for page in log.pages:
        pages[page.user, page.asked, page.query].append(page)
    return [_event(log, *key, of_query) for key, of_query in pages.items()]


def users(log: SmallLog) -> list[Fields]:
    return [dict(person) | _activity(log, person["user"]) for person in log.people]


def _event(
    log: SmallLog, user: str, asked: datetime, query: str | None, pages: list[Page]
) -> Fields:
    stayed = [(p.time, p.host) for p in pages if p.host and p.dwell is not None and p.dwell >= 30]
    target = min(stayed)[1] if stayed and query is not None else None
    text = _meant(query)
    own = [page for page in log.pages if page.user == user]
    again = any(_meant(page.query) == text and page.asked < asked for page in own)
    back = any(page.host == target and page.time < asked for page in own)
    known = [page.tld for page in pages if page.tld in {"com", "net", "org", "edu"}]
    return {
        "user": user,
        "query": text,
        "intent": target,
        "asked_before": _no_yes(again) if text else None,
        "visited_before": _no_yes(back) if target else None,
        "working_hours": _no_yes(7 <= asked.hour < 18),
        "workday": _no_yes(asked.isoweekday() <= 5),
        "top_level_domain": min(known, default=None),
    }


def _activity(log: SmallLog, user: str | None) -> Fields:
    own = [page for page in log.pages if page.user == user]
    topics = {topic for page in own for host, topic in log.sites if host == page.host and topic}
    return {
        "daily": _daily({(page.asked, page.query) for page in own if _meant(page.query)}),
        "several_zips": _several(page.zip for page in own),
        "several_cities": _several(page.city for page in own),
        "several_countries": _several(page.country for page in own),
        **{f"topic_{each}": _no_yes(each in topics) if topics else None for each in TOPICS},
    }


def _daily(queries: set[tuple[datetime, str | None]]) -> str | None:
    if not queries:
        return None
    span = max(queries)[0] - min(asked for asked, _ in queries)
    return _no_yes(span >= timedelta(days=7) and len(queries) >= span / timedelta(days=1))


def _several(places: Iterable[str | None]) -> str | None:
    known = {place for place in places if place}
    return _no_yes(len(known) > 1) if known else None


def _meant(query: str | None) -> str | None:
    return normalise(query or "") or None


def _no_yes(holds: bool) -> str:
    return "yes" if holds else "no"
