"""The columns of a search log, and the facts of its people as the paper codes them (Table 1)."""

import csv
from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import Literal, NamedTuple

from msgspec import convert

from agent.model.attributes import Scope

Kind = Literal["text", "time", "seconds"]


class PaperFact(NamedTuple):
    """An attribute of Table 1.

    ``label``: the paper's; ``meaning``: for people; ``values``: beside "unspecified", empty where
    they are those that the log has; ``concept``: what it is called across models.
    """

    label: str
    name: str
    scope: Scope
    concept: str
    values: tuple[str, ...]
    meaning: str

    @property
    def title(self) -> str:
        """What a model calls it, with the paper's label."""
        return f"{self.meaning} ({self.label})"


# The names of those that change with the request are the names of the daemon's sources.
_, *_ROWS = csv.reader((files("agent.build") / "table_1.csv").read_text("utf-8").splitlines())
TABLE_1 = tuple(
    PaperFact(label, name, convert(scope, Scope), concept, tuple(values.split()), meaning)
    for label, name, scope, concept, values, meaning in _ROWS
)
BY_LABEL: Mapping[str, PaperFact] = MappingProxyType({each.label: each for each in TABLE_1})
DEMOGRAPHIC = tuple(each for each in TABLE_1 if each.label.startswith("D"))
# The sixteen top-level categories of the Open Directory, and two more that Table 1 has.
TOPIC = tuple(each for each in TABLE_1 if each.label.startswith("T"))
TOPICS = tuple(each.name.removeprefix("topic_") for each in TOPIC)
GENDERS, AGE_GROUPS = BY_LABEL["DGDR"].values, BY_LABEL["DAGE"].values
MAX_OCCUPATIONS = 7  # three bits with "unspecified"; which groups they are is the log's affair
REGIONS, MARITAL_STATUSES = BY_LABEL["DREG"].values, BY_LABEL["DMTL"].values
NO_YES = ("no", "yes")
# Other top-level domains may stand in a log, and say nothing.
DOMAINS = BY_LABEL["ATLV"].values


class LogColumn(NamedTuple):
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
    LogColumn("user", needed=True, filled=True),
    LogColumn("asked", "time", needed=True, filled=True),  # when the query was sent
    LogColumn("query", needed=True),
    LogColumn("time", "time", needed=True, filled=True),  # when the page was opened
    LogColumn("host", needed=True, folded=True),  # of the page
    LogColumn("dwell", "seconds", needed=True),  # how long they stayed on it
    LogColumn("zip"),  # what a reverse look-up of the address gave
    LogColumn("city"),
    LogColumn("country"),
    LogColumn("tld", folded=True),  # without a dot
)
PEOPLE = (
    LogColumn("user", needed=True, filled=True),
    LogColumn("gender", values=GENDERS),
    LogColumn("age_group", values=AGE_GROUPS),
    LogColumn("occupation", most=MAX_OCCUPATIONS),
    LogColumn("region", values=REGIONS),
    LogColumn("marital_status", values=MARITAL_STATUSES),
    LogColumn("children", values=NO_YES),
)
SITES = (
    LogColumn("host", needed=True, filled=True, folded=True),
    LogColumn("topic", needed=True, values=TOPICS),
)
TABLES: Mapping[str, tuple[LogColumn, ...]] = MappingProxyType(
    {"log": LOG, "people": PEOPLE, "sites": SITES}
)


# ISO 8601 without a zone; engines would take more, and turn zones into hours of another place.
