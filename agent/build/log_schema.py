"""The columns of a search log, and the facts of its people as the paper codes them (Table 1)."""

import csv
from collections.abc import Mapping, Sequence
from importlib.resources import files
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
BY_LABEL: Mapping[str, PaperFact] = {each.label: each for each in TABLE_1}
DEMOGRAPHIC = tuple(each for each in TABLE_1 if each.label.startswith("D"))
# The sixteen top-level categories of the Open Directory, and two more that Table 1 has.
TOPIC = tuple(each for each in TABLE_1 if each.label.startswith("T"))
TOPICS = tuple(each.name.removeprefix("topic_") for each in TOPIC)
# Other top-level domains may stand in a log, and say nothing.
DOMAINS = BY_LABEL["ATLV"].values


class LogColumn(NamedTuple):
    """One column of a table.

    ``kind``: time is ISO 8601 without a zone, the searcher's own; seconds is a number from 0;
    ``must``: words for what holds of it: "needed": the table must have the column; "filled": no
    field of it may be empty; "folded": case does not matter; ``values``: all that are allowed;
    ``most``: how many different ones there may be, 0 for any number.
    """

    name: str
    kind: Kind
    must: Sequence[str]
    values: tuple[str, ...]
    most: int


# `asked` is when a query was sent, `time` when a page was opened, `dwell` how long they stayed on
# it; `zip` is what a reverse look-up of the address gave; `tld` has no dot. There are seven
# occupations at most, three bits with "unspecified"; which these are is the log's affair.
_, *_COLUMNS = csv.reader((files("agent.build") / "log_columns.csv").read_text().splitlines())
_VALUES = {each.name: each.values for each in TABLE_1} | {"topic": TOPICS}
TABLES: Mapping[str, tuple[LogColumn, ...]] = {
    table: tuple(
        LogColumn(name, convert(kind, Kind), must.split(), _VALUES.get(name, ()), int(most or 0))
        for of, name, kind, must, most in _COLUMNS
        if of == table
    )
    for table in ("log", "people", "sites")
}
