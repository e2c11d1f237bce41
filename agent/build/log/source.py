"""A search log to the two tables that a model is made of: read this file top to bottom."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ibis

from agent.build.log.attributes import TABLE_1
from agent.build.log.persons import persons_of
from agent.build.log.requests import requests_of
from agent.build.log.target import queries_of
from agent.build.tables import Described, Source
from agent.build.texts import meanings

if TYPE_CHECKING:
    from agent.build.log.read import Log


def source_of(log: Log) -> Source:
    """Return users and events as section 5 of the paper makes them, on the backend of the log.

    Users are the people, whether they asked or not; events are the queries, with or without a
    target, for what is dropped is counted later. Nothing but the texts of queries is read here.
    """
    known = ibis.memtable(meanings(log.log.select("query")))
    queries = _meant(queries_of(log.log), known).cache()
    visits = _visits(log.log).cache()
    users = persons_of(log, queries, visits).cache()
    events = requests_of(queries, visits).cache()
    described = {each.name: Described(each.title, each.values) for each in TABLE_1}
    return Source(users, events, described)


def _meant(queries: ibis.Table, known: ibis.Table) -> ibis.Table:
    """Return the queries with ``text``, as they are compared, in place of what was typed."""
    rows = queries.left_join(known, queries.query == known.known_text)
    return rows.select("user", "asked", "host", "tld", text=rows.meant)


def _visits(log: ibis.Table) -> ibis.Table:
    """Return user, host and since: when each first had a page of each host open."""
    pages = log.filter(log.host.notnull())
    return pages.group_by("user", "host").aggregate(since=pages.time.min())
