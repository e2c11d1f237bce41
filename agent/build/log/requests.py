"""The attributes of Table 1 that change with the request (paper, section 5.2)."""

from __future__ import annotations

import ibis

from agent.build.columns import INTENT

HOURS = (7, 18)  # working hours: from the first until before the second
SATURDAY = 5  # the number of the day


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
