"""The attributes of Table 1 that are fixed per person (paper, sections 5.1 to 5.3)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import ibis

from agent.build.columns import USER
from agent.build.log.attributes import TABLE_1
from agent.build.log.requests import no_yes
from agent.build.log.schema import TOPICS

if TYPE_CHECKING:
    from agent.build.log.read import Log

WEEK = timedelta(days=7)  # no shorter span says whether somebody asks once a day
_PLACES = {"several_zips": "zip", "several_cities": "city", "several_countries": "country"}


def persons_of(log: Log, queries: ibis.Table, visits: ibis.Table) -> ibis.Table:
    """Return user and the person attributes, one row per row of ``log.people``.

    ``queries``: user, asked and text (normalised); ``visits``: user and host, each pair once.
    What nothing is known of is NULL.
    """
    people = log.people
    for known in (_daily(queries), _places(log.log), _topics(visits, log.sites)):
        people = people.left_join(known, people.user == known.of_user).drop("of_user")
    return people.select(USER, *(each.name for each in TABLE_1 if each.scope == "person"))


def _daily(queries: ibis.Table) -> ibis.Table:
    """Return who asked once a day or more, on average over a week or more; as the daemon says."""
    asked = queries.filter(queries.text.notnull())
    spans = asked.group_by(of_user=USER).aggregate(
        queries=asked.count(), first=asked.asked.min(), last=asked.asked.max()
    )
    seconds = spans.last.epoch_seconds() - spans.first.epoch_seconds()
    often = spans.queries * timedelta(days=1).total_seconds() >= seconds
    return spans.select("of_user", daily=no_yes((seconds >= WEEK.total_seconds()) & often))


def _places(log: ibis.Table) -> ibis.Table:
    """Return who asked from several places."""
    counts = log.group_by(of_user=USER).aggregate(
        # Polars would count NULL as one more place.
        **{place: log[place].nunique(where=log[place].notnull()) for place in _PLACES.values()}
    )
    return counts.select(
        "of_user",
        **{
            name: ibis.cases((counts[place] > 1, "yes"), (counts[place] == 1, "no"))
            for name, place in _PLACES.items()
        },
    )


def _topics(visits: ibis.Table, sites: ibis.Table) -> ibis.Table:
    """Return who visited sites of which topics, of those who visited any that has one."""
    known = sites.filter(sites.topic.notnull()).select(site="host", topic="topic").distinct()
    seen = visits.join(known, visits.host == known.site)
    found = seen.group_by(of_user=USER).aggregate(
        **{f"topic_{topic}": (seen.topic == topic).any() for topic in TOPICS}
    )
    return found.select("of_user", **{name: no_yes(found[name]) for name in found.columns[1:]})
