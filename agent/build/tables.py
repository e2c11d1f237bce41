"""Everything that is counted, as Ibis expressions; no window functions, which Polars lacks.

Columns of the numbered events: `person` and `query` (int32), `intent` (text) and `r0`, `r1`, ...,
the codes of the request attributes; a name from outside cannot clash with these.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import ibis

from agent.build.columns import INTENT, QUERY, USER, attribute_names

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Values = Mapping[str, Sequence[str]]

LEFT_OUT = -1  # the person of an event whose user is in the other half


class Described(NamedTuple):
    """What is known of an attribute before its column is read.

    ``values``: that it has beside "unspecified", also where nobody has them; in this order.
    """

    title: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """The tables, on one backend: every column text, NULL where nothing is given.

    ``described``: what is known of attributes, by name.
    """

    users: ibis.Table
    events: ibis.Table
    described: Mapping[str, Described] = field(default_factory=dict)

    @property
    def persons(self) -> tuple[str, ...]:
        """The names of the person attributes."""
        return attribute_names(self.users.columns)

    @property
    def requests(self) -> tuple[str, ...]:
        """The names of the request attributes."""
        return attribute_names(self.events.columns)


def tidy(table: ibis.Table) -> ibis.Table:
    """Return the table with every column as text without outer spaces, empty text as NULL."""
    texts = {name: table[name].cast("string").strip() for name in table.columns}
    return table.select(**{name: text.nullif("") for name, text in texts.items()})


def distinct_values(table: ibis.Table, names: Sequence[str]) -> ibis.Table:
    """Return one row: for each column the list of its different values, in any order."""
    return table.aggregate(**{name: table[name].collect(distinct=True) for name in names})


def coded_users(users: ibis.Table, values: Values) -> ibis.Table:
    """Return user and p0, p1, ..., the codes of the person attributes, in order of user.

    ``values``: the values of each attribute, by its name.
    """
    return users.select(USER, **_codes(users, "p", values)).order_by(USER)


def numbered_events(
    events: ibis.Table, values: Values, people: ibis.Table, texts: ibis.Table
) -> ibis.Table:
    """Return the events with person, query, intent, r0, r1, ...; NULL for what is not known.

    ``values``: the values of each request attribute, by its name; ``people``: columns known_user
    and person; ``texts``: columns known_text and query, the number of what the text means.
    """
    codes = _codes(events, "r", values)
    rows = events.select(USER, INTENT, text=events[QUERY], **codes)
    rows = rows.left_join(people, rows.user == people.known_user)
    rows = rows.left_join(texts, rows.text == texts.known_text)
    return rows.select("person", "query", INTENT, *codes)


def dropped(rows: ibis.Table) -> ibis.Table:
    """Return one row: how many numbered events cannot be used, each counted for one reason.

    unknown_user: not in users; no_query: without text; no_intent: without intent.
    """
    ours = rows.person != LEFT_OUT
    reasons = {
        "unknown_user": rows.person.isnull(),
        "no_query": ours & rows.query.isnull(),
        "no_intent": ours & rows.query.notnull() & rows.intent.isnull(),
    }
    return rows.aggregate(
        **{name: reason.ifelse(1, 0).sum().fill_null(0) for name, reason in reasons.items()}
    )


def usable(rows: ibis.Table) -> ibis.Table:
    """Return the numbered events that can be used."""
    here = rows.person.notnull() & (rows.person != LEFT_OUT)
    return rows.filter(here & rows.query.notnull() & rows.intent.notnull())


def crowds(rows: ibis.Table) -> ibis.Table:
    """Return query, users and rows: how many different users and how many events each has."""
    return rows.group_by("query").aggregate(users=rows.person.nunique(), rows=rows.count())


def thin_queries(rows: ibis.Table, min_users: int) -> ibis.Table:
    """Return one row: how many queries have too few users, and how many events these have."""
    queries = crowds(rows)
    thin = queries.filter(queries.users < min_users)
    return thin.aggregate(thin_queries=thin.count(), thin_rows=thin.rows.sum().fill_null(0))


def intents(rows: ibis.Table, min_users: int) -> ibis.Table:
    """Return query and intent: the different intents of each query with enough users."""
    queries = crowds(rows)
    kept = rows.semi_join(queries.filter(queries.users >= min_users), "query")
    return kept.select("query", INTENT).distinct()


def coded_events(rows: ibis.Table, vocabulary: ibis.Table) -> ibis.Table:
    """Return query, person, code, r0, r1, ... in this order, for the queries in ``vocabulary``.

    ``vocabulary``: columns known_query, known_intent and code, the number of the intent.
    """
    same = [rows.query == vocabulary.known_query, rows.intent == vocabulary.known_intent]
    names = ["query", "person", "code", *(name for name in rows.columns if name[:1] == "r")]
    return rows.join(vocabulary, same).select(names).order_by(names)


def request_counts(rows: ibis.Table, column: str) -> ibis.Table:
    """Return person, value and rows: how many of a person's rows had each code in ``column``."""
    return rows.group_by("person", value=rows[column]).aggregate(rows=rows.count())


def _codes(table: ibis.Table, prefix: str, values: Values) -> dict[str, ibis.Value]:
    """Return the code of each attribute, uint8: the place of its value, 0 where there is none."""
    codes = {}
    for place, (name, known) in enumerate(values.items()):
        cases = [(value, code) for code, value in enumerate(known) if code]
        code = table[name].cases(*cases, else_=0) if cases else ibis.literal(0)
        codes[f"{prefix}{place}"] = code.cast("uint8")
    return codes
