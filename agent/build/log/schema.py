"""The three tables of a search log, and the attributes of the paper's Table 1.

    log     a row per page visited after a query, or one row for a query without a page
    people  a row per person, with what they volunteered
    sites   a row per host and topic; a host of several topics has several rows

An empty field means that this is not known, or not specified (FORMAT_LOG.md).

Where the paper's text and its table differ: age groups end at 55 as in section 5.1, where the
table has 50; students are an occupation, for the table has no attribute of them.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from agent.model.attributes import Scope

Kind = Literal["text", "time", "seconds"]
GENDERS = ("female", "male")
AGE_GROUPS = ("under_18", "18_to_55", "over_55")
MAX_OCCUPATIONS = 7  # three bits with "unspecified"; which groups they are is the log's affair
REGIONS = ("us_canada", "europe", "asia", "other")
MARITAL_STATUSES = ("single", "married")
NO_YES = ("no", "yes")
# Other top-level domains may stand in a log, and say nothing.
DOMAINS = ("com", "edu", "net", "org")
# The sixteen top-level categories of the Open Directory, and two more that Table 1 has.
_TOPIC_NAMES = (
    "arts adult business computers games health home kids_and_teens news recreation reference "
    "regional science shopping consumer_information society sports world"
)
TOPICS = tuple(_TOPIC_NAMES.split())
_TOPIC_LABELS = (
    "TART TADT TBUS TCMP TGMS THEA THOM TKID TNWS TREC TREF TREG TSCI TSHP TCIN TSOC TSPT TWLD"
)


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


class Entry(NamedTuple):
    """An attribute of Table 1.

    ``label``: the paper's; ``meaning``: for people; ``values``: beside "unspecified", empty where
    they are those that the log has; ``concept``: what it is called across models.
    """

    name: str
    label: str
    meaning: str
    scope: Scope
    values: tuple[str, ...]
    concept: str = ""

    @property
    def title(self) -> str:
        """What a model calls it, with the paper's label."""
        return f"{self.meaning} ({self.label})"


DEMOGRAPHIC = (
    Entry("gender", "DGDR", "gender", "person", GENDERS, "sex"),
    Entry("age_group", "DAGE", "age group", "person", AGE_GROUPS),
    Entry("occupation", "DOCC", "occupation", "person", ()),
    Entry("region", "DREG", "region of the world", "person", REGIONS),
    Entry("marital_status", "DMTL", "marital status", "person", MARITAL_STATUSES),
    Entry("children", "DCHD", "has children", "person", NO_YES),
)
# The names of those that change with the request are the names of the daemon's sources.
ACTIVITY = (
    Entry("asked_before", "AQRY", "asked the same before", "request", NO_YES),
    Entry("visited_before", "ACLK", "visited the same site before", "request", NO_YES),
    Entry("daily", "AFRQ", "asks once a day or more", "person", NO_YES),
    Entry("several_zips", "AZIP", "asked from several zip codes", "person", NO_YES),
    Entry("several_cities", "ACTY", "asked from several cities", "person", NO_YES),
    Entry("several_countries", "ACRY", "asked from several countries", "person", NO_YES),
    Entry("working_hours", "AWHR", "during working hours", "request", NO_YES),
    Entry("workday", "AWDY", "on a workday", "request", NO_YES),
    Entry("top_level_domain", "ATLV", "top-level domain of the address", "request", DOMAINS),
)
TOPIC = tuple(
    Entry(
        f"topic_{topic}", label, f"visits sites about {topic.replace('_', ' ')}", "person", NO_YES
    )
    for topic, label in zip(TOPICS, _TOPIC_LABELS.split(), strict=True)
)
TABLE_1 = (*DEMOGRAPHIC, *ACTIVITY, *TOPIC)
BY_LABEL: Mapping[str, Entry] = MappingProxyType({entry.label: entry for entry in TABLE_1})
