"""The queries of a log, and what each was meant to find (paper, section 5.2)."""

from __future__ import annotations

import ibis

from agent.build.log.schema import DOMAINS

DWELL = 30.0  # seconds
QUERY_KEYS = ("user", "asked", "query")


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
