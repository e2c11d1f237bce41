"""Section 5 of the paper with dictionaries and loops: slow, and nothing else."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta

from agent.build.log import TOPICS
from agent.model.reading import normalise
from tests.build.logs import Page, SmallLog

Fields = dict[str, str | None]


def events(log: SmallLog) -> list[Fields]:
    """Return the events, in any order."""
    pages: dict[tuple[str, datetime, str | None], list[Page]] = defaultdict(list)
    for page in log.pages:
        pages[page.user, page.asked, page.query].append(page)
    return [_event(log, *key, of_query) for key, of_query in pages.items()]


def users(log: SmallLog) -> list[Fields]:
    """Return the people with all that is known of each, in any order."""
    return [dict(person) | _activity(log, person["user"]) for person in log.people]


def asked_by_many(log: SmallLog, least: int) -> list[str]:
    """Return the queries that enough people asked and found something with, in order."""
    askers: dict[str, set[str]] = defaultdict(set)
    people = {person["user"] for person in log.people}
    for event in events(log):
        if event["user"] in people and event["query"] and event["intent"]:
            askers[event["query"]].add(str(event["user"]))
    return sorted(query for query, some in askers.items() if len(some) >= least)


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
