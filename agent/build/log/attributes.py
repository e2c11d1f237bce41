"""Table 1 of the paper: its 33 attributes, under plain names.

Where its text and the table differ: age groups end at 55 as in section 5.1, where the table has 50;
students are an occupation, for the table has no attribute of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from agent.build.log.schema import (
    AGE_GROUPS,
    DOMAINS,
    GENDERS,
    MARITAL_STATUSES,
    NO_YES,
    REGIONS,
    TOPICS,
)
from agent.model.attributes import Scope


class Entry(NamedTuple):
    """An attribute of Table 1.

    ``label``: the paper's; ``meaning``: for people; ``values``: beside "unspecified", empty where
    they are those that the log has.
    """

    name: str
    label: str
    meaning: str
    scope: Scope
    values: tuple[str, ...]

    @property
    def title(self) -> str:
        """What a model calls it, with the paper's label."""
        return f"{self.meaning} ({self.label})"


_TOPIC_LABELS = (
    "TART TADT TBUS TCMP TGMS THEA THOM TKID TNWS TREC TREF TREG TSCI TSHP TCIN TSOC TSPT TWLD"
)

DEMOGRAPHIC = (
    Entry("gender", "DGDR", "gender", "person", GENDERS),
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
