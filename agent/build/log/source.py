"""A search log to the two tables that a model is made of (paper, section 5)."""

from datetime import timedelta

import ibis

from agent.build.log.read import Log
from agent.build.log.schema import DOMAINS, TABLE_1, TOPICS
from agent.build.stages import IN_ENGINE, Stages
from agent.build.tables import INTENT, USER, Described, Source, meanings

DWELL = 30.0  # seconds
QUERY_KEYS = ("user", "asked", "query")
HOURS = (7, 18)  # working hours: from the first until before the second
SATURDAY = 5  # the number of the day
WEEK = timedelta(days=7)  # no shorter span says whether somebody asks once a day
_PLACES = {"several_zips": "zip", "several_cities": "city", "several_countries": "country"}


def queries_of(log: ibis.Table) -> ibis.Table:
    """Return user, asked, query, host and tld: one row per query, ``query`` as it was typed.

    ``host`` is the target: that of the first page, in order of time, on which they stayed for
    DWELL or longer; NULL where there is none, or no query. Of pages opened at once it is the
    first in order of characters, and so is ``tld`` of different ones; NULL for none of DOMAINS.
    """
    stayed = log.filter(log.host.notnull() & (log.dwell >= DWELL))
    first = _keyed(stayed.group_by(QUERY_KEYS).aggregate(opened=stayed.time.min()))
    pages = stayed.join(first, [*_same_query(stayed, first), stayed.time == first.opened])
    target = _keyed(pages.group_by(QUERY_KEYS).aggregate(host=pages.host.min()))
    known = log.tld.isin(DOMAINS)
    queries = log.group_by(QUERY_KEYS).aggregate(tld=log.tld.min(where=known))
    queries = queries.left_join(target, _same_query(queries, target))
    return queries.select(*QUERY_KEYS, "host", "tld")


def _keyed(table: ibis.Table) -> ibis.Table:
    """Return the table with its keys under names that no other table has."""
    return table.rename({f"of_{name}": name for name in QUERY_KEYS})


def _same_query(table: ibis.Table, keyed: ibis.Table) -> list[ibis.Value]:
    return [table[name] == keyed[f"of_{name}"] for name in QUERY_KEYS]


def requests_of(queries: ibis.Table, visits: ibis.Table) -> ibis.Table:
    """Return user, query, intent and the request attributes, one row per query.

    ``queries``: user, asked, text (normalised), host (the target) and tld; ``visits``: user, host
    and since, when they first had a page of it open. ``visited_before`` is about the page that
    they then chose, which nobody knows when a request leaves (FORMAT_LOG.md).
    """
    asked = queries.filter(queries.text.notnull())
    first = asked.group_by(of_user="user", of_text="text").aggregate(first=asked.asked.min())
    rows = queries.left_join(first, [queries.user == first.of_user, queries.text == first.of_text])
    seen = visits.select(visitor="user", visited="host", since="since")
    rows = rows.left_join(seen, [rows.user == seen.visitor, rows.host == seen.visited])
    hour = rows.asked.hour()
    return rows.select(
        "user",
        query=rows.text,
        **{INTENT: rows.host},
        asked_before=no_yes(rows.first < rows.asked),
        visited_before=no_yes(rows.since < rows.asked),
        working_hours=no_yes((hour >= HOURS[0]) & (hour < HOURS[1])),
        workday=no_yes(rows.asked.day_of_week.index() < SATURDAY),
        top_level_domain=rows.tld,
    )


def no_yes(holds: ibis.Value) -> ibis.Value:
    """Return the value of an attribute: "yes" or "no", NULL where it is not known."""
    return ibis.cases((holds, "yes"), (~holds, "no"))


def persons_of(log: Log, queries: ibis.Table, visits: ibis.Table) -> ibis.Table:
    """Return user and the person attributes, one row per row of ``log.people``.

    ``queries``: user, asked and text (normalised); ``visits``: user and host, each pair once.
    What nothing is known of is NULL.
    """
    # Who asked once a day or more, on average over a week or more; as the daemon counts it.
    asked = queries.filter(queries.text.notnull())
    spans = asked.group_by(of_user=USER).aggregate(
        queries=asked.count(), first=asked.asked.min(), last=asked.asked.max()
    )
    seconds = spans.last.epoch_seconds() - spans.first.epoch_seconds()
    often = spans.queries * timedelta(days=1).total_seconds() >= seconds
    daily = spans.select("of_user", daily=no_yes((seconds >= WEEK.total_seconds()) & often))
    counts = log.log.group_by(of_user=USER).aggregate(
        # Polars would count NULL as one more place.
        **{each: log.log[each].nunique(where=log.log[each].notnull()) for each in _PLACES.values()}
    )
    several = {
        name: ibis.cases((counts[place] > 1, "yes"), (counts[place] == 1, "no"))
        for name, place in _PLACES.items()
    }
    # Who visited sites of which topics, of those who visited any that has one.
    sites = log.sites.filter(log.sites.topic.notnull())
    sites = sites.select(site="host", topic="topic").distinct()
    seen = visits.join(sites, visits.host == sites.site)
    topics = seen.group_by(of_user=USER).aggregate(
        **{f"topic_{topic}": (seen.topic == topic).any() for topic in TOPICS}
    )
    visited = {name: no_yes(topics[name]) for name in topics.columns[1:]}
    people = log.people
    for known in (daily, counts.select("of_user", **several), topics.select("of_user", **visited)):
        people = people.left_join(known, people.user == known.of_user).drop("of_user")
    return people.select(USER, *(each.name for each in TABLE_1 if each.scope == "person"))


def source_of(log: Log, stages: Stages = IN_ENGINE) -> Source:
    """Return users and events as section 5 of the paper makes them, on the backend of the log.

    Users are the people, whether they asked or not; events are the queries, with or without a
    target, for what is dropped is counted later. Nothing but the texts of queries is read here.
    """
    found = stages.saved("typed", lambda: meanings(log.log.select("query")))
    known = ibis.memtable(found)
    typed = queries_of(log.log)
    rows = typed.left_join(known, typed.query == known.known_text)
    rows = rows.select("user", "asked", "host", "tld", text=rows.meant)
    queries = stages.computed("queries", rows)
    # When each first had a page of each host open.
    pages = log.log.filter(log.log.host.notnull())
    visits = stages.computed(
        "visits", pages.group_by("user", "host").aggregate(since=pages.time.min())
    )
    users = stages.computed("users", persons_of(log, queries, visits))
    events = stages.computed("events", requests_of(queries, visits))
    described = {each.name: Described(each.title, each.values, each.concept) for each in TABLE_1}
    return Source(users, events, described)
