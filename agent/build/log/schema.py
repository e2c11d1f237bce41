"""The three tables of a search log: their columns, the types of these, and what is allowed.

    log     a row per page visited after a query, or one row for a query without a page
    people  a row per person, with what they volunteered
    sites   a row per host and topic; a host of several topics has several rows

An empty field means that this is not known, or not specified (FORMAT_LOG.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

Kind = Literal["text", "time", "seconds"]


class Column(NamedTuple):
    """One column of a table.

    ``kind``: time is ISO 8601 without a zone, the searcher's own; seconds is a number from 0;
    ``needed``: the table must have the column; ``filled``: no field of it may be empty;
    ``folded``: case does not matter; ``values``: all that are allowed; ``most``: how many
    different ones there may be.
    """

    name: str
    kind: Kind = "text"
    needed: bool = False
    filled: bool = False
    folded: bool = False
    values: tuple[str, ...] = ()
    most: int | None = None


GENDERS = ("female", "male")
AGE_GROUPS = ("under_18", "18_to_55", "over_55")
MAX_OCCUPATIONS = 7  # three bits with "unspecified"; which groups they are is the log's affair
REGIONS = ("us_canada", "europe", "asia", "other")
MARITAL_STATUSES = ("single", "married")
NO_YES = ("no", "yes")
DOMAINS = (
    "com",
    "edu",
    "net",
    "org",
)  # other top-level domains may stand in a log, and say nothing
# The sixteen top-level categories of the Open Directory, and two more that Table 1 has.
TOPICS = (
    "arts",
    "adult",
    "business",
    "computers",
    "games",
    "health",
    "home",
    "kids_and_teens",
    "news",
    "recreation",
    "reference",
    "regional",
    "science",
    "shopping",
    "consumer_information",
    "society",
    "sports",
    "world",
)

LOG = (
    Column("user", needed=True, filled=True),
    Column("asked", "time", needed=True, filled=True),  # when the query was sent
    Column("query", needed=True),
    Column("time", "time", needed=True, filled=True),  # when the page was opened
    Column("host", needed=True, folded=True),  # of the page
    Column("dwell", "seconds", needed=True),  # how long they stayed on it
    Column("zip"),  # what a reverse look-up of the address gave
    Column("city"),
    Column("country"),
    Column("tld", folded=True),  # without a dot
)
PEOPLE = (
    Column("user", needed=True, filled=True),
    Column("gender", values=GENDERS),
    Column("age_group", values=AGE_GROUPS),
    Column("occupation", most=MAX_OCCUPATIONS),
    Column("region", values=REGIONS),
    Column("marital_status", values=MARITAL_STATUSES),
    Column("children", values=NO_YES),
)
SITES = (
    Column("host", needed=True, filled=True, folded=True),
    Column("topic", needed=True, values=TOPICS),
)
TABLES: Mapping[str, tuple[Column, ...]] = MappingProxyType(
    {"log": LOG, "people": PEOPLE, "sites": SITES}
)
